//! Mipmapped arrays, cube maps, borders, sRGB, and references to textures and surfaces.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use cudarc::driver::sys;
use cudarc::driver::sys::CUarray_format_enum::*;
use cudarc::driver::sys::CUresourcetype_enum::*;

use crate::support::{in_own_process, on_gpu, raw_context, returns};

const IMAGES: &str = include_str!("../ptx/images.ptx");

/// `CU_TRSF_NORMALIZED_COORDINATES` and `_SRGB`
const NORMALIZED: u32 = 2;
const SRGB: u32 = 0x10;
/// `CUDA_ARRAY3D_LAYERED`, `_SURFACE_LDST` and `_CUBEMAP`
const LAYERED: u32 = 1;
const SURFACE: u32 = 2;
const CUBEMAP: u32 = 4;
/// `CU_TRSA_OVERRIDE_FORMAT`
const OVERRIDE_FORMAT: u32 = 1;

fn descriptor([width, height, depth]: [usize; 3], format: sys::CUarray_format, flags: u32) -> sys::CUDA_ARRAY3D_DESCRIPTOR {
    sys::CUDA_ARRAY3D_DESCRIPTOR { Width: width, Height: height, Depth: depth, Format: format, NumChannels: 1, Flags: flags }
}

/// Copies a box of bytes from the host into an array.
fn fill(array: sys::CUarray, bytes: &[u8], [width, height, depth]: [usize; 3]) {
    // SAFETY: all fields of the structure may be zero, once the types of memory are set.
    let mut copy: sys::CUDA_MEMCPY3D = unsafe {
        let mut copy = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
        (&raw mut (*copy.as_mut_ptr()).srcMemoryType).write(sys::CUmemorytype::CU_MEMORYTYPE_HOST);
        (&raw mut (*copy.as_mut_ptr()).dstMemoryType).write(sys::CUmemorytype::CU_MEMORYTYPE_ARRAY);
        copy.assume_init()
    };
    (copy.WidthInBytes, copy.Height, copy.Depth) = (width, height, depth);
    (copy.srcHost, copy.srcPitch, copy.srcHeight, copy.dstArray) = (bytes.as_ptr().cast(), width, height, array);
    returns! { cuMemcpy3D_v2(&copy) => CUDA_SUCCESS; }
}

fn fill_floats(array: sys::CUarray, values: &[f32], [width, height, depth]: [usize; 3]) {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    fill(array, &bytes, [4 * width, height, depth]);
}

/// Makes a texture object that reads as `change` says.
fn texture(resource: &sys::CUDA_RESOURCE_DESC, change: impl FnOnce(&mut sys::CUDA_TEXTURE_DESC)) -> u64 {
    // SAFETY: all of its fields may be zero: the first address mode and the first filter are 0.
    let mut how: sys::CUDA_TEXTURE_DESC = unsafe { MaybeUninit::zeroed().assume_init() };
    how.addressMode = [sys::CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP; 3];
    change(&mut how);
    let mut object = 0;
    returns! { cuTexObjectCreate(&mut object, resource, &how, null()) => CUDA_SUCCESS; }
    object
}

fn resource(kind: sys::CUresourcetype) -> sys::CUDA_RESOURCE_DESC {
    // SAFETY: all of its fields may be zero.
    let mut resource: sys::CUDA_RESOURCE_DESC = unsafe { MaybeUninit::zeroed().assume_init() };
    resource.resType = kind;
    resource
}

fn of_array(array: sys::CUarray) -> sys::CUDA_RESOURCE_DESC {
    let mut resource = resource(CU_RESOURCE_TYPE_ARRAY);
    resource.res.array.hArray = array;
    resource
}

/// A loaded module, and memory for its kernels' inputs and answers.
struct Images {
    module: sys::CUmodule,
}

impl Images {
    fn load() -> Self {
        let (mut module, text) = (null_mut(), std::ffi::CString::new(IMAGES).unwrap());
        returns! { cuModuleLoadData(&mut module, text.as_ptr().cast()) => CUDA_SUCCESS; }
        Self { module }
    }

