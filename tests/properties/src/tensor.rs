//! Why tensor cores compute three products: with fewer, the result is not accurate enough, and the check says so.

use kernels::unroll::tensor::SOURCE;
use oracles::Mismatch;
use ptx::ast::Operand;
use ptx::{edit, parse};
use run::report::{Failure, Outcome};
use run::runner;
use run::stage::Stage;
use run::workload::Convolution;
use run::workload::convolution::Size;
use unroll::tensor::{F16X3, TF32X3};

use crate::device::with_gpu;

/// Numbers of taps.
const LENGTHS: [u32; 4] = [1, 16, 100, 1000];

/// Returns the stored PTX with zero for every tf32 factor's low part: a single product of rounded factors.
fn without_low_parts(ptx: &str) -> (String, usize) {
    let module = parse(ptx).unwrap();
    let mut edits = Vec::new();
    for kernel in module.kernels() {
        let with_opcode = |opcode| kernel.instructions().filter(move |instruction| instruction.opcode == opcode);
        // The low part is a rounded difference.
        let differences: Vec<&str> = with_opcode("sub.f32").flat_map(|subtraction| subtraction.operands[0].values()).collect();
        for rounding in with_opcode("cvt.rna.tf32.f32") {
            let [Operand::Name(low), Operand::Name(rounded)] = rounding.operands[..] else { continue };
            if differences.contains(&rounded) {
                edits.push((rounding.unguarded.clone(), format!("mov.u32 {low}, 0;")));
            }
        }
    }
    let replaced = edits.len();
    (edit(ptx, edits), replaced)
}

fn outcome(stage: Stage<Convolution>, conv: &Convolution, ptx: Option<String>) -> Outcome {
    with_gpu(|gpu| {
        gpu.replace_ptx(&SOURCE, ptx).unwrap();
        let finished = runner::run(gpu, &[stage], conv, 0).unwrap();
        gpu.replace_ptx(&SOURCE, None).unwrap();
        finished.rows.into_iter().next().expect("a row for a stage").outcome
    })
}

/// Returns the mismatch of a stage that must have one.
fn mismatch(outcome: Outcome) -> Box<Mismatch> {
    match outcome {
        Outcome::Failed(Failure::Mismatch(mismatch)) => mismatch,
        other => panic!("it should be wrong: {other:?}"),
    }
}

#[test]
fn one_product_of_rounded_factors_is_not_good_enough_at_any_length() {
    let (ptx, replaced) = without_low_parts(SOURCE.ptx);
    assert!(replaced > 20, "only {replaced} low parts found");
    for taps in LENGTHS {
        let conv = Convolution::random(Size { outputs: 1000, taps }, 13);
        let wrong = mismatch(outcome(TF32X3, &conv, Some(ptx.clone()))).wrong;
        assert!(wrong > 600, "{wrong} of 1000 outputs at {taps} taps");
    }
}

#[test]
fn three_products_are_good_enough_at_any_length() {
    for taps in LENGTHS {
        let conv = Convolution::random(Size { outputs: 1000, taps }, 13);
        assert!(matches!(outcome(TF32X3, &conv, None), Outcome::Verified(_)), "{taps} taps");
    }
}

#[test]
fn f16_is_told_how_much_it_may_lose_and_loses_no_more() {
    // One sample is 2^30 times the others. Next to it they keep 9 binary digits, and the workload's tolerance asks for 19.
    let mut signal = vec![1.0 + 1.0 / 3.0; 600];
    signal[300] = 2.0_f32.powi(30);
    let conv = Convolution::new(signal, vec![0.7; 10]).unwrap();
    assert!(matches!(outcome(F16X3, &conv, None), Outcome::Verified(_)));
    mismatch(outcome(F16X3.with_allowance(|_| 0.0), &conv, None));
    // tf32 has the exponents of f32, and needs no allowance.
    assert!(matches!(outcome(TF32X3, &conv, None), Outcome::Verified(_)));
}

#[test]
fn numbers_of_any_magnitude_are_brought_into_the_range_of_f16() {
    for (of_signal, of_filter) in [(1e-38, 1e30), (1e-44, 1e38), (3e38, 1e-20), (0.0, 1.0), (1.0, 0.0)] {
        let values = |largest: f32, count: i32| (0..count).map(|i| largest * ((i * 37 % 101) as f32 / 101.0 - 0.5)).collect();
        let conv = Convolution::new(values(of_signal, 300), values(of_filter, 70)).unwrap();
        for stage in [TF32X3, F16X3] {
            let outcome = outcome(stage, &conv, None);
            assert!(matches!(outcome, Outcome::Verified(_)), "{} of {of_signal} and {of_filter}: {outcome:?}", stage.name);
        }
    }
}
