//! Settings: from [the client](crate::client), or from the environment for programs that do not know about the simulator.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use simt::{Dim3, Profile, WarpOrder};

use crate::error::Error;
use crate::report::{Destination, Suppression, read_suppressions};

/// The environment variable that chooses the profile.
pub const PROFILE_VARIABLE: &str = "SIMCUDA_PROFILE";
/// The environment variable that limits how many warp instructions a block may execute.
pub const FUEL_VARIABLE: &str = "SIMCUDA_FUEL";
/// The environment variable that limits how many seconds a program waits for a stream that waits for a value in memory.
pub const PATIENCE_VARIABLE: &str = "SIMCUDA_PATIENCE";
/// The environment variable that sets the order in which the warps of a block take turns.
pub const ORDER_VARIABLE: &str = "SIMCUDA_WARP_ORDER";
/// The environment variable that chooses the order of the work of streams, by the number of a schedule.
pub const SCHEDULE_VARIABLE: &str = "SIMCUDA_SCHEDULE";
/// The environment variable that turns the checks `on` or `off`.
pub const CHECKS_VARIABLE: &str = "SIMCUDA_CHECKS";
/// The environment variable that says where the report goes when the process ends. See [`Reporting`].
pub const REPORT_VARIABLE: &str = "SIMCUDA_REPORT";
/// The environment variable that sets the exit status of a process whose kernels had defects (errors, not warnings).
pub const EXIT_VARIABLE: &str = "SIMCUDA_EXITCODE";
/// The environment variable that names a file with the defects that are not to be reported. See [`Reporting::suppressions`].
pub const SUPPRESSIONS_VARIABLE: &str = "SIMCUDA_SUPPRESSIONS";

/// The environment variable that names a folder into which each process writes which lines and branches of its kernels it executed.
pub const COVERAGE_VARIABLE: &str = "SIMCUDA_COVERAGE";

/// The environment variable that names a folder into which each launch is written, to be repeated elsewhere.
pub const LAUNCHES_VARIABLE: &str = "SIMCUDA_LAUNCHES";

/// The environment variable that chooses the version of CUDA that the driver says it has, such as `12.4`.
pub const VERSION_VARIABLE: &str = "SIMCUDA_DRIVER_VERSION";

/// The version when none is chosen, as `cuDriverGetVersion` returns it: the newest of which every function is here. CUDA 12.3 brought the
/// conditional nodes of graphs.
const DEFAULT_VERSION: i32 = 12020;

/// The profile when none is chosen.
pub const DEFAULT_PROFILE: &str = "h200";

/// Whether this operating system runs the library's destructor, which writes the report.
const REPORTS_AT_EXIT: bool = cfg!(target_os = "linux");

/// A change of settings. A field that is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Name of the profile to simulate. It can only be changed before `cuInit`, because a program's device does not change while it runs.
    pub profile: Option<String>,
    /// Whether to check kernels for defects that do not stop them.
    pub checks: Option<bool>,
    /// Warp instructions that one block may execute. A kernel that needs more is stopped as endless.
    pub fuel: Option<u64>,
    /// Seconds that a program waits for a stream that waits for a value in memory which nothing writes.
    pub patience_s: Option<u64>,
    /// Threads of the host that execute blocks; 0 means one per core.
    pub workers: Option<usize>,
    /// The order in which the warps of a block take turns.
    pub warp_order: Option<WarpOrder>,
    /// The word that registers and local memory hold until a thread writes them.
    pub garbage: Option<u32>,
    /// Which memory accesses of each launch are recorded.
    pub trace: Option<Trace>,
}

/// Which memory accesses of each launch are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trace {
    /// None.
    Off,
    /// The accesses to global memory of each thread in the block with this index, in
    /// [`LaunchReport::touched`](simt::LaunchReport::touched).
    Block(Dim3),
}

impl Settings {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    ///
    /// [`Error::Variable`]
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let number = |name: &'static str, expected: &'static str| {
            let text = variable(name);
            text.map(|text| text.parse().map_err(|_| Error::Variable { variable: name, expected, got: text })).transpose()
        };
        let checks = variable(CHECKS_VARIABLE).map(|text| match text.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(Error::Variable { variable: CHECKS_VARIABLE, expected: "on or off", got: text }),
        });
        let warp_order = variable(ORDER_VARIABLE).map(|text| match text.as_str() {
            "ascending" => Ok(WarpOrder::Ascending),
            "descending" => Ok(WarpOrder::Descending),
            seed => seed.parse().map(WarpOrder::Shuffled).map_err(|_| Error::Variable {
                variable: ORDER_VARIABLE,
                expected: "ascending, descending, or a number to shuffle by",
                got: seed.to_owned(),
            }),
        });
        Ok(Self {
            profile: variable(PROFILE_VARIABLE),
            checks: checks.transpose()?,
            fuel: number(FUEL_VARIABLE, "a number of warp instructions")?,
            patience_s: number(PATIENCE_VARIABLE, "a number of seconds")?,
            workers: None,
            warp_order: warp_order.transpose()?,
            garbage: None,
            trace: None,
        })
    }

    /// Applies a change: a field that is `None` there stays as it is here.
    pub(crate) fn apply(&mut self, change: Settings) {
        let Settings { profile, checks, fuel, patience_s, workers, warp_order, garbage, trace } = change;
        self.profile = profile.or(self.profile.take());
        self.checks = checks.or(self.checks);
        self.fuel = fuel.or(self.fuel);
        self.patience_s = patience_s.or(self.patience_s);
        self.workers = workers.or(self.workers);
        self.warp_order = warp_order.or(self.warp_order);
        self.garbage = garbage.or(self.garbage);
        self.trace = trace.or(self.trace);
    }
}

