//! `cudaDeviceProp`, the structure that describes a device.
//!
//! Its fields are a table here, because CUDA 12 and CUDA 13 have different ones, in the same order. Most have the value of an attribute of
//! the device.

use std::ffi::c_void;

use crate::context;
use crate::driver;
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::Ptr;
use crate::version::Version;

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Uuid,
    TotalMemory,
    /// An `int`, or several, with the values of attributes; an attribute with number 0 is a field that is 0.
    Int(&'static [u32]),
    /// The same, in CUDA 12 only.
    Int12(&'static [u32]),
    /// The same, in CUDA 13 only.
    Int13(&'static [u32]),
    /// A `size_t` with the value of an attribute.
    Size(u32),
    /// Bytes that are 0, in CUDA 12 and in CUDA 13.
    Zero(usize, usize),
}

use Field::{Int, Int12, Int13, Size, Zero};

/// The fields, by the numbers of the attributes. Those after [`LAST_OF_11`] came with CUDA 12.
const FIELDS: &[Field] = &[
    Field::Name,
    Field::Uuid,
    // luid
    Zero(8, 8),
    // luidDeviceNodeMask
    Int(&[0]),
    Field::TotalMemory,
    // sharedMemPerBlock
    Size(8),
    // regsPerBlock, warpSize
    Int(&[12, 10]),
    // memPitch
    Size(11),
    // maxThreadsPerBlock, maxThreadsDim, maxGridSize
    Int(&[1, 2, 3, 4, 5, 6, 7]),
    // clockRate
    Int12(&[13]),
    // totalConstMem
    Size(9),
    // major, minor
    Int(&[75, 76]),
    // textureAlignment, texturePitchAlignment
    Size(14),
    Size(51),
    // deviceOverlap
    Int12(&[15]),
    // multiProcessorCount
    Int(&[16]),
    // kernelExecTimeoutEnabled
    Int12(&[17]),
    // integrated, canMapHostMemory
    Int(&[18, 19]),
    // computeMode
    Int12(&[20]),
    // maxTexture1D, maxTexture1DMipmap
    Int(&[21, 77]),
    // maxTexture1DLinear
    Int12(&[69]),
    // maxTexture2D, 2DMipmap, 2DLinear, 2DGather, 3D, 3DAlt, Cubemap, 1DLayered, 2DLayered, CubemapLayered
    Int(&[22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54]),
    // maxSurface1D, 2D, 3D, 1DLayered, 2DLayered, Cubemap, CubemapLayered
    Int(&[55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68]),
    // surfaceAlignment
    Size(30),
    // concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing
    Int(&[31, 32, 33, 34, 50, 35, 40, 41]),
    // memoryClockRate
    Int12(&[36]),
    // memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
    // globalL1CacheSupported, localL1CacheSupported
    Int(&[37, 38, 108, 39, 78, 79, 80]),
    // sharedMemPerMultiprocessor
    Size(81),
    // regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported
    Int(&[82, 83, 84, 85, 86]),
    // singleToDoublePrecisionPerfRatio
    Int12(&[87]),
    // pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch
    Int(&[88, 89, 90, 91, 95]),
    // cooperativeMultiDeviceLaunch
    Int12(&[96]),
    // sharedMemPerBlockOptin
    Size(97),
    // pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize
    Int(&[100, 101, 106, 109]),
    LAST_OF_11,
    // hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported,
    // memoryPoolsSupported, gpuDirectRDMASupported, gpuDirectRDMAFlushWritesOptions, gpuDirectRDMAWritesOrdering,
    // memoryPoolSupportedHandleTypes, deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers
    Int(&[99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120, 129]),
    // deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId, gpuPciDeviceID, gpuPciSubsystemID, hostNumaMultinodeIpcSupported
    Int13(&[130, 131, 133, 134, 139, 140, 143]),
    // reserved
    Zero(63 * 4, 56 * 4),
];

/// reservedSharedMemPerBlock
const LAST_OF_11: Field = Size(111);

/// The bytes of a device's name.
const NAME_BYTES: usize = 256;

/// Returns the bytes of the structure.
fn structure(fields: &[Field], version: Version, device: i32) -> Result<Vec<u8>> {
    let attribute = |number: u32| -> Result<i32> {
        let mut value = 0;
        match driver::cuDeviceGetAttribute(Ptr::to(&mut value), number, device) {
            Ok(()) => Ok(value),
            // The driver is older than the attribute.
            Err(Code::INVALID_VALUE) => Ok(0),
            Err(code) => Err(code),
        }
    };
    let mut bytes: Vec<u8> = Vec::new();
    for &field in fields {
        match field {
            Field::Name => {
                let mut name = [0_u8; NAME_BYTES];
                driver::cuDeviceGetName(Ptr::to(&mut name).cast(), NAME_BYTES as i32, device)?;
                bytes.extend(name);
            }
            Field::Uuid => {
                let mut uuid = [0_u8; 16];
                driver::cuDeviceGetUuid_v2(Ptr::to(&mut uuid), device)?;
                bytes.extend(uuid);
            }
            Field::TotalMemory => {
                let mut total = 0_usize;
                driver::cuDeviceTotalMem_v2(Ptr::to(&mut total), device)?;
                align(&mut bytes, size_of::<usize>());
                bytes.extend(total.to_ne_bytes());
            }
            Size(number) => {
                align(&mut bytes, size_of::<usize>());
                bytes.extend((attribute(number)? as usize).to_ne_bytes());
            }
            Int12(_) if version != Version::Cuda12 => {}
            Int13(_) if version != Version::Cuda13 => {}
            Int(numbers) | Int12(numbers) | Int13(numbers) => {
                for &number in numbers {
                    bytes.extend(if number == 0 { 0 } else { attribute(number)? }.to_ne_bytes());
                }
            }
            Zero(in_12, in_13) => {
                let count = if version == Version::Cuda12 { in_12 } else { in_13 };
                bytes.resize(bytes.len() + count, 0);
            }
        }
    }
    align(&mut bytes, size_of::<usize>());
    Ok(bytes)
}

fn align(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}

fn put(properties: Ptr<c_void>, fields: &[Field], version: Version, device: i32) -> Result {
    properties.check()?;
    context::check_device(device)?;
    for (index, byte) in structure(fields, version, device)?.into_iter().enumerate() {
        properties.offset_bytes(index).put(byte)?;
    }
    Ok(())
}

exports! {
    // Without a suffix, CUDA 12 has the structure of CUDA 11, for programs that were compiled with its headers.
    fn cudaGetDeviceProperties(properties: Ptr<c_void>, device: i32) {
        match Version::current() {
            Version::Cuda12 => {
                let end = FIELDS.iter().position(|&field| field == LAST_OF_11).map_or(FIELDS.len(), |last| last + 1);
                put(properties, &FIELDS[..end], Version::Cuda12, device)
            }
            Version::Cuda13 => put(properties, FIELDS, Version::Cuda13, device),
        }
    }

    fn cudaGetDeviceProperties_v2(properties: Ptr<c_void>, device: i32) {
        put(properties, FIELDS, Version::Cuda12, device)
    }
}
