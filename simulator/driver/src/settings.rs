//! What can be set: by [the client](crate::client), or by the environment for programs that know nothing of the simulator.

use serde::{Deserialize, Serialize};
use simt::Profile;

/// The environment variable that chooses the profile.
pub const PROFILE_VARIABLE: &str = "SIMCUDA_PROFILE";
/// The environment variable that says how many warp instructions a block may execute.
pub const FUEL_VARIABLE: &str = "SIMCUDA_FUEL";
/// The environment variable that switches the checks: `on` or `off`.
pub const CHECKS_VARIABLE: &str = "SIMCUDA_CHECKS";
/// The environment variable that says where findings go when no client takes them: `stderr` (as when it is unset) or `off`.
pub const FINDINGS_VARIABLE: &str = "SIMCUDA_FINDINGS";

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
        Ok(Self { profile: variable(PROFILE_VARIABLE), checks: checks.transpose()?, fuel: fuel.transpose()?, workers: None })
    }
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

    #[test]
    fn a_profile_that_is_not_there_is_answered_with_those_that_are() {
        assert_eq!(profile_named(DEFAULT_PROFILE).unwrap().name, DEFAULT_PROFILE);
        let message = profile_named("voodoo2").unwrap_err();
        assert!(message.contains("voodoo2") && message.contains(DEFAULT_PROFILE), "{message}");
    }
}
