//! The environment variables of the tutorial, all of them. `CONTRIBUTING.md` shows this table; the simulator has one of its own.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io::{Write, stderr};
use std::path::PathBuf;

/// An environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The value that counts when it is not set, in Markdown; empty if there is none.
    pub default: &'static str,
    /// Its meaning, in Markdown. That of one for tests and scripts begins with "tests: ".
    pub meaning: &'static str,
}

/// Defines the constants and [`VARIABLES`] from one table.
macro_rules! variables {
    ($($constant:ident = $name:literal $default:literal $meaning:literal,)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: Variable = Variable { name: $name, default: $default, meaning: $meaning };
        )*

        /// Every environment variable, in the order of the page that shows them.
        pub const VARIABLES: &[Variable] = &[$($constant),*];
    };
}

variables! {
    EXERCISES = "UNROLLED_EXERCISES" "`exercises`" "the folder for your copies of the exercises",
    COMPILER = "UNROLLED_COMPILER" "the one that is found" "`nvrtc` or `clang`: what compiles the kernels that you edit",
    NVRTC = "UNROLLED_NVRTC" "the one that is found" "the path of NVRTC",
    CLANG = "UNROLLED_CLANG" "the one that is found"
        "the path of a clang with a back end for NVIDIA's GPUs, or of a `zig`, which contains one",
    CUBLAS = "UNROLLED_CUBLAS" "the one that is found" "the path of cuBLAS, for the rows that call it",
    CUFFT = "UNROLLED_CUFFT" "the one that is found" "the path of cuFFT, for the rows that call it",
    DRIVER_SECONDS = "UNROLLED_DRIVER_SECONDS" "`30`" "how many seconds to wait for the NVIDIA driver",
    COMMIT = "UNROLLED_COMMIT" "what `git describe` says"
        "the commit that a record names, for a program that runs away from its repository",
    TEST_DEVICE = "UNROLLED_TEST_DEVICE" "a GPU if there is one"
        "tests: `sim` or `gpu`, where the stages are tested and benchmarked",
    REQUIRE_GPU = "UNROLLED_REQUIRE_GPU" "" "tests: `1` makes a missing GPU a failure",
    REQUIRE_NVRTC = "UNROLLED_REQUIRE_NVRTC" "" "tests: `1` makes a missing NVRTC a failure",
    REQUIRE_CLANG = "UNROLLED_REQUIRE_CLANG" "" "tests: `1` makes a missing clang a failure",
    REQUIRE_COMPILER = "UNROLLED_REQUIRE_COMPILER" "" "tests: set, a page without the compiler is a failure",
    EVERY_ANSWER = "UNROLLED_EVERY_ANSWER" "" "tests: `1` tries every answer of every exercise",
    ONE_EXERCISE = "UNROLLED_ONE_EXERCISE" "" "tests: the number of the only exercise of a chapter whose answers are tried",
    EVERY_EXERCISE = "UNROLLED_EVERY_EXERCISE" "" "tests: set, every exercise of the pages is done",
    ALL_SCREENS = "UNROLLED_ALL_SCREENS" "" "tests: set, every page is looked at on every screen",
    FIRST_RESULT_MS = "UNROLLED_FIRST_RESULT_MS" "`1000`" "tests: how many milliseconds a page may take to its first result",
    AXE = "UNROLLED_AXE" "" "tests: the path of axe-core's script, which then judges pages",
    CHROMIUM = "UNROLLED_CHROMIUM" "the one on the path" "tests: the path of Chromium",
    SID = "UNROLLED_SID" "the one that `.ci/wasm` fetches" "tests: the folder of the WebAssembly toolchain",
    TEST_WAITS = "UNROLLED_TEST_WAITS" "" "tests: set in a process that a test starts, and that waits",
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

    /// Returns true if its value is `1`.
    pub fn is_one(self) -> bool {
        self.text().is_some_and(|value| value == "1")
    }

    /// Says on standard error that `what` is not tested. `why` names what is missing.
    ///
    /// # Panics
    ///
    /// If this variable makes that a failure.
    pub fn skip(self, what: &str, why: impl fmt::Display) {
        assert!(!self.is_one(), "{self}=1, and {why}");
        // `writeln!` to the stream, because the test harness captures what `eprintln!` prints in a passing test.
        let _ = writeln!(stderr(), "SKIPPED: {what}, because {why}; {self}=1 makes this a failure");
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
