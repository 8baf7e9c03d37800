//! The solution of the exercise in `fork-join.rs`: one event for the fork, and one for the join.

use std::error::Error;

use cudarc::driver::{CudaFunction, DriverError};

#[path = "../fork-join.rs"]
#[expect(dead_code, reason = "it has an answer of its own")]
mod exercise;

use exercise::{Image, Stream, run, smooth};

fn smooth_both(kernel: &CudaFunction, first: &Stream, second: &Stream, images: &mut [Image; 2]) -> Result<(), DriverError> {
    let [one, two] = images;
    let fork = first.record_event(None)?;
    second.wait(&fork)?;
    smooth(kernel, first, one)?;
    smooth(kernel, second, two)?;
    let join = second.record_event(None)?;
    first.wait(&join)
}

fn main() -> Result<(), Box<dyn Error>> {
    run(smooth_both)
}