    /// Runs a kernel with one thread for each of `at`.
    fn read(&self, kernel: &std::ffi::CStr, texture: u64, at: &[[f32; 4]]) -> Vec<[f32; 4]> {
        let (mut function, mut input, mut output) = (null_mut(), 0, 0);
        let (mut texture, mut answers) = (texture, vec![[f32::NAN; 4]; at.len()]);
        let bytes = size_of_val(at);
        returns! {
            cuModuleGetFunction(&mut function, self.module, kernel.as_ptr()) => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut input, bytes) => CUDA_SUCCESS;
            cuMemAlloc_v2(&mut output, bytes) => CUDA_SUCCESS;
            cuMemcpyHtoD_v2(input, at.as_ptr().cast(), bytes) => CUDA_SUCCESS;
        }
        let mut arguments: [*mut c_void; 3] = [(&raw mut texture).cast(), (&raw mut input).cast(), (&raw mut output).cast()];
        let threads = at.len() as u32;
        returns! {
            cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, null_mut(), arguments.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
            cuMemcpyDtoH_v2(answers.as_mut_ptr().cast(), output, bytes) => CUDA_SUCCESS;
            cuMemFree_v2(input) => CUDA_SUCCESS;
            cuMemFree_v2(output) => CUDA_SUCCESS;
        }
        answers
    }
}

fn first(answers: Vec<[f32; 4]>) -> Vec<f32> {
    answers.into_iter().map(|[first, ..]| first).collect()
}

