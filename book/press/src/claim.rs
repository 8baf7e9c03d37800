//! Claims: what a page says in words and what its records must say as well. A claim is checked when the book is built, and writes nothing.
//!
//! ```text
//! {{claim nvidia-h200/03-unroll.16777216x* fastest = fft-partitioned}}
//! {{claim nvidia-h200/06-matmul-half ring.time < wgmma.time / 1.05}}
//! {{claim nvidia-h200/02-conv-shared shared.time ~ naive.time within=3}}
//! {{claim sim-h200/03-unroll shared.bound_by = shared memory}}
//! {{claim because "the two loops have the same instructions"}}
//! ```
//!
//! A claim covers the sentences of its paragraph that stand before it, up to the claim before. The last form is for what no record shows.

use anyhow::{Context, Result, ensure};

use crate::archive::{Archive, Run};
use crate::directive::{Arguments, check, nearest};
use crate::facts::Facts;
use crate::number::Style;
use crate::quantity::Quantity;
use crate::values::{FACTS, words, worth};

/// How two values compare. Longer signs come first, because a shorter one begins them.
const SIGNS: [(&str, Compares); 6] = [
    ("<=", |a, b, _| a <= b),
    (">=", |a, b, _| a >= b),
    ("<", |a, b, _| a < b),
    (">", |a, b, _| a > b),
    ("~", |a, b, within| (a - b).abs() <= within * b.abs()),
    ("=", |a, b, _| a == b),
];

/// Compares two values; the third number is the share by which values that are about equal may differ.
type Compares = fn(f64, f64, f64) -> bool;

/// The percentage by which values that are about equal may differ: times reproduce within 2 %.
const WITHIN: f64 = 3.0;

/// Checks a claim.
///
/// # Errors
///
/// A claim that is false, with the values that make it so, or that cannot be understood.
pub fn verify(archive: &Archive, facts: &Facts, arguments: &mut Arguments) -> Result<()> {
    let within = arguments.number("within")?.unwrap_or(WITHIN) / 100.0;
    let (of, without) = (arguments.list("of"), arguments.list("without"));
    let records = arguments.word("a record")?;
    if records == "because" {
        let reason = arguments.word("a reason in quotes")?;
        ensure!(reason.contains(' '), "`{reason}` is no reason");
        return Ok(());
    }
    let claim = arguments.rest().join(" ");
    if records == FACTS {
        return compare(archive, facts, FACTS, &claim, within);
    }
    let equation = claim.split_once('=').map(|(left, right)| (left.trim(), right.trim()));
    for run in matching(archive, &records)? {
        match equation {
            Some((rank, stage)) if sign_of(rank).is_some() => first(archive, run, rank, stage, &of, &without)?,
            Some((left, right)) if left.ends_with(".bound_by") => {
                let bound_by = words(run, left).context("a part of the chip")??;
                ensure!(bound_by == right, "false: {} says that {left} is {bound_by}", run.name);
            }
            _ => compare(archive, facts, run.name, &claim, within)?,
        }
    }
    Ok(())
}

/// Returns the runs of that name. In it, `*` stands for any text.
fn matching<'a>(archive: &'a Archive, pattern: &str) -> Result<Vec<Run<'a>>> {
    let Some((start, end)) = pattern.split_once('*') else { return Ok(vec![archive.run(pattern)?]) };
    let matches = |name: &str| name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
    let runs = archive.runs_where(|run| matches(run.name));
    ensure!(!runs.is_empty(), "no record is named like {pattern}{}", nearest(pattern, archive.names()));
    Ok(runs)
}

/// Returns the sign with which a rank's row has the least time.
fn sign_of(rank: &str) -> Option<f64> {
    match rank {
        "fastest" => Some(1.0),
        "slowest" => Some(-1.0),
        _ => None,
    }
}

/// Checks that a stage is the fastest or slowest row.
///
/// Compares it with the rows `of` a list, if there is one, and with none of the list `without`.
fn first(archive: &Archive, run: Run, rank: &str, stage: &str, of: &[String], without: &[String]) -> Result<()> {
    let sign = sign_of(rank).context("this is no rank")?;
    for named in of.iter().chain(without).map(String::as_str).chain([stage]) {
        check("timed row", named, run.times().map(|(name, _)| name)).with_context(|| run.name.to_owned())?;
    }
    let is_asked = |name: &str| {
        (of.is_empty() || name == stage || of.iter().any(|of| of == name)) && !without.iter().any(|other| other == name)
    };
    let rows = run.times().filter(|(name, _)| is_asked(name));
    let (best, best_ms) = rows.min_by(|one, two| (sign * one.1).total_cmp(&(sign * two.1))).context("no row is asked for")?;
    archive.note_stage(run, stage);
    let ms = run.stage(stage)?.median_ms.context("no time")?;
    ensure!(
        best == stage,
        "false: the {rank} row of {} is {best} with {}, and {stage} takes {}",
        run.name,
        shown(Quantity::milliseconds(best_ms))?,
        shown(Quantity::milliseconds(ms))?
    );
    Ok(())
}

