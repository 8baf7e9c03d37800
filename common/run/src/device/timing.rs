//! Times enqueued work on the device with CUDA events.
//!
//! The events are between runs on one busy stream. The host enqueues ahead of the device where a run takes longer than to enqueue it. Shorter
//! work may wait for the host, so it is timed again, from a full queue.

use std::time::{Duration, Instant};

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaFunction, CudaSlice, LaunchConfig, PushKernelArg};
use kernels::ceilings::FMA_CHAINS;

use crate::{Gpu, Result};

/// Least duration of the warm-up, in which caches, clocks, and allocators settle.
const WARM_UP: Duration = Duration::from_millis(100);
const WARM_UP_RUNS: usize = 2;
/// Shortest run that is timed alone, not in batches. The events' clock ticks every half microsecond, and the host needs a few
/// microseconds to enqueue a run.
const SHORTEST_SAMPLE_MS: f64 = 0.02;
const BATCH_MS: f64 = 0.2;
/// Runs below this time are also timed from a full queue: a run of several launches may wait for the host.
const SHORT_MS: f64 = 0.05;
/// Most rounds of the kernel that keeps the device busy. A host that needs longer is not waited for.
const MOST_ROUNDS: u32 = 1 << 18;

/// Times of repeated runs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Half of the samples were faster.
    pub median_ms: f64,
    /// A tenth of the samples were faster.
    pub p10_ms: f64,
    /// A tenth of the samples were slower.
    pub p90_ms: f64,
    /// Samples taken.
    pub samples: usize,
    /// How many runs a sample is the mean of; more than one if a single run is too short.
    pub runs_per_sample: usize,
}

impl Timing {
    /// Summarizes samples of `runs_per_sample` runs each; `None` if there are none.
    pub fn of(samples_ms: &[f64], runs_per_sample: usize) -> Option<Timing> {
        let mut sorted: Vec<f64> = samples_ms.iter().map(|sample| sample / runs_per_sample as f64).collect();
        sorted.sort_by(f64::total_cmp);
        Some(Timing {
            median_ms: quantile(&sorted, 0.5)?,
            p10_ms: quantile(&sorted, 0.1)?,
            p90_ms: quantile(&sorted, 0.9)?,
            samples: sorted.len(),
            runs_per_sample,
        })
    }
}

// ANCHOR: time
/// Times what `enqueue` puts on the device's stream: a warm-up, then `samples` samples (at least one).
///
/// On the simulator, events record the host's clock. The result then says how fast the simulator is, and no table may
/// show it as the time of a GPU. Fails also when a kernel fails while it is timed.
pub fn time(gpu: &Gpu, samples: usize, enqueue: impl FnMut() -> Result<()>) -> Result<Timing> {
    time_while(gpu, samples, enqueue, || ())
}

/// Times like [`time`], and calls `meanwhile` near the end.
///
/// The device has then done three quarters of the samples: sensors lag behind.
pub fn time_while(gpu: &Gpu, samples: usize, mut enqueue: impl FnMut() -> Result<()>, meanwhile: impl FnOnce()) -> Result<Timing> {
    let run_ms = warm_up(gpu, &mut enqueue)?;
    let runs_per_sample = if run_ms < SHORTEST_SAMPLE_MS { (BATCH_MS / run_ms.max(1e-4)).ceil() as usize } else { 1 };

    let marks = (0..=samples.max(1)).map(|_| event(gpu)).collect::<Result<Vec<_>>>()?;
    let (first, rest) = marks.split_first().expect("there is one mark more than samples");
    first.record(&gpu.stream)?;
    for mark in rest {
        for _ in 0..runs_per_sample {
            enqueue()?;
        }
        mark.record(&gpu.stream)?;
    }
    marks[marks.len() * 3 / 4].synchronize()?;
    meanwhile();
    gpu.stream.synchronize()?;

    let samples_ms = marks.windows(2).map(|pair| Ok(f64::from(pair[0].elapsed_ms(&pair[1])?))).collect::<Result<Vec<f64>>>()?;
    Ok(Timing::of(&samples_ms, runs_per_sample).expect("at least one sample was taken"))
}
// ANCHOR_END: time

