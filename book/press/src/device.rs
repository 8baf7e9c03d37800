//! The simulator, for the tests of this crate.

use std::env;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use common::device::Request;
use common::gpu::Gpu;

static GPU: Mutex<Option<Gpu>> = Mutex::new(None);

/// Lends the simulator to one test at a time: what it records is one list for all.
pub fn with_gpu<R>(test: impl FnOnce(&Gpu) -> R) -> R {
    let mut gpu = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    let gpu = gpu.get_or_insert_with(|| Gpu::open(&Request::Sim(None)).expect("the simulator is built with this test"));
    test(gpu)
}

/// Runs one ignored test in a process of its own, because a process simulates one GPU only.
pub fn in_own_process(test: &str) {
    let output = Command::new(env::current_exe().expect("a running program has a path"))
        .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
        .output()
        .expect("this program can be started again");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{test} failed in its own process:\n{said}");
}
