//! The list of suites, `suites.toml`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The list, as it is in this repository.
const SUITES: &str = include_str!("../suites.toml");

/// A test suite of another project.
#[derive(Clone, Debug, Deserialize)]
pub struct Suite {
    /// The project that it tests.
    pub about: String,
    /// The version that is fetched.
    pub version: String,
    /// The way to build, list, and run its tests.
    #[serde(flatten)]
    pub kind: Kind,
    /// True if it compiles CUDA C while it runs.
    #[serde(default)]
    pub needs_nvrtc: bool,
    /// Packages of PyPI that together are the CUDA Toolkit that `CUDA_PATH` names: headers, and NVRTC if one of them has it.
    #[serde(default)]
    pub toolkit: Vec<String>,
    /// Variables that its tests and its build get.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Its tests run once with each of these sets of variables, and each time has a score of its own.
    #[serde(default)]
    pub variants: BTreeMap<String, BTreeMap<String, String>>,
    /// Seconds after which a test counts as hung.
    #[serde(default = "a_minute")]
    pub time_limit_s: u64,
    /// Tests that need this many GiB of the host's memory. With less, they are skipped.
    #[serde(default)]
    pub memory_gib: BTreeMap<String, u64>,
    /// Tests that fail for a reason that is not the driver's, and the reason.
    #[serde(default)]
    pub known: BTreeMap<String, String>,
    /// Tests whose kernels have the defect that is reported, and which.
    #[serde(default)]
    pub true_findings: BTreeMap<String, String>,
    /// True if the name of each test ends with the kinds of its defects: `NAME:memory+race`, or `NAME:none`. Such a suite has no score,
    /// but a [confusion of its labels](crate::labels).
    #[serde(default)]
    pub labeled: bool,
    /// Tests with the label that is right after all, by the reason.
    #[serde(default)]
    pub relabeled: BTreeMap<String, Vec<String>>,
}

/// The way to build, list, and run the tests of a suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// The tests of a crate.
    Rust {
        /// Its name on crates.io.
        package: String,
        /// For `cargo test`.
        arguments: Vec<String>,
    },
    /// Tests that Python runs, of its packages or our own.
    Python {
        /// The arguments of `pip install`.
        packages: Vec<String>,
        /// A crate of crates.io whose source is `{source}` instead.
        of_crate: Option<String>,
        /// The way to get its tests, if its packages do not have them.
        get_source: Option<String>,
        /// The address of the repository that has its tests, at the commit `version`.
        repository: Option<String>,
        /// Prints the names of the tests.
        list: Vec<String>,
        /// Runs the test whose name replaces `{test}`.
        run: Vec<String>,
        /// Runs all tests whose names follow in one process. It prints a line `passed NAME` for each that passed or failed as
        /// it expects, and may print a line `skipped NAME REASON` for each that skipped itself.
        #[serde(default)]
        run_together: Option<Vec<String>>,
        /// The text that the line of a test contains.
        name_contains: String,
    },
}

impl Suite {
    /// Returns the suite, or each of its variants, under its own name.
    pub fn variants(self, name: &str) -> Vec<(String, Self)> {
        if self.variants.is_empty() {
            return vec![(name.to_owned(), self)];
        }
        let variant = |(variant, variables): (&String, &BTreeMap<String, String>)| {
            let mut suite = self.clone();
            suite.environment.extend(variables.clone());
            (format!("{name}-{variant}"), suite)
        };
        self.variants.iter().map(variant).collect()
    }
}

fn a_minute() -> u64 {
    60
}

/// Returns all suites by name.
pub fn all() -> Result<BTreeMap<String, Suite>> {
    toml::from_str(SUITES).context("suites.toml")
}

/// Returns one suite.
pub fn named(name: &str) -> Result<Suite> {
    let mut suites = all()?;
    let Some(suite) = suites.remove(name) else {
        bail!("there is no suite {name}; suites: {}", suites.into_keys().collect::<Vec<_>>().join(", "));
    };
    Ok(suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variant_of_a_suite_runs_under_its_own_name_with_its_variables() {
        let plain = named("cudarc").unwrap().variants("cudarc");
        assert_eq!(plain.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["cudarc"]);
        let both = named("tinygrad").unwrap().variants("tinygrad");
        let devices = both.iter().map(|(name, suite)| (name.as_str(), suite.environment["DEV"].as_str()));
        assert_eq!(devices.collect::<Vec<_>>(), [("tinygrad-cuda", "CUDA"), ("tinygrad-ptx", "CUDA:PTX")]);
        assert!(both.iter().all(|(_, suite)| suite.environment["CACHELEVEL"] == "0"), "what is set for all variants");
    }
}