/// Gives each level one value, which shows the level that was read.
#[test]
fn a_level_of_detail_chooses_a_smaller_copy() {
    in_own_process(|| {
        raw_context();
        let images = Images::load();
        let mut array = null_mut();
        let shape = descriptor([16, 8, 0], CU_AD_FORMAT_FLOAT, 0);
        returns! { cuMipmappedArrayCreate(&mut array, &shape, 4) => CUDA_SUCCESS; }
        for (level, value) in [(0, 10.0), (1, 20.0), (2, 40.0), (3, 80.0)] {
            let mut part = null_mut();
            let mut found = descriptor([0; 3], CU_AD_FORMAT_FLOAT, 0);
            returns! {
                cuMipmappedArrayGetLevel(&mut part, array, level) => CUDA_SUCCESS;
                cuArray3DGetDescriptor_v2(&mut found, part) => CUDA_SUCCESS;
            }
            let sides = [16 >> level, 8 >> level, 1];
            assert_eq!((found.Width, found.Height), (sides[0], sides[1]));
            fill_floats(part, &vec![value; sides[0] * sides[1]], sides);
        }
        let mut none = null_mut();
        returns! { cuMipmappedArrayGetLevel(&mut none, array, 4) => CUDA_ERROR_INVALID_VALUE; }
        let mut whole = resource(CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
        whole.res.mipmap.hMipmappedArray = array;
        let linear = sys::CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;
        let at = |levels: &[f32]| levels.iter().map(|level| [0.4, 0.6, *level, 0.0]).collect::<Vec<_>>();

        let nearest = texture(&whole, |how| (how.flags, how.maxMipmapLevelClamp) = (NORMALIZED, 3.0));
        let levels = at(&[0.0, 0.3, 0.8, 1.0, 2.2, 2.9, 9.0, -1.0]);
        assert_eq!(first(images.read(c"fetch_level", nearest, &levels)), [10.0, 10.0, 20.0, 20.0, 40.0, 80.0, 80.0, 10.0]);
        // A step of 1/8 of the image is two texels in one direction, and one in the other.
        let steps = at(&[1.0 / 16.0, 0.125, 0.25, 0.5]);
        assert_eq!(first(images.read(c"fetch_steps", nearest, &steps)), [10.0, 20.0, 40.0, 80.0]);

        let between = texture(&whole, |how| {
            (how.flags, how.maxMipmapLevelClamp, how.mipmapFilterMode, how.filterMode) = (NORMALIZED, 3.0, linear, linear);
        });
        assert_eq!(first(images.read(c"fetch_level", between, &at(&[0.5, 1.25, 2.75]))), [15.0, 25.0, 70.0]);

        let limited = texture(&whole, |how| {
            (how.flags, how.minMipmapLevelClamp, how.maxMipmapLevelClamp) = (NORMALIZED, 1.0, 2.0);
        });
        assert_eq!(first(images.read(c"fetch_level", limited, &at(&[0.0, 1.0, 3.0]))), [20.0, 20.0, 40.0]);

        let shifted = texture(&whole, |how| {
            (how.flags, how.maxMipmapLevelClamp, how.mipmapLevelBias) = (NORMALIZED, 3.0, 1.0);
        });
        assert_eq!(first(images.read(c"fetch_level", shifted, &at(&[0.0, 1.0]))), [20.0, 40.0]);
        returns! { cuMipmappedArrayDestroy(array) => CUDA_SUCCESS; }
    });
}

#[test]
fn a_direction_meets_a_face_of_a_cube() {
    in_own_process(|| {
        raw_context();
        let images = Images::load();
        let (mut array, mut wrong) = (null_mut(), null_mut());
        returns! {
            cuArray3DCreate_v2(&mut wrong, &descriptor([4, 4, 5], CU_AD_FORMAT_FLOAT, CUBEMAP)) => CUDA_ERROR_INVALID_VALUE;
            cuArray3DCreate_v2(&mut wrong, &descriptor([4, 2, 6], CU_AD_FORMAT_FLOAT, CUBEMAP)) => CUDA_ERROR_INVALID_VALUE;
            cuArray3DCreate_v2(&mut wrong, &descriptor([4, 4, 8], CU_AD_FORMAT_FLOAT, CUBEMAP | LAYERED)) => CUDA_ERROR_INVALID_VALUE;
            cuArray3DCreate_v2(&mut array, &descriptor([2, 2, 6], CU_AD_FORMAT_FLOAT, CUBEMAP)) => CUDA_SUCCESS;
        }
        // Face, row, column.
        let values: Vec<f32> = (0..24).map(|at| (at / 4 * 100 + at / 2 % 2 * 10 + at % 2) as f32).collect();
        fill_floats(array, &values, [2, 2, 6]);
        let cube = texture(&of_array(array), |how| how.flags = NORMALIZED);
        // The largest coordinate, its sign, and where the others lie on the face.
        let at = [
            [1.0, 0.5, 0.5, 0.0],
            [1.0, -0.5, -0.5, 0.0],
            [-1.0, 0.5, 0.5, 0.0],
            [0.5, 1.0, 0.5, 0.0],
            [-0.5, 1.0, 0.25, 0.0],
            [0.5, -1.0, 0.5, 0.0],
            [0.5, 0.5, 1.0, 0.0],
            [-0.5, -0.5, 2.0, 0.0],
            [0.5, -0.5, -1.0, 0.0],
        ];
        let expected = [0.0, 11.0, 101.0, 211.0, 210.0, 301.0, 401.0, 410.0, 510.0];
        assert_eq!(first(images.read(c"fetch_cube", cube, &at)), expected);
        returns! { cuArrayDestroy(array) => CUDA_SUCCESS; }
    });
}

#[test]
fn the_border_has_a_color_and_srgb_becomes_linear() {
    in_own_process(|| {
        raw_context();
        let images = Images::load();
        let mut array = null_mut();
        returns! { cuArray3DCreate_v2(&mut array, &descriptor([2, 1, 0], CU_AD_FORMAT_FLOAT, 0)) => CUDA_SUCCESS; }
        fill_floats(array, &[3.0, 5.0], [2, 1, 1]);
        let border = texture(&of_array(array), |how| {
            how.addressMode = [sys::CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER; 3];
            how.borderColor = [0.25, 0.5, 0.75, 1.0];
            how.flags = NORMALIZED;
        });
        let at = [[0.25, 0.5, 0.0, 0.0], [-0.25, 0.5, 0.0, 0.0], [0.25, 1.5, 0.0, 0.0]];
        assert_eq!(first(images.read(c"fetch_level", border, &at)), [3.0, 0.25, 0.25]);

        let (mut bytes, mut shape) = (null_mut(), descriptor([4, 1, 0], CU_AD_FORMAT_UNSIGNED_INT8, 0));
        shape.NumChannels = 4;
        returns! { cuArray3DCreate_v2(&mut bytes, &shape) => CUDA_SUCCESS; }
        fill(bytes, &[0, 5, 64, 64, 128, 188, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0], [16, 1, 1]);
        let srgb = texture(&of_array(bytes), |how| how.flags = NORMALIZED | SRGB);
        let got = images.read(c"fetch_level", srgb, &[[0.125, 0.5, 0.0, 0.0], [0.375, 0.5, 0.0, 0.0]]);
        let linear = |value: f64| {
            let value = value / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        let expected = [[linear(0.0), linear(5.0), linear(64.0), 64.0 / 255.0], [linear(128.0), linear(188.0), 1.0, 1.0]];
        for (got, expected) in got.as_flattened().iter().zip(expected.as_flattened()) {
            // A GPU has a table. That of an H200 gives 129/256 for 188.
            assert!((f64::from(*got) - expected).abs() < 1.0 / 512.0, "{got} for {expected}");
        }
        returns! {
            cuArrayDestroy(array) => CUDA_SUCCESS;
            cuArrayDestroy(bytes) => CUDA_SUCCESS;
        }
    });
}

#[test]
fn a_kernel_reads_what_a_texture_reference_is_bound_to() {
    in_own_process(|| {
        raw_context();
        let images = Images::load();
        let (mut reference, mut array, mut found, mut none) = (null_mut(), null_mut(), null_mut(), null_mut());
        returns! {
            cuArray3DCreate_v2(&mut array, &descriptor([4, 2, 0], CU_AD_FORMAT_FLOAT, 0)) => CUDA_SUCCESS;
            cuModuleGetTexRef(&mut reference, images.module, c"image".as_ptr()) => CUDA_SUCCESS;
            cuModuleGetTexRef(&mut none, images.module, c"nothing".as_ptr()) => CUDA_ERROR_NOT_FOUND;
        }
        fill_floats(array, &[0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0], [4, 2, 1]);
        let clamp = sys::CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP;
        let linear = sys::CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;
        let mut flags = 9;
        returns! {
            cuTexRefSetArray(reference, array, OVERRIDE_FORMAT) => CUDA_SUCCESS;
            cuTexRefSetAddressMode(reference, 0, clamp) => CUDA_SUCCESS;
            cuTexRefSetAddressMode(reference, 1, clamp) => CUDA_SUCCESS;
            cuTexRefSetFilterMode(reference, sys::CUfilter_mode::CU_TR_FILTER_MODE_POINT) => CUDA_SUCCESS;
            cuTexRefSetFlags(reference, 0) => CUDA_SUCCESS;
            cuTexRefGetArray(&mut found, reference) => CUDA_SUCCESS;
            cuTexRefGetFlags(&mut flags, reference) => CUDA_SUCCESS;
        }
        assert_eq!((found, flags), (array, 0));
        let at = [[1.5, 0.5, 0.0, 0.0], [3.5, 1.5, 0.0, 0.0], [9.0, 9.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0]];
        assert_eq!(first(images.read(c"fetch_reference", 0, &at)), [1.0, 13.0, 13.0, 12.0]);
        // The same kernel reads in another way.
        returns! {
            cuTexRefSetFilterMode(reference, linear) => CUDA_SUCCESS;
            cuTexRefSetFlags(reference, NORMALIZED) => CUDA_SUCCESS;
            cuTexRefSetArray(reference, array, OVERRIDE_FORMAT) => CUDA_SUCCESS;
        }
        assert_eq!(first(images.read(c"fetch_reference", 0, &[[0.5, 0.5, 0.0, 0.0]])), [6.5]);

        let (mut memory, values, mut offset, mut address) = (0, [7.0_f32, 8.0, 9.0, 10.0], 9, 0);
        let format = CU_AD_FORMAT_FLOAT;
        returns! {
            cuMemAlloc_v2(&mut memory, 16) => CUDA_SUCCESS;
            cuMemcpyHtoD_v2(memory, values.as_ptr().cast(), 16) => CUDA_SUCCESS;
            cuTexRefSetFlags(reference, 0) => CUDA_SUCCESS;
            cuTexRefSetFormat(reference, format, 1) => CUDA_SUCCESS;
            cuTexRefSetAddress_v2(&mut offset, reference, memory, 16) => CUDA_SUCCESS;
            cuTexRefGetAddress_v2(&mut address, reference) => CUDA_SUCCESS;
        }
        assert_eq!((offset, address), (0, memory));
        assert_eq!(first(images.read(c"fetch_element", 0, &[[0.0; 4]; 4])), values);
    });
}

#[test]
fn a_kernel_writes_to_the_array_of_a_surface_reference() {
    in_own_process(|| {
        raw_context();
        let images = Images::load();
        let (mut reference, mut array, mut found, mut function) = (null_mut(), null_mut(), null_mut(), null_mut());
        returns! {
            cuArray3DCreate_v2(&mut array, &descriptor([4, 2, 0], CU_AD_FORMAT_UNSIGNED_INT32, SURFACE)) => CUDA_SUCCESS;
            cuModuleGetSurfRef(&mut reference, images.module, c"board".as_ptr()) => CUDA_SUCCESS;
            cuSurfRefSetArray(reference, array, 0) => CUDA_SUCCESS;
            cuSurfRefGetArray(&mut found, reference) => CUDA_SUCCESS;
            cuModuleGetFunction(&mut function, images.module, c"write_board".as_ptr()) => CUDA_SUCCESS;
        }
        assert_eq!(found, array);
        fill(array, &[0; 32], [16, 2, 1]);
        let mut row = [0u32; 4];
        let none = null_mut();
        returns! { cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, none, null_mut(), null_mut()) => CUDA_SUCCESS; }
        // SAFETY: all fields of the structure may be zero, once the types of memory are set.
        let mut copy: sys::CUDA_MEMCPY2D = unsafe {
            let mut copy = MaybeUninit::<sys::CUDA_MEMCPY2D>::zeroed();
            (&raw mut (*copy.as_mut_ptr()).srcMemoryType).write(sys::CUmemorytype::CU_MEMORYTYPE_ARRAY);
            (&raw mut (*copy.as_mut_ptr()).dstMemoryType).write(sys::CUmemorytype::CU_MEMORYTYPE_HOST);
            copy.assume_init()
        };
        (copy.srcArray, copy.srcY, copy.dstHost) = (array, 1, row.as_mut_ptr().cast());
        (copy.WidthInBytes, copy.Height) = (16, 1);
        returns! { cuMemcpy2D_v2(&copy) => CUDA_SUCCESS; }
        assert_eq!(row, [100, 101, 102, 103]);
    });
}

#[test]
fn senseless_images_are_refused() {
    let context = raw_context();
    let (mut array, mut level, mut object) = (null_mut(), null_mut(), 0);
    returns! { cuMipmappedArrayCreate(&mut array, &descriptor([8, 8, 0], CU_AD_FORMAT_FLOAT, 0), 2) => CUDA_SUCCESS; }
    let mut whole = resource(CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    whole.res.mipmap.hMipmappedArray = array;
    // SAFETY: all of its fields may be zero.
    let how: sys::CUDA_TEXTURE_DESC = unsafe { MaybeUninit::zeroed().assume_init() };
    if !on_gpu() {
        returns! {
            // A mipmapped array needs coordinates from 0 to 1. An H200's driver makes the object, and what it reads is not defined.
            cuTexObjectCreate(&mut object, &whole, &how, null()) => CUDA_ERROR_INVALID_VALUE;
            cuMipmappedArrayGetLevel(&mut level, array, 1) => CUDA_SUCCESS;
            cuArrayDestroy(level) => CUDA_ERROR_INVALID_HANDLE;
        }
    }
    returns! {
        cuMipmappedArrayDestroy(array) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}
