//! Arrays, textures, and surfaces.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use cudarc::driver::sys;
use cudarc::driver::sys::CUaddress_mode_enum::*;
use cudarc::driver::sys::CUarray_format_enum::*;
use cudarc::driver::sys::CUresourcetype_enum::*;
use cudarc::driver::{LaunchConfig, PushKernelArg};

use crate::support::{load, own_context, returns};

/// Its CUDA C is next to it.
const TEXTURES: &str = include_str!("../../../simt/tests/programs/textures.ptx");

/// Makes an array of floats, of these sides.
fn array(width: usize, height: usize, channels: u32) -> sys::CUarray {
    let mut array = null_mut();
    let descriptor = sys::CUDA_ARRAY_DESCRIPTOR { Width: width, Height: height, Format: CU_AD_FORMAT_FLOAT, NumChannels: channels };
    returns! { cuArrayCreate_v2(&mut array, &descriptor) => CUDA_SUCCESS; }
    array
}

fn resource(array: sys::CUarray) -> sys::CUDA_RESOURCE_DESC {
    // SAFETY: all of its fields may be zero: `CU_RESOURCE_TYPE_ARRAY` is 0.
    let mut resource: sys::CUDA_RESOURCE_DESC = unsafe { MaybeUninit::zeroed().assume_init() };
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    resource
}

fn texture(array: sys::CUarray, addressing: sys::CUaddress_mode, filters: bool, flags: u32) -> u64 {
    let resource = resource(array);
    // SAFETY: all of its fields may be zero: the first address mode and the first filter are 0.
    let mut how: sys::CUDA_TEXTURE_DESC = unsafe { MaybeUninit::zeroed().assume_init() };
    how.addressMode = [addressing; 3];
    how.filterMode =
        if filters { sys::CUfilter_mode_enum::CU_TR_FILTER_MODE_LINEAR } else { sys::CUfilter_mode_enum::CU_TR_FILTER_MODE_POINT };
    how.flags = flags;
    let mut object = 0;
    returns! { cuTexObjectCreate(&mut object, &resource, &how, null()) => CUDA_SUCCESS; }
    object
}

/// Copies rows between the host and an array.
fn copy(array: sys::CUarray, host: *mut c_void, row_bytes: usize, rows: usize, into_array: bool) {
    // SAFETY: all fields of the structure may be zero, once the types of memory are set.
    let mut copy: sys::CUDA_MEMCPY2D = unsafe {
        let mut copy = MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
        let [host, device] = [sys::CUmemorytype::CU_MEMORYTYPE_HOST, sys::CUmemorytype::CU_MEMORYTYPE_ARRAY];
        (&raw mut (*copy.as_mut_ptr()).srcMemoryType).write(if into_array { host } else { device });
        (&raw mut (*copy.as_mut_ptr()).dstMemoryType).write(if into_array { device } else { host });
        copy.assume_init()
    };
    (copy.WidthInBytes, copy.Height) = (row_bytes, rows);
    if into_array {
        (copy.srcHost, copy.srcPitch, copy.dstArray) = (host, row_bytes, array);
    } else {
        (copy.srcArray, copy.dstHost, copy.dstPitch) = (array, host, row_bytes);
    }
    returns! { cuMemcpy2D_v2(&copy) => CUDA_SUCCESS; }
}

