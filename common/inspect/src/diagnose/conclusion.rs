//! The conclusions of a diagnosis, in sentences that a reader can check against the table.
//!
//! An experiment that gains almost nothing shows that the stage does not wait for that part. An experiment that gains much shows what the
//! part costs together with the others, and not that removing another part would gain nothing. If two parts overlap, removing each alone may
//! gain nothing, and removing both may gain much.

use run::units::{milliseconds, percent};

use super::trial::{Diagnosis, Effort, Kind};
use super::without::Loads;

/// The share of the whole from which an experiment gains nothing. Kernels that do the same work were seen to differ by 4 % for unknown
/// reasons (`kernels/NOTES.md`).
const NOTHING: f64 = 0.95;

/// The gain factor at which both kinds of loads hide each other. It compares removing both with the sum of removing each alone.
const OVERLAP: f64 = 2.0;

const HIDDEN: &str = "although removing one kind gains little: the two kinds of loads hide each other, so saving one of them helps little while the \
                      other is there";

/// The share of the whole's bound that counts as unchanged. It is for the simulator, whose counts have no spread.
const SAME: f64 = 0.995;

/// The work that is left in an experiment without all loads.
const LEFT: &str = "the rest, arithmetic and the instructions around it,";

/// Returns the conclusions, each a sentence or two.
pub fn sentences(diagnosis: &Diagnosis) -> Vec<String> {
    let mut sentences = Vec::new();
    for trial in &diagnosis.experiments {
        if let Err(reason) = &trial.effort {
            sentences.push(format!("{} is left out: {reason}", trial.name));
        }
    }
    match &diagnosis.whole.effort {
        Ok(Effort::Timed { .. }) => match drift(diagnosis) {
            Some(unsteady) => sentences.push(unsteady),
            None => {
                sentences.extend(by_times(diagnosis));
                sentences.extend(own_by_times(diagnosis));
            }
        },
        Ok(Effort::Counted { .. }) => sentences.extend(by_counts(diagnosis)),
        Err(_) => {}
    }
    if diagnosis.experiments.is_empty() {
        sentences.push("no kernel of the stage is ours and loads anything, so there was nothing to remove".to_owned());
    }
    sentences
}

/// Warns if the whole's time changed during the experiments: then the times in between say nothing.
fn drift(diagnosis: &Diagnosis) -> Option<String> {
    let (Ok(Effort::Timed { timing: first, .. }), Some(again)) = (&diagnosis.whole.effort, diagnosis.again) else { return None };
    let spread = (first.p90_ms - first.p10_ms + again.p90_ms - again.p10_ms) / 2.0;
    let apart = (first.median_ms - again.median_ms).abs();
    let [before, after] = [first, &again].map(|timing| milliseconds(timing.median_ms));
    (apart > spread && apart > (1.0 - NOTHING) * diagnosis.whole_ms()).then(|| {
        format!(
            "the whole took {before} before the experiments and {after} after them, which differ by more than their spread: the times in between \
             say nothing, so run it again"
        )
    })
}

fn by_times(diagnosis: &Diagnosis) -> Vec<String> {
    let share = |loads| {
        let trial = diagnosis.experiments.iter().find(|trial| trial.kind == Kind::Without(loads))?;
        diagnosis.share(trial)
    };
    let (global, shared, both) = (share(Loads::Global), share(Loads::Shared), share(Loads::Both));
    let mut sentences = Vec::new();
    for (name, share) in [("global", global), ("shared", shared)] {
        let Some(share) = share else { continue };
        let so = if share >= NOTHING {
            "they alone are not the bottleneck".to_owned()
        } else {
            format!("loading, and waiting for the loads, costs {} of it", percent(1.0 - share))
        };
        sentences.push(format!("without its {name} loads it takes {} of the time, so {so}", percent(share)));
    }
    let kinds = diagnosis.experiments.iter().filter(|trial| matches!(trial.kind, Kind::Without(_))).count();
    let gain = |share: f64| (1.0 - share).max(0.0);
    if let Some(both) = both {
        let alone = global.zip(shared).map(|(global, shared)| gain(global) + gain(shared));
        let so = if both >= NOTHING {
            format!("so {LEFT} is the bottleneck")
        } else if alone.is_some_and(|alone| gain(both) > OVERLAP * alone) {
            HIDDEN.to_owned()
        } else {
            format!("so {LEFT} needs that much")
        };
        sentences.push(format!("without either it takes {} of the time, {so}", percent(both)));
    } else if kinds == 1 && global.or(shared).is_some_and(|share| share >= NOTHING) {
        sentences.push(format!("{LEFT} is the bottleneck"));
    }
    sentences
}

