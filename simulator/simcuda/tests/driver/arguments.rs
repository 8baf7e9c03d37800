//! Arguments of kernels that are wrong, each beside one that looks like it and is right. What is right must raise nothing: an optional
//! pointer may be null, and any pointer may be anything if no thread uses it.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{CUfunction, CUresult};
use simcuda::client::Simulator;
use simcuda::records::Outcome;

use crate::support::{cu, raw_context, raw_function, returns, with_simulator};

const ARGUMENTS: &str = include_str!("../ptx/arguments.ptx");

/// Launches one block. Returns what the launch returns, and then what waiting for it returns.
fn launch(function: CUfunction, threads: u32, values: &mut [*mut c_void]) -> (CUresult, CUresult) {
    let launched = cu!(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, null_mut(), values.as_mut_ptr(), null_mut()));
    (launched, cu!(cuCtxSynchronize()))
}

/// Allocates words and fills them.
fn words(count: usize) -> u64 {
    let mut address = 0;
    returns! {
        cuMemAlloc_v2(&mut address, 4 * count) => CUDA_SUCCESS;
        cuMemsetD32_v2(address, 1, count) => CUDA_SUCCESS;
    }
    address
}

fn freed(count: usize) -> u64 {
    let address = words(count);
    returns! { cuMemFree_v2(address) => CUDA_SUCCESS; }
    address
}

/// Runs `copy_if_given` with 32 threads in a context of its own. Returns the message of its fault, if it fails.
fn copies(simulator: &Simulator, arguments: impl FnOnce() -> (u64, u64, u32)) -> Option<String> {
    raw_context();
    let (_, function) = raw_function(ARGUMENTS, c"copy_if_given");
    let (mut input, mut output, mut count) = arguments();
    let mut values = [(&raw mut input).cast(), (&raw mut output).cast(), (&raw mut count).cast()];
    assert_eq!(launch(function, 32, &mut values).0, CUresult::CUDA_SUCCESS);
    failure(simulator)
}

/// Takes the records of one launch. Returns the message of its fault, if it failed.
fn failure(simulator: &Simulator) -> Option<String> {
    let records = simulator.take_records().unwrap();
    let launches: Vec<_> = records.all_launches().unwrap().collect();
    let [launch] = launches.as_slice() else { panic!("{launches:?}") };
    match &launch.outcome {
        Outcome::Finished(report) => {
            assert_eq!(report.findings, []);
            None
        }
        Outcome::Failed(failed) => Some(failed.message.clone()),
    }
}

/// Asserts that the last line of a message is this explanation.
#[track_caller]
fn assert_explained(message: Option<String>, explanation: &str) {
    let message = message.expect("the kernel fails");
    let last = message.lines().last().unwrap_or_default();
    assert_eq!(last, format!("  the address comes from {explanation}"), "{message}");
}