/// A kernel behind which the host enqueues work.
///
/// It keeps the device busy meanwhile.
pub struct Busy {
    kernel: CudaFunction,
    result: CudaSlice<f32>,
    rounds: u32,
}

impl Busy {
    /// Loads the kernel.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let kernel = gpu.kernel(FMA_CHAINS)?;
        // A stage asks for its own kernels, and this is not one of them.
        gpu.take_requested();
        Ok(Self { kernel, result: gpu.stream.alloc_zeros(32)?, rounds: 64 })
    }

    /// Enqueues the kernel: one warp, so that the chip stays as cool as it is.
    fn enqueue(&mut self, gpu: &Gpu) -> Result<()> {
        let mut launch = gpu.stream.launch_builder(&self.kernel);
        launch.arg(&self.rounds).arg(&-1.0f32).arg(&0.7f32).arg(&mut self.result);
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel writes one word per thread, and `result` has 32.
        unsafe { launch.launch(config) }?;
        Ok(())
    }

    /// Times short work again, from a queue that is full. `alone` is its time as [`time`] measures it.
    ///
    /// While this kernel runs, the host enqueues a sample's runs, so the device has all of them at hand. `None` for work that is not short, and
    /// for work that the host cannot enqueue ahead of time, because some of it waits for the device.
    pub fn time(
        &mut self,
        gpu: &Gpu,
        samples: usize,
        alone: Timing,
        mut enqueue: impl FnMut() -> Result<()>,
    ) -> Result<Option<Timing>> {
        if alone.median_ms >= SHORT_MS {
            return Ok(None);
        }
        let runs = (BATCH_MS / alone.median_ms.max(1e-4)).ceil() as usize;
        let (start, end) = (event(gpu)?, event(gpu)?);
        let mut samples_ms = Vec::new();
        while samples_ms.len() < samples.max(1) {
            self.enqueue(gpu)?;
            start.record(&gpu.stream)?;
            for _ in 0..runs {
                enqueue()?;
            }
            end.record(&gpu.stream)?;
            let is_ahead = !start.try_is_complete()?;
            gpu.stream.synchronize()?;
            if is_ahead {
                samples_ms.push(f64::from(start.elapsed_ms(&end)?));
            } else if self.rounds >= MOST_ROUNDS {
                return Ok(None);
            } else {
                self.rounds *= 2;
            }
        }
        Ok(Timing::of(&samples_ms, runs))
    }
}

/// Runs until the device settles, and returns the shortest time in milliseconds.
fn warm_up(gpu: &Gpu, enqueue: &mut impl FnMut() -> Result<()>) -> Result<f64> {
    let (start, end) = (event(gpu)?, event(gpu)?);
    let begun = Instant::now();
    let mut runs = 0;
    let mut shortest_ms = f64::INFINITY;
    while runs < WARM_UP_RUNS || begun.elapsed() < WARM_UP {
        start.record(&gpu.stream)?;
        enqueue()?;
        end.record(&gpu.stream)?;
        shortest_ms = shortest_ms.min(f64::from(start.elapsed_ms(&end)?));
        runs += 1;
    }
    Ok(shortest_ms)
}

fn event(gpu: &Gpu) -> Result<CudaEvent> {
    Ok(gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?)
}

/// Returns the `q` quantile of sorted samples, interpolated between two samples.
fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let position = q * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    Some(below + (above - below) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated_between_samples() {
        let timing = Timing::of(&[5.0, 1.0, 3.0, 2.0, 4.0], 1).unwrap();
        assert_eq!((timing.p10_ms, timing.median_ms, timing.p90_ms), (1.4, 3.0, 4.6));
        assert_eq!(Timing::of(&[7.0], 1).unwrap().p90_ms, 7.0);
        assert_eq!(Timing::of(&[], 1), None);
    }

    #[test]
    fn a_sample_of_several_runs_is_their_mean() {
        let timing = Timing::of(&[8.0, 16.0], 8).unwrap();
        assert_eq!((timing.median_ms, timing.samples, timing.runs_per_sample), (1.5, 2, 8));
    }
}
