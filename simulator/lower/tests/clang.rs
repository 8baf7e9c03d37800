//! A clang with a back end for NVIDIA's GPUs. `UNROLLED_CLANG` names it; it may also be a `zig`, which contains one. Without it, what needs
//! it is skipped and says so, unless `UNROLLED_REQUIRE_CLANG` is `1`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The version of LLVM whose back end is the measure. Others fuse and join in other places.
const VERSION: &str = "clang version 22.";

/// A clang that was found.
pub struct Clang(PathBuf);

impl Clang {
    /// Finds the one that the environment names.
    pub fn find(test: &str) -> Option<Self> {
        let is_required = std::env::var("UNROLLED_REQUIRE_CLANG").is_ok_and(|value| value == "1");
        match std::env::var_os("UNROLLED_CLANG").map(|path| Self(path.into())) {
            Some(clang) => {
                let output = clang.command().arg("--version").output().expect("clang starts");
                let version = String::from_utf8_lossy(&output.stdout).into_owned();
                if version.contains(VERSION) {
                    return Some(clang);
                }
                let version = version.lines().next().unwrap_or_default();
                assert!(!is_required, "UNROLLED_REQUIRE_CLANG is 1, and {version} is not {VERSION}");
                let _ = writeln!(std::io::stderr(), "skipped: {test} needs {VERSION}, and this is {version}");
                None
            }
            None if is_required => {
                panic!("UNROLLED_REQUIRE_CLANG is 1, and UNROLLED_CLANG names no clang")
            }
            None => {
                // Past the capture of the test harness.
                let _ = writeln!(std::io::stderr(), "skipped: {test} needs a clang; set UNROLLED_CLANG to one");
                None
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        if self.0.file_stem().is_some_and(|name| name == "zig") {
            command.arg("clang");
        }
        command
    }

    /// Returns the IR and the PTX of a file.
    pub fn compile(&self, source: &Path) -> (String, String) {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lower-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let text = |name: &str, more: &[&str]| {
            let target = folder.join(name);
            let mut command = self.command();
            command.args(["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-Xclang"]);
            command.args(["-target-feature", "-Xclang", "+ptx80", "-O3", "-std=c++17", "-fms-extensions", "-ffp-contract=fast"]);
            command.args(["-DSOLUTION", "-Wno-unknown-cuda-version", "-gline-directives-only", "-S", "-include"]).arg(prelude());
            let output = command.args(more).arg("-o").arg(&target).arg(source).output().expect("clang starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}:\n{said}", source.display());
            std::fs::read_to_string(target).expect("clang's output")
        };
        let texts = (text("out.ll", &["-emit-llvm"]), text("out.ptx", &[]));
        // A leftover is no failure of the test.
        let _ = std::fs::remove_dir_all(&folder);
        texts
    }
}

/// Returns the header with the names of CUDA.
fn prelude() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = here.join("../../common/compilers/src/clang/cuda.h");
    if shared.is_file() { shared } else { here.join("tests/prelude.h") }
}

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
