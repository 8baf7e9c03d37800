//! What can be set: by [the client](crate::client), or by the environment for programs that know nothing of the simulator.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use simt::{Dim3, Profile};

use crate::at_exit;

/// The environment variable that chooses the profile.
pub const PROFILE_VARIABLE: &str = "SIMCUDA_PROFILE";
/// The environment variable that says how many warp instructions a block may execute.
pub const FUEL_VARIABLE: &str = "SIMCUDA_FUEL";
/// The environment variable that switches the checks: `on` or `off`.
pub const CHECKS_VARIABLE: &str = "SIMCUDA_CHECKS";
/// The environment variable that says where the report goes when the process ends; see [`Reporting`].
pub const REPORT_VARIABLE: &str = "SIMCUDA_REPORT";
/// The environment variable that gives the exit status of a process whose kernels had defects (errors, not warnings).
pub const EXIT_VARIABLE: &str = "SIMCUDA_EXITCODE";

/// The profile when none is chosen.
pub const DEFAULT_PROFILE: &str = "h200";

/// A change of settings: what is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Name of the profile to simulate. Can be changed only before `cuInit`, because a device does not change under a program.
    pub profile: Option<String>,
    /// Whether kernels are checked for defects that do not stop them.
    pub checks: Option<bool>,
    /// Warp instructions that one block may execute before the kernel is called endless.
    pub fuel: Option<u64>,
    /// Threads of the host that execute blocks; 0 takes one per core.
    pub workers: Option<usize>,
    /// What is kept of the accesses of each launch.
    pub trace: Option<Trace>,
}

/// What is kept of the accesses of each launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trace {
    /// Nothing.
    Off,
    /// What each thread of the block with this index touches of global memory: [`LaunchReport::touched`](simt::LaunchReport::touched).
    Block(Dim3),
}

impl Settings {
    /// The settings that the environment asks for.
    ///
    /// # Errors
    ///
    /// A message that names the variable whose value is not understood.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let fuel = variable(FUEL_VARIABLE)
            .map(|text| text.parse().map_err(|_| format!("{FUEL_VARIABLE} must be a number of warp instructions, got {text:?}")));
        let checks = variable(CHECKS_VARIABLE).map(|text| match text.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(format!("{CHECKS_VARIABLE} must be on or off, got {text:?}")),
        });
        Ok(Self {
            profile: variable(PROFILE_VARIABLE),
            checks: checks.transpose()?,
            fuel: fuel.transpose()?,
            workers: None,
            trace: None,
        })
    }
}

/// What a process says of itself on the simulator, and when.
///
/// The environment alone decides. [`REPORT_VARIABLE`] is `off`, or destinations with commas between them: `text`, `github`, and
/// `json:FILE` or just a `FILE` that ends with `.json`. In `FILE`, `%p` stands for the number of the process. When the variable is not
/// set, there is no report at exit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reporting {
    /// Nothing goes to the standard error while the process runs: no defect when it is first seen, and no reason of a refusal.
    pub quiet: bool,
    /// Where the report goes when the process ends.
    pub destinations: Vec<Destination>,
    /// The exit status when there were defects other than warnings.
    pub exit_status: Option<u8>,
}

/// Where a report goes, and in which form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To the standard error, for a person.
    Text,
    /// To the standard error, as annotations of GitHub Actions.
    Github,
    /// To a file, as [`crate::report::Report`] in JSON.
    Json(PathBuf),
}

impl Reporting {
    /// What the environment asks for.
    ///
    /// # Errors
    ///
    /// A message that names the variable whose value is not understood.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let exit_status = variable(EXIT_VARIABLE).map(|text| {
            let status = text.parse::<u8>().ok().filter(|&status| status > 0);
            status.ok_or_else(|| format!("{EXIT_VARIABLE} must be a number from 1 to 255, got {text:?}"))
        });
        let exit_status = exit_status.transpose()?;
        let asked = variable(REPORT_VARIABLE);
        if (asked.as_deref().is_some_and(|text| text != "off") || exit_status.is_some()) && !at_exit::SUPPORTED {
            return Err(format!("{REPORT_VARIABLE} and {EXIT_VARIABLE} work on Linux only"));
        }
        match asked.as_deref() {
            None => Ok(Self { exit_status, ..Self::default() }),
            Some("off") => Ok(Self { quiet: true, exit_status, ..Self::default() }),
            Some(list) => {
                let destinations = list.split(',').map(Destination::parse).collect::<Result<_, _>>()?;
                Ok(Self { quiet: false, destinations, exit_status })
            }
        }
    }
}

