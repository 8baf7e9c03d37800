//! How long a run will take, from what small parts of it take on this machine.
//!
//! `time of a stage = time of a part + time per multiply-add * multiply-adds of the rest`
//!
//! This is the only place with that formula. The time per multiply-add is the difference of two parts, because uploading, loading kernels and
//! comparing take their time for the smallest one. A part has the same data, template, window or filter where it can, because a kernel's
//! time per multiply-add depends on them. It is small, but takes `LEAST` or longer, so that a clock can tell.
//!
//! A GPU is hardly busy with a small part, so there the formula would be wrong by a factor of hundreds. Its kernels are expected to reach
//! at least `LEAST_SHARE` of what the device can do, which is measured before each run.

use std::time::{Duration, Instant};

use oracles::MOST_PRODUCTS_OF_A_WHOLE_ORACLE;

use crate::device::ceilings::Ceilings;
use crate::results::report::Place;
use crate::workload::Work;
use crate::{Gpu, Result, Stage, Workload, runner};

const FIRST_PART: u64 = 1 << 20;
const GROWTH: u64 = 4;
/// The least time of a part that says anything.
const LEAST: Duration = Duration::from_millis(40);
/// Least work of an estimated run, relative to its small part. Below it, the run would take as long as the estimate.
const WORTH_IT: f64 = 40.0;
/// Runs of a timed stage on a GPU besides its samples.
const WARM_UP: f64 = 3.0;
/// The share of its ceilings that a GPU's slowest kernels reach.
const LEAST_SHARE: f64 = 0.02;
/// Longest estimate, in seconds: thirty million years.
const FOREVER: f64 = 1e15;

/// The expected times of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Of computing what the results are compared with.
    pub oracle: Duration,
    /// Of each stage.
    pub stages: Vec<Duration>,
}

impl Estimate {
    /// Estimates a run of these stages; `None` if it has too little work to be worth it. `ceilings` are those of a GPU.
    pub fn of<W: Workload>(
        gpu: &Gpu,
        stages: &[Stage<W>],
        workload: &W,
        repeat: usize,
        ceilings: Option<Ceilings>,
    ) -> Result<Option<Self>> {
        let mut parts = Parts { whole: workload, parts: Vec::new() };
        let Some(first) = parts.get(0) else { return Ok(None) };
        let begun = Instant::now();
        first.oracle();
        // A larger oracle is only a sample.
        let largest = MOST_PRODUCTS_OF_A_WHOLE_ORACLE as f64 / first.work().multiply_adds.max(1) as f64;
        let oracle = scaled(begun.elapsed(), scale(workload, first).min(largest));
        let mut times = Vec::new();
        for stage in stages {
            times.push(if gpu.is_simulated() || stage.place() == Place::Host {
                parts.estimate(gpu, stage)?
            } else {
                ceilings.map_or(Duration::ZERO, |ceilings| on_a_gpu(workload.work(), ceilings, repeat))
            });
        }
        Ok(Some(Self { oracle, stages: times }))
    }

    /// Returns the time of the whole run.
    pub fn total(&self) -> Duration {
        self.stages.iter().fold(self.oracle, |sum, stage| sum.saturating_add(*stage))
    }

    /// Returns the expected time of each row. The first one waits for the oracle.
    pub fn rows(&self) -> Vec<Duration> {
        let mut rows = self.stages.clone();
        if let Some(first) = rows.first_mut() {
            *first = first.saturating_add(self.oracle);
        }
        rows
    }

    /// Adds `more` computations of the same size, by one stage each. Other channels of a sound are an example.
    pub fn with_others(&self, more: usize) -> Duration {
        let one = self.stages.iter().max().copied().unwrap_or_default().saturating_add(self.oracle);
        self.total().saturating_add(scaled(one, more as f64))
    }
}

/// Parts of a computation, each larger than the one before.
struct Parts<'a, W: Workload> {
    whole: &'a W,
    parts: Vec<W>,
}

