//! Counts what a predict exercise asks for.

use checker::manifest::{Predict, Question};
use run::workload::Arithmetic;
use run::{Chapter, Gpu, Workload, runner};

use crate::error::Result;
use crate::exercise::Exercise;

/// Counts what the questions ask for, on the simulator. Some counts are per piece of this arithmetic.
/// Fails when the exercise cannot be used, or a stage cannot run.
pub fn count<W: Workload>(chapter: &Chapter<W>, exercise: &Exercise, predict: &Predict) -> Result<(Vec<f64>, Arithmetic)> {
    let unusable = |reason: String| exercise.unusable(reason);
    let gpu = Gpu::open(&predict.device.parse().map_err(run::Error::from)?)?;
    let workload = W::of_case(&predict.size, 13).map_err(unusable)?;
    let count = |question: &Question| {
        let stage = chapter.stage(&question.stage).map_err(|unknown| unusable(unknown.to_string()))?;
        let row = runner::run(&gpu, &[*stage], &workload, 0)?.rows.remove(0);
        let counted = row.counters().and_then(|counters| question.measure.of(counters, workload.work()));
        Ok(counted.ok_or_else(|| unusable(format!("{} has no {:?}: {:?}", stage.name, question.measure, row.outcome)))?)
    };
    let counted = predict.questions.iter().map(count).collect::<Result<_>>()?;
    Ok((counted, workload.work().arithmetic))
}
