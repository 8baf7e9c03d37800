//! One launch of a learner's kernel: at the size at which it is timed, or at a small one to look at.

use simt::WarpOrder;
use workloads::Problem;

use super::{Attempt, Stop, Task, Way};
use crate::device::{Device, Launch, Ran};

/// Runs a learner's kernel at the size at which it is timed. Returns the workload, too.
pub fn run_timed<P: Problem, D: Device<P>>(device: &D, task: Task<'_>) -> Result<(P, Ran), Stop<D::Error>> {
    let attempt = Attempt::prepare(device, task)?;
    attempt.run(&attempt.cases.timed, 13, 0, Way::Optimized(WarpOrder::Ascending))
}

/// Returns the first small launch with work for a whole warp.
///
/// That is a fixed size with an output for each lane, or else with a product. Returns the workload, too.
pub fn launch_to_show<P: Problem, D: Device<P>>(device: &D, task: Task<'_>, seed: u64) -> Result<(P, Launch), Stop<D::Error>> {
    let attempt = Attempt::prepare(device, task)?;
    let mut shown: Option<(u8, P)> = None;
    for case in &attempt.cases.fixed {
        let problem = P::of_case(case, seed).map_err(Stop::Unusable)?;
        let products = problem.work().multiply_adds;
        let lacks = u8::from(products < 32) + u8::from(products.min(problem.output_len() as u64) < 32);
        if shown.as_ref().is_none_or(|(least, _)| lacks < *least) {
            shown = Some((lacks, problem));
        }
    }
    let (_, problem) = shown.ok_or_else(|| Stop::Unusable("it has no fixed size".to_owned()))?;
    let launch = attempt.launch(&problem, &Way::Optimized(WarpOrder::Ascending))?;
    Ok((problem, launch))
}
