//! Settings: from [the client](crate::client), or from the environment for programs that do not know about the simulator.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use simt::{Dim3, Profile, WarpOrder};

use crate::error::Error;
use crate::report::{Destination, Suppression, read_suppressions};
use crate::variables::{self, COVERAGE, REPORT};

/// The version when none is chosen, as `cuDriverGetVersion` returns it: the newest of which every function is here. CUDA 12.3 brought the
/// conditional nodes of graphs.
const DEFAULT_VERSION: i32 = 13050;

/// The oldest version that the driver may say that it is.
const OLDEST_VERSION: i32 = 12000;

/// The profile when none is chosen.
pub const DEFAULT_PROFILE: &str = "h200";

/// True where the operating system runs the library's destructor. The destructor writes the report.
const REPORTS_AT_EXIT: bool = cfg!(target_os = "linux");

/// A change of settings. A field that is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Name of the profile to simulate. It can only be changed before `cuInit`, because a program's device does not change while it runs.
    pub profile: Option<String>,
    /// True to check kernels for defects that do not stop them.
    pub checks: Option<bool>,
    /// True to stop a kernel when a defect is found.
    pub until_defect: Option<bool>,
    /// Warp instructions that one block may execute. A kernel that needs more is stopped as endless.
    pub fuel: Option<u64>,
    /// Blocks of a launch that all run. Of a larger grid, only its [`landmarks`](simt::landmarks) do.
    pub blocks: Option<u64>,
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
    /// Reads the settings from the environment. Fails with [`Error::Variable`].
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let checks = |text: &str| match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        let warp_order = |text: &str| match text {
            "ascending" => Some(WarpOrder::Ascending),
            "descending" => Some(WarpOrder::Descending),
            seed => seed.parse().ok().map(WarpOrder::Shuffled),
        };
        Ok(Self {
            profile: variable(variables::PROFILE.name),
            checks: variables::CHECKS.parsed(&variable, "on or off", checks)?,
            fuel: variables::FUEL.parsed(&variable, "a number of warp instructions", number)?,
            blocks: variables::BLOCKS.parsed(&variable, "a number of blocks", number)?,
            patience_s: variables::PATIENCE.parsed(&variable, "a number of seconds", number)?,
            warp_order: variables::WARP_ORDER.parsed(&variable, "ascending, descending, or a number to shuffle by", warp_order)?,
            ..Self::default()
        })
    }

    /// Applies a change: a field that is `None` there stays as it is here.
    pub(crate) fn apply(&mut self, change: Settings) {
        let Settings { profile, checks, until_defect, fuel, blocks, patience_s, workers, warp_order, garbage, trace } = change;
        self.profile = profile.or(self.profile.take());
        self.checks = checks.or(self.checks);
        self.until_defect = until_defect.or(self.until_defect);
        self.fuel = fuel.or(self.fuel);
        self.blocks = blocks.or(self.blocks);
        self.patience_s = patience_s.or(self.patience_s);
        self.workers = workers.or(self.workers);
        self.warp_order = warp_order.or(self.warp_order);
        self.garbage = garbage.or(self.garbage);
        self.trace = trace.or(self.trace);
    }
}

/// The reports of a process about its own kernels.
///
/// Only the environment decides. [`REPORT`] is `off` or a list of [destinations](Destination::parse) separated by commas. If the
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
    /// Reads from the environment what to report. Fails with [`Error::Variable`], [`Error::ReportFile`], [`Error::NoReportAtExit`],
    /// [`Error::File`], or [`Error::Suppressions`].
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let exit_status = variables::EXITCODE
            .parsed(&variable, "a number from 1 to 255", |text| text.parse().ok().filter(|&status: &u8| status > 0))?;
        let list = variable(REPORT.name);
        let quiet = list.as_deref() == Some("off");
        let list = list.iter().filter(|_| !quiet).flat_map(|list| list.split(','));
        let destinations = list.map(|text| Destination::parse(text, REPORT.name)).collect::<Result<Vec<_>, _>>()?;
        let coverage = variable(COVERAGE.name).map(|folder| coverage_folder(&folder)).transpose()?;
        let at_exit =
            [(REPORT, !destinations.is_empty()), (variables::EXITCODE, exit_status.is_some()), (COVERAGE, coverage.is_some())];
        if let Some((refused, _)) = at_exit.iter().find(|(_, is_asked)| *is_asked && !REPORTS_AT_EXIT) {
            return Err(Error::NoReportAtExit(refused.name));
        }
        let suppressions = variable(variables::SUPPRESSIONS.name).map(|path| read_suppressions(Path::new(&path)));
        Ok(Self { quiet, destinations, exit_status, suppressions: suppressions.transpose()?.unwrap_or_default(), coverage })
    }
}

/// Makes the folder for coverage. This way, an impossible name is refused before the program runs.
fn coverage_folder(folder: &str) -> Result<PathBuf, Error> {
    let made = std::path::absolute(folder).and_then(|folder| std::fs::create_dir_all(&folder).map(|()| folder));
    made.map_err(|error| Error::ReportFile { variable: COVERAGE.name, path: folder.into(), reason: error.to_string() })
}

