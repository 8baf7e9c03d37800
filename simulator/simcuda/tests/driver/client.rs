//! The client, which gives a program of this workspace more than CUDA: records of launches, reasons of failures, settings.
//!
//! Records and settings belong to the process, so each test has a process of its own.

use std::ptr::null_mut;
use std::sync::Barrier;

use cudarc::driver::LaunchConfig;
use ptx::finding::AccessOp;
use simcuda::client::{Error, Simulator};
use simcuda::records::{Failed, KEPT_LAUNCHES, LaunchRecord, Outcome, Records};
use simt::{Dim3, FindingKind};

use crate::support::{self, returns, with_simulator};

/// Returns the details of the one launch.
fn only_launch(records: &Records) -> &LaunchRecord {
    let mut launches = records.all_launches().unwrap();
    assert_eq!(launches.len(), 1);
    launches.next().unwrap()
}

#[test]
fn a_launch_is_recorded_with_what_it_did() {
    with_simulator(|simulator| {
        let context = support::own_context();
        let count = support::load(&context, support::VECTORS).load_function("count").unwrap();
        let config = LaunchConfig { grid_dim: (3, 2, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel takes no parameters and writes its own variable.
        unsafe { context.default_stream().launch_builder(&count).launch(config) }.unwrap();
        context.synchronize().unwrap();
        let records = simulator.take_records().unwrap();
        let LaunchRecord { kernel, config, occupancy, outcome } = only_launch(&records);
        assert_eq!((kernel.as_str(), config.grid, config.block), ("count", Dim3::new(3, 2, 1), Dim3::new(64, 1, 1)));
        assert_eq!((occupancy.blocks_per_multiprocessor, occupancy.fraction(), occupancy.registers_per_thread), (32, 1.0, None));
        let Outcome::Finished(report) = outcome else { panic!("{outcome:?}") };
        assert_eq!(report.counters.global_atomic_requests, 3 * 2 * 2, "one for each of two warps of six blocks");
        assert_eq!(records.totals.counters, report.counters);
        assert_eq!(simulator.take_records().unwrap(), Records::default(), "taken once");
    });
}

#[test]
fn threads_side_by_side_can_each_have_their_own_records() {
    with_simulator(|simulator| {
        let context = support::own_context();
        let count = support::load(&context, support::VECTORS).load_function("count").unwrap();
        let launch = |blocks: u32| {
            context.bind_to_thread().unwrap();
            let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: the kernel takes no parameters and writes its own variable.
            unsafe { context.default_stream().launch_builder(&count).launch(config) }.unwrap();
        };
        let grids = || {
            context.synchronize().unwrap();
            let records = simulator.take_records().unwrap();
            records.all_launches().unwrap().map(|launch| launch.config.grid.x).collect::<Vec<_>>()
        };
        launch(1);
        let both_launched = Barrier::new(2);
        let apart = |blocks| {
            simulator.record_apart().unwrap();
            assert!(grids().is_empty(), "those before are not its own");
            launch(blocks);
            both_launched.wait();
            launch(blocks + 1);
            simulator.record_apart().expect("again, which changes nothing");
            assert_eq!(grids(), [blocks, blocks + 1]);
            assert!(grids().is_empty(), "taken once");
        };
        std::thread::scope(|scope| {
            scope.spawn(|| apart(10));
            scope.spawn(|| apart(20));
            scope.spawn(|| launch(2));
        });
        assert_eq!(grids(), [1, 2], "the others share theirs");
    });
}

#[test]
fn a_fault_is_recorded_with_its_finding() {
    with_simulator(|simulator| {
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
        let Outcome::Failed(Failed { message, finding: Some(finding) }) = &only_launch(&records).outcome else {
            panic!("{records:?}")
        };
        assert!(
            matches!(finding.kind, FindingKind::Misaligned { access } if access.address == out + 2 && access.bytes == 4),
            "{finding}"
        );
        assert!(message.contains("misaligned") && message.contains("st.global.u32"), "{message}");
        let reason = simulator.take_error().unwrap().expect("the synchronization that returned the fault gives the reason");
        assert_eq!(&reason, message);
    });
}

#[test]
fn a_load_that_fails_says_why() {
    with_simulator(|simulator| {
        let context = support::own_context();
        let broken = support::VECTORS.replace("add.f32", "add.f32 [");
        assert!(context.load_module(cudarc::nvrtc::Ptx::from_src(broken)).is_err());
        let reason = simulator.take_error().unwrap().unwrap();
        assert!(reason.contains("line") && reason.contains("expected ']'"), "{reason}");
        assert_eq!(simulator.take_error().unwrap(), None, "taken once");

        // An instruction that the simulator does not know keeps only its own kernel from running.
        let in_part = support::load(&context, &support::VECTORS.replace("add.f32", "add.f33"));
        assert!(in_part.load_function("count").is_ok());
        let refused = in_part.load_function("add").unwrap_err();
        assert_eq!(refused.0, cudarc::driver::sys::CUresult::CUDA_ERROR_NOT_SUPPORTED);
        let reason = simulator.take_error().unwrap().unwrap();
        assert!(reason.contains("kernel add cannot run") && reason.contains("add.f33"), "{reason}");
        assert_eq!(simulator.take_error().unwrap(), None, "taken once");

        // So does a launch of another kernel, which needs that kernel's address.
        let launches = support::VECTORS.replace("add.f32", "mov.u64 %rd1, count;\nadd.f32");
        let refused = support::load(&context, &launches);
        assert!(refused.load_function("count").is_ok() && refused.load_function("add").is_err());
        let reason = simulator.take_error().unwrap().unwrap();
        assert!(reason.contains("kernel add cannot run") && reason.contains("dynamic parallelism"), "{reason}");

        let module = support::load(&context, support::VECTORS);
        assert!(module.load_function("subtract").is_err());
        let reason = simulator.take_error().unwrap().unwrap();
        assert!(reason.contains("subtract") && reason.contains("mixed"), "the reason lists the kernels: {reason}");
    });
}

#[test]
fn a_reason_is_given_to_the_thread_that_failed() {
    with_simulator(|simulator| {
        let context = support::own_context();
        assert!(context.load_module(cudarc::nvrtc::Ptx::from_src("nonsense")).is_err());
        let elsewhere = std::thread::spawn(|| Simulator::open().unwrap().take_error().unwrap()).join().unwrap();
        assert_eq!(elsewhere, None);
        assert!(simulator.take_error().unwrap().is_some());
    });
}

#[test]
fn counts_are_exact_although_the_details_of_some_launches_are_dropped() {
    with_simulator(|simulator| {
        let context = support::own_context();
        let count = support::load(&context, support::VECTORS).load_function("count").unwrap();
        let stream = context.default_stream();
        let launch = |times: usize| {
            for _ in 0..times {
                let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (64, 1, 1), shared_mem_bytes: 0 };
                // SAFETY: the kernel takes no parameters and writes its own variable.
                unsafe { stream.launch_builder(&count).launch(config) }.unwrap();
            }
            stream.synchronize().unwrap();
            simulator.take_records().unwrap()
        };
        let one = launch(1).totals.counters;
        assert_eq!(one.global_atomic_requests, 2, "one for each of two warps");
        let records = launch(KEPT_LAUNCHES + 5);
        let launches = KEPT_LAUNCHES as u64 + 5;
        assert_eq!((records.totals.launches, records.totals.failed), (launches, 0));
        assert_eq!(records.totals.counters.global_atomic_requests, launches * one.global_atomic_requests);
        assert_eq!(records.totals.counters.ptx_instructions, launches * one.ptx_instructions);
        assert_eq!((records.latest_launches().len(), records.dropped()), (KEPT_LAUNCHES, 5));
        assert!(matches!(records.all_launches(), Err(Error::DetailsDropped { dropped: 5, .. })));
        assert_eq!(launch(1).totals.launches, 1, "the totals start again when they are taken");
    });
}

#[test]
fn a_refused_launch_is_not_recorded() {
    with_simulator(|simulator| {
        let context = support::own_context();
        let count = support::load(&context, support::VECTORS).load_function("count").unwrap();
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1025, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the kernel takes no parameters and writes its own variable.
        assert!(unsafe { context.default_stream().launch_builder(&count).launch(config) }.is_err());
        let reason = simulator.take_error().unwrap().unwrap();
        assert_eq!(reason, "kernel count: block.x 1025 is outside 1..=1024");
        assert_eq!(simulator.take_records().unwrap(), Records::default());
    });
}

#[test]
fn settings_are_changed_or_refused_with_a_reason() {
    with_simulator(|simulator| {
        let _context = support::own_context();
        let message = simulator.set_profile("voodoo2").unwrap_err().to_string();
        assert!(message.contains("voodoo2") && message.contains("h200"), "{message}");
        let message = simulator.set_profile("t4").unwrap_err().to_string();
        assert!(message.contains("initialized"), "{message}");
        simulator.set_profile("h200").expect("the profile does not change");
        simulator.set_workers(Some(1)).unwrap();
        simulator.set_workers(None).unwrap();
        simulator.set_checks(true).unwrap();
    });
}

#[test]
fn what_a_block_accesses_is_recorded_while_it_is_traced() {
    with_simulator(|simulator| {
        let context = support::own_context();
        let count = support::load(&context, support::VECTORS).load_function("count").unwrap();
        let touched = || {
            let config = LaunchConfig { grid_dim: (3, 1, 1), block_dim: (2, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: the kernel takes no parameters and writes its own variable.
            unsafe { context.default_stream().launch_builder(&count).launch(config) }.unwrap();
            context.synchronize().unwrap();
            let records = simulator.take_records().unwrap();
            let Outcome::Finished(report) = &only_launch(&records).outcome else { panic!("{records:?}") };
            report.touched.iter().map(|touched| (touched.thread, touched.op, touched.bytes)).collect::<Vec<_>>()
        };
        assert_eq!(touched(), []);
        simulator.set_trace(Some(Dim3::new(2, 0, 0))).unwrap();
        assert_eq!(touched(), [0, 1].map(|thread| (thread, AccessOp::Atomic, 4)));
        simulator.set_trace(None).unwrap();
        assert_eq!(touched(), []);
    });
}

#[test]
fn fuel_ends_a_kernel_and_the_record_says_so() {
    with_simulator(|simulator| {
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
        let Outcome::Failed(Failed { message, finding: None }) = &only_launch(&records).outcome else { panic!("{records:?}") };
        assert!(message.contains("endless") && message.contains("50000"), "{message}");
    });
}