/// Checks a chain of comparisons.
fn compare(archive: &Archive, facts: &Facts, run: &str, claim: &str, within: f64) -> Result<()> {
    let (mut left, mut rest) = next(claim);
    let mut value = worth(archive, facts, run, left)?;
    ensure!(rest.is_some(), "`{claim}` compares nothing: it takes one of < > <= >= ~ = or `fastest =`");
    while let Some((sign, compares, after)) = rest {
        let (right, further) = next(after);
        let other = worth(archive, facts, run, right)?;
        ensure!(
            value.dimension == other.dimension,
            "{left} is {}, and {right} is {}",
            value.dimension.name(),
            other.dimension.name()
        );
        ensure!(
            compares(value.value, other.value, within),
            "false: {run} has {left} = {}, which is not {sign} {right} = {}",
            shown(value)?,
            shown(other)?
        );
        (left, value, rest) = (right, other, further);
    }
    Ok(())
}

/// Splits a claim at its first sign.
///
/// Returns the expression before it, and the sign with what follows.
fn next(claim: &str) -> (&str, Option<(&'static str, Compares, &str)>) {
    let signs = SIGNS.iter().filter_map(|(sign, compares)| Some((claim.find(sign)?, *sign, *compares)));
    // Of two signs at one place, the first of the list.
    match signs.min_by_key(|(at, ..)| *at) {
        Some((at, sign, compares)) => (claim[..at].trim(), Some((sign, compares, claim[at + sign.len()..].trim()))),
        None => (claim.trim(), None),
    }
}

fn shown(value: Quantity) -> Result<String> {
    Style::default().write(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verified(claim: &str) -> Result<()> {
        let facts = Facts::parse("[old]\nsource = \"a text\"\n[old.facts]\ngpu = \"827 ms\"\nshared = \"234 ms\"\n").unwrap();
        let mut arguments = Arguments::parse(claim)?;
        verify(&Archive::read()?, &facts, &mut arguments)?;
        arguments.finish()
    }

    #[test]
    fn what_records_say_can_be_claimed() {
        for claim in [
            "nvidia-h200/03-unroll shared.time > fft.time",
            "nvidia-h200/03-unroll fft.time * 2 < shared.time / 2 < shared.time",
            "nvidia-h200/03-unroll shared.time ~ shared.time * 1.02",
            "nvidia-h200/03-unroll shared.time ~ shared.time * 1.2 within=20",
            "nvidia-h200/03-unroll work.outputs * work.taps = work.multiply_adds",
            "nvidia-h200/03-unroll fastest = shared of=shared",
            "nvidia-h200/03-unroll slowest = shared of=fft",
            "nvidia-h200/03-unroll.16777216x* fft.time>fft-partitioned.time",
            "sim-9800gt/05-window-sums fused-global.bound_by = memory",
            "facts old.gpu > 3 * old.shared",
            "because \"both loops have the same instructions\"",
        ] {
            verified(claim).unwrap_or_else(|error| panic!("{claim}: {error:#}"));
        }
    }

    #[test]
    fn what_records_do_not_say_is_false_and_the_values_are_shown() {
        for (claim, message) in [
            ("nvidia-h200/03-unroll shared.time < fft.time", "false: nvidia-h200/03-unroll has shared.time = 2."),
            ("nvidia-h200/03-unroll fft.time < shared.time < fft.time", "which is not < fft.time = "),
            ("nvidia-h200/03-unroll shared.time ~ shared.time * 1.04", "is not ~ shared.time * 1.04"),
            ("nvidia-h200/03-unroll fastest = shared", "and shared takes 2."),
            ("nvidia-h200/03-unroll fastest = shared of=fft", "false: the fastest row of nvidia-h200/03-unroll is fft"),
            ("nvidia-h200/03-unroll.16777216x* fft.time < fft-partitioned.time", "false: nvidia-h200/03-unroll.16777216x"),
            ("sim-9800gt/05-window-sums fused-global.bound_by = issue", "fused-global.bound_by is memory"),
            ("nvidia-h200/03-unroll shared.time", "compares nothing"),
            ("nvidia-h200/03-unroll shared.time < 3", "is a time, and 3 is a plain number"),
            ("nvidia-h200/03-unroll fastest = sharde", "there is no timed row sharde; nearest: shared"),
            ("nvidia-h200/03-lost.* a.time < b.time", "no record is named like"),
            ("because", "a reason in quotes is missing"),
            ("because so", "`so` is no reason"),
        ] {
            let error = format!("{:#}", verified(claim).unwrap_err());
            assert!(error.contains(message), "{claim}: {error}");
        }
    }
}
