//! The record of a warp: the instructions in the order of their execution, and the registers that each changes.

use std::sync::Arc;

use crate::common::{Gpu, Params};
use simt::steps::{Step, StepRecord, Values, Write};
use simt::{Dim3, FindingKind, LaunchError, LaunchOptions};

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
    (record.take().steps, outcome.map(drop))
}

fn recording(block: Dim3, warp: u32, limit: usize) -> (Gpu, Arc<StepRecord>) {
    let record = Arc::new(StepRecord::new(block, warp, 0, limit));
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

#[test]
fn a_record_can_begin_later_and_has_the_registers_at_its_start() {
    let all = Arc::new(StepRecord::new(Dim3::new(1, 0, 0), 1, 0, 100));
    let some = Arc::new(StepRecord::new(Dim3::new(1, 0, 0), 1, 4, 3));
    let [all, some] = [all, some].map(|record| {
        let gpu = Gpu::with_options(DOUBLES, LaunchOptions { steps: Some(record.clone()), ..LaunchOptions::default() });
        let memory = gpu.poisoned::<u32>(1);
        gpu.try_launch("doubles", 2, 64, 0, &Params::new().with(memory)).unwrap();
        record.take()
    });
    assert_eq!((some.executed, &some.steps[..]), (all.executed, &all.steps[4..7]));
    // Lanes of the second warp do not double their number.
    let number = |write: &&Write| write.register == "%r1";
    let lanes = Values::Words(std::array::from_fn(|lane| 32 + lane as u32));
    assert_eq!(some.start.iter().find(number).map(|write| write.values), Some(lanes));
    assert_eq!(all.start.iter().find(number).map(|write| write.values), Some(Values::Words([0; 32])));
    // The first warp of the block has executed its 11 instructions before.
    let clocks: Vec<u64> = all.steps.iter().map(|step| step.clock).collect();
    assert_eq!(clocks, (11..11 + all.executed).collect::<Vec<_>>());
}

/// A kernel with a race between two warps. Each of 64 threads writes shared memory and reads a place that the other warp writes.
const RACES: &str = "
.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 places[256];
.visible .entry races()
{
    .reg .b32 %r<6>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, places;
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    xor.b32 %r2, %r2, 128;
    ld.shared.u32 %r4, [%r2];
    ret;
}
";

#[test]
fn a_defect_is_noted_with_the_number_of_its_instruction() {
    for (warp, expected) in [(0, vec![]), (1, vec![(4, "race")])] {
        let record = Arc::new(StepRecord::new(Dim3::new(0, 0, 0), warp, 0, 100));
        let gpu = Gpu::with_options(RACES, LaunchOptions { steps: Some(record.clone()), ..LaunchOptions::default() });
        gpu.try_launch("races", 1, 64, 0, &Params::new()).unwrap();
        let recorded = record.take();
        let kind = |kind: &FindingKind| match kind {
            FindingKind::Race { .. } => "race",
            _ => "another",
        };
        let found: Vec<_> = recorded.found.iter().map(|(number, finding)| (*number, kind(&finding.kind))).collect();
        assert_eq!(found, expected, "warp {warp}");
        for (number, finding) in &recorded.found {
            assert_eq!(recorded.steps[*number as usize].location, finding.location);
        }
    }
}