/// Concludes from a chapter's own experiments.
fn own_by_times(diagnosis: &Diagnosis) -> Option<String> {
    let own = diagnosis.experiments.iter().filter(|trial| trial.kind == Kind::Own);
    let own: Vec<(&str, f64)> = own.filter_map(|trial| Some((trial.name.as_str(), diagnosis.share(trial)?))).collect();
    let each = own.iter().map(|(name, share)| format!("{name} {}", percent(*share))).collect::<Vec<_>>().join(", ");
    let total: f64 = own.iter().map(|(_, share)| share).sum();
    let compared = match total {
        _ if total < NOTHING => "less than together, so no part alone is the bottleneck, but doing them together is",
        _ if total <= 1.0 / NOTHING => "as long as together",
        _ => "so together they share work or wait at the same time",
    };
    match own.len() {
        0 => None,
        1 => Some(format!("share of the whole's time: {each}")),
        _ => Some(format!("shares of the whole's time: {each}. In sequence they would take {}, {compared}", percent(total))),
    }
}

/// Returns the conclusions from the counts alone: which part of the chip sets the least time, and how much an experiment gains at most.
fn by_counts(diagnosis: &Diagnosis) -> Vec<String> {
    let Ok(Effort::Counted { bound: whole, .. }) = &diagnosis.whole.effort else { return Vec::new() };
    let (Some(binding), Some(profile)) = (whole.binding(), diagnosis.profile) else { return Vec::new() };
    let whole = format!("by the counts, {} sets the least time that the whole needs on the {}", binding.unit, profile.product);
    let each = diagnosis.experiments.iter().filter_map(|trial| {
        let Ok(Effort::Counted { bound, .. }) = &trial.effort else { return None };
        let unit = bound.binding().map_or_else(|| "nothing".to_owned(), |part| part.unit.to_string());
        Some(match diagnosis.share(trial)? {
            share if share >= SAME => format!("{}: the same, set by {unit}", trial.name),
            share => format!("{}: {} of that, set by {unit}", trial.name, percent(share)),
        })
    });
    let limits = "these bounds ignore waiting, and integer arithmetic, which a compiler may remove: run the same command on a GPU to see \
                  what a part costs in time";
    std::iter::once(whole).chain(each).chain([limits.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use super::*;
    use run::timing::Timing;
    use simt::bound::bound;
    use simt::{Counters, Profile};

    fn timing(median_ms: f64) -> Timing {
        Timing { median_ms, p10_ms: median_ms * 0.99, p90_ms: median_ms * 1.01, samples: 15, runs_per_sample: 1 }
    }

    fn trial(name: &str, kind: Kind, effort: Result<Effort, String>) -> Trial {
        Trial { name: name.to_owned(), left: "something".to_owned(), kind, effort }
    }

    fn timed(name: &str, kind: Kind, median_ms: f64) -> Trial {
        trial(name, kind, Ok(Effort::Timed { timing: timing(median_ms), registers: 32 }))
    }

    fn diagnosis(whole: Trial, again: Option<f64>, experiments: Vec<Trial>) -> Diagnosis {
        Diagnosis { whole, again: again.map(timing), experiments, library: None, profile: Profile::named("h200") }
    }

    /// Returns the sentences about a stage of 100 ms. `times_ms` has its times without loads of each kind.
    fn without(times_ms: [Option<f64>; 3]) -> String {
        let kinds =
            [(Loads::Global, "without global loads"), (Loads::Shared, "without shared loads"), (Loads::Both, "without either")];
        let trials = kinds.into_iter().zip(times_ms);
        let trials = trials.filter_map(|((loads, name), ms)| Some(timed(name, Kind::Without(loads), ms?))).collect();
        sentences(&diagnosis(timed("whole", Kind::Whole, 100.0), Some(100.0), trials)).join("\n")
    }

    /// Times without each kind of load, and expected and forbidden words. The words are those of the conclusions.
    type Case<'a> = ([Option<f64>; 3], &'a [&'a str], &'a [&'a str]);

    #[test]
    fn times_without_loads_are_reported_as_what_they_show() {
        let (alone, rest) = ("they alone are not the bottleneck", "is the bottleneck");
        let (hidden, needs) = ("hide each other", "needs that much");
        let cases: [Case; 7] = [
            // Bound by arithmetic.
            (
                [Some(99.0), Some(97.0), Some(96.0)],
                &["99.0 %", "97.0 %", alone, "without either it takes 96.0 %", rest],
                &["costs", hidden],
            ),
            // Bound by shared memory.
            (
                [Some(98.0), Some(51.0), Some(50.0)],
                &[alone, "takes 51.0 % of the time, so loading", "costs 49.0 %", needs],
                &[rest, hidden],
            ),
            // A little of each, and together as much.
            ([Some(98.0), Some(96.0), Some(93.0)], &[alone, "without either it takes 93.0 %", needs], &["costs", rest, hidden]),
            // Each kind hides the other.
            ([Some(99.0), Some(97.0), Some(40.0)], &["without either it takes 40.0 %", hidden], &[needs, rest]),
            // There is only one kind.
            ([Some(40.0), None, None], &["takes 40.0 %", "costs 60.0 %"], &["shared", "either", rest, needs]),
            ([Some(104.0), None, None], &["takes 104 %", alone, "the rest", rest], &["costs", "either"]),
            // One kind could not be removed, so nothing is known about the rest.
            ([Some(60.0), Some(70.0), None], &["costs 40.0 %", "costs 30.0 %"], &["either", "the rest"]),
        ];
        for (times, present, absent) in cases {
            let text = without(times);
            for words in present {
                assert!(text.contains(words), "{times:?}: {words:?} is not in\n{text}");
            }
            for words in absent {
                assert!(!text.contains(words), "{times:?}: {words:?} is in\n{text}");
            }
        }
    }

    #[test]
    fn a_chapters_own_experiments_are_added_up() {
        let own = |times: &[f64]| {
            let trials = times.iter().enumerate().map(|(index, ms)| timed(&format!("part-{index}"), Kind::Own, *ms)).collect();
            sentences(&diagnosis(timed("whole", Kind::Whole, 100.0), Some(100.0), trials)).join("\n")
        };
        let less = own(&[25.0, 27.5]);
        assert!(less.contains("part-0 25.0 %, part-1 27.5 %. In sequence they would take 52.5 %, less than together"), "{less}");
        assert!(own(&[50.0, 50.0]).contains("as long as together"), "{}", own(&[50.0, 50.0]));
        assert!(own(&[80.0, 70.0]).contains("they share work or wait at the same time"), "{}", own(&[80.0, 70.0]));
        assert_eq!(own(&[25.0]), "share of the whole's time: part-0 25.0 %");
    }

    #[test]
    fn a_whole_that_drifted_and_experiments_left_out_are_reported() {
        let left_out = trial("without global loads", Kind::Without(Loads::Global), Err("addresses depend on it".to_owned()));
        let text = sentences(&diagnosis(timed("whole", Kind::Whole, 100.0), Some(108.0), vec![left_out])).join("\n");
        assert!(text.contains("without global loads is left out: addresses depend on it"), "{text}");
        assert!(text.contains("took 100 ms before the experiments and 108 ms after them"), "{text}");
        let unsteady = vec![timed("without global loads", Kind::Without(Loads::Global), 50.0)];
        let conclusions = sentences(&diagnosis(timed("whole", Kind::Whole, 100.0), Some(108.0), unsteady));
        assert!(conclusions.len() == 1 && conclusions[0].contains("run it again"), "{conclusions:?}");
        let steady = diagnosis(timed("whole", Kind::Whole, 100.0), Some(101.0), Vec::new());
        assert_eq!(sentences(&steady), ["no kernel of the stage is ours and loads anything, so there was nothing to remove"]);
    }

    #[test]
    fn on_a_gpu_the_table_has_times_and_the_whole_twice() {
        let left_out = trial("without global loads", Kind::Without(Loads::Global), Err("addresses depend on it".to_owned()));
        let trials = vec![left_out, timed("without shared loads", Kind::Without(Loads::Shared), 49.5)];
        let mut diagnosis = diagnosis(timed("whole", Kind::Whole, 100.0), Some(98.0), trials);
        diagnosis.library = Some("cuFFT");
        let text = diagnosis.text();
        let rows: Vec<Vec<&str>> =
            text.lines().filter(|line| line.starts_with('│')).map(|line| line.split('│').map(str::trim).collect()).collect();
        assert_eq!(rows[2][1..6], ["whole", "something", "100 ms ± 1.00 ms", "101 %", "32"], "{text}");
        assert_eq!(rows[3][1..6], ["without global loads", "something", "left out", "", ""], "{text}");
        assert_eq!(rows[4][1..6], ["without shared loads", "something", "49.5 ms ± 495 µs", "50.0 %", "32"], "{text}");
        assert_eq!(rows[5][1..6], ["whole, again", "something", "98.0 ms ± 980 µs", "99.0 %", ""], "{text}");
        assert!(text.contains("The kernels of cuFFT are not ours, and stay whole"), "{text}");
        assert!(text.contains("Only the whole stage is compared with the oracle"), "{text}");
    }

    #[test]
    fn counts_are_reported_as_bounds_and_never_as_times() {
        let h200 = Profile::named("h200").unwrap();
        let counted = |name: &str, kind, wavefronts| {
            let counters = Counters {
                f32_fma: 1 << 24,
                shared_load_requests: wavefronts,
                shared_load_wavefronts: wavefronts,
                ..Counters::default()
            };
            trial(name, kind, Ok(Effort::Counted { counters: Box::new(counters), bound: bound(&counters, 0, h200) }))
        };
        // 2^24 multiply-adds are 2^19 instructions of warps, four per clock; a wavefront takes a clock.
        let (whole, half) = (counted("whole", Kind::Whole, 1 << 20), counted("half", Kind::Own, 1 << 19));
        let without = counted("without shared loads", Kind::Without(Loads::Shared), 0);
        let same = counted("same", Kind::Own, 1 << 20);
        let conclusions = sentences(&diagnosis(whole, None, vec![without, half, same]));
        assert_eq!(
            conclusions[..4],
            [
                "by the counts, L1/shared sets the least time that the whole needs on the NVIDIA H200",
                "without shared loads: 12.5 % of that, set by issue",
                "half: 50.0 % of that, set by L1/shared",
                "same: the same, set by L1/shared",
            ]
        );
        assert!(conclusions.len() == 5 && conclusions[4].contains("ignore waiting"), "{conclusions:?}");
    }
}