#[test]
fn what_is_copied_into_an_array_comes_back() {
    let _context = own_context();
    let array = array(5, 3, 2);
    let mut values: Vec<f32> = (0..30).map(|at| at as f32).collect();
    copy(array, values.as_mut_ptr().cast(), 40, 3, true);
    let mut back = vec![0.0_f32; 30];
    copy(array, back.as_mut_ptr().cast(), 40, 3, false);
    assert_eq!(back, values);
    // SAFETY: all fields of the structures may be zero: the format is not read before it is written.
    let mut found: sys::CUDA_ARRAY_DESCRIPTOR =
        sys::CUDA_ARRAY_DESCRIPTOR { Width: 0, Height: 0, Format: CU_AD_FORMAT_UNSIGNED_INT8, NumChannels: 0 };
    returns! { cuArrayGetDescriptor_v2(&mut found, array) => CUDA_SUCCESS; }
    assert_eq!((found.Width, found.Height, found.Format, found.NumChannels), (5, 3, CU_AD_FORMAT_FLOAT, 2));
    returns! {
        cuArrayDestroy(array) => CUDA_SUCCESS;
    }
    let mut line = null_mut();
    let descriptor = sys::CUDA_ARRAY_DESCRIPTOR { Width: 8, Height: 0, Format: CU_AD_FORMAT_FLOAT, NumChannels: 1 };
    returns! {
        cuArrayCreate_v2(&mut line, &descriptor) => CUDA_SUCCESS;
        cuMemcpyHtoA_v2(line, 8, values.as_ptr().cast(), 24) => CUDA_SUCCESS;
        cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), line, 12, 16) => CUDA_SUCCESS;
        cuArrayDestroy(line) => CUDA_SUCCESS;
    }
    assert_eq!(back[..4], [1.0, 2.0, 3.0, 4.0]);
}