#[test]
fn arguments_that_no_thread_misuses_raise_nothing() {
    with_simulator(|simulator| {
        type Right = (&'static str, fn() -> (u64, u64, u32));
        let right: [Right; 6] = [
            ("both pointers", || (words(32), words(32), 32)),
            ("an optional pointer is null", || (0, words(32), 32)),
            ("a pointer into a buffer", || (words(64) + 128, words(32), 32)),
            ("the end of a buffer, and nothing to do", || (words(32) + 128, words(32) + 128, 0)),
            ("freed memory, and nothing to do", || (freed(32), freed(32), 0)),
            ("numbers, and nothing to do", || (7, 0x3f80_0000, 0)),
        ];
        for (what, arguments) in right {
            assert_eq!(copies(simulator, arguments), None, "{what}");
        }
    });
}

#[test]
fn a_fault_names_the_argument_that_the_address_came_from() {
    with_simulator(|simulator| {
        assert_explained(copies(simulator, || (0, 0, 32)), "argument 2 of 3, which is null");
        let message = copies(simulator, || (freed(20), words(32), 32)).unwrap();
        assert!(message.contains("which was freed before"), "{message}");
        assert_explained(
            Some(message),
            "argument 1 of 3, which points to buffer 1 from cuMemAlloc (80 bytes), which was freed before the launch",
        );
        assert_explained(
            copies(simulator, || (words(20) + 16, words(32), 32)),
            "argument 1 of 3, which points to byte 16 of buffer 3 from cuMemAlloc (80 bytes)",
        );
        assert_explained(
            copies(simulator, || (words(32), words(20) + 80, 32)),
            "argument 2 of 3, which points to the end of buffer 6 from cuMemAlloc (80 bytes)",
        );
        let on_the_host = [0u32; 32];
        let address = on_the_host.as_ptr().expose_provenance() as u64;
        assert_explained(
            copies(simulator, || (address, words(32), 32)),
            &format!(
                "argument 1 of 3, which is {address:#x}, an address of the program's own memory: copy the data to the device, or allocate it \
                 with cuMemAllocManaged or cuMemHostAlloc"
            ),
        );
        let one = u64::from(1.0f32.to_bits());
        assert_eq!(one, 0x3f80_0000);
        assert_explained(
            copies(simulator, || (0x3f80_0000, words(32), 32)),
            "argument 1 of 3, which is 0x3f800000 and points nowhere: it has the bits of the float 1",
        );
        assert_explained(
            copies(simulator, || (100_000, words(32), 32)),
            "argument 1 of 3, which is 0x186a0 and points nowhere: is it the number 100000?",
        );
    });
}

#[test]
fn an_offset_is_not_taken_for_the_pointer_and_a_structure_has_its_byte() {
    with_simulator(|simulator| {
        let run_at = |base: fn() -> u64, offset: u64, target: fn() -> u64| {
            raw_context();
            let (_, function) = raw_function(ARGUMENTS, c"first_byte");
            let (mut base, mut offset, mut structure) = (base(), offset, [0, target()]);
            let mut values = [(&raw mut base).cast(), (&raw mut offset).cast(), (&raw mut structure).cast()];
            assert_eq!(launch(function, 1, &mut values).0, CUresult::CUDA_SUCCESS);
            failure(simulator)
        };
        let run = |offset, target| run_at(|| words(8), offset, target);
        assert_explained(run_at(|| 0, 31, || words(1)), "argument 1 of 3, which is null");
        assert_eq!(run(31, || words(1)), None);
        assert_explained(run(32, || words(1)), "argument 1 of 3, which points to buffer 4 from cuMemAlloc (32 bytes)");
        assert_explained(run(0, || 0), "argument 3 of 3, at byte 8, which is null");
    });
}

#[test]
fn too_few_arguments_are_refused_where_that_shows() {
    with_simulator(|simulator| {
        raw_context();
        let (_, function) = raw_function(ARGUMENTS, c"copy_if_given");
        let (mut input, mut output, mut count) = (0u64, words(32), 32u32);
        let given = [(&raw mut input).cast(), (&raw mut output).cast::<c_void>()];
        let third = |third: *mut c_void| [given[0], given[1], third];
        assert_eq!(launch(function, 32, &mut third((&raw mut count).cast())).0, CUresult::CUDA_SUCCESS);
        // A structure that is packed tightly has its fields anywhere.
        let mut packed = [0, 32, 0, 0, 0u8];
        assert_eq!(launch(function, 32, &mut third((&raw mut packed[1]).cast())).0, CUresult::CUDA_SUCCESS);
        let refused = |pointer: *mut c_void| {
            assert_eq!(launch(function, 32, &mut third(pointer)), (CUresult::CUDA_ERROR_INVALID_VALUE, CUresult::CUDA_SUCCESS));
            simulator.take_error().unwrap().unwrap()
        };
        let takes = "kernel copy_if_given takes 3 arguments, but";
        let message = refused(null_mut());
        assert!(message.contains(&format!("{takes} element 3 of kernelParams is null; are there as many elements?")), "{message}");
        if cfg!(target_os = "linux") {
            let message = refused(std::ptr::without_provenance_mut(1000));
            let expected =
                format!("{takes} element 3 of kernelParams is 0x3e8, where nothing can be read; are there as many elements?");
            assert!(message.contains(&expected), "{message}");
        }
        let none = cu!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut()));
        assert_eq!(none, CUresult::CUDA_ERROR_INVALID_VALUE);
        let message = simulator.take_error().unwrap().unwrap();
        assert!(message.contains(&format!("{takes} the launch has none")), "{message}");
        assert_eq!(simulator.take_records().unwrap().totals.launches, 2, "what was refused did not run");
    });
}
