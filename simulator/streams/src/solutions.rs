//! The solutions of the exercises.

use cudarc::driver::{CudaFunction, DriverError};

use crate::{fork_join, overlapping_copies};

// ANCHOR: fork-join
/// One event for the fork, and one for the join.
pub fn smooth_both(
    kernel: &CudaFunction,
    first: &fork_join::Stream,
    second: &fork_join::Stream,
    images: &mut [fork_join::Image; 2],
) -> Result<(), DriverError> {
    let [one, two] = images;
    let fork = first.record_event(None)?;
    second.wait(&fork)?;
    fork_join::smooth(kernel, first, one)?;
    fork_join::smooth(kernel, second, two)?;
    let join = second.record_event(None)?;
    first.wait(&join)
}
// ANCHOR_END: fork-join

// ANCHOR: overlapping-copies
/// Each stream has an input of its own. In a stream, everything happens in order, so its images can share it.
pub fn smooth_all(
    kernel: &CudaFunction,
    streams: &[overlapping_copies::Stream; 2],
    images: &[overlapping_copies::Image],
    results: &mut [overlapping_copies::Image],
) -> Result<(), DriverError> {
    let mut inputs = [streams[0].alloc_zeros(overlapping_copies::VALUES)?, streams[1].alloc_zeros(overlapping_copies::VALUES)?];
    let mut outputs = [streams[0].alloc_zeros(overlapping_copies::VALUES)?, streams[1].alloc_zeros(overlapping_copies::VALUES)?];
    for i in 0..images.len() {
        let (stream, input, output) = (&streams[i % 2], &mut inputs[i % 2], &mut outputs[i % 2]);
        stream.memcpy_htod(&images[i], input)?;
        overlapping_copies::smooth(kernel, stream, input, output)?;
        stream.memcpy_dtoh(output, &mut results[i])?;
    }
    streams[0].synchronize()?;
    streams[1].synchronize()
}
// ANCHOR_END: overlapping-copies