/// What a process reports about its own kernels, and when.
///
/// Only the environment decides. [`REPORT_VARIABLE`] is `off` or a list of [destinations](Destination::parse) separated by commas. If the
/// variable is not set, there is no report at exit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reporting {
    /// Print nothing to standard error while the process runs: no defect when it is first seen, and no reason for a refusal.
    pub quiet: bool,
    /// Where the report goes when the process ends.
    pub destinations: Vec<Destination>,
    /// The exit status if there were defects other than warnings.
    pub exit_status: Option<u8>,
    /// Defects that are not to be reported. They do not count for the exit status either.
    pub suppressions: Vec<Suppression>,
    /// The folder for the coverage of kernels.
    pub coverage: Option<PathBuf>,
}

impl Reporting {
    /// Reads from the environment what to report.
    ///
    /// # Errors
    ///
    /// [`Error::Variable`], [`Error::ReportFile`], [`Error::NoReportAtExit`], [`Error::File`], [`Error::Suppressions`]
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let exit_status = variable(EXIT_VARIABLE).map(|text| match text.parse::<u8>() {
            Ok(status @ 1..) => Ok(status),
            _ => Err(Error::Variable { variable: EXIT_VARIABLE, expected: "a number from 1 to 255", got: text }),
        });
        let exit_status = exit_status.transpose()?;
        let (quiet, destinations) = match variable(REPORT_VARIABLE).as_deref() {
            None => (false, Vec::new()),
            Some("off") => (true, Vec::new()),
            Some(list) => (false, list.split(',').map(|text| Destination::parse(text, REPORT_VARIABLE)).collect::<Result<_, _>>()?),
        };
        if !REPORTS_AT_EXIT && !destinations.is_empty() {
            return Err(Error::NoReportAtExit(REPORT_VARIABLE));
        }
        if !REPORTS_AT_EXIT && exit_status.is_some() {
            return Err(Error::NoReportAtExit(EXIT_VARIABLE));
        }
        let suppressions = variable(SUPPRESSIONS_VARIABLE).map(|path| read_suppressions(Path::new(&path)));
        let coverage = variable(COVERAGE_VARIABLE).map(|folder| coverage_folder(&folder)).transpose()?;
        if !REPORTS_AT_EXIT && coverage.is_some() {
            return Err(Error::NoReportAtExit(COVERAGE_VARIABLE));
        }
        Ok(Self { quiet, destinations, exit_status, suppressions: suppressions.transpose()?.unwrap_or_default(), coverage })
    }
}

/// Makes the folder for coverage now, so that a name that cannot be is refused before the program runs.
fn coverage_folder(folder: &str) -> Result<PathBuf, Error> {
    let made = std::path::absolute(folder).and_then(|folder| std::fs::create_dir_all(&folder).map(|()| folder));
    made.map_err(|error| Error::ReportFile { variable: COVERAGE_VARIABLE, path: folder.into(), reason: error.to_string() })
}

/// Reads from the environment which version of CUDA the driver says it has, as `cuDriverGetVersion` returns it: 12040 for `12.4`. Some
/// programs refuse an old driver although they need nothing new.
///
/// # Errors
///
/// [`Error::Variable`]
pub(crate) fn driver_version(variable: impl Fn(&str) -> Option<String>) -> Result<i32, Error> {
    let Some(text) = variable(VERSION_VARIABLE) else { return Ok(DEFAULT_VERSION) };
    let number = |text: &str| text.parse::<u8>().ok().filter(|&number| number < 100).map(i32::from);
    let version = text.split_once('.').and_then(|(major, minor)| Some(number(major)? * 1000 + number(minor)? * 10));
    let refused = || Error::Variable { variable: VERSION_VARIABLE, expected: "a version of CUDA such as 12.4", got: text.clone() };
    version.filter(|&version| version >= DEFAULT_VERSION).ok_or_else(refused)
}

/// Reads from the environment the number of the schedule, if there is one.
///
/// # Errors
///
/// [`Error::Variable`]
pub(crate) fn schedule(variable: impl Fn(&str) -> Option<String>) -> Result<Option<u64>, Error> {
    let refused = |got| Error::Variable { variable: SCHEDULE_VARIABLE, expected: "the number of a schedule", got };
    variable(SCHEDULE_VARIABLE).map(|text| text.parse().map_err(|_| refused(text))).transpose()
}

