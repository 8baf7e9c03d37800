//! Runs stages in order on one device: poison, run, verify, time, verify again.

use std::time::{Duration, Instant};

use oracles::output::{Downloaded, poison};
use oracles::{Accuracy, Expected, Mismatch, Oracle, check, progress};
use workloads::failure::{compared, without_defects};

use crate::device::sensors::Sensor;
use crate::device::timing::{self, Busy, Timing};
use crate::results::report::{Failure, Fault, Measured, Outcome, Place, Row};
use crate::stage::{Cpu, Run};
use crate::{Error, Gpu, Prepared, Result, Stage, Workload, library, observer};

/// Time limit for a CPU stage's repetitions. A CPU may be a thousand times slower than the others.
const CPU_TIME: Duration = Duration::from_secs(1);

/// Runs every stage on the same inputs, and times each `repeat` times; 0 only verifies.
/// Errors of a stage go into its row.
pub fn run<W: Workload>(gpu: &Gpu, stages: &[Stage<W>], workload: &W, repeat: usize) -> Result<Finished> {
    run_expecting(gpu, stages, workload, repeat, &[])
}

/// Runs like [`run`], with expected times of the stages to show progress.
pub fn run_expecting<W: Workload>(
    gpu: &Gpu,
    stages: &[Stage<W>],
    workload: &W,
    repeat: usize,
    expected: &[Duration],
) -> Result<Finished> {
    let mut runner = Runner::new(gpu, workload, repeat)?;
    let shown = if expected.is_empty() { progress::spinner("") } else { progress::expected(expected.iter().sum()) };
    let row = |(index, stage): (usize, &Stage<W>)| {
        let place = if stages.len() > 1 { format!(" ({} of {})", index + 1, stages.len()) } else { String::new() };
        shown.part(format!("{}{place}", stage.name), expected.get(index).copied().unwrap_or_default());
        runner.row(stage)
    };
    let (rows, outputs) = stages.iter().enumerate().map(row).unzip();
    Ok(Finished { rows, outputs })
}

/// Runs launches outside a chapter, such as a learner's kernel, like [`run`]. They are never skipped. Returns what was measured and the output.
pub fn run_launches<W: Workload>(
    gpu: &Gpu,
    workload: &W,
    repeat: usize,
    launches: &mut dyn Prepared<W>,
) -> Result<Result<(Measured, Vec<f32>), Failure>> {
    let mut runner = Runner::new(gpu, workload, repeat)?;
    Ok(runner.launches(workload.allowance(), launches).map_err(|error| runner.recover("the kernel", error)))
}

/// The rows and outputs of stages.
pub struct Finished {
    /// One row per stage.
    pub rows: Vec<Row>,
    /// The output of each row, if it is verified.
    pub outputs: Vec<Option<Vec<f32>>>,
}

struct Runner<'a, W: Workload> {
    gpu: &'a Gpu,
    workload: &'a W,
    buffers: W::Buffers,
    repeat: usize,
    sensor: Option<Sensor>,
    busy: Option<Busy>,
    /// The reason why the device takes no more work, after a fault.
    lost: Option<String>,
}

type Success = (Measured, Vec<f32>);

/// Function that compares an output with the expected one.
type Compare<'a> = dyn Fn(&Downloaded) -> Result<Accuracy, Box<Mismatch>> + 'a;

/// The reason why a stage has no measurements: its own failure, or an error on the way that the kernel may have caused.
enum RowError {
    Failure(Failure),
    Error(Error),
}

impl From<Error> for RowError {
    fn from(error: Error) -> Self {
        RowError::Error(error)
    }
}

impl From<Failure> for RowError {
    fn from(failure: Failure) -> Self {
        RowError::Failure(failure)
    }
}

impl<'a, W: Workload> Runner<'a, W> {
    fn new(gpu: &'a Gpu, workload: &'a W, repeat: usize) -> Result<Self> {
        let is_timed = repeat > 0 && !gpu.is_simulated();
        let busy = if is_timed { Some(Busy::new(gpu)?) } else { None };
        let sensor = if is_timed { Sensor::open(gpu) } else { None };
        Ok(Self { gpu, workload, buffers: workload.upload(gpu)?, repeat, sensor, busy, lost: None })
    }

