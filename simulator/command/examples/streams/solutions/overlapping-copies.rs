//! The solution of the exercise in `overlapping-copies.rs`: each stream has an input of its own. Within a stream, everything happens in order,
//! so its images can share it.

use std::error::Error;

use cudarc::driver::{CudaFunction, DriverError};

#[path = "../overlapping-copies.rs"]
#[expect(dead_code, reason = "it has an answer of its own")]
mod exercise;

use exercise::{Image, Stream, VALUES, run, smooth};

fn smooth_all(kernel: &CudaFunction, streams: &[Stream; 2], images: &[Image], results: &mut [Image]) -> Result<(), DriverError> {
    let mut inputs = [streams[0].alloc_zeros(VALUES)?, streams[1].alloc_zeros(VALUES)?];
    let mut outputs = [streams[0].alloc_zeros(VALUES)?, streams[1].alloc_zeros(VALUES)?];
    for i in 0..images.len() {
        let (stream, input, output) = (&streams[i % 2], &mut inputs[i % 2], &mut outputs[i % 2]);
        stream.memcpy_htod(&images[i], input)?;
        smooth(kernel, stream, input, output)?;
        stream.memcpy_dtoh(output, &mut results[i])?;
    }
    streams[0].synchronize()?;
    streams[1].synchronize()
}

fn main() -> Result<(), Box<dyn Error>> {
    run(smooth_all)
}
