//! Long work: says before it starts how long it will take, and starts hours of it only for somebody who agrees.

use std::io::{IsTerminal, stderr, stdin};
use std::time::Duration;

use common::console::note;
use common::estimate::Estimate;
use common::stage::Stage;
use common::workload::Workload;
use oracles::progress::words;

use crate::error::{Error, Result};
use crate::mode::Setup;
use crate::session::Session;

/// Shorter runs are not announced.
const WORTH_TELLING: Duration = Duration::from_secs(4);
/// Longer runs need an agreement.
const LONG: Duration = Duration::from_secs(180);

/// Estimates a run of these stages, `times` times each, announces it if it is not short, and asks if it is long. Returns how long each stage
/// should take, if that is known.
///
/// # Errors
///
/// [`Error::Long`] when nobody agrees.
pub fn agree<W: Workload>(session: &Session<W>, stages: &[Stage<W>], setup: &Setup<W>, times: usize) -> Result<Vec<Duration>> {
    let Session { gpu, workload, others, .. } = session;
    let Some(estimate) = Estimate::of(gpu, stages, workload, setup.repeat)? else { return Ok(Vec::new()) };
    let total = estimate.with_others(others.len()).saturating_mul(times as u32);
    if total >= WORTH_TELLING {
        note(format_args!("time      about {} on this machine, by a small part of the work", words(total)));
    }
    if total < LONG || setup.agreed || confirmed() {
        return Ok(estimate.stages);
    }
    Err(Error::Long { time: words(total) })
}

/// Asks whoever is at the terminal, if there is one.
fn confirmed() -> bool {
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return false;
    }
    note(format_args!("Start? [y/N]"));
    let mut answer = String::new();
    stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