/// Finds a profile by its name.
///
/// # Errors
///
/// [`Error::UnknownProfile`], which lists all profiles.
pub fn profile_named(name: &str) -> Result<&'static Profile, Error> {
    Profile::named(name).ok_or_else(|| Error::UnknownProfile { name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_os = "linux")]
    use crate::report::Form;

    #[test]
    fn an_environment_variable_is_read_or_refused_by_its_name() {
        let settings = |name: &'static str, value: &'static str| {
            Settings::from_environment(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(settings("OTHER", "x").unwrap(), Settings::default());
        assert_eq!(settings(FUEL_VARIABLE, "77").unwrap().fuel, Some(77));
        assert_eq!(settings(CHECKS_VARIABLE, "off").unwrap().checks, Some(false));
        assert_eq!(settings(ORDER_VARIABLE, "descending").unwrap().warp_order, Some(WarpOrder::Descending));
        assert_eq!(settings(ORDER_VARIABLE, "7").unwrap().warp_order, Some(WarpOrder::Shuffled(7)));
        assert!(settings(ORDER_VARIABLE, "any").unwrap_err().to_string().contains("descending"));
        assert_eq!(settings(PROFILE_VARIABLE, "t4").unwrap().profile.as_deref(), Some("t4"));
        assert!(settings(FUEL_VARIABLE, "much").unwrap_err().to_string().contains(FUEL_VARIABLE));
        assert!(settings(CHECKS_VARIABLE, "yes").unwrap_err().to_string().contains("on or off"));
    }

    #[test]
    fn the_version_of_the_driver_is_written_as_nvidia_writes_it() {
        let version = |value: Option<&str>| driver_version(|_| value.map(str::to_owned));
        assert_eq!(version(None).unwrap(), 12020);
        assert_eq!(version(Some("12.4")).unwrap(), 12040);
        assert_eq!(version(Some("13.0")).unwrap(), 13000);
        for wrong in ["", "12", "12.", "11.8", "12.4.1", "12.100", "new"] {
            assert!(version(Some(wrong)).unwrap_err().to_string().contains(VERSION_VARIABLE), "{wrong}");
        }
    }

    #[test]
    fn a_change_leaves_alone_what_it_does_not_name() {
        let mut settings = Settings { fuel: Some(1), workers: Some(2), ..Settings::default() };
        settings.apply(Settings { fuel: Some(3), checks: Some(false), ..Settings::default() });
        assert_eq!(settings, Settings { fuel: Some(3), workers: Some(2), checks: Some(false), ..Settings::default() });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn reports_go_where_the_environment_says_or_the_variable_is_refused() {
        let reporting = |name: &'static str, value: &'static str| {
            Reporting::from_environment(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(reporting("OTHER", "x").unwrap(), Reporting::default());
        assert!(reporting(REPORT_VARIABLE, "off").unwrap().quiet);
        let process = std::process::id();
        let several =
            reporting(REPORT_VARIABLE, "text,json:/tmp/r-%p,github,/tmp/r.json,junit:/tmp/r.xml,sarif:/tmp/r.sarif").unwrap();
        let file = |form, path: &str| Destination::File(form, path.into());
        let expected = [
            Destination::Text,
            file(Form::Json, &format!("/tmp/r-{process}")),
            Destination::Github,
            file(Form::Json, "/tmp/r.json"),
            file(Form::Junit, "/tmp/r.xml"),
            file(Form::Sarif, "/tmp/r.sarif"),
        ];
        assert_eq!((several.quiet, several.destinations), (false, expected.to_vec()));
        assert_eq!(reporting(EXIT_VARIABLE, "3").unwrap().exit_status, Some(3));
        assert_eq!(reporting(COVERAGE_VARIABLE, "/tmp").unwrap().coverage, Some("/tmp".into()));
        for (name, value) in [
            (REPORT_VARIABLE, ""),
            (REPORT_VARIABLE, "yes"),
            (REPORT_VARIABLE, "text,off"),
            (REPORT_VARIABLE, "json:"),
            (REPORT_VARIABLE, "json:/tmp"),
            (REPORT_VARIABLE, "junit"),
            (REPORT_VARIABLE, "sarif:"),
            (REPORT_VARIABLE, "/no/such/folder/r.json"),
            (EXIT_VARIABLE, "0"),
            (EXIT_VARIABLE, "256"),
            (EXIT_VARIABLE, ""),
            (COVERAGE_VARIABLE, ""),
            (COVERAGE_VARIABLE, "/dev/null/coverage"),
        ] {
            let message = reporting(name, value).unwrap_err().to_string();
            assert!(message.contains(name), "{value:?}: {message}");
        }
    }

    #[test]
    fn an_unknown_profile_is_answered_with_the_known_ones() {
        assert_eq!(profile_named(DEFAULT_PROFILE).unwrap().name, DEFAULT_PROFILE);
        let message = profile_named("voodoo2").unwrap_err().to_string();
        assert!(message.contains("voodoo2") && message.contains(DEFAULT_PROFILE), "{message}");
    }
}
