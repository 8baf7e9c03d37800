//! Kernels that are known to be wrong. Each must be caught, with a message that leads to the mistake.
//!
//! A check that never fails proves little. `simcuda mutate` changes single instructions, and `.ci/mutants` counts how often the tests notice.
//! The kernels here are wrong as a whole. They are in `tests/mutants/convolution.cu`, with their PTX next to it, so that the tests need no
//! compiler.

use std::collections::BTreeSet;

use compilers::generate::{body, head};
use compilers::recipe::PINNED_VERSION;
use compilers::stamp::stamp;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::{Kernel, Source};
use oracles::{Accuracy, Mismatch, check};
use run::error::Result;
use run::gpu::Gpu;
use run::guard::{BAND, Guarded};
use run::report::{Failure, Outcome, Place};
use run::runner::{self, Finished};
use run::stage::{Launches, Stage};
use run::workload::convolution::{Buffers, Size};
use run::workload::{Convolution, Problem, Workload};

use crate::device::{in_own_process, with_gpu};

/// `tests/mutants/convolution.cu`
static SOURCE: Source = Source {
    path: "tests/mutants/convolution.cu",
    ptx_path: "tests/mutants/convolution.ptx",
    cuda: include_str!("../../mutants/convolution.cu"),
    ptx: include_str!("../../mutants/convolution.ptx"),
    architecture: "compute_50",
    headers: &[],
    kernels: &[],
    constants: &[],
    arrays: &[],
};

