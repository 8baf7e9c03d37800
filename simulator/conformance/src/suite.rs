//! The list of suites, `suites.toml`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The list, as it is in this repository.
const SUITES: &str = include_str!("../suites.toml");

/// A test suite of another project.
#[derive(Debug, Deserialize)]
pub struct Suite {
    /// What it tests.
    pub about: String,
    /// The version that is fetched.
    pub version: String,
    /// How its tests are built, listed, and run.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether it compiles CUDA C while it runs.
    #[serde(default)]
    pub needs_nvrtc: bool,
    /// Packages of PyPI that together are the CUDA Toolkit that `CUDA_PATH` names: headers, and NVRTC if one of them has it.
    #[serde(default)]
    pub toolkit: Vec<String>,
    /// Variables that its tests and its build get.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Seconds after which a test counts as hung.
    #[serde(default = "a_minute")]
    pub time_limit_s: u64,
    /// Tests that fail for a reason that is not the driver's, and the reason.
    #[serde(default)]
    pub known: BTreeMap<String, String>,
    /// Tests whose kernels have the defect that is reported, and which.
    #[serde(default)]
    pub true_findings: BTreeMap<String, String>,
}

/// How the tests of a suite are built, listed, and run.
#[derive(Debug, Deserialize)]
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
        /// What `pip install` takes.
        packages: Vec<String>,
        /// A crate of crates.io whose source is `{source}` instead.
        of_crate: Option<String>,
        /// Prints the names of the tests.
        list: Vec<String>,
        /// Runs the test in place of `{test}`.
        run: Vec<String>,
        /// What the line of a test contains.
        name_contains: String,
    },
}

fn a_minute() -> u64 {
    60
}

/// All suites by name.
pub fn all() -> Result<BTreeMap<String, Suite>> {
    toml::from_str(SUITES).context("suites.toml")
}

/// One suite.
pub fn named(name: &str) -> Result<Suite> {
    let mut suites = all()?;
    let Some(suite) = suites.remove(name) else {
        bail!("there is no suite {name}; suites: {}", suites.into_keys().collect::<Vec<_>>().join(", "));
    };
    Ok(suite)
}
