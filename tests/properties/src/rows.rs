//! How the runner reports stages that fail, are skipped, or run on the CPU, and what a record says about them.

use cudarc::driver::CudaSlice;
use driver::records::KEPT_LAUNCHES;
use run::capability::ComputeCapability;
use run::error::{Error, Result};
use run::gpu::Gpu;
use run::record::Record;
use run::report::{Failure, Outcome, Place, Row};
use run::requirement::Unmet;
use run::runner;
use run::stage::{Prepared, Requirement, Run, Stage};
use run::table::{Drawing, draw};
use run::workload::convolution::{Buffers, Size};
use run::workload::{Convolution, Problem};

use crate::device::with_gpu;

const ZEROS: Stage<Convolution> = Stage::cpu("zeros", "wrong", |_, output| output.fill(0.0));
const NOTHING: Stage<Convolution> = Stage::cpu("nothing", "wrong", |_, _| {});
const LAZY: Stage<Convolution> = Stage::launches("lazy", "launches nothing", |_, _, _| Ok(()));
const FUTURE: Stage<Convolution> = conv_naive::NAIVE.needs_compute_capability(99, 0);

fn conv() -> Convolution {
    Convolution::random(Size { outputs: 300, taps: 20 }, 13)
}

fn rows(stages: &[Stage<Convolution>], repeat: usize) -> Vec<Row> {
    with_gpu(|gpu| runner::run(gpu, stages, &conv(), repeat)).unwrap().rows
}

#[test]
fn wrong_results_have_no_times_and_right_ones_do() {
    let rows = rows(&[ZEROS, NOTHING, conv_naive::CPU], 3);
    assert!(matches!(rows[0].outcome, Outcome::Failed(Failure::Mismatch(_))));
    assert!(matches!(&rows[1].outcome, Outcome::Failed(Failure::Mismatch(mismatch)) if mismatch.unwritten == 300));
    assert!(rows[0].median_ms().is_none() && rows[1].median_ms().is_none());
    assert!(rows[2].median_ms().is_some_and(|median| median > 0.0));
}

#[test]
fn a_kernel_that_writes_nothing_does_not_pass_with_the_results_before_it() {
    let rows = rows(&[conv_naive::NAIVE, LAZY], 0);
    assert!(rows[0].measured().is_some());
    assert!(matches!(&rows[1].outcome, Outcome::Failed(Failure::Mismatch(mismatch)) if mismatch.unwritten == 300));
}

#[test]
fn a_stage_that_the_device_is_too_old_for_is_skipped_with_the_reason() {
    let rows = rows(&[FUTURE], 3);
    let needed = ComputeCapability::new(99, 0);
    let too_old = |unmet: &Unmet| matches!(unmet, Unmet::ComputeCapability { needed: asked, .. } if *asked == needed);
    assert!(matches!(&rows[0].outcome, Outcome::Skipped(unmet) if too_old(unmet)), "{:?}", rows[0].outcome);
    assert!(!rows[0].failed());
}

#[test]
fn a_stage_is_skipped_where_its_own_requirement_is_not_met() {
    let of_at_most = |limit: Requirement<Convolution>| rows(&[conv_naive::NAIVE.requires(limit)], 0).remove(0).outcome;
    let skipped = of_at_most(|_, conv| Ok(Unmet::limit("taps", conv.taps(), 19_u32)));
    let unmet = Unmet::Limit { what: "taps", needed: 20, limit: 19 };
    assert!(matches!(&skipped, Outcome::Skipped(reason) if *reason == unmet), "{skipped:?}");
    let met = of_at_most(|_, conv| Ok(Unmet::limit("taps", conv.taps(), 20_u32)));
    assert!(matches!(met, Outcome::Verified(_)), "{met:?}");
}

#[test]
fn a_requirement_that_cannot_be_checked_is_a_failure_and_no_reason_to_skip() {
    let unknown: Requirement<Convolution> = |_, _| Err(Error::NoPtx { path: "nowhere.ptx".to_owned() });
    let row = rows(&[conv_naive::NAIVE.requires(unknown)], 0).remove(0);
    assert!(row.failed(), "{:?}", row.outcome);
}