/// Compares reads of 13 x 7 floats with the guide's formulas. Positions are inside and outside, in steps of 1/64 texel.
#[test]
fn textures_are_read_as_the_guide_says() {
    const NORMALIZED: u32 = 2;
    let context = own_context();
    let stream = context.default_stream();
    let fetch = load(&context, TEXTURES).load_function("fetch_2d").unwrap();
    let (width, height) = (13_i64, 7_i64);
    let mut values: Vec<f32> = (0..width * height).map(|at| (at * at % 97) as f32 / 8.0).collect();
    let array = array(13, 7, 1);
    copy(array, values.as_mut_ptr().cast(), 52, 7, true);
    for (addressing, flags) in [
        (CU_TR_ADDRESS_MODE_CLAMP, 0),
        (CU_TR_ADDRESS_MODE_BORDER, 0),
        (CU_TR_ADDRESS_MODE_CLAMP, NORMALIZED),
        (CU_TR_ADDRESS_MODE_WRAP, NORMALIZED),
        (CU_TR_ADDRESS_MODE_MIRROR, NORMALIZED),
    ] {
        for filters in [false, true] {
            let object = texture(array, addressing, filters, flags);
            // A step of 1/64 is exact in texels, and a share of the image is not, so shares are taken from the middle of texels.
            let texels: Vec<[f64; 2]> = (0..512_i64)
                .map(|at| match flags {
                    0 => [(at * 37 % 1600 - 300) as f64 / 64.0, (at * 53 % 900 - 200) as f64 / 64.0],
                    _ => [(at * 37 % 40 - 13) as f64 + 0.5, (at * 53 % 22 - 7) as f64 + 0.5],
                })
                .collect();
            let at: Vec<[f32; 2]> = texels
                .iter()
                .map(|[x, y]| if flags == 0 { [*x as f32, *y as f32] } else { [(x / 13.0) as f32, (y / 7.0) as f32] })
                .collect();
            let (at, mut output) = (stream.clone_htod(at.as_flattened()).unwrap(), stream.alloc_zeros::<f32>(512).unwrap());
            let mut launch = stream.launch_builder(&fetch);
            launch.arg(&object).arg(&at).arg(&mut output);
            // SAFETY: the kernel reads 512 pairs of coordinates and writes 512 floats, which the buffers have.
            unsafe { launch.launch(LaunchConfig { grid_dim: (16, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 }) }.unwrap();
            let inside = |at: i64, extent: i64| match addressing {
                CU_TR_ADDRESS_MODE_BORDER => (0..extent).contains(&at).then_some(at),
                CU_TR_ADDRESS_MODE_WRAP => Some(at.rem_euclid(extent)),
                CU_TR_ADDRESS_MODE_MIRROR => Some(at.rem_euclid(2 * extent).min(2 * extent - 1 - at.rem_euclid(2 * extent))),
                _ => Some(at.clamp(0, extent - 1)),
            };
            let texel = |x: f64, y: f64| {
                let at = inside(x as i64, width).zip(inside(y as i64, height));
                at.map_or(0.0, |(x, y)| f64::from(values[(y * width + x) as usize]))
            };
            for ([x, y], got) in texels.iter().zip(stream.clone_dtoh(&output).unwrap()) {
                let expected = if filters {
                    let (x, y) = (x - 0.5, y - 0.5);
                    let fraction = |at: f64| ((at - at.floor()) * 256.0).round() / 256.0;
                    let (i, j, a, b) = (x.floor(), y.floor(), fraction(x), fraction(y));
                    (1.0 - a) * (1.0 - b) * texel(i, j)
                        + a * (1.0 - b) * texel(i + 1.0, j)
                        + (1.0 - a) * b * texel(i, j + 1.0)
                        + a * b * texel(i + 1.0, j + 1.0)
                } else {
                    texel(x.floor(), y.floor())
                };
                // Weights of 8 bits and less than 2^5 steps of 1/8: exact here, and within a rounding of each weight on a GPU.
                let allowed = if filters { 1.0 / 16.0 } else { 0.0 };
                assert!(
                    (f64::from(got) - expected).abs() <= allowed,
                    "{addressing:?}, {filters}, {flags}: {got} for {expected} at {x}, {y}"
                );
            }
            returns! { cuTexObjectDestroy(object) => CUDA_SUCCESS; }
        }
    }
    returns! { cuArrayDestroy(array) => CUDA_SUCCESS; }
}

#[test]
fn surfaces_are_read_and_written() {
    let context = own_context();
    let stream = context.default_stream();
    let transpose = load(&context, TEXTURES).load_function("transpose").unwrap();
    let make = |width: usize, height: usize| {
        let mut array = null_mut();
        // `CUDA_ARRAY3D_SURFACE_LDST`
        let descriptor = sys::CUDA_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: height,
            Depth: 0,
            Format: CU_AD_FORMAT_UNSIGNED_INT16,
            NumChannels: 1,
            Flags: 2,
        };
        returns! { cuArray3DCreate_v2(&mut array, &descriptor) => CUDA_SUCCESS; }
        array
    };
    let [from, to] = [make(6, 4), make(4, 6)];
    let mut values: Vec<u16> = (0..24).map(|at| at * at).collect();
    copy(from, values.as_mut_ptr().cast(), 12, 4, true);
    let mut surfaces = [0_u64; 2];
    for (surface, array) in surfaces.iter_mut().zip([from, to]) {
        returns! { cuSurfObjectCreate(surface, &resource(array)) => CUDA_SUCCESS; }
    }
    let mut launch = stream.launch_builder(&transpose);
    launch.arg(&surfaces[0]).arg(&surfaces[1]);
    // SAFETY: the kernel accesses the surfaces alone, and threads outside of them do nothing.
    unsafe { launch.launch(LaunchConfig { grid_dim: (1, 2, 1), block_dim: (8, 4, 1), shared_mem_bytes: 0 }) }.unwrap();
    stream.synchronize().unwrap();
    let mut back = [0_u16; 24];
    copy(to, back.as_mut_ptr().cast(), 8, 6, false);
    let expected: Vec<u16> = (0..24).map(|at| values[at % 4 * 6 + at / 4] + 1).collect();
    assert_eq!(back[..], expected);
    for (surface, array) in surfaces.into_iter().zip([from, to]) {
        returns! {
            cuSurfObjectDestroy(surface) => CUDA_SUCCESS;
            cuArrayDestroy(array) => CUDA_SUCCESS;
        }
    }
}
