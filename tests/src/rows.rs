//! What the runner makes of stages that fail, are skipped, or run on the CPU; and what a record says of them.

use common::record::Record;
use common::report::{Failure, Outcome, Row};
use common::runner;
use common::stage::Stage;
use common::table::{Drawing, draw};
use common::workload::convolution::Size;
use common::workload::{Convolution, Workload};

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
    assert!(matches!(&rows[0].outcome, Outcome::Skipped(reason) if reason.contains("99.0")), "{:?}", rows[0].outcome);
    assert!(!rows[0].failed());
}

#[test]
fn a_record_and_a_table_say_what_failed() {
    let rows = rows(&[conv_naive::NAIVE, ZEROS, FUTURE], 0);
    let record =
        with_gpu(|gpu| Record::new("01-conv-naive", String::new(), gpu.info(), conv().sizes(), conv().work(), None, &rows));
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
