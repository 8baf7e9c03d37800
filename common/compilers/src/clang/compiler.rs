//! Compiles CUDA C with clang.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::tidy::{self, tidied};
use super::{messages, places, process};
use crate::error::{Error, Result};
use crate::habits::QUIET;
use crate::input::{Form, Input};
use crate::search;
use crate::variables::CLANG;
use crate::versions::{LAST_OF_PTX_8_0, OLDEST_CLANG};

/// The words, types and functions of CUDA C that clang lacks.
pub const PRELUDE: &str = include_str!("cuda.h");

/// Names of the files in the temporary folder. A learner may include a `cuda.h`, which is another file.
const PRELUDE_FILE: &str = "unrolled-prelude.h";
const SOURCE_FILE: &str = "unrolled-input.cu";
const PTX_FILE: &str = "unrolled-output.ptx";
const LOG_FILE: &str = "unrolled-log.txt";

/// A program whose PTX names the version that wrote it. The oldest architecture of the repository's kernels is good for all.
const VERSION: Input<'_> = Input {
    name: "version.cu",
    text: "extern \"C\" __global__ void version() { asm volatile(\"// clang \" __clang_version__); }",
    headers: &[],
};
const VERSION_ARCHITECTURE: &str = "compute_50";

/// A clang that makes PTX.
#[derive(Clone, Debug)]
pub struct Clang {
    program: PathBuf,
    version: String,
}

impl Clang {
    /// Finds the first clang that works. If there is none, the error says where we looked.
    pub fn find() -> Result<Clang> {
        let tried = places::candidates().map(|candidate| Clang::open(&candidate));
        search::first(tried, "no clang", "no clang that makes PTX", &places::described()).map_err(not_found)
    }

    /// Returns the clang (or `zig`) at `program`. Fails if it does not start, is too old, or makes no PTX.
    pub fn open(program: &Path) -> Result<Clang> {
        let clang = Clang { program: program.to_owned(), version: String::new() };
        let refuse = |why: String| not_found(format!("{} {why}", program.display()));
        let ptx = match clang.compile(VERSION, VERSION_ARCHITECTURE, Form::Optimized) {
            Ok((ptx, _)) => ptx,
            Err(Error::Call { reason, .. }) => return Err(refuse(format!("does not run: {reason}"))),
            Err(_) => return Err(refuse(format!("is older than {OLDEST_CLANG}, or has no back end for NVIDIA's GPUs"))),
        };
        let version = ptx.lines().find_map(|line| line.trim().strip_prefix("// clang ")).map(str::trim);
        let Some(version) = version.and_then(|version| version.split_whitespace().next()) else {
            return Err(refuse("does not say its version".to_owned()));
        };
        match version.split('.').next().and_then(|major| major.parse::<u32>().ok()) {
            Some(major) if major >= OLDEST_CLANG => Ok(Clang { version: version.to_owned(), ..clang }),
            _ => Err(refuse(format!("is version {version}; {OLDEST_CLANG} or later is needed"))),
        }
    }

    /// Returns the program: a `clang`, or a `zig`, which contains one.
    pub fn path(&self) -> &Path {
        &self.program
    }

    /// Returns the full version, for example `19.1.7`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles CUDA C to PTX for an architecture (`compute_80`). Returns the PTX and the remarks about the text, which may be empty.
    /// Fails with [`Error::Compile`] and the compiler's messages, or with [`Error::Call`] when it did not run, or not to its end.
    pub fn compile(&self, input: Input<'_>, architecture: &str, form: Form) -> Result<(String, String)> {
        let failed = |error: io::Error| Error::Call {
            library: "clang",
            action: format!("compile {}", input.name),
            reason: format!("{}: {error}", self.program.display()),
        };
        // Removed with its content at the end of this function.
        let folder = TempDir::with_prefix("unrolled-clang-").map_err(failed)?;
        lay_out(folder.path(), input).map_err(failed)?;
        let log_path = folder.path().join(LOG_FILE);
        let log = File::create(&log_path).map_err(failed)?;
        let mut command = Command::new(&self.program);
        if places::is_zig(&self.program) {
            command.arg("clang");
        }
        command.args(arguments(architecture, form));
        let status = process::run(&mut command, folder.path(), &log).map_err(failed)?;
        let said = String::from_utf8_lossy(&fs::read(&log_path).map_err(failed)?).into_owned();
        let said = messages::like_nvrtc(&said, input.name, PRELUDE_FILE);
        if !status.success() {
            let log = if said.is_empty() { format!("{} failed: {status}", self.program.display()) } else { said };
            return Err(Error::Compile { name: input.name.to_owned(), log });
        }
        let ptx = fs::read(folder.path().join(PTX_FILE)).map_err(failed)?;
        Ok((tidied(&String::from_utf8_lossy(&ptx)), said))
    }
}

