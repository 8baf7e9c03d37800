//! What happens when the process ends: the report is written to its destinations, and the exit status reflects the defects.
//!
//! The program does not know about any of this, so the library has a destructor. The loader runs it when the process ends by `exit`, by
//! a return from `main`, or by a panic. A process that is killed or aborts ends without it, and nothing can be done about that. By then,
//! each defect has been printed to standard error when it was first seen.
//!
//! This module exists on Linux only. Elsewhere [`Reporting`](crate::settings::Reporting) refuses a report at exit.

use std::ffi::{c_int, c_void};
use std::io;
use std::sync::{MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use simt::Severity;

use crate::driver::{self, Driver};
use crate::error::Error;
use crate::files;
use crate::messages::{print, say};
use crate::report::Report;
use crate::settings::Destination;

/// How long to wait for a thread that is recording a launch.
const PATIENCE: Duration = Duration::from_secs(2);

/// The destructor. The loader calls every function in this section when the process ends, after the program's own `atexit` functions.
/// It is static so that the loader finds it.
#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    // SAFETY: both declarations have the types of the C standard and of POSIX. `_exit` may be called with any status at any time.
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
        safe fn _exit(status: c_int) -> !;
    }

    let status = std::panic::catch_unwind(finish).unwrap_or_default();
    if let Some(status) = status {
        // SAFETY: `fflush` accepts null, which means every open stream.
        unsafe { fflush(std::ptr::null_mut()) };
        _exit(status.into());
    }
}

/// Writes the report. Returns the status that the process must end with instead of its own, if any.
fn finish() -> Option<u8> {
    let driver = driver::driver_of_this_process()?;
    let report = wait_for_report(driver)?;
    for destination in &driver.reporting.destinations {
        if let Err(error) = write(&report, destination) {
            say(format_args!("cannot write the report: {error}"));
        }
    }
    driver.reporting.exit_status.filter(|_| report.count(Severity::Error) > 0)
}

/// Locks the report. Other threads may still be running, but none holds the lock for long. The exception is a thread that was recording a
/// launch when a signal handler on the same thread called `exit`: it never lets go, so this function gives up after a while.
fn wait_for_report(driver: &Driver) -> Option<MutexGuard<'_, Report>> {
    let started = Instant::now();
    loop {
        match driver.report.try_lock() {
            Ok(report) => return Some(report),
            Err(TryLockError::Poisoned(report)) => return Some(report.into_inner()),
            Err(TryLockError::WouldBlock) if started.elapsed() > PATIENCE => {
                say(format_args!("no report: a thread that no longer runs holds it"));
                return None;
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn write(report: &Report, destination: &Destination) -> Result<(), Error> {
    match destination {
        Destination::Text => print(format_args!("{report}")),
        Destination::Github => print(format_args!("{}", report.github())),
        Destination::Json(path) => {
            let written =
                serde_json::to_string_pretty(report).map_err(io::Error::from).and_then(|text| files::replace(path, &(text + "\n")));
            written.map_err(|source| Error::File { path: path.clone(), source })?;
        }
    }
    Ok(())
}