#[test]
fn an_allowance_forgives_what_is_within_it_and_no_more() {
    const NEARLY: Stage<Convolution> = Stage::cpu("nearly", "a tenth too high", |conv, output| {
        for (output, expected) in output.iter_mut().zip(conv.expected()) {
            *output = expected.value as f32 + 0.1;
        }
    });
    let rows = rows(&[NEARLY, NEARLY.with_allowance(|_| 0.09), NEARLY.with_allowance(|_| 0.11)], 0);
    assert_eq!(rows.iter().map(Row::failed).collect::<Vec<_>>(), [true, true, false]);
    let tolerance = rows[2].measured().unwrap().accuracy.tolerance();
    assert!((0.11..0.12).contains(&tolerance), "the row must state what it was allowed: {tolerance}");
}

#[test]
fn a_stage_with_memory_of_its_own_is_verified_and_timed_like_any_other() {
    struct Scratch(CudaSlice<f32>);
    impl Prepared<Convolution> for Scratch {
        fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
            assert_eq!(self.0.len(), conv.taps() as usize);
            let Run::Launches(naive) = conv_naive::NAIVE.run else { unreachable!("it launches a kernel") };
            naive(gpu, conv, buffers)
        }
    }
    const WITH_SCRATCH: Stage<Convolution> = Stage::prepared("with-scratch", "naive, with memory of its own", |gpu, conv| {
        Ok(Box::new(Scratch(gpu.stream.alloc_zeros(conv.taps() as usize)?)))
    });
    let simulated = with_gpu(|gpu| gpu.is_simulated());
    let rows = rows(&[WITH_SCRATCH], 2);
    assert_eq!(rows[0].place, Place::Device);
    assert!(rows[0].measured().is_some(), "{:?}", rows[0].outcome);
    assert_eq!(rows[0].median_ms().is_some(), !simulated);
}

#[test]
fn a_record_and_a_table_say_what_failed() {
    let rows = rows(&[conv_naive::NAIVE, ZEROS, FUTURE], 0);
    let record = with_gpu(|gpu| Record::new("01-conv-naive", gpu.info(), conv().sizes(), conv().work(), None, &rows));
    let json: serde_json::Value = serde_json::from_str(&record.to_json()).unwrap();
    let stages = &json["stages"];
    assert_eq!(
        (&stages[0]["verified"], &stages[1]["verified"], &stages[2]["verified"]),
        (&true.into(), &false.into(), &false.into())
    );
    assert!(stages[1]["median_ms"].is_null() && stages[1]["max_error"].is_null());
    assert!(stages[2]["skipped"].as_str().is_some_and(|reason| reason.contains("99.0")));

    let table = draw(&record, Drawing::Markdown);
    assert!(table.contains("WRONG") && table.contains("skipped: needs compute capability 99.0"), "{table}");
}

#[test]
fn only_the_simulator_counts_and_only_a_gpu_has_times() {
    let simulated = with_gpu(|gpu| gpu.is_simulated());
    let rows = rows(&[conv_naive::NAIVE], 2);
    assert_eq!(rows[0].counters().is_some(), simulated);
    assert_eq!(rows[0].median_ms().is_some(), !simulated);
    if let Some(counters) = rows[0].counters() {
        // One multiply-add per output and tap, whatever else the kernel does.
        assert_eq!(counters.f32_fma, 300 * 20);
    }
}

#[test]
fn a_stage_of_too_many_launches_says_that_details_were_dropped() {
    /// One more launch than the simulator remembers.
    const MANY: Stage<Convolution> = Stage::launches("many", "naive, again and again", |gpu, conv, buffers| {
        let Run::Launches(naive) = conv_naive::NAIVE.run else { unreachable!("it launches a kernel") };
        (0..=KEPT_LAUNCHES).try_for_each(|_| naive(gpu, conv, buffers))
    });
    if !with_gpu(|gpu| gpu.is_simulated()) {
        return;
    }
    let small = Convolution::random(Size { outputs: 32, taps: 1 }, 13);
    let rows = with_gpu(|gpu| runner::run(gpu, &[MANY, conv_naive::NAIVE], &small, 0)).unwrap().rows;
    let [many, once] = [0, 1].map(|row| rows[row].measured().unwrap());
    assert_eq!(many.launches, []);
    let message = many.all_launches().unwrap_err().to_string();
    assert!(message.contains("the details of 1 were dropped") && message.contains("--size"), "{message}");
    assert_eq!(once.all_launches().unwrap().len(), 1);
    // The totals cover every launch.
    assert_eq!(many.counters.as_ref().unwrap().f32_fma, (KEPT_LAUNCHES as u64 + 1) * once.counters.as_ref().unwrap().f32_fma);
}
