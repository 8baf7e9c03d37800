//! What a program of this workspace gets from the simulator besides CUDA: records of launches, reasons of failures, settings.
//!
//! Records are the process's, so the tests take turns.

#[path = "driver/support.rs"]
#[allow(dead_code, reason = "shared with the other tests, which use more of it")]
mod support;

use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::LaunchConfig;
use simcuda::client::Simulator;
use simcuda::records::{KEPT_LAUNCHES, LaunchRecord, Outcome};
use simt::finding::AccessOp;
use simt::{Dim3, FindingKind};
use support::returns;

static TURN: Mutex<()> = Mutex::new(());

fn take_turn() -> (MutexGuard<'static, ()>, &'static Simulator) {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let simulator = Simulator::open().unwrap();
    simulator.take_records().unwrap();
    simulator.take_error().unwrap();
    (turn, simulator)
}

#[test]
fn a_launch_is_recorded_with_what_it_did() {
    let (_turn, simulator) = take_turn();
    let context = support::own_context();
    let count = support::load(&context, support::VECTORS).load_function("count").unwrap();
    let config = LaunchConfig { grid_dim: (3, 2, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel takes no parameters and writes its own variable.
    unsafe { context.default_stream().launch_builder(&count).launch(config) }.unwrap();
    let records = simulator.take_records().unwrap();
    assert_eq!((records.launches.len(), records.forgotten), (1, 0));
    let LaunchRecord { kernel, config, occupancy, outcome } = &records.launches[0];
    assert_eq!((kernel.as_str(), config.grid, config.block), ("count", Dim3::new(3, 2, 1), Dim3::new(64, 1, 1)));
    assert_eq!((occupancy.blocks_per_multiprocessor, occupancy.fraction(), occupancy.registers_per_thread), (32, 1.0, None));
    let Outcome::Finished(report) = outcome else { panic!("{outcome:?}") };
    assert_eq!(report.counters.global_atomic_requests, 3 * 2 * 2, "one for each of two warps of six blocks");
    assert!(simulator.take_records().unwrap().launches.is_empty(), "taken once");
}

#[test]
fn a_fault_is_recorded_with_its_finding() {
    let (_turn, simulator) = take_turn();
    let context = support::raw_context();
    let (_, function) = support::raw_function(support::FAULTS, c"misaligned");
    let mut out = 0u64;
    returns! { cuMemAlloc_v2(&mut out, 64) => CUDA_SUCCESS; }
    let mut parameters = [(&raw mut out).cast()];
    returns! {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), parameters.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_ERROR_MISALIGNED_ADDRESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
    let records = simulator.take_records().unwrap();
    let Outcome::Failed { message, finding: Some(finding) } = &records.launches[0].outcome else { panic!("{records:?}") };
    assert!(
        matches!(finding.kind, FindingKind::Misaligned { access } if access.address == out + 2 && access.bytes == 4),
        "{finding}"
    );
    assert!(message.contains("misaligned") && message.contains("st.global.u32"), "{message}");
    let reason = simulator.take_error().unwrap().expect("the synchronisation that returned the fault says why");
    assert_eq!(&reason, message);
}

#[test]
fn a_load_that_fails_says_why() {
    let (_turn, simulator) = take_turn();
    let context = support::own_context();
    let broken = support::VECTORS.replace("add.f32", "add.f33");
    assert!(context.load_module(cudarc::nvrtc::Ptx::from_src(broken)).is_err());
    let reason = simulator.take_error().unwrap().unwrap();
    assert!(reason.contains("line") && reason.contains("add.f33"), "{reason}");
    assert_eq!(simulator.take_error().unwrap(), None, "taken once");

    let module = support::load(&context, support::VECTORS);
    assert!(module.load_function("subtract").is_err());
    let reason = simulator.take_error().unwrap().unwrap();
    assert!(reason.contains("subtract") && reason.contains("mixed"), "the kernels that there are: {reason}");
}

#[test]
fn a_reason_is_told_to_the_thread_that_failed() {
    let (_turn, simulator) = take_turn();
    let context = support::own_context();
    assert!(context.load_module(cudarc::nvrtc::Ptx::from_src("nonsense")).is_err());
    let elsewhere = std::thread::spawn(|| Simulator::open().unwrap().take_error().unwrap()).join().unwrap();
    assert_eq!(elsewhere, None);
    assert!(simulator.take_error().unwrap().is_some());
}

#[test]
fn records_do_not_grow_without_bound() {
    let (_turn, simulator) = take_turn();
    let context = support::own_context();
    let bounded = support::load(&context, support::VECTORS).load_function("bounded").unwrap();
    let stream = context.default_stream();
    for _ in 0..KEPT_LAUNCHES + 5 {
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel takes no parameters and does nothing.
        unsafe { stream.launch_builder(&bounded).launch(config) }.unwrap();
    }
    let records = simulator.take_records().unwrap();
    assert_eq!((records.launches.len(), records.forgotten), (KEPT_LAUNCHES, 5));
}

#[test]
fn settings_are_changed_or_refused_with_a_reason() {
    let (_turn, simulator) = take_turn();
    let _context = support::own_context();
    let message = simulator.set_profile("voodoo2").unwrap_err().to_string();
    assert!(message.contains("voodoo2") && message.contains("h200"), "{message}");
    let message = simulator.set_profile("t4").unwrap_err().to_string();
    assert!(message.contains("initialised"), "{message}");
    simulator.set_profile("h200").expect("what it is already");
    simulator.set_workers(Some(1)).unwrap();
    simulator.set_workers(None).unwrap();
    simulator.set_checks(true).unwrap();
}

#[test]
fn what_a_block_touches_is_recorded_while_it_is_asked_for() {
    let (_turn, simulator) = take_turn();
    let context = support::own_context();
    let count = support::load(&context, support::VECTORS).load_function("count").unwrap();
    let touched = || {
        let config = LaunchConfig { grid_dim: (3, 1, 1), block_dim: (2, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel takes no parameters and writes its own variable.
        unsafe { context.default_stream().launch_builder(&count).launch(config) }.unwrap();
        let Outcome::Finished(report) = &simulator.take_records().unwrap().launches[0].outcome else { panic!("it ends well") };
        report.touched.iter().map(|touched| (touched.thread, touched.op, touched.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(touched(), []);
    simulator.set_trace(Some(Dim3::new(2, 0, 0))).unwrap();
    assert_eq!(touched(), [0, 1].map(|thread| (thread, AccessOp::Atomic, 4)));
    simulator.set_trace(None).unwrap();
    assert_eq!(touched(), []);
}

#[test]
fn fuel_ends_a_kernel_and_the_record_says_so() {
    let (_turn, simulator) = take_turn();
    simulator.set_fuel(50_000).unwrap();
    let context = support::raw_context();
    let (_, function) = support::raw_function(support::FAULTS, c"endless");
    let mut out = 0u64;
    let mut parameters = [(&raw mut out).cast()];
    returns! {
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), parameters.as_mut_ptr(), null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_ERROR_LAUNCH_TIMEOUT;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
    let records = simulator.take_records().unwrap();
    let Outcome::Failed { message, finding: None } = &records.launches[0].outcome else { panic!("{records:?}") };
    assert!(message.contains("endless") && message.contains("50000"), "{message}");
}
