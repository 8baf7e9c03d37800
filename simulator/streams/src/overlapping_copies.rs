//! Exercise: copies that overlap with kernels.
//!
//! Four images are copied to the device, smoothed, and copied back. Two streams take turns: while one stream computes, the other one can
//! copy. But all images arrive in the same array on the device, so one stream overwrites what the other still reads. Your part is
//! `smooth_all`. Mend it so that the two streams can still work at the same time. The device has enough memory.
//!
//! `stream.alloc_zeros(VALUES)?` allocates an array for work in that stream, and it is freed in that stream when the variable goes out
//! of scope. The book's page on copies has the command that checks your answer.

use std::error::Error;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PinnedHostSlice, PushKernelArg};
use cudarc::nvrtc::Ptx;

/// Values of an image.
pub const VALUES: usize = 256;

/// An image in pinned memory of the host.
pub type Image = PinnedHostSlice<f32>;

/// A stream, as cudarc hands it out.
pub type Stream = Arc<CudaStream>;

/// Smooths all images: `results[i]` becomes the smoothed `images[i]`. This is your part.
pub fn smooth_all(
    kernel: &CudaFunction,
    streams: &[Stream; 2],
    images: &[Image],
    results: &mut [Image],
) -> Result<(), DriverError> {
    let mut input = streams[0].alloc_zeros(VALUES)?;
    let mut outputs = [streams[0].alloc_zeros(VALUES)?, streams[1].alloc_zeros(VALUES)?];
    // From now on, both streams may use the input.
    streams[0].synchronize()?;
    for i in 0..images.len() {
        let (stream, output) = (&streams[i % 2], &mut outputs[i % 2]);
        stream.memcpy_htod(&images[i], &mut input)?;
        smooth(kernel, stream, &input, output)?;
        stream.memcpy_dtoh(output, &mut results[i])?;
    }
    // The host waits before it looks at the results.
    streams[0].synchronize()?;
    streams[1].synchronize()
}

/// Enqueues the kernel on a stream.
pub fn smooth(kernel: &CudaFunction, stream: &Stream, from: &CudaSlice<f32>, to: &mut CudaSlice<f32>) -> Result<(), DriverError> {
    let mut launch = stream.launch_builder(kernel);
    launch.arg(from).arg(to).arg(&(VALUES as u32));
    // SAFETY: the kernel reads and writes `VALUES` floats, which both arrays have.
    unsafe { launch.launch(LaunchConfig::for_num_elems(VALUES as u32)) }.map(drop)
}

/// The type of `smooth_all`.
pub type Answer = fn(&CudaFunction, &[Stream; 2], &[Image], &mut [Image]) -> Result<(), DriverError>;

/// Makes four images, lets `smooth_all` smooth them, and checks the results.
pub fn run(smooth_all: Answer) -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    // SAFETY: cudarc would add events by itself. Here, `smooth_all` orders the streams.
    unsafe { context.disable_event_tracking() };
    let streams = [context.new_stream()?, context.new_stream()?];
    let kernel = context.load_module(Ptx::from_src(include_str!("smooth.ptx")))?.load_function("smooth")?;
    let pinned = |factor: usize| {
        // SAFETY: nobody reads the memory before the loop has written all of it.
        let mut image: Image = unsafe { context.alloc_pinned(VALUES) }?;
        image.as_mut_slice()?.iter_mut().enumerate().for_each(|(i, value)| *value = (factor * i * 37 % 101) as f32);
        Ok::<_, DriverError>(image)
    };
    let images = [pinned(1)?, pinned(2)?, pinned(3)?, pinned(4)?];
    let mut results = [pinned(0)?, pinned(0)?, pinned(0)?, pinned(0)?];

    smooth_all(&kernel, &streams, &images, &mut results)?;
    for (image, result) in images.iter().zip(&results) {
        let (image, result) = (image.as_slice()?, result.as_slice()?);
        let at = |i: usize| image[i % VALUES];
        // All these values have an exact f32.
        if !(0..VALUES).all(|i| result[i] == 0.25 * at(i + VALUES - 1) + 0.5 * at(i) + 0.25 * at(i + 1)) {
            return Err("wrong results".into());
        }
    }
    Ok(())
}
