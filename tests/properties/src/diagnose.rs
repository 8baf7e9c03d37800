//! Stages with part of their work removed: the removed instructions are gone, and all others execute as often as before.

use ::window_sums::tiles::{ROW_SCAN, SHARED_TILE, SLIDING, TILE_SCAN, VECTOR};
use ::window_sums::{MULTIPLY, REGISTERS};
use inspect::diagnose::without::Loads;
use inspect::diagnose::{Diagnosis, Effort, Kind, diagnose};
use oracles::output::POISON;
use run::report::Place;
use run::stage::{Experiment, Run, Stage};
use run::workload::convolution::Size;
use run::workload::{Border, Convolution, Correlation, WindowSums, Workload, correlation, window_sums};
use simt::Counters;

use crate::device::with_gpu;

/// Runs a stage and its experiments; `None` where the device lacks what it needs.
fn diagnosed<W: Workload>(stage: &Stage<W>, experiments: &[Experiment<W>], workload: &W) -> Option<Diagnosis> {
    with_gpu(|gpu| match diagnose(gpu, stage, experiments, workload, 1).unwrap() {
        Ok(diagnosis) => Some(diagnosis),
        Err(row) => {
            assert!(!row.failed(), "{}: {:?}", row.name, row.outcome);
            None
        }
    })
}

/// Returns the counts that must not change when loads are removed. Wavefronts of stores may: an asynchronous copy takes what it writes with it.
fn kept(counters: &Counters) -> [u64; 9] {
    let c = counters;
    [
        c.f32_fma,
        c.f32_other,
        c.dp4a,
        c.tensor_multiply_adds,
        c.global_store_sectors,
        c.shared_store_requests,
        c.const_load_requests,
        c.barriers,
        c.branches,
    ]
}

/// Removes loads from each stage. Returns what could be removed from which stage.
fn loads_go_and_the_rest_stays<W: Workload>(stages: &[Stage<W>], workload: &W) -> Vec<(Stage<W>, Vec<Loads>)> {
    let launching = stages.iter().filter(|stage| stage.place() == Place::Device);
    let found = launching.filter_map(|stage| {
        let diagnosis = diagnosed(stage, &[], workload)?;
        let text = diagnosis.text();
        let whole = diagnosis.whole.effort.as_ref().unwrap();
        let of_stage = |trial: &inspect::diagnose::Trial| {
            let Kind::Without(loads) = trial.kind else { panic!("{}: {trial:?}", stage.name) };
            let effort = match &trial.effort {
                Ok(effort) => effort,
                Err(reason) => {
                    let is_refused = match stage.name {
                        // Its tensor cores read shared memory themselves.
                        "wgmma" => reason.ends_with(", which cannot be replaced"),
                        // Its branches wait for barriers in shared memory, through which the pixels pass, too.
                        "wgmma-roles" => reason.contains(" depend on all ") || reason.ends_with(", which cannot be replaced"),
                        // As the compiler for an H200 makes it.
                        "fft" => reason.starts_with("addresses or branches depend on all"),
                        _ => false,
                    };
                    assert!(is_refused, "{}, {}: {reason}", stage.name, trial.name);
                    return None;
                }
            };
            if let (Some(whole), Some(counters)) = (whole.counters(), effort.counters()) {
                let counted = (counters.global_load_sectors, counters.shared_load_wavefronts);
                let expected = match loads {
                    Loads::Global => (0, whole.shared_load_wavefronts),
                    Loads::Shared => (whole.global_load_sectors, 0),
                    Loads::Both => (0, 0),
                };
                assert_eq!(counted, expected, "{}, {}", stage.name, trial.name);
                assert_eq!(kept(counters), kept(whole), "{}, {}", stage.name, trial.name);
            }
            assert!(text.contains(&trial.name), "{text}");
            Some(loads)
        };
        Some((*stage, diagnosis.experiments.iter().filter_map(of_stage).collect()))
    });
    found.collect()
}

