//! The lists that a new version of CUDA makes longer.
//!
//! CUDA 14: add
//!
//! - a [`Version`], and its name to `versions.map`,
//! - the functions that its `libcudart.so` exports to `nvidia_exports.txt`, and its errors to `nvidia_errors.txt`,
//! - each new function that this library lacks to [`refused_functions`] (a test names them),
//! - the fields that `cudaDeviceProp` gained or lost to [`FIELDS`].
//!
//! One library serves all versions, under a name for each. Some functions have other arguments in CUDA 13 than in CUDA 12.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::driver;

/// The version that the program was built with, by its number. The other copy of this library writes it ([`redirect`](crate::redirect)); 0
/// if it has not.
#[unsafe(no_mangle)]
pub static simcuda_runtime_version: AtomicI32 = AtomicI32::new(0);

/// A version of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Cuda12,
    Cuda13,
}

/// The versions: name of the library, result of `cudaRuntimeGetVersion`. CUDA 14: one more line.
const VERSIONS: [(Version, &str, i32); 2] =
    [(Version::Cuda12, "libcudart.so.12", 12000), (Version::Cuda13, "libcudart.so.13", 13000)];

impl Version {
    /// Returns the version that the program was built with: what was found out about it, or else what it asked the loader for.
    pub fn current() -> Self {
        static VERSION: OnceLock<Version> = OnceLock::new();
        *VERSION.get_or_init(|| {
            let told = simcuda_runtime_version.load(Ordering::Relaxed);
            let told = VERSIONS.iter().find(|(.., number)| *number == told).map(|(version, ..)| *version);
            told.or_else(|| driver::own_path().and_then(|path| Self::of_library(path.to_str()?))).unwrap_or(Self::Cuda12)
        })
    }

    /// Returns the version of a library by its name.
    pub fn of_library(name: &str) -> Option<Self> {
        VERSIONS.iter().find(|(_, end, _)| name.ends_with(end)).map(|(version, ..)| *version)
    }

    /// Returns the version as `cudaRuntimeGetVersion` does.
    pub fn number(self) -> i32 {
        VERSIONS.iter().find(|(version, ..)| *version == self).map_or(0, |(.., number)| *number)
    }
}

