//! The profile of a GPU that nobody uses anymore, in a process of its own, because a process has one profile.

use cudarc::driver::sys::CUdevice_attribute_enum::*;
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};

use crate::support::{self, returns, with_simulator};

#[test]
fn a_program_sees_the_first_generation() {
    with_simulator(|simulator| {
        simulator.set_profile("9800gt").unwrap();
        let context = CudaContext::new(0).unwrap();
        assert!(context.name().unwrap().contains("9800"));
        assert_eq!(context.compute_capability().unwrap(), (1, 1));
        let attribute = |attribute| context.attribute(attribute).unwrap();
        assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 16 << 10);
        assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 512);
        assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 0);
        assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), 0);
        assert!(!context.has_async_alloc(), "cudarc then allocates in another way");

        // PTX from today's compiler, which does not support this GPU.
        let stream = context.default_stream();
        let add = support::load(&context, support::VECTORS).load_function("add").unwrap();
        let ones = stream.clone_htod(&[1.0f32; 300]).unwrap();
        let mut sums = stream.alloc_zeros::<f32>(300).unwrap();
        let mut launch = |threads| {
            let mut launch = stream.launch_builder(&add);
            launch.arg(&mut sums).arg(&ones).arg(&ones).arg(&300u32);
            let config =
                LaunchConfig { grid_dim: (300u32.div_ceil(threads), 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: the kernel reads and writes 300 elements, which the buffers have.
            unsafe { launch.launch(config) }
        };
        assert!(launch(513).is_err());
        launch(512).unwrap();
        assert_eq!(stream.clone_dtoh(&sums).unwrap(), [2.0; 300]);
        returns! {
            cuMemAllocAsync(&mut 0, 64, std::ptr::null_mut()) => CUDA_ERROR_NOT_SUPPORTED;
            cuMemAllocManaged(&mut 0, 64, 1) => CUDA_ERROR_NOT_SUPPORTED;
        }
    });
}