#[test]
fn loads_can_be_taken_out_of_every_stage_and_nothing_else_goes() {
    use Loads::{Both, Global, Shared};
    let conv = Convolution::random(Size { outputs: 300, taps: 300 }, 13);
    let all = vec![Global, Shared, Both];
    let stages = loads_go_and_the_rest_stays(conv_naive::CHAPTER.stages, &conv);
    assert!(stages.iter().any(|(stage, _)| *stage == conv_naive::NAIVE), "the kernels of chapter 01 were tried");
    for (stage, loads) in stages {
        assert_eq!(loads, [Global], "{}: a kernel of chapter 01 uses no shared memory", stage.name);
    }
    let stages = loads_go_and_the_rest_stays(conv_shared::CHAPTER.stages, &conv);
    assert_eq!(stages.len(), conv_shared::CHAPTER.stages.len());
    for (stage, loads) in stages {
        let expected = if [conv_naive::NAIVE, conv_shared::WARP_PER_OUTPUT].contains(&stage) { &[Global][..] } else { &all };
        assert_eq!(loads, expected, "{}", stage.name);
    }
    for (stage, loads) in loads_go_and_the_rest_stays(unroll::CHAPTER.stages, &conv) {
        let expected = if stage == unroll::fft::FFT { &[Global][..] } else { &all };
        assert_eq!(loads, expected, "{}", stage.name);
    }
    let size = correlation::Size { image: (60, 44), template: (13, 10) };
    let stages = loads_go_and_the_rest_stays(correlation_sm_aware::CHAPTER.stages, &Correlation::random(size, Border::Clamp, 13));
    for (stage, loads) in stages {
        if stage.name == "fft" {
            // Only a GPU runs it.
            continue;
        }
        let only_global = ["global", "constant", "wgmma"].contains(&stage.name);
        let expected = if only_global { &[Global][..] } else { &all };
        assert_eq!(loads, if stage.name == "wgmma-roles" { &[] } else { expected }, "{}", stage.name);
    }
    let sums = WindowSums::random(window_sums::Size { width: 600, height: 2 }, 15, Border::Valid, 13).unwrap();
    // Those before them branch on what they load, in `powf`.
    let stages = [MULTIPLY, REGISTERS, SHARED_TILE, SLIDING, VECTOR, ROW_SCAN, TILE_SCAN];
    for (stage, loads) in loads_go_and_the_rest_stays(&stages, &sums) {
        let expected = if [MULTIPLY, REGISTERS].contains(&stage) { &[Global][..] } else { &all };
        assert_eq!(loads, expected, "{}", stage.name);
    }
}

#[test]
fn kernels_are_whole_again_after_a_diagnosis() {
    let conv = Convolution::random(Size { outputs: 300, taps: 300 }, 13);
    diagnosed(&conv_shared::SHARED, &[], &conv).unwrap();
    // Its first line is verified.
    diagnosed(&conv_shared::SHARED, &[], &conv).unwrap();
}

#[test]
fn an_experiment_of_a_chapter_stands_beside_its_stage_and_need_not_be_right() {
    let conv = Convolution::random(Size { outputs: 300, taps: 300 }, 13);
    let Run::Launches(naive) = conv_naive::NAIVE.run else { panic!("naive launches") };
    let experiment = |stage, name, run| Experiment::<Convolution> { stage, name, left: "some of it", run };
    let experiments = [
        experiment(conv_shared::SHARED, "global-only", naive),
        experiment(conv_shared::SHARED, "nothing", |gpu, _, buffers| {
            let left = buffers.output.download(gpu)?.values;
            assert!(left.iter().all(|value| value.to_bits() == POISON), "an experiment finds nothing of what others computed");
            Ok(())
        }),
        experiment(conv_shared::SHARED_WIDE, "elsewhere", naive),
    ];
    let diagnosis = diagnosed(&conv_shared::SHARED, &experiments, &conv).unwrap();
    let own: Vec<_> = diagnosis.experiments.iter().filter(|trial| trial.kind == Kind::Own).collect();
    assert_eq!(own.iter().map(|trial| trial.name.as_str()).collect::<Vec<_>>(), ["global-only", "nothing"]);
    if let Effort::Counted { counters, .. } = own[0].effort.as_ref().unwrap() {
        assert_eq!((counters.f32_fma, counters.shared_load_wavefronts), (300 * 300, 0));
    }
    assert!(diagnosis.text().contains("some of it"), "{}", diagnosis.text());
}