impl<W: Workload> Parts<'_, W> {
    /// Returns this level's part and makes it if it is next; `None` if it would not be a small one.
    fn get(&mut self, level: usize) -> Option<&W> {
        if level == self.parts.len() {
            let last = self.parts.last().map_or(0, |part| part.work().multiply_adds);
            let part = self.whole.part(FIRST_PART * GROWTH.pow(level as u32));
            self.parts.extend(part.filter(|part| part.work().multiply_adds > last && scale(self.whole, part) >= WORTH_IT));
        }
        self.parts.get(level)
    }

    fn estimate(&mut self, gpu: &Gpu, stage: &Stage<W>) -> Result<Duration> {
        // The work and the time of each part.
        let mut measured: Vec<(f64, Duration)> = Vec::new();
        while let Some(part) = self.get(measured.len()) {
            if measured.is_empty() {
                // Loads the kernels.
                runner::run(gpu, std::slice::from_ref(stage), part, 0)?;
            }
            // The oracle is estimated apart.
            part.oracle();
            let time = time_of(gpu, stage, part)?;
            measured.push((part.work().multiply_adds as f64, time));
            if measured.len() > 1 && time >= LEAST {
                break;
            }
        }
        Ok(extrapolated(&measured, self.whole.work().multiply_adds as f64))
    }
}

/// Extrapolates the whole's time from the work and times of parts; the last two count.
fn extrapolated(measured: &[(f64, Duration)], whole: f64) -> Duration {
    match *measured {
        // Time that both parts take alike does not grow with the work.
        [.., (less_work, less_time), (work, time)] if less_time < time && less_work < work => {
            time.saturating_add(scaled(time - less_time, (whole - work) / (work - less_work)))
        }
        [.., (work, time)] => scaled(time, whole / work.max(1.0)),
        [] => Duration::ZERO,
    }
}

/// Returns the work of the whole in units of a part's.
fn scale<W: Workload>(whole: &W, part: &W) -> f64 {
    whole.work().multiply_adds as f64 / part.work().multiply_adds.max(1) as f64
}

fn time_of<W: Workload>(gpu: &Gpu, stage: &Stage<W>, part: &W) -> Result<Duration> {
    let stages = std::slice::from_ref(stage);
    let begun = Instant::now();
    let rows = runner::run(gpu, stages, part, 0)?.rows;
    Ok(match rows[0].median_ms() {
        Some(median_ms) => Duration::from_secs_f64(median_ms / 1e3),
        None => begun.elapsed(),
    })
}

/// Returns a slow kernel's time on a GPU with these ceilings. All of its samples count.
fn on_a_gpu(work: Work, ceilings: Ceilings, repeat: usize) -> Duration {
    let arithmetic = ceilings.multiply_adds(work.arithmetic).map_or(0.0, |per_s| work.multiply_adds as f64 / per_s);
    let memory = work.bytes as f64 / ceilings.bytes_per_s;
    let runs = repeat as f64 + WARM_UP;
    Duration::from_secs_f64((arithmetic.max(memory) / LEAST_SHARE * runs).clamp(0.0, FOREVER))
}

fn scaled(time: Duration, factor: f64) -> Duration {
    Duration::from_secs_f64((time.as_secs_f64() * factor).min(FOREVER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Arithmetic;

    #[test]
    fn a_run_takes_its_stages_and_its_oracle_and_other_parts_one_stage_each() {
        let s = Duration::from_secs;
        let estimate = Estimate { oracle: s(2), stages: vec![s(3), s(10)] };
        assert_eq!((estimate.total(), estimate.with_others(0), estimate.with_others(2)), (s(15), s(15), s(39)));
        assert_eq!(estimate.rows(), [s(5), s(10)]);
        assert_eq!(scaled(s(1_000_000), 1e30), Duration::from_secs_f64(FOREVER));
    }

    #[test]
    fn what_does_not_grow_with_the_work_is_not_scaled() {
        let ms = Duration::from_millis;
        assert_eq!(extrapolated(&[(100.0, ms(50)), (400.0, ms(80))], 4400.0), ms(480));
        // One part alone, or a clock that went backward.
        assert_eq!(extrapolated(&[(400.0, ms(80))], 4000.0), ms(800));
        assert_eq!(extrapolated(&[(100.0, ms(90)), (400.0, ms(80))], 4000.0), ms(800));
    }

    #[test]
    fn on_a_gpu_the_original_size_is_seconds_and_a_million_times_as_much_is_days() {
        let ceilings = Ceilings { flops: 60e12, bytes_per_s: 4e12, byte_multiply_adds: None };
        let work = |multiply_adds| Work { multiply_adds, bytes: 1 << 30, arithmetic: Arithmetic::F32 };
        let original = on_a_gpu(work(9_663_676_416), ceilings, 15);
        assert!(original > Duration::from_millis(100) && original < Duration::from_secs(1), "{original:?}");
        let long = on_a_gpu(work(10_000_000_000_000_000), ceilings, 15);
        assert!(long > Duration::from_secs(86_400), "{long:?}");
    }
}
