//! The record of a warp: the instructions in the order of their execution, and the registers that each changes.

use std::sync::Arc;

use crate::common::{Gpu, Params};
use simt::steps::{Step, StepRecord, Values, Write};
use simt::{Dim3, LaunchError, LaunchOptions};

/// Lanes below 4 double their number, and the others do not.
const DOUBLES: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry doubles(.param .u64 memory)
{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .v2 .b32 pair;
    ld.param.u64 %rd1, [memory];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 4;
    @!%p1 bra rest;
    shl.b32 %r1, %r1, 1;
rest:
    mov.b32 pair.y, %r1;
    @%p1 add.u32 %r1, %r1, 0;
    setp.ge.u32 %p1, %r1, 1000;
    @%p1 trap;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

fn steps(gpu: &Gpu, record: &Arc<StepRecord>, memory: u64) -> (Vec<Step>, Result<(), LaunchError>) {
    let outcome = gpu.try_launch("doubles", 2, 64, 0, &Params::new().with(memory));
    (record.steps(), outcome.map(drop))
}

fn recording(block: Dim3, warp: u32, limit: usize) -> (Gpu, Arc<StepRecord>) {
    let record = Arc::new(StepRecord::new(block, warp, limit));
    (Gpu::with_options(DOUBLES, LaunchOptions { steps: Some(record.clone()), ..LaunchOptions::default() }), record)
}

#[test]
fn each_instruction_is_there_with_its_lanes_and_what_it_changed() {
    let (gpu, record) = recording(Dim3::new(1, 0, 0), 0, 100);
    let memory = gpu.poisoned::<u32>(1);
    let (steps, outcome) = steps(&gpu, &record, memory);
    outcome.unwrap();
    let lane = |lane: usize| lane as u32;
    let doubled = std::array::from_fn(|lane| if lane < 4 { 2 * lane as u32 } else { lane as u32 });
    let write = |register: &str, values| vec![Write { register: register.to_owned(), values }];
    let expected: [(&str, u32, Vec<Write>); 11] = [
        ("ld.param.u64 %rd1, [memory];", u32::MAX, write("%rd1", Values::Doubles([memory; 32]))),
        ("mov.u32 %r1, %tid.x;", u32::MAX, write("%r1", Values::Words(std::array::from_fn(lane)))),
        ("setp.lt.u32 %p1, %r1, 4;", u32::MAX, write("%p1", Values::Predicate(0b1111))),
        ("@!%p1 bra rest;", !0b1111, Vec::new()),
        ("shl.b32 %r1, %r1, 1;", 0b1111, write("%r1", Values::Words(doubled))),
        ("mov.b32 pair.y, %r1;", u32::MAX, write("pair.y", Values::Words(doubled))),
        ("@%p1 add.u32 %r1, %r1, 0;", 0b1111, Vec::new()),
        ("setp.ge.u32 %p1, %r1, 1000;", u32::MAX, write("%p1", Values::Predicate(0))),
        // Nobody executes it, but a reader sees the warp pass it.
        ("@%p1 trap;", 0, Vec::new()),
        ("st.global.u32 [%rd1], %r1;", u32::MAX, Vec::new()),
        ("ret;", u32::MAX, Vec::new()),
    ];
    for (step, (instruction, lanes, writes)) in steps.iter().zip(&expected) {
        assert_eq!((step.location.instruction.as_str(), step.lanes, &step.writes), (*instruction, *lanes, writes));
    }
    assert_eq!(steps.len(), expected.len());
}

#[test]
fn a_record_has_its_limit_and_its_warp_and_outlasts_a_fault() {
    let (gpu, record) = recording(Dim3::new(0, 0, 0), 1, 2);
    let memory = gpu.poisoned::<u32>(1);
    let (some, outcome) = steps(&gpu, &record, memory);
    outcome.unwrap();
    assert_eq!(some.len(), 2);
    // What the last instruction of a full record changed is known.
    assert_eq!(some[1].writes[0].values, Values::Words(std::array::from_fn(|lane| 32 + lane as u32)));

    let (gpu, record) = recording(Dim3::new(0, 0, 0), 0, 100);
    let (all, outcome) = steps(&gpu, &record, 0);
    assert!(matches!(outcome, Err(LaunchError::Fault { .. })));
    assert_eq!(all.last().map(|step| step.location.instruction.as_str()), Some("st.global.u32 [%rd1], %r1;"));

    let (gpu, record) = recording(Dim3::new(7, 0, 0), 0, 100);
    let memory = gpu.poisoned::<u32>(1);
    assert_eq!(steps(&gpu, &record, memory).0, []);
}