/// A field of `cudaDeviceProp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Name,
    Uuid,
    TotalMemory,
    /// An `int`, or several, with the values of attributes; an attribute with number 0 is a field that is 0.
    Int(&'static [u32]),
    /// The same, in one version only.
    In(Version, &'static [u32]),
    /// A `size_t` with the value of an attribute.
    Size(u32),
    /// Bytes that are 0, in CUDA 12 and in CUDA 13.
    Zero(usize, usize),
}

use Field::{In, Int, Size, Zero};
use Version::{Cuda12, Cuda13};

/// The fields, by the numbers of the attributes. Those after [`LAST_OF_11`] came with CUDA 12. CUDA 14: the fields that it adds.
pub const FIELDS: &[Field] = &[
    Field::Name,
    Field::Uuid,
    Zero(8, 8), // luid
    Int(&[0]),  // luidDeviceNodeMask
    Field::TotalMemory,
    Size(8),                     // sharedMemPerBlock
    Int(&[12, 10]),              // regsPerBlock, warpSize
    Size(11),                    // memPitch
    Int(&[1, 2, 3, 4, 5, 6, 7]), // maxThreadsPerBlock, maxThreadsDim, maxGridSize
    In(Cuda12, &[13]),           // clockRate
    Size(9),                     // totalConstMem
    Int(&[75, 76]),              // major, minor
    Size(14),                    // textureAlignment
    Size(51),                    // texturePitchAlignment
    In(Cuda12, &[15]),           // deviceOverlap
    Int(&[16]),                  // multiProcessorCount
    In(Cuda12, &[17]),           // kernelExecTimeoutEnabled
    Int(&[18, 19]),              // integrated, canMapHostMemory
    In(Cuda12, &[20]),           // computeMode
    Int(&[21, 77]),              // maxTexture1D, maxTexture1DMipmap
    In(Cuda12, &[69]),           // maxTexture1DLinear
    // maxTexture2D, 2DMipmap, 2DLinear, 2DGather, 3D, 3DAlt, Cubemap, 1DLayered, 2DLayered, CubemapLayered
    Int(&[22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54]),
    // maxSurface1D, 2D, 3D, 1DLayered, 2DLayered, Cubemap, CubemapLayered
    Int(&[55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68]),
    Size(30), // surfaceAlignment
    // concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing
    Int(&[31, 32, 33, 34, 50, 35, 40, 41]),
    In(Cuda12, &[36]), // memoryClockRate
    // memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
    // globalL1CacheSupported, localL1CacheSupported
    Int(&[37, 38, 108, 39, 78, 79, 80]),
    Size(81), // sharedMemPerMultiprocessor
    // regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported
    Int(&[82, 83, 84, 85, 86]),
    In(Cuda12, &[87]), // singleToDoublePrecisionPerfRatio
    // pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch
    Int(&[88, 89, 90, 91, 95]),
    In(Cuda12, &[96]), // cooperativeMultiDeviceLaunch
    Size(97),          // sharedMemPerBlockOptin
    // pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize
    Int(&[100, 101, 106, 109]),
    LAST_OF_11,
    // hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported,
    // memoryPoolsSupported, gpuDirectRDMASupported, gpuDirectRDMAFlushWritesOptions, gpuDirectRDMAWritesOrdering,
    // memoryPoolSupportedHandleTypes, deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers
    Int(&[99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120, 129]),
    // deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId, gpuPciDeviceID, gpuPciSubsystemID, hostNumaMultinodeIpcSupported
    In(Cuda13, &[130, 131, 133, 134, 139, 140, 143]),
    Zero(63 * 4, 56 * 4), // reserved
];

/// The last field of CUDA 11, `reservedSharedMemPerBlock`.
pub const LAST_OF_11: Field = Size(111);

/// Passes the functions that this library refuses to a macro: by feature, with what to do instead. CUDA 14: its new functions.
macro_rules! refused_functions {
    ($define:ident) => {
        $define! {
            "graphs", "launch the kernels on a stream":
                cudaDeviceGetGraphMemAttribute cudaDeviceGraphMemTrim cudaDeviceSetGraphMemAttribute cudaGraphAddChildGraphNode
                cudaGraphAddDependencies cudaGraphAddDependencies_v2 cudaGraphAddEmptyNode cudaGraphAddEventRecordNode
                cudaGraphAddEventWaitNode cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode
                cudaGraphAddHostNode cudaGraphAddKernelNode cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode cudaGraphAddMemcpyNode
                cudaGraphAddMemcpyNode1D cudaGraphAddMemcpyNodeFromSymbol cudaGraphAddMemcpyNodeToSymbol cudaGraphAddMemsetNode
                cudaGraphAddNode cudaGraphAddNode_v2 cudaGraphChildGraphNodeGetGraph cudaGraphClone cudaGraphConditionalHandleCreate
                cudaGraphCreate cudaGraphDebugDotPrint cudaGraphDestroy cudaGraphDestroyNode cudaGraphEventRecordNodeGetEvent
                cudaGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeSetEvent
                cudaGraphExecChildGraphNodeSetParams cudaGraphExecDestroy cudaGraphExecEventRecordNodeSetEvent
                cudaGraphExecEventWaitNodeSetEvent cudaGraphExecExternalSemaphoresSignalNodeSetParams
                cudaGraphExecExternalSemaphoresWaitNodeSetParams cudaGraphExecGetFlags cudaGraphExecHostNodeSetParams
                cudaGraphExecKernelNodeSetParams cudaGraphExecMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams1D
                cudaGraphExecMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol cudaGraphExecMemsetNodeSetParams
                cudaGraphExecNodeSetParams cudaGraphExecUpdate cudaGraphExternalSemaphoresSignalNodeGetParams
                cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeGetParams
                cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphGetEdges cudaGraphGetEdges_v2 cudaGraphGetNodes
                cudaGraphGetRootNodes cudaGraphHostNodeGetParams cudaGraphHostNodeSetParams cudaGraphInstantiate
                cudaGraphInstantiateWithFlags cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz
                cudaGraphKernelNodeCopyAttributes cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeGetParams
                cudaGraphKernelNodeSetAttribute cudaGraphKernelNodeSetParams cudaGraphLaunch cudaGraphLaunch_ptsz
                cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams
                cudaGraphMemcpyNodeSetParams1D cudaGraphMemcpyNodeSetParamsFromSymbol cudaGraphMemcpyNodeSetParamsToSymbol
                cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams cudaGraphNodeFindInClone cudaGraphNodeGetDependencies
                cudaGraphNodeGetDependencies_v2 cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2 cudaGraphNodeGetEnabled
                cudaGraphNodeGetType cudaGraphNodeSetEnabled cudaGraphNodeSetParams cudaGraphReleaseUserObject cudaGraphRemoveDependencies
                cudaGraphRemoveDependencies_v2 cudaGraphRetainUserObject cudaGraphUpload cudaGraphUpload_ptsz cudaStreamBeginCapture
                cudaStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph_ptsz cudaStreamBeginCapture_ptsz cudaStreamEndCapture
                cudaStreamEndCapture_ptsz cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz cudaStreamGetCaptureInfo_v2
                cudaStreamGetCaptureInfo_v2_ptsz cudaStreamGetCaptureInfo_v3 cudaStreamGetCaptureInfo_v3_ptsz
                cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_ptsz cudaStreamUpdateCaptureDependencies_v2
                cudaStreamUpdateCaptureDependencies_v2_ptsz cudaUserObjectCreate cudaUserObjectRelease cudaUserObjectRetain;

            "graphics", "copy through memory of the device or the host":
                cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect cudaEGLStreamConsumerConnectWithFlags
                cudaEGLStreamConsumerDisconnect cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect
                cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame cudaEGLStreamProducerReturnFrame
                cudaEventCreateFromEGLSync cudaGLGetDevices cudaGLMapBufferObject cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject
                cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync
                cudaGLUnregisterBufferObject cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage
                cudaGraphicsMapResources cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray
                cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags cudaGraphicsSubResourceGetMappedArray
                cudaGraphicsUnmapResources cudaGraphicsUnregisterResource cudaGraphicsVDPAURegisterOutputSurface
                cudaGraphicsVDPAURegisterVideoSurface cudaVDPAUGetDevice cudaVDPAUSetVDPAUDevice;

            "memory and semaphores of other APIs", "copy through memory of the host":
                cudaDestroyExternalMemory cudaDestroyExternalSemaphore cudaDeviceFlushGPUDirectRDMAWrites cudaDeviceGetNvSciSyncAttributes
                cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray cudaImportExternalMemory
                cudaImportExternalSemaphore cudaSignalExternalSemaphoresAsync cudaSignalExternalSemaphoresAsync_ptsz
                cudaSignalExternalSemaphoresAsync_v2 cudaSignalExternalSemaphoresAsync_v2_ptsz cudaWaitExternalSemaphoresAsync
                cudaWaitExternalSemaphoresAsync_ptsz cudaWaitExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2_ptsz;

            "hints that contents are not needed", "free the memory, or leave it as it is":
                cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync_ptsz cudaMemDiscardBatchAsync
                cudaMemDiscardBatchAsync_ptsz;

            "sparse and planar arrays", "make an array without these flags":
                cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaArrayGetSparseProperties cudaMipmappedArrayGetMemoryRequirements
                cudaMipmappedArrayGetSparseProperties;

            "references to textures and surfaces, which CUDA 12 no longer has,", "make objects with cudaCreateTextureObject":
                __cudaRegisterSurface __cudaRegisterTexture cudaBindSurfaceToArray cudaBindTexture cudaBindTexture2D
                cudaBindTextureToArray cudaBindTextureToMipmappedArray cudaGetSurfaceReference cudaGetTextureAlignmentOffset
                cudaGetTextureReference cudaUnbindTexture;

            "several devices", "use the first":
                cudaDeviceGetHostAtomicCapabilities cudaDeviceGetP2PAtomicCapabilities cudaLaunchCooperativeKernelMultiDevice;

            "contexts for a share of the multiprocessors, and grids in grids,", "launch on a stream of the device":
                cudaDevResourceGenerateDesc cudaDevSmResourceSplit cudaDevSmResourceSplitByCount cudaDeviceGetDevResource
                cudaDeviceGetExecutionCtx cudaExecutionCtxDestroy cudaExecutionCtxGetDevResource cudaExecutionCtxGetDevice
                cudaExecutionCtxGetId cudaExecutionCtxRecordEvent cudaExecutionCtxStreamCreate cudaExecutionCtxSynchronize
                cudaExecutionCtxWaitEvent cudaGreenCtxCreate cudaStreamGetDevResource cudaStreamGetDevResource_ptsz cudaSubgridCreate
                cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate;

            "places of memory", "ask for hints with cudaMemRangeGetAttribute":
                cudaMemGetLocationInfo;

            "notifications and logs", "read the report of the simulator":
                cudaDeviceRegisterAsyncNotification cudaDeviceUnregisterAsyncNotification cudaLogsCurrent cudaLogsDumpToFile
                cudaLogsDumpToMemory cudaLogsRegisterCallback cudaLogsUnregisterCallback;

            "tables of private functions, and functions with one address for the host and the device", "call public functions":
                __cudaGetProcAddress cudaGetExportTable cudaLibraryGetUnifiedFunction;

            "conversions for devices without f64", "use a device that has it":
                cudaSetDoubleForDevice cudaSetDoubleForHost;
        }
    };
}

pub(crate) use refused_functions;
