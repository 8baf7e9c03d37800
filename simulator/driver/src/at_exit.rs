//! The end of the process: the report and the coverage are written, and the exit status reflects the defects.
//!
//! The program does not know about any of this, so the library has a destructor. The loader runs it when the process ends by `exit`, by
//! a return from `main`, or by a panic. A process that is killed or aborts ends without it, and nothing can be done about that. By then,
//! each defect has been printed to standard error and written to the files of reports when it was first seen.
//!
//! This module exists on Linux only. Elsewhere [`Reporting`](crate::settings::Reporting) refuses a report at exit.

use std::io;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use simt::Severity;

use crate::coverage::Collector;
use crate::driver;
use crate::files::replace;
use crate::messages::{say, say_if_not_written};
use crate::report::{Destination, Report};
use crate::settings::Reporting;

/// How long to wait for a thread that is recording a launch.
const PATIENCE: Duration = Duration::from_secs(2);

/// The destructor. The loader calls every function in this section when the process ends, after the program's own `atexit` functions.
/// It is static so that the loader finds it.
#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    let status = std::panic::catch_unwind(finish).unwrap_or_default();
    if let Some(status) = status {
        // SAFETY: `fflush` accepts null, which means every open stream, and `_exit` may be called with any status at any time.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(status.into());
        }
    }
}

/// Writes the report. Returns the status that the process must end with instead of its own, if any.
fn finish() -> Option<u8> {
    let Some(driver) = driver::driver_of_this_process() else {
        if !driver::is_initialized() {
            report_an_idle_process();
        }
        return None;
    };
    if let Some(collector) = driver.coverage.as_ref().and_then(|collector| wait_for("coverage", collector)) {
        write_coverage(&collector);
    }
    let mut report = wait_for("report", &driver.reporter.report)?;
    if let Some(timeline) = driver.queues.timeline.as_ref().and_then(|timeline| wait_for("order of work", timeline)) {
        report.work = timeline.work;
    }
    for destination in &driver.reporter.settings.destinations {
        say_if_not_written(destination.write(&report), "the report");
    }
    driver.reporter.settings.exit_status.filter(|_| report.count(Severity::Error) > 0 || report.untested().is_some())
}

/// Writes that this process never initialized the driver. A command merges the reports of all processes. Replaces no report, which another
/// process may have written.
fn report_an_idle_process() {
    let Ok(reporting) = Reporting::from_environment(driver::variable) else { return };
    for destination in &reporting.destinations {
        if matches!(destination, Destination::Json(path) if !path.exists()) {
            say_if_not_written(destination.write(&Report::of_an_idle_process()), "the report");
        }
    }
}

/// Locks what is to be written. Other threads may still be running, but none holds the lock for long. The exception is a thread that was
/// recording a launch when a signal handler on the same thread called `exit`: it never lets go, so this function gives up after a while.
fn wait_for<'a, T>(what: &str, held: &'a Mutex<T>) -> Option<MutexGuard<'a, T>> {
    let locked = held.try_lock_for(PATIENCE);
    if locked.is_none() {
        say(format_args!("no {what}: a thread that no longer runs holds it"));
    }
    locked
}

fn write_coverage(collector: &Collector) {
    let covered = collector.covered();
    if !covered.kernels.is_empty() {
        let path = collector.spool.new_file();
        let written = serde_json::to_vec(&covered).map_err(io::Error::from).and_then(|text| replace(&path, text));
        say_if_not_written(written, format_args!("the coverage to {}", path.display()));
    }
}
