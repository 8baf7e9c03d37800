//! What the chapters and their readers use of cudarc, on either driver: the simulator must answer as a GPU does.
//!
//! `simulator/simcuda/tests` tests what only the simulator promises.

use cudarc::driver::sys::{CUdevice_attribute, CUevent_flags, CUresult};
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

use crate::device::with_gpu;

/// Adds a number, and counts its threads in a global variable.
const MODULE: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 threads = 5;
.visible .entry add(.param .u64 data, .param .u32 length, .param .f32 number)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [length];
    ld.param.f32 %f1, [number];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    add.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
    atom.global.add.u32 %r2, [threads], 1;
DONE:
    ret;
}
";

#[test]
fn streams_copies_launches_and_events_work_together() {
    with_gpu(|gpu| {
        let module = gpu.context.load_module(Ptx::from_src(MODULE)).unwrap();
        let add = module.load_function("add").unwrap();
        let stream = gpu.context.new_stream().unwrap();
        let start = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).unwrap();
        let mut data = stream.clone_htod(&[1.0_f32, 2.0, 3.0]).unwrap();
        for number in [0.5_f32, 0.25] {
            let mut launch = stream.launch_builder(&add);
            launch.arg(&mut data).arg(&3_u32).arg(&number);
            // SAFETY: the kernel changes the first three floats of `data`, which has three.
            unsafe { launch.launch(LaunchConfig::for_num_elems(3)) }.unwrap();
        }
        let end = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).unwrap();
        assert_eq!(stream.clone_dtoh(&data).unwrap(), [1.75, 2.75, 3.75]);
        assert!(start.elapsed_ms(&end).unwrap() >= 0.0);
    });
}

#[test]
fn streams_wait_for_each_other() {
    with_gpu(|gpu| {
        let (first, second) = (gpu.context.new_stream().unwrap(), gpu.context.new_stream().unwrap());
        let host: Vec<u32> = (0..100_000).collect();
        let source = first.clone_htod(&host).unwrap();
        second.join(&first).unwrap();
        let copy = second.clone_dtod(&source).unwrap();
        assert_eq!(second.clone_dtoh(&copy).unwrap(), host);
    });
}

#[test]
fn parts_of_a_buffer_are_copied_and_cleared_without_touching_the_rest() {
    with_gpu(|gpu| {
        let mut data = gpu.stream.clone_htod(&[1_u32, 2, 3, 4, 5, 6]).unwrap();
        gpu.stream.memset_zeros(&mut data.slice_mut(1..3)).unwrap();
        gpu.stream.memcpy_htod(&[9, 8], &mut data.slice_mut(4..)).unwrap();
        assert_eq!(gpu.stream.clone_dtoh(&data.slice(..5)).unwrap(), [1, 0, 0, 4, 9]);
        assert_eq!(gpu.stream.clone_dtoh(&data).unwrap(), [1, 0, 0, 4, 9, 8]);
    });
}

#[test]
fn a_module_keeps_its_global_variables_from_launch_to_launch() {
    with_gpu(|gpu| {
        let module = gpu.context.load_module(Ptx::from_src(MODULE)).unwrap();
        let add = module.load_function("add").unwrap();
        let mut data = gpu.stream.alloc_zeros::<f32>(70).unwrap();
        for _ in 0..2 {
            let mut launch = gpu.stream.launch_builder(&add);
            launch.arg(&mut data).arg(&70_u32).arg(&1.0_f32);
            // SAFETY: the kernel changes the first 70 floats of `data`, which has 70.
            unsafe { launch.launch(LaunchConfig { grid_dim: (3, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 }) }.unwrap();
        }
        assert_eq!(gpu.stream.clone_dtoh(&data).unwrap(), [2.0; 70]);
        // The variable counts on from its initial value: read through a fresh launch's effect on it.
        let mut threads = module.get_global("threads", &gpu.stream).unwrap();
        let mut bytes = [0_u8; 4];
        gpu.stream.memcpy_dtoh(&threads, &mut bytes).unwrap();
        assert_eq!(u32::from_le_bytes(bytes), 5 + 2 * 70);
        gpu.stream.memcpy_htod(&7_u32.to_le_bytes(), &mut threads).unwrap();
        gpu.stream.memcpy_dtoh(&threads, &mut bytes).unwrap();
        assert_eq!(u32::from_le_bytes(bytes), 7);
    });
}

#[test]
fn attributes_are_those_of_a_cuda_device() {
    with_gpu(|gpu| {
        let attribute = |attribute| gpu.context.attribute(attribute).unwrap();
        assert_eq!(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
        assert!(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) > 0);
        assert!(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) >= 512);
        assert!(CudaContext::device_count().unwrap() >= 1);
        let (free, total) = gpu.context.mem_get_info().unwrap();
        assert!(free <= total && total > 0);
    });
}

#[test]
fn wrong_requests_are_refused_with_the_codes_of_a_real_driver_and_do_no_harm() {
    with_gpu(|gpu| {
        let module = gpu.context.load_module(Ptx::from_src(MODULE)).unwrap();
        assert_eq!(module.load_function("subtract").unwrap_err().0, CUresult::CUDA_ERROR_NOT_FOUND);
        let broken = gpu.context.load_module(Ptx::from_src(MODULE.replace("add.f32", "add.f33"))).unwrap_err();
        assert_eq!(broken.0, CUresult::CUDA_ERROR_INVALID_PTX);

        let add = module.load_function("add").unwrap();
        let mut data = gpu.stream.alloc_zeros::<f32>(1).unwrap();
        for config in [
            LaunchConfig { grid_dim: (0, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 },
            LaunchConfig { grid_dim: (1, 1, 1), block_dim: (4096, 1, 1), shared_mem_bytes: 0 },
            LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 1 << 30 },
        ] {
            let mut launch = gpu.stream.launch_builder(&add);
            launch.arg(&mut data).arg(&1_u32).arg(&1.0_f32);
            // SAFETY: no device can execute these launches, so the driver refuses them.
            let refused = unsafe { launch.launch(config) }.map(drop).unwrap_err();
            assert_eq!(refused.0, CUresult::CUDA_ERROR_INVALID_VALUE, "{config:?}");
        }
        // SAFETY: nothing reads the memory, because there is no such amount.
        let too_much = unsafe { gpu.stream.alloc::<u8>(1 << 50) }.map(drop).unwrap_err();
        assert_eq!(too_much.0, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(gpu.stream.clone_dtoh(&data).unwrap(), [0.0]);
    });
}