/// Reads the driver's version of CUDA from the environment. It is as `cuDriverGetVersion` returns it: 12040 for `12.4`. Some
/// programs refuse an old driver although they need nothing new.
pub(crate) fn driver_version(variable: impl Fn(&str) -> Option<String>) -> Result<i32, Error> {
    let number = |text: &str| text.parse::<u8>().ok().filter(|&number| number < 100).map(i32::from);
    let version = |text: &str| {
        let (major, minor) = text.split_once('.')?;
        let version = number(major)? * 1000 + number(minor)? * 10;
        (version >= OLDEST_VERSION).then_some(version)
    };
    let chosen = variables::DRIVER_VERSION.parsed(variable, "a version of CUDA such as 12.4", version)?;
    Ok(chosen.unwrap_or(DEFAULT_VERSION))
}

/// Reads the schedule's number from the environment, if there is one.
pub(crate) fn schedule(variable: impl Fn(&str) -> Option<String>) -> Result<Option<u64>, Error> {
    variables::SCHEDULE.parsed(variable, "the number of a schedule", number)
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Finds a profile by its name. Fails with [`Error::UnknownProfile`], which lists all profiles.
pub fn profile_named(name: &str) -> Result<&'static Profile, Error> {
    Profile::named(name).ok_or_else(|| Error::UnknownProfile { name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_os = "linux")]
    use crate::variables::{BLOCKS, CHECKS, DRIVER_VERSION, EXITCODE, FUEL, PROFILE, Variable, WARP_ORDER};

    #[test]
    fn an_environment_variable_is_read_or_refused_by_its_name() {
        let settings = |name: Variable, value: &'static str| {
            Settings::from_environment(move |asked| (asked == name.name).then(|| value.to_owned()))
        };
        assert_eq!(settings(REPORT, "x").unwrap(), Settings::default());
        assert_eq!(settings(FUEL, "77").unwrap().fuel, Some(77));
        assert_eq!(settings(BLOCKS, "64").unwrap().blocks, Some(64));
        assert_eq!(settings(CHECKS, "off").unwrap().checks, Some(false));
        assert_eq!(settings(WARP_ORDER, "descending").unwrap().warp_order, Some(WarpOrder::Descending));
        assert_eq!(settings(WARP_ORDER, "7").unwrap().warp_order, Some(WarpOrder::Shuffled(7)));
        assert!(settings(WARP_ORDER, "any").unwrap_err().to_string().contains("descending"));
        assert_eq!(settings(PROFILE, "t4").unwrap().profile.as_deref(), Some("t4"));
        assert!(settings(FUEL, "much").unwrap_err().to_string().contains(FUEL.name));
        assert!(settings(CHECKS, "yes").unwrap_err().to_string().contains("on or off"));
    }

    #[test]
    fn the_version_of_the_driver_is_written_as_nvidia_writes_it() {
        let version = |value: Option<&str>| driver_version(|_| value.map(str::to_owned));
        assert_eq!(version(None).unwrap(), 13050);
        assert_eq!(version(Some("12.4")).unwrap(), 12040);
        assert_eq!(version(Some("13.0")).unwrap(), 13000);
        for wrong in ["", "12", "12.", "11.8", "12.4.1", "12.100", "new"] {
            assert!(version(Some(wrong)).unwrap_err().to_string().contains(DRIVER_VERSION.name), "{wrong}");
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
        let reporting = |name: Variable, value: &'static str| {
            Reporting::from_environment(move |asked| (asked == name.name).then(|| value.to_owned()))
        };
        assert_eq!(reporting(FUEL, "x").unwrap(), Reporting::default());
        assert!(reporting(REPORT, "off").unwrap().quiet);
        let process = std::process::id();
        let several = reporting(REPORT, "text,json:/tmp/r-%p,github,/tmp/r.json,junit:/tmp/r.xml,sarif:/tmp/r.sarif").unwrap();
        let expected = [
            Destination::Text,
            Destination::Json(format!("/tmp/r-{process}").into()),
            Destination::Github,
            Destination::Json("/tmp/r.json".into()),
            Destination::Junit("/tmp/r.xml".into()),
            Destination::Sarif("/tmp/r.sarif".into()),
        ];
        assert_eq!((several.quiet, several.destinations), (false, expected.to_vec()));
        assert_eq!(reporting(EXITCODE, "3").unwrap().exit_status, Some(3));
        assert_eq!(reporting(COVERAGE, "/tmp").unwrap().coverage, Some("/tmp".into()));
        for (name, value) in [
            (REPORT, ""),
            (REPORT, "yes"),
            (REPORT, "text,off"),
            (REPORT, "json:"),
            (REPORT, "json:/tmp"),
            (REPORT, "junit"),
            (REPORT, "sarif:"),
            (REPORT, "/no/such/folder/r.json"),
            (EXITCODE, "0"),
            (EXITCODE, "256"),
            (EXITCODE, ""),
            (COVERAGE, ""),
            (COVERAGE, "/dev/null/coverage"),
        ] {
            let message = reporting(name, value).unwrap_err().to_string();
            assert!(message.contains(name.name), "{value:?}: {message}");
        }
    }

    #[test]
    fn an_unknown_profile_is_answered_with_the_known_ones() {
        assert_eq!(profile_named(DEFAULT_PROFILE).unwrap().name, DEFAULT_PROFILE);
        let message = profile_named("voodoo2").unwrap_err().to_string();
        assert!(message.contains("voodoo2") && message.contains(DEFAULT_PROFILE), "{message}");
    }
}