/// Writes the files that the compiler reads. Each begins by saying what messages shall call it.
fn lay_out(folder: &Path, input: Input<'_>) -> io::Result<()> {
    let named = |name: &str, text: &str| format!("#line 1 \"{}\"\n{text}", name.replace('\\', "\\\\").replace('"', "\\\""));
    fs::write(folder.join(PRELUDE_FILE), named(PRELUDE_FILE, PRELUDE))?;
    fs::write(folder.join(SOURCE_FILE), named(input.name, input.text))?;
    for header in input.headers.iter().chain([&QUIET]) {
        fs::write(folder.join(header.name), named(header.name, header.text))?;
    }
    Ok(())
}

/// Options of every compilation. All paths are plain names in the temporary folder, so no path of this machine can be misread.
const OPTIONS: &[&str] = &[
    // What a host compiler would be for, which decides the size of `long`. It is the same everywhere, so the PTX is, too.
    "--target=x86_64-unknown-linux-gnu",
    "-x cuda --cuda-device-only -nocudainc -nocudalib -nostdinc",
    // In one process, which we can end.
    "-fintegrated-cc1",
    // As NVRTC does: products and sums fuse, and everything else is IEEE.
    "-std=c++17 -ffp-contract=fast",
    // C++ lets a compiler remove a loop that never ends. A learner should hear of it.
    "-fno-finite-loops",
    "-fdeclspec -gline-directives-only",
    // NVRTC's form of a message.
    "-fdiagnostics-format=msvc -fno-show-column -fno-color-diagnostics -fno-diagnostics-show-line-numbers",
    "-fno-diagnostics-show-option",
    // NVRTC says so, too, without being asked.
    "-Wunused-variable -Wuninitialized",
    // NVRTC inlines every function that it can.
    "-mllvm -inline-threshold=1000000",
    "-fno-strict-aliasing -mllvm -disable-licm-promotion -mllvm -sink-common-insts=false -mllvm -hoist-common-insts=false",
    // Reading ahead for the next iteration of a loop is for the author of a kernel to do. NVRTC leaves it, too.
    "-mllvm -enable-load-in-loop-pre=false",
    // A loop that is not unrolled as its pragma asks is no defect.
    "-Wno-pass-failed -Wno-unknown-pragmas",
    "-I. -include",
    PRELUDE_FILE,
];

/// Returns the command line.
fn arguments(architecture: &str, form: Form) -> Vec<String> {
    let number = architecture.trim_start_matches("compute_").trim_start_matches("sm_");
    let mut options = OPTIONS.join(" ");
    options += if form == Form::Plain { " -O0" } else { " -O3" };
    if form == Form::Quiet {
        options += &format!(" -include {}", QUIET.name);
    }
    options += &format!(" -fdebug-compilation-dir={} --cuda-gpu-arch=sm_{number}", tidy::FOLDER);
    if number.trim_end_matches('a').parse().is_ok_and(|number: u32| number <= LAST_OF_PTX_8_0) {
        options += " -Xclang -target-feature -Xclang +ptx80";
    }
    options += &format!(" -S -o {PTX_FILE} {SOURCE_FILE}");
    options.split(' ').map(str::to_owned).collect()
}

fn not_found(reason: String) -> Error {
    Error::NotFound { reason, remedy: format!("`{}` installs one, or set {CLANG} to its path", places::pip()) }
}