impl Destination {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "github" => Ok(Self::Github),
            _ => match text.strip_prefix("json:").or(Some(text).filter(|text| text.ends_with(".json"))) {
                Some(path) => json_file(path).map(Self::Json),
                None => Err(format!(
                    "{REPORT_VARIABLE} must be off, or of text, github and json:FILE with commas between; got {text:?}"
                )),
            },
        }
    }
}

/// The file that a path means now: the program may change its folder later.
fn json_file(path: &str) -> Result<PathBuf, String> {
    let path = path.replace("%p", &std::process::id().to_string());
    let refuse = |reason: &str| format!("{REPORT_VARIABLE}: cannot write {path:?}: {reason}");
    let absolute = std::path::absolute(&path).map_err(|error| refuse(&error.to_string()))?;
    if absolute.file_name().is_none() || absolute.is_dir() {
        return Err(refuse("it is no name of a file"));
    }
    if !absolute.parent().is_some_and(Path::is_dir) {
        return Err(refuse("its folder does not exist"));
    }
    Ok(absolute)
}

/// The profile of that name.
///
/// # Errors
///
/// A message that names all the profiles there are.
pub fn profile_named(name: &str) -> Result<&'static Profile, String> {
    Profile::named(name).ok_or_else(|| {
        let names: Vec<&str> = Profile::all().iter().map(|profile| profile.name).collect();
        format!("there is no profile {name:?}; choose one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_read_or_refused_by_name() {
        let settings = |name: &'static str, value: &'static str| {
            Settings::from_environment(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(settings("OTHER", "x").unwrap(), Settings::default());
        assert_eq!(settings(FUEL_VARIABLE, "77").unwrap().fuel, Some(77));
        assert_eq!(settings(CHECKS_VARIABLE, "off").unwrap().checks, Some(false));
        assert_eq!(settings(PROFILE_VARIABLE, "t4").unwrap().profile.as_deref(), Some("t4"));
        assert!(settings(FUEL_VARIABLE, "much").unwrap_err().contains(FUEL_VARIABLE));
        assert!(settings(CHECKS_VARIABLE, "yes").unwrap_err().contains("on or off"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn reports_go_where_the_environment_says_or_are_refused_by_name() {
        let reporting = |name: &'static str, value: &'static str| {
            Reporting::from_environment(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(reporting("OTHER", "x").unwrap(), Reporting::default());
        assert!(reporting(REPORT_VARIABLE, "off").unwrap().quiet);
        let process = std::process::id();
        let several = reporting(REPORT_VARIABLE, "text,json:/tmp/r-%p,github,/tmp/r.json").unwrap();
        let json = |path: String| Destination::Json(path.into());
        let expected = [Destination::Text, json(format!("/tmp/r-{process}")), Destination::Github, json("/tmp/r.json".to_owned())];
        assert_eq!((several.quiet, several.destinations), (false, expected.to_vec()));
        assert_eq!(reporting(EXIT_VARIABLE, "3").unwrap().exit_status, Some(3));
        for (name, value) in [
            (REPORT_VARIABLE, ""),
            (REPORT_VARIABLE, "yes"),
            (REPORT_VARIABLE, "text,off"),
            (REPORT_VARIABLE, "json:"),
            (REPORT_VARIABLE, "json:/tmp"),
            (REPORT_VARIABLE, "/no/such/folder/r.json"),
            (EXIT_VARIABLE, "0"),
            (EXIT_VARIABLE, "256"),
            (EXIT_VARIABLE, ""),
        ] {
            let message = reporting(name, value).unwrap_err();
            assert!(message.contains(name), "{value:?}: {message}");
        }
    }

    #[test]
    fn a_profile_that_is_not_there_is_answered_with_those_that_are() {
        assert_eq!(profile_named(DEFAULT_PROFILE).unwrap().name, DEFAULT_PROFILE);
        let message = profile_named("voodoo2").unwrap_err();
        assert!(message.contains("voodoo2") && message.contains(DEFAULT_PROFILE), "{message}");
    }
}
