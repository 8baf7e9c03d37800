//! Reporting while the process runs: each thing that is new goes to standard error and to the files of reports.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use parking_lot::Mutex;
use simt::LaunchOptions;

use crate::messages::say;
use crate::name::readable;
use crate::observer::{Begun, Ended, Observer};
use crate::report::{Destination, Report};
use crate::result::Failure;
use crate::settings::Reporting;

/// True if a client reads the records. Then nothing is printed for it.
static HAS_CLIENT: AtomicBool = AtomicBool::new(false);

/// Notes that a client reads the records from now on.
pub fn client_reads() {
    HAS_CLIENT.store(true, Relaxed);
}

/// The report of the process, and where its parts are told.
pub struct Reporter {
    pub settings: Reporting,
    pub report: Mutex<Report>,
}

impl Reporter {
    pub fn new(profile: &str, settings: Reporting) -> Self {
        Self { report: Mutex::new(Report::new(profile, settings.suppressions.clone())), settings }
    }

    /// Adds something to the report, and tells what is new. The files are written at once, because the process may abort because of what
    /// was found, and then nothing is written at its end.
    fn add(&self, note: impl FnOnce(&mut Report) -> Vec<String>) {
        let mut report = self.report.lock();
        let new = note(&mut report);
        if !new.is_empty() {
            for file in self.settings.destinations.iter().filter(|to| !matches!(to, Destination::Text | Destination::Github)) {
                if let Err(error) = file.write(&report) {
                    self.tell(&format!("cannot write the report: {error}"));
                }
            }
        }
        drop(report);
        new.iter().for_each(|message| self.print(message));
    }

    /// Notes a race between streams, or between a stream and the host.
    pub fn note_stream_race(&self, kernel: Option<&str>, work: &str, message: String) {
        self.add(|report| if report.note_stream_race(kernel, work, &message) { vec![message] } else { Vec::new() });
    }

    /// Notes a refused module or launch, and prints a new reason.
    pub fn note_refusal(&self, failure: &Failure) {
        self.refuse(failure, true);
    }

    /// Notes a refused function or kernel that a program may not need: NVRTC does without some, and a module may have kernels that nobody launches.
    /// Prints a new reason.
    pub fn note_missing(&self, failure: &Failure) {
        self.refuse(failure, false);
    }

    fn refuse(&self, failure: &Failure, stops_kernels: bool) {
        let Some(reason) = &failure.reason else { return };
        let is_new = self.report.lock().note_refusal(reason, stops_kernels);
        if is_new {
            self.print(reason);
        }
    }

    /// Prints a message for a program that knows nothing of the simulator. It would see only an error code. A client reads the message
    /// elsewhere.
    fn print(&self, message: &str) {
        if !HAS_CLIENT.load(Relaxed) {
            self.tell(message);
        }
    }

    /// Prints a message about something that is in no record.
    pub fn tell(&self, message: &str) {
        if !self.settings.quiet {
            say(format_args!("{message}"));
        }
    }
}

impl Observer for Reporter {
    /// Adds the launch. Says how much of the kernel's output is missing, too: a GPU does not, but there a program that prints that much is
    /// slow.
    fn end(&self, launch: &Begun<'_>, options: &LaunchOptions, ended: &Ended) {
        if ended.overwritten > 0 {
            self.tell(&format!(
                "kernel {}: {} bytes of its printf output were overwritten by later output, as on a GPU; the buffer has {} bytes \
                 (cudaLimitPrintfFifoSize)",
                readable(launch.kernel),
                ended.overwritten,
                options.printed_bytes,
            ));
        }
        self.add(|report| report.note(&ended.record, || launch.image.module().fingerprint()));
    }
}