    fn row(&mut self, stage: &Stage<W>) -> (Row, Option<Vec<f32>>) {
        let (outcome, output) = self.outcome(stage);
        let library = stage.library().filter(|_| output.is_some()).map(library::with_version);
        let least_bytes = stage.own_least_bytes(self.workload);
        (Row { name: stage.name, place: stage.place(), library, least_bytes, outcome }, output)
    }

    fn outcome(&mut self, stage: &Stage<W>) -> (Outcome, Option<Vec<f32>>) {
        let allowance = stage.allowance(self.workload);
        if let Run::Cpu(compute) = stage.run {
            return match self.cpu(compute, allowance) {
                Ok((measured, output)) => (Outcome::Verified(measured), Some(output)),
                Err(failure) => (Outcome::Failed(failure), None),
            };
        }
        if let Some(reason) = &self.lost {
            return (Outcome::NotRun(reason.clone()), None);
        }
        match stage.unmet(self.gpu, self.workload) {
            Ok(None) => {}
            Ok(Some(unmet)) => return (Outcome::Skipped(unmet), None),
            Err(error) => return (Outcome::Failed(self.recover(stage.name, error.into())), None),
        }
        self.gpu.take_requested();
        let result = match stage.run {
            Run::Launches(mut enqueue) => self.launches(allowance, &mut enqueue),
            Run::Prepared(prepare) | Run::Copies(prepare) => match prepare(self.gpu, self.workload) {
                Ok(mut copies) if stage.place() == Place::Between => self.copies(copies.as_mut()),
                Ok(mut launches) => self.launches(allowance, launches.as_mut()),
                Err(error) => Err(error.into()),
            },
            Run::Cpu(_) => unreachable!("handled above"),
        };
        let kernels = self.gpu.take_requested();
        match result {
            Ok((measured, output)) => (Outcome::Verified(Measured { kernels, ..measured }), Some(output)),
            Err(error) => (Outcome::Failed(self.recover(stage.name, error)), None),
        }
    }

    fn launches(&mut self, allowance: f64, stage: &mut dyn Prepared<W>) -> Result<Success, RowError> {
        let Self { gpu, workload, .. } = *self;
        W::output(&mut self.buffers).poison(gpu)?;
        observer::forget(gpu)?;
        stage.enqueue(gpu, workload, &mut self.buffers)?;
        gpu.stream.synchronize().map_err(Error::from)?;
        let seen = observer::take(gpu)?;
        without_defects(&seen.findings)?;
        let compare = |got: &Downloaded| compared(workload, got, allowance);
        let verified = match self.verified(stage, &compare, Failure::Mismatch) {
            Err(RowError::Failure(failure)) => return Err(failure.beside(seen.findings).into()),
            verified => verified?,
        };
        if self.has_times() {
            W::output(&mut self.buffers).poison(gpu)?;
        }
        let (measured, output) = self.timed(stage, &compare, verified)?;
        let (counters, launches_dropped, warnings) = (seen.counters.map(Box::new), seen.dropped, seen.findings);
        Ok((Measured { counters, launches: seen.launches, launches_dropped, warnings, ..measured }, output))
    }

    /// Returns the row of a stage that only copies. It copies the numbers 0, 1, 2, … back, which must arrive bit for bit. The
    /// inputs on the device are overwritten first, so the stage has to copy them.
    fn copies(&mut self, copies: &mut dyn Prepared<W>) -> Result<Success, RowError> {
        let Self { gpu, workload, .. } = *self;
        let result: Vec<f32> = (0..workload.output_len()).map(|index| index as f32).collect();
        let expected = Oracle::Whole(result.iter().map(|&value| Expected { value: value.into(), tolerance: 0.0 }).collect());
        let mut view = W::output(&mut self.buffers).view_mut();
        gpu.stream.memcpy_htod(&result, &mut view).map_err(Error::from)?;

        workload.spoil_inputs(gpu, &mut self.buffers)?;
        copies.enqueue(gpu, workload, &mut self.buffers)?;
        gpu.stream.synchronize().map_err(Error::from)?;
        let compare = |got: &Downloaded| check(got, &expected, 0.0);
        let verified = self.verified(copies, &compare, Failure::Mismatch)?;
        self.timed(copies, &compare, verified)
    }

    /// Returns true if stages are timed. The simulator's clock only says how fast the simulator is.
    fn has_times(&self) -> bool {
        self.repeat > 0 && !self.gpu.is_simulated()
    }

