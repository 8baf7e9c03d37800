//! Compiles CUDA C with clang.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::places::{self, OLDEST};
use super::tidy::{self, tidied};
use super::{messages, process};
use crate::error::{Error, Result};
use crate::habits::QUIET;
use crate::input::{Form, Input};
use crate::variables::CLANG;

/// The words, types and functions of CUDA C that clang has not.
pub const PRELUDE: &str = include_str!("cuda.h");

/// Names of the files in the temporary folder. A learner may include a `cuda.h`, which is another file.
const PRELUDE_FILE: &str = "unrolled-prelude.h";
const SOURCE_FILE: &str = "unrolled-input.cu";
const PTX_FILE: &str = "unrolled-output.ptx";
const LOG_FILE: &str = "unrolled-log.txt";

/// The newest architecture whose PTX is asked for in version 8.0, as NVRTC 12.0 writes it. Newer ones need a newer version, which clang
/// chooses.
const LAST_OF_PTX_8_0: u32 = 90;

/// A program whose PTX says which version wrote it. The oldest architecture of the repository's kernels is good for all.
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
    /// Finds the first clang that works, looking in the order of [`places::candidates`].
    ///
    /// # Errors
    ///
    /// When there is none. The message says where we looked.
    pub fn find() -> Result<Clang> {
        let mut refused = Vec::new();
        for candidate in places::candidates() {
            match Clang::open(&candidate) {
                Ok(clang) => return Ok(clang),
                Err(Error::NotFound { reason, .. }) => refused.push(reason),
                Err(error) => refused.push(error.to_string()),
            }
        }
        let places = places::described();
        Err(not_found(match refused.as_slice() {
            [] => format!("no clang {places}"),
            refused => format!("no clang that makes PTX {places}: {}", refused.join("; ")),
        }))
    }

    /// The clang at `program`, which may also be a `zig`.
    ///
    /// # Errors
    ///
    /// When it does not start, is too old, or makes no PTX.
    pub fn open(program: &Path) -> Result<Clang> {
        let clang = Clang { program: program.to_owned(), version: String::new() };
        let refuse = |why: String| not_found(format!("{} {why}", program.display()));
        let ptx = match clang.compile_with_remarks(VERSION, VERSION_ARCHITECTURE) {
            Ok((ptx, _)) => ptx,
            Err(Error::Call { reason, .. }) => return Err(refuse(format!("does not run: {reason}"))),
            Err(_) => return Err(refuse(format!("is older than {OLDEST}, or has no back end for NVIDIA's GPUs"))),
        };
        let version = ptx.lines().find_map(|line| line.trim().strip_prefix("// clang ")).map(str::trim);
        let Some(version) = version.and_then(|version| version.split_whitespace().next()) else {
            return Err(refuse("does not say its version".to_owned()));
        };
        match version.split('.').next().and_then(|major| major.parse::<u32>().ok()) {
            Some(major) if major >= OLDEST => Ok(Clang { version: version.to_owned(), ..clang }),
            _ => Err(refuse(format!("is version {version}; {OLDEST} or later is needed"))),
        }
    }

    /// The program: a `clang`, or a `zig`, which contains one.
    pub fn path(&self) -> &Path {
        &self.program
    }

    /// The full version, for example `19.1.7`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles CUDA C to PTX for an architecture (`compute_80`). Returns the PTX and what the compiler said about the text, which is empty
    /// if it said nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Compile`] with the compiler's messages; [`Error::Call`] when it did not run, or not to its end.
    pub fn compile_with_remarks(&self, input: Input<'_>, architecture: &str) -> Result<(String, String)> {
        self.compile_as(Form::Optimized, input, architecture)
    }

    /// The same in another form.
    ///
    /// # Errors
    ///
    /// As for [`Clang::compile_with_remarks`].
    pub fn compile_as(&self, form: Form, input: Input<'_>, architecture: &str) -> Result<(String, String)> {
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

/// The command line. All paths are plain names in the temporary folder, so no path of this machine can be misread.
fn arguments(architecture: &str, form: Form) -> Vec<String> {
    let number = architecture.trim_start_matches("compute_").trim_start_matches("sm_");
    let mut arguments: Vec<String> = [
        // What a host compiler would be for, which decides the size of `long`. It is the same everywhere, so the PTX is, too.
        "--target=x86_64-unknown-linux-gnu",
        "-x",
        "cuda",
        "--cuda-device-only",
        "-nocudainc",
        "-nocudalib",
        "-nostdinc",
        // In one process, which we can end.
        "-fintegrated-cc1",
        "-std=c++17",
        // As NVRTC does: products and sums fuse, and everything else is IEEE.
        "-ffp-contract=fast",
        // C++ lets a compiler remove a loop that never ends. A learner should hear of it.
        "-fno-finite-loops",
        "-fdeclspec",
        "-gline-directives-only",
        // NVRTC's form of a message.
        "-fdiagnostics-format=msvc",
        "-fno-show-column",
        "-fno-color-diagnostics",
        "-fno-diagnostics-show-line-numbers",
        "-fno-diagnostics-show-option",
        // NVRTC says so, too, without being asked.
        "-Wunused-variable",
        "-Wuninitialized",
        // NVRTC inlines every function that it can.
        "-mllvm",
        "-inline-threshold=1000000",
        "-fno-strict-aliasing",
        "-mllvm",
        "-disable-licm-promotion",
        "-mllvm",
        "-sink-common-insts=false",
        "-mllvm",
        "-hoist-common-insts=false",
        // Reading ahead for the next iteration of a loop is for the author of a kernel to do. NVRTC leaves it, too.
        "-mllvm",
        "-enable-load-in-loop-pre=false",
        // A loop that is not unrolled as its pragma asks is no defect.
        "-Wno-pass-failed",
        "-Wno-unknown-pragmas",
        "-I.",
        "-include",
        PRELUDE_FILE,
    ]
    .map(str::to_owned)
    .to_vec();
    arguments.push(if form == Form::Plain { "-O0" } else { "-O3" }.to_owned());
    if form == Form::Quiet {
        arguments.extend(["-include".to_owned(), QUIET.name.to_owned()]);
    }
    arguments.push(format!("-fdebug-compilation-dir={}", tidy::FOLDER));
    arguments.push(format!("--cuda-gpu-arch=sm_{number}"));
    if number.trim_end_matches('a').parse().is_ok_and(|number: u32| number <= LAST_OF_PTX_8_0) {
        arguments.extend(["-Xclang", "-target-feature", "-Xclang", "+ptx80"].map(str::to_owned));
    }
    arguments.extend(["-S", "-o", PTX_FILE, SOURCE_FILE].map(str::to_owned));
    arguments
}

fn not_found(reason: String) -> Error {
    Error::NotFound { reason, remedy: format!("`{}` installs one, or set {CLANG} to its path", places::pip()) }
}
