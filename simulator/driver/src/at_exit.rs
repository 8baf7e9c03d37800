//! What happens when the process ends: the report is written where it was asked for, and the exit status told of defects.
//!
//! The program knows nothing of all this, so the library has a destructor, which the loader runs when the process ends by `exit`, by a
//! return from `main` or by a panic. A process that is killed or that aborts ends without it, and nothing can be done about that; each
//! defect has been told on the standard error by then, when it was first seen.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::MutexGuard;
use std::time::Duration;

use simt::Severity;

use crate::report::Report;
use crate::settings::{Destination, Reporting};
use crate::state;

/// Whether this platform runs the library's destructor. Elsewhere, asking for a report at exit is refused.
pub const SUPPORTED: bool = cfg!(target_os = "linux");

/// How long a thread that is in the middle of noting a launch is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The loader calls every function in this section when the process ends, after the program's own `atexit` functions.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = at_exit;

#[cfg(target_os = "linux")]
extern "C" fn at_exit() {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
        safe fn _exit(status: c_int) -> !;
    }

    let status = std::panic::catch_unwind(finish).unwrap_or_default();
    if let Some(status) = status {
        // SAFETY: null means every stream that is open. It is all that is left to do before the process is gone.
        unsafe { fflush(std::ptr::null_mut()) };
        _exit(status.into());
    }
}

/// Writes the report; the status that the process must end with, where that is not its own.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nobody calls it where there is no destructor"))]
fn finish() -> Option<u8> {
    let reporting = state::reporting_of_this_process()?;
    let report = patiently()?;
    for destination in &reporting.destinations {
        if let Err(error) = write(&report, destination) {
            eprintln!("simcuda: the report was not written: {error}");
        }
    }
    let Reporting { exit_status, .. } = reporting;
    exit_status.filter(|_| report.count(Severity::Error) > 0)
}

/// The report. Other threads may still run, and one that holds it lets go of it at once; unless `exit` was called from a signal that
/// came just then, and then nobody ever lets go.
fn patiently() -> Option<MutexGuard<'static, Report>> {
    let started = std::time::Instant::now();
    loop {
        match state::try_report() {
            Some(report) => return Some(report),
            None if started.elapsed() > PATIENCE => {
                eprintln!("simcuda: no report: a thread that was ended holds it");
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn write(report: &Report, destination: &Destination) -> Result<(), String> {
    match destination {
        Destination::Text => eprint!("{report}"),
        Destination::Github => eprint!("{}", report.github()),
        Destination::Json(path) => {
            let text = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
            replace(path, &(text + "\n")).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Writes a file so that nobody ever sees half of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let unfinished = path.with_file_name(name);
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}
