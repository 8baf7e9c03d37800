//! The arguments that a kernel can get by name: a workload's sizes and its arrays.
//!
//! A chapter spells out its launches, because they are what its reader came to see. The launch of an exercise is described in a file, so
//! that an exercise can be added without any Rust. This module looks up the names in that file.

use cudarc::driver::{CudaFunction, CudaStream, DevicePtr, LaunchArgs, PushKernelArg};

/// One parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of an array on the device.
    Pointer(u64),
    /// A size: `unsigned`, or `int`.
    Size(u32),
    /// A sum of 64 bits: `long long`.
    Sum(i64),
}

impl Argument {
    /// An array of the stream that everything of ours is enqueued on, so that cudarc has nothing to wait for.
    pub fn array<T>(array: &impl DevicePtr<T>, stream: &CudaStream) -> Self {
        let (address, _no_other_stream) = array.device_ptr(stream);
        Argument::Pointer(address)
    }
}

/// A launch of `kernel` with these arguments, in this order, yet to be made.
pub fn launch<'a>(stream: &'a CudaStream, kernel: &'a CudaFunction, arguments: &'a [Argument]) -> LaunchArgs<'a> {
    let mut launch = stream.launch_builder(kernel);
    for argument in arguments {
        match argument {
            Argument::Pointer(address) => launch.arg(address),
            Argument::Size(size) => launch.arg(size),
            Argument::Sum(sum) => launch.arg(sum),
        };
    }
    launch
}
