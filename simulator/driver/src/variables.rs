//! The environment variables of the simulator, all of them. `simulator/README.md` shows this table, and a test compares the two.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;

use crate::error::Error;

/// An environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Who sets it.
    pub set_by: SetBy,
    /// The value that counts when it is not set, in Markdown; empty if there is none.
    pub default: &'static str,
    /// Its meaning, in Markdown.
    pub meaning: &'static str,
}

/// Who sets a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetBy {
    /// People who use the simulator.
    Users,
    /// The command `simcuda`, or the plugin for pytest, for the programs that they run.
    Command,
    /// Tests, and scripts that build or test the simulator.
    Tests,
}

/// Defines the constants and [`VARIABLES`] from one table.
macro_rules! variables {
    ($($constant:ident = $name:literal $set_by:ident $default:literal $meaning:literal,)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: Variable = Variable { name: $name, set_by: SetBy::$set_by, default: $default, meaning: $meaning };
        )*

        /// Every environment variable, in the order of the page that shows them.
        pub const VARIABLES: &[Variable] = &[$($constant),*];
    };
}

variables! {
    PROFILE = "SIMCUDA_PROFILE" Users "`h200`"
        "the GPU to simulate; for an unknown name, the error lists all known names",
    FUEL = "SIMCUDA_FUEL" Users "`536870912`"
        "the most warp instructions that one block may execute; a kernel that needs more is stopped, because it may be endless; a `printf` of a thread counts as at least 200",
    PATIENCE = "SIMCUDA_PATIENCE" Users "`60`"
        "how many seconds a program waits for a stream that waits for a value in memory; after that the wait fails",
    BLOCKS = "SIMCUDA_BLOCKS" Users ""
        "the most blocks of a launch that all run; of a larger grid without clusters run only the first, the last, and those around powers of two, and the report says so",
    CHECKS = "SIMCUDA_CHECKS" Users "`on`"
        "`on` or `off`: checks for races and for reads of uninitialized memory, which do not stop a kernel",
    WARP_ORDER = "SIMCUDA_WARP_ORDER" Users "`ascending`"
        "the order in which the warps of a block take turns: `ascending`, `descending`, or a seed for a random order; a kernel without races gives the same bits in any order",
    SCHEDULE = "SIMCUDA_SCHEDULE" Users ""
        "the number of the order in which streams run, and the search for races between them: `0` is the order of the calls; [`simcuda explore`](#run-streams-in-many-orders) tries many",
    NVRTC = "SIMCUDA_NVRTC" Users "the next one on the loader's path"
        "the path of NVIDIA's NVRTC, for programs that load the one in the folder `nvrtc`",
    DRIVER_VERSION = "SIMCUDA_DRIVER_VERSION" Users "`13.5`"
        "the CUDA version that the driver reports, for programs that refuse an older one; the driver has every function of the default",
    REPORT = "SIMCUDA_REPORT" Users ""
        "where the report goes when the process ends: `text`, `github`, `json:FILE` or `FILE.json`, `junit:FILE`, `sarif:FILE`, or several of them separated by commas; or `off`",
    SUPPRESSIONS = "SIMCUDA_SUPPRESSIONS" Users ""
        "a TOML file with [defects that are not to be reported](#suppress-known-defects)",
    EXITCODE = "SIMCUDA_EXITCODE" Users ""
        "the exit status, from 1 to 255, for a process whose kernels had defects other than warnings, or did not run because they were refused",
    COVERAGE = "SIMCUDA_COVERAGE" Users ""
        "a folder, made if it does not exist: each process writes a file there when it ends, with the lines and branches of its kernels that it executed; [`simcuda coverage`](#find-the-lines-that-no-test-executes) sets it",
    LAUNCHES = "SIMCUDA_LAUNCHES" Users ""
        "a folder: each launch is written there as a file with the module, the arguments, and the bytes they point to, so that it can be repeated elsewhere",
    LIBRARY = "SIMCUDA_LIBRARY" Users "the one near the program"
        "the path of `libsimcuda`, for programs that open it",
    DEBUG = "SIMCUDA_DEBUG" Command ""
        "a file with what `simcuda debug` asks of each process",
    MUTANTS = "SIMCUDA_MUTANTS" Command ""
        "a folder for what `simcuda mutate` asks about each process (see [below](#test-your-tests)): the mutants of the kernels that it launches",
    MUTANT = "SIMCUDA_MUTANT" Command ""
        "the name of a mutant: a module that has it is loaded with that mistake",
    PYTEST = "SIMCUDA_PYTEST" Command ""
        "set while `pytest --simcuda` runs pytest again under `simcuda run`",
    BUILD = "SIMCUDA_BUILD" Tests "`target/release`"
        "the folder with cargo's results that go into the wheel",
    TEST_GPU = "SIMCUDA_TEST_GPU" Tests ""
        "set: the tests in `simcuda/tests/driver` use the machine's own driver",
    REQUIRE_PYTEST = "SIMCUDA_REQUIRE_PYTEST" Tests ""
        "`1`: a missing pytest is a failure",
    BLESS = "SIMCUDA_BLESS" Tests ""
        "set: tests write what they got into the files that they compare it with",
    TEST_CHILD = "SIMCUDA_TEST_CHILD" Tests ""
        "set in a test that runs in a process of its own",
    TEST_IPC = "SIMCUDA_TEST_IPC" Tests ""
        "what the test of memory between processes tells its other process",
    TEST_POOL = "SIMCUDA_TEST_POOL" Tests ""
        "what the test of memory pools tells its other process",
    TEST_SHARED = "SIMCUDA_TEST_SHARED" Tests ""
        "what the test of virtual memory tells its other process",
}

impl Variable {
    /// Returns its value, if it is set and is text.
    pub fn text(self) -> Option<String> {
        env::var(self).ok()
    }

    /// Returns its value as a path, if it is set.
    pub fn path(self) -> Option<PathBuf> {
        env::var_os(self).map(PathBuf::from)
    }

    /// Reads the value that `variable` returns for it, if there is one. `expected` names the values that `parse` accepts.
    pub(crate) fn parsed<T>(
        self,
        variable: impl Fn(&str) -> Option<String>,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let refused = |got| Error::Variable { variable: self.name, expected, got };
        variable(self.name).map(|text| parse(&text).ok_or_else(|| refused(text))).transpose()
    }
}

impl AsRef<OsStr> for Variable {
    fn as_ref(&self) -> &OsStr {
        self.name.as_ref()
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_shows_every_variable() {
        let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
        let shown: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `SIMCUDA_")).collect();
        let row = |Variable { name, default, meaning, .. }: &Variable| {
            let default = if default.is_empty() { String::new() } else { format!("{default} ") };
            format!("| `{name}` | {default}| {meaning} |")
        };
        assert_eq!(shown, VARIABLES.iter().map(row).collect::<Vec<_>>());
        assert!(VARIABLES.is_sorted_by_key(|variable| variable.set_by));
    }
}
