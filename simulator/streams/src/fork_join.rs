//! Exercise: a fork and a join.
//!
//! Two images are smoothed at the same time, each in a stream of its own. Your part is `smooth_both`. Two things are missing there:
//!
//! - The fork: `first` copies both images to the device. `second` must wait for these copies.
//! - The join: after `smooth_both`, `first` copies both results back. So `first` must wait for the work of `second`.
//!
//! `let event = stream.record_event(None)?` marks the point that a stream has reached. `other.wait(&event)?` lets another stream wait until
//! that point is reached. The host does not wait. The book's page on events has the command that checks your answer.

use std::error::Error;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

/// Values of an image.
const VALUES: usize = 256;

/// How often each image is smoothed.
const STEPS: usize = 8;

/// Two arrays on the device. Each step reads one of them and writes the other.
pub type Image = [CudaSlice<f32>; 2];

/// A stream, as cudarc hands it out.
pub type Stream = Arc<CudaStream>;

/// Smooths both images. This is your part.
pub fn smooth_both(kernel: &CudaFunction, first: &Stream, second: &Stream, images: &mut [Image; 2]) -> Result<(), DriverError> {
    let [one, two] = images;
    smooth(kernel, first, one)?;
    smooth(kernel, second, two)?;
    Ok(())
}

/// Enqueues all steps of one image on a stream.
pub fn smooth(kernel: &CudaFunction, stream: &Stream, [from, to]: &mut Image) -> Result<(), DriverError> {
    for step in 0..STEPS {
        let (from, to) = if step % 2 == 0 { (&*from, &mut *to) } else { (&*to, &mut *from) };
        let mut launch = stream.launch_builder(kernel);
        launch.arg(from).arg(to).arg(&(VALUES as u32));
        // SAFETY: the kernel reads and writes `VALUES` floats, which both arrays have.
        unsafe { launch.launch(LaunchConfig::for_num_elems(VALUES as u32)) }?;
    }
    Ok(())
}

/// The type of `smooth_both`.
pub type Answer = fn(&CudaFunction, &Stream, &Stream, &mut [Image; 2]) -> Result<(), DriverError>;

/// Lets `smooth_both` smooth two images between their copies, and checks the results.
pub fn run(smooth_both: Answer) -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    // SAFETY: cudarc would add events by itself. Here, `smooth_both` orders the streams.
    unsafe { context.disable_event_tracking() };
    let (first, second) = (context.new_stream()?, context.new_stream()?);
    let kernel = context.load_module(Ptx::from_src(include_str!("smooth.ptx")))?.load_function("smooth")?;
    let image = || Ok::<_, DriverError>([first.alloc_zeros(VALUES)?, first.alloc_zeros(VALUES)?]);
    let mut images = [image()?, image()?];
    // From now on, every stream may use this memory.
    first.synchronize()?;

    let inputs = [1, 2].map(|factor| (0..VALUES).map(|i| (factor * i * 37 % 101) as f32).collect::<Vec<f32>>());
    for (input, image) in inputs.iter().zip(&mut images) {
        first.memcpy_htod(input, &mut image[0])?;
    }
    smooth_both(&kernel, &first, &second, &mut images)?;
    for (mut expected, image) in inputs.into_iter().zip(&images) {
        for _ in 0..STEPS {
            let at = |i: usize| expected[i % VALUES];
            expected = (0..VALUES).map(|i| 0.25 * at(i + VALUES - 1) + 0.5 * at(i) + 0.25 * at(i + 1)).collect();
        }
        // The last step has written the first array. All these values have an exact f32.
        if first.clone_dtoh(&image[0])? != expected {
            return Err("wrong results".into());
        }
    }
    Ok(())
}
