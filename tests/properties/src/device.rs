//! The device that the tests run on, and how the same tests reach the other device.

use std::env;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use compilers::variables::{REQUIRE_GPU, TEST_DEVICE};
use run::device::Request;
use run::gpu::Gpu;
use run::probe::probe;

/// The GPU. One test uses it at a time, so that none disturbs another's times.
static GPU: Mutex<Option<Gpu>> = Mutex::new(None);

/// Simulators that no test uses at the moment. Each has its own modules, which a test may replace.
static SIMULATORS: Mutex<Vec<Gpu>> = Mutex::new(Vec::new());

/// Lends the device to a test: the GPU to one test at a time, and the simulator to as many as ask for it. Each test's thread has its own
/// records there.
pub fn with_gpu<R>(test: impl FnOnce(&Gpu) -> R) -> R {
    let open = |request| Gpu::open(&request).unwrap_or_else(|error| panic!("the tests have no device: {error}"));
    match TEST_DEVICE.text().as_deref() {
        Some("gpu") => {
            let mut gpu = GPU.lock().unwrap_or_else(PoisonError::into_inner);
            test(gpu.get_or_insert_with(|| open(Request::Gpu)))
        }
        Some("sim") | None => {
            let unused = || SIMULATORS.lock().unwrap_or_else(PoisonError::into_inner);
            let known = unused().pop();
            let gpu = known.unwrap_or_else(|| open(Request::Sim(None)));
            gpu.simulator().expect("it was asked for").record_apart().expect("the simulator answers");
            let result = test(&gpu);
            // A test that panics keeps its simulator, which may have a replaced module.
            unused().push(gpu);
            result
        }
        Some(other) => panic!("{TEST_DEVICE} must be sim or gpu, got {other}"),
    }
}

/// Lends an unshared simulator to a test that has its own process: a fault of a kernel makes the device useless to whoever shares it,
/// until the last of them gives it back. A kernel runs until its first defect.
pub fn with_own_simulator<R>(test: impl FnOnce(&Gpu) -> R) -> R {
    let gpu = Gpu::open(&Request::Sim(None)).unwrap_or_else(|error| panic!("the test has no device: {error}"));
    gpu.simulator().expect("it was asked for").set_until_defect(true).expect("the simulator takes a setting");
    test(&gpu)
}

/// Runs one ignored test in a process that it may leave unusable. Returns what it printed.
pub fn in_own_process(test: &str) -> String {
    let output = Command::new(env::current_exe().expect("a running program has a path"))
        .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
        .output()
        .expect("this program can be started again");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{test} failed in its own process:\n{said}");
    said
}

/// The words before the reason why there is no GPU.
const NO_GPU: &str = "no GPU can be used: ";

/// Asks for a driver in a process of its own. In this process, the simulator may already have taken the driver's name.
#[test]
#[ignore = "not a test: all_these_tests_pass_on_a_gpu_as_well starts it in a process of its own"]
fn what_the_driver_of_this_machine_says() {
    if let Err(why) = probe() {
        println!("{NO_GPU}{why}");
    }
}

#[test]
fn all_these_tests_pass_on_a_gpu_as_well() {
    match TEST_DEVICE.text().as_deref() {
        // This is the second process, or the run that was asked for.
        Some("gpu") => return,
        Some(_) => {
            assert!(!REQUIRE_GPU.is_one(), "{REQUIRE_GPU}=1 and {TEST_DEVICE}=sim contradict each other");
            return;
        }
        None => {}
    }
    let said = in_own_process("device::what_the_driver_of_this_machine_says");
    if let Some((_, why)) = said.split_once(NO_GPU) {
        return REQUIRE_GPU.skip("the tests on a GPU", why.lines().next().unwrap_or_default());
    }
    let output = Command::new(env::current_exe().expect("a running program has a path"))
        .env(TEST_DEVICE, "gpu")
        .output()
        .expect("this program can be started again");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "on the GPU:\n{said}");
}
