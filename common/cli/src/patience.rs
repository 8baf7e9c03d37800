//! Long work: says before it starts how long it will take, and starts hours of it only for a user who agrees.

use std::io::{IsTerminal, stderr, stdin};
use std::time::Duration;

use oracles::progress::words;
use run::ceilings::Ceilings;
use run::console::note;
use run::estimate::Estimate;
use run::{Stage, Workload};

use crate::error::{Error, Result};
use crate::mode::Setup;
use crate::session::Session;

const WORTH_TELLING: Duration = Duration::from_secs(4);
const LONG: Duration = Duration::from_secs(180);

/// Estimates a run of these stages, and asks if it is long. Each stage runs `times` times. A run that is not short is announced. Returns how
/// long each stage should take, if that is known. `ceilings` are those of a GPU.
/// Fails with [`Error::Long`] if the user does not agree.
pub fn agree<W: Workload>(
    session: &Session<W>,
    stages: &[Stage<W>],
    setup: &Setup<W>,
    times: usize,
    ceilings: Option<Ceilings>,
) -> Result<Vec<Duration>> {
    let Session { gpu, workload, others, .. } = session;
    let Some(estimate) = Estimate::of(gpu, stages, workload, setup.flags.repeat.into(), ceilings)? else { return Ok(Vec::new()) };
    let total = estimate.with_others(others.len()).saturating_mul(times as u32);
    let answer = || -> bool {
        note(format_args!("This will take about {} on this machine. Start? [y/N]", words(total)));
        let mut answer = String::new();
        stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
    };
    let user_is_there = stdin().is_terminal() && stderr().is_terminal();
    match verdict(total, setup.flags.yes, user_is_there) {
        Verdict::Start => {}
        Verdict::Announce => note(format_args!("time      about {}, by a small part of the work", words(total))),
        Verdict::Ask if answer() => {}
        Verdict::Ask | Verdict::Refuse => return Err(Error::Long { time: words(total) }),
    }
    Ok(estimate.rows())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Start,
    Announce,
    Ask,
    Refuse,
}

fn verdict(total: Duration, agreed: bool, user_is_there: bool) -> Verdict {
    match (agreed, user_is_there) {
        _ if total < WORTH_TELLING => Verdict::Start,
        (true, _) => Verdict::Announce,
        _ if total < LONG => Verdict::Announce,
        (false, true) => Verdict::Ask,
        (false, false) => Verdict::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_work_needs_an_agreement_and_short_work_is_not_even_announced() {
        for (seconds, agreed, user_is_there, expected) in [
            (3, false, false, Verdict::Start),
            (3, true, true, Verdict::Start),
            (60, false, false, Verdict::Announce),
            (60, false, true, Verdict::Announce),
            (3600, false, true, Verdict::Ask),
            (3600, false, false, Verdict::Refuse),
            (3600, true, false, Verdict::Announce),
        ] {
            assert_eq!(verdict(Duration::from_secs(seconds), agreed, user_is_there), expected, "{seconds} s");
        }
    }
}