/// Launches a kernel with the arguments of `naive`, one thread per output. A block has 128 threads.
fn launch(gpu: &Gpu, name: &'static str, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(Kernel { source: &SOURCE, name })?;
    let (outputs, taps) = (conv.outputs(), conv.taps());
    let config = LaunchConfig { grid_dim: (outputs.div_ceil(128), 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut output);
    // SAFETY: the kernels are wrong, but none reads outside its inputs, and what they write beside the output lies in its guard
    // bands; where the output has none, the simulator stops them.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// A stage that runs one of the mutants.
macro_rules! mutant {
    ($name:literal) => {{
        let enqueue: Launches<Convolution> = |gpu, conv, buffers| launch(gpu, $name, conv, buffers);
        Stage::launches($name, "wrong", enqueue)
    }};
}

/// Runs a mutant with guard bands, so that no device stops it.
fn verdict(gpu: &Gpu, stage: &Stage<Convolution>) -> std::result::Result<Accuracy, Box<Mismatch>> {
    let run::stage::Run::Launches(enqueue) = stage.run else { panic!("{} launches nothing", stage.name) };
    // The last block is partial.
    let conv = Convolution::random(Size { outputs: 4000, taps: 100 }, 13);
    let output = Guarded::with_band(gpu, conv.output_len(), BAND).unwrap();
    let mut buffers = Buffers { output, ..conv.upload(gpu).unwrap() };
    enqueue(gpu, &conv, &mut buffers).unwrap();
    check(&buffers.output.download(gpu).unwrap(), conv.oracle(), 0.0)
}

#[test]
fn every_mutant_is_caught_and_described() {
    let cases: [(Stage<Convolution>, &[&str]); 10] = [
        (mutant!("no_guard"), &["all 4000 outputs are right", "96 elements outside the output", "1 past the last output"]),
        (mutant!("last_unwritten"), &["1 of 4000", "only output[3999]", "the poison"]),
        (mutant!("one_tap_short"), &["4000 of 4000", "every one", "worst"]),
        (mutant!("filter_reversed"), &["of 4000 outputs are wrong"]),
        (mutant!("shifted"), &["3999 of 4000", "output[i + 1]"]),
        (mutant!("lanes_swapped"), &["4000 of 4000"]),
        (mutant!("lane_31_idle"), &["125 of 4000", "every 32nd one, at output[32 k + 31]", "the poison"]),
        (mutant!("not_cleared"), &["4000 of 4000"]),
        (mutant!("sometimes_nan"), &["4 of 4000", "NaN"]),
        (mutant!("writes_before"), &["all 4000 outputs are right", "1 before the first output"]),
    ];
    for (stage, words) in cases {
        let report = with_gpu(|gpu| verdict(gpu, &stage)).expect_err(stage.name).to_string();
        for word in words {
            assert!(report.contains(word), "{}: {word:?} is not in:\n{report}", stage.name);
        }
    }
}

#[test]
fn the_right_kernel_passes_the_same_check() {
    let accuracy = with_gpu(|gpu| verdict(gpu, &conv_naive::NAIVE)).unwrap();
    assert!(accuracy.max_error() <= accuracy.tolerance());
}

#[test]
fn a_stage_that_changes_its_inputs_fails_and_the_next_one_gets_them_whole() {
    let conv = Convolution::random(Size { outputs: 300, taps: 20 }, 13);
    let stages = [mutant!("spoils_input"), conv_naive::NAIVE];
    let Finished { rows, .. } = with_gpu(|gpu| runner::run(gpu, &stages, &conv, 0)).unwrap();
    assert!(matches!(rows[0].outcome, Outcome::Failed(Failure::InputsChanged)), "{:?}", rows[0].outcome);
    assert!(rows[1].measured().is_some(), "{:?}", rows[1].outcome);
}

#[test]
fn a_store_past_the_end_stops_on_the_simulator_at_its_line() {
    if !with_gpu(|gpu| gpu.is_simulated()) {
        return;
    }
    let said = in_own_process("mutants::stores_past_the_end_without_a_guard_band");
    let line = 1 + SOURCE.cuda.lines().position(|line| line.contains("output[i] = i < outputs ?")).unwrap();
    for words in ["out of bounds", "no_guard", &format!("convolution.cu:{line}"), "then: naive was not run", "then: cpu is right"] {
        assert!(said.contains(words), "{words:?} is not in:\n{said}");
    }
}

#[test]
#[ignore = "it leaves the process without a working device: another test starts it in a process of its own"]
fn stores_past_the_end_without_a_guard_band() {
    let conv = Convolution::random(Size { outputs: 300, taps: 20 }, 13);
    let stages = [mutant!("no_guard"), conv_naive::NAIVE, conv_naive::CPU];
    let Finished { rows, .. } = with_gpu(|gpu| runner::run(gpu, &stages, &conv, 5)).unwrap();
    for row in &rows {
        match &row.outcome {
            Outcome::Failed(failure) => println!("{}: {failure}", row.name),
            Outcome::NotRun(_) => println!("then: {} was not run", row.name),
            Outcome::Verified(_) => println!("then: {} is right", row.name),
            Outcome::Skipped(reason) => println!("{} was skipped: {reason}", row.name),
        }
        assert!(row.place == Place::Host || row.median_ms().is_none(), "a time without a verified result");
    }
}

#[test]
fn the_mutants_ptx_was_made_from_their_source() {
    assert!(
        SOURCE.ptx.starts_with(&stamp(&SOURCE, PINNED_VERSION)),
        "run `cargo test -p properties make_the_mutants_ptx -- --ignored` with NVRTC {PINNED_VERSION}"
    );
}

#[test]
#[ignore = "writes tests/mutants/convolution.ptx, and needs NVRTC"]
fn make_the_mutants_ptx() {
    let nvrtc = compilers::nvrtc::Nvrtc::find_where(|nvrtc| nvrtc.build() == PINNED_VERSION).unwrap();
    let ptx = head(&nvrtc, PINNED_VERSION, &SOURCE) + &body(&nvrtc, &SOURCE).unwrap();
    std::fs::write(format!("{}/mutants/convolution.ptx", env!("CARGO_MANIFEST_DIR")), ptx).unwrap();
}

/// `tests/mutants/equivalent.toml`
#[derive(serde::Deserialize)]
struct Equivalents {
    equivalent: Vec<Equivalent>,
}

#[derive(serde::Deserialize)]
struct Equivalent {
    mutant: String,
}

#[test]
fn every_mutant_that_is_listed_as_equivalent_is_one_of_a_kernel() {
    let listed: Equivalents = toml::from_str(include_str!("../../mutants/equivalent.toml")).unwrap();
    let sources: BTreeSet<&str> = kernels::all().map(|kernel| kernel.source.ptx).collect();
    let modules: Vec<_> = sources.into_iter().map(|ptx| ptx::parse(ptx).unwrap()).collect();
    for Equivalent { mutant } in &listed.equivalent {
        let is_known = modules.iter().any(|module| ptx::mutation::find(module, mutant).is_some());
        assert!(is_known, "{mutant} is no mutant; if the kernel's code has changed, review the entry");
    }
    assert!(!listed.equivalent.is_empty());
}