    /// Times a stage, if stages are timed, and verifies it again.
    fn timed(
        &mut self,
        stage: &mut dyn Prepared<W>,
        compare: &Compare<'_>,
        (accuracy, output): (Accuracy, Vec<f32>),
    ) -> Result<Success, RowError> {
        if !self.has_times() {
            return Ok((Measured::new(accuracy, None), output));
        }
        let Self { gpu, workload, repeat, .. } = *self;
        let (sensor, mut sensors) = (&self.sensor, None);
        let read = || sensors = sensor.as_ref().map(|sensor| Box::new(sensor.read()));
        let alone = timing::time_while(gpu, repeat, || stage.enqueue(gpu, workload, &mut self.buffers), read)?;
        let queued = match &mut self.busy {
            Some(busy) if stage.arrived()?.is_none() => {
                busy.time(gpu, repeat, alone, || stage.enqueue(gpu, workload, &mut self.buffers))?
            }
            _ => None,
        };
        let (accuracy, output) = self.verified(stage, compare, Failure::Unstable)?;
        let launched_ms = queued.map(|_| alone.median_ms);
        Ok((Measured { launched_ms, sensors, ..Measured::new(accuracy, queued.or(Some(alone))) }, output))
    }

    /// Checks the output, and that the device's inputs still equal the host's.
    fn verified(
        &mut self,
        stage: &dyn Prepared<W>,
        compare: &Compare<'_>,
        failure: fn(Box<Mismatch>) -> Failure,
    ) -> Result<(Accuracy, Vec<f32>), RowError> {
        let mut got = W::output(&mut self.buffers).download(self.gpu)?;
        if let Some(arrived) = stage.arrived()? {
            got.values = arrived;
        }
        let accuracy = compare(&got).map_err(failure)?;
        if !self.workload.inputs_intact(self.gpu, &mut self.buffers)? {
            return Err(Failure::InputsChanged.into());
        }
        Ok((accuracy, got.values))
    }

    fn cpu(&self, compute: Cpu<W>, allowance: f64) -> Result<Success, Failure> {
        let timed = || {
            let mut output = poison(self.workload.output_len());
            let start = Instant::now();
            compute(self.workload, &mut output);
            (start.elapsed(), Downloaded { values: output, breach: None })
        };
        let (first, got) = timed();
        let mut accuracy = check(&got, self.workload.oracle(), allowance).map_err(Failure::Mismatch)?;
        let mut last = got.values;
        if self.repeat == 0 {
            return Ok((Measured::new(accuracy, None), last));
        }
        let mut samples_ms = Vec::new();
        let begun = Instant::now();
        // The first run warms up the caches. It counts only if there is no time for another one.
        if first > CPU_TIME {
            samples_ms.push(1e3 * first.as_secs_f64());
        } else {
            while samples_ms.is_empty() || (samples_ms.len() < self.repeat && begun.elapsed() < CPU_TIME) {
                let (elapsed, got) = timed();
                samples_ms.push(1e3 * elapsed.as_secs_f64());
                accuracy = check(&got, self.workload.oracle(), allowance).map_err(Failure::Unstable)?;
                last = got.values;
            }
        }
        Ok((Measured::new(accuracy, Timing::of(&samples_ms, 1)), last))
    }

    /// Turns an error into a row's failure. Makes the device ready for the next stage if possible.
    fn recover(&mut self, stage: &str, error: RowError) -> Failure {
        let failure = match error {
            RowError::Failure(failure) => failure,
            RowError::Error(error) => {
                let (seen, error) = (observer::take(self.gpu).unwrap_or_default(), error.to_string());
                let finding = seen.fault;
                let fault = match finding.as_ref().map(ToString::to_string).or(seen.message) {
                    Some(message) => Fault { message, finding, error: Some(error) },
                    None => Fault { message: error, finding, error: None },
                };
                Failure::Fault(Box::new(fault))
            }
        };
        // The stage may have changed its inputs, so upload them again. After a fault, the driver refuses all further work.
        match self.workload.upload(self.gpu) {
            Ok(buffers) => self.buffers = buffers,
            Err(error) => self.lost = Some(format!("the device takes no more work after the fault in {stage}: {error}")),
        }
        failure
    }
}
