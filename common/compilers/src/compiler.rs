//! The CUDA compiler of this machine, whichever it is: NVRTC, or a clang where there is no NVRTC.
//!
//! NVRTC comes first, because its PTX is what the numbers of the book were counted in. It exists for Linux and Windows; a clang exists for
//! every system.

use kernels::Header;

use crate::clang::{Clang, places};
use crate::error::{Error, Result};
use crate::habits;
use crate::input::{Form, HOST_CODE, Input};
use crate::libraries::NVRTC;
use crate::nvrtc::Nvrtc;
use crate::recipe::options;
use crate::variables::{CLANG, COMPILER};

/// A compiler that makes PTX of CUDA C.
pub enum Compiler {
    /// NVIDIA's run-time compiler.
    Nvrtc(Nvrtc),
    /// LLVM's.
    Clang(Clang),
}

impl Compiler {
    /// Returns the compiler that [`COMPILER`] names. Without that, the only one whose path is in an environment variable; or else NVRTC, or a
    /// clang.
    /// Fails when there is none. The message says where we looked and how to get one.
    pub fn find() -> Result<Compiler> {
        let (nvrtc, clang) = (|| Nvrtc::find().map(Compiler::Nvrtc), || Clang::find().map(Compiler::Clang));
        if let Some(value) = COMPILER.path() {
            return match value.to_str().map(str::to_ascii_lowercase).as_deref() {
                Some("nvrtc") => nvrtc(),
                Some("clang") => clang(),
                _ => Err(Error::NotFound {
                    reason: format!("{COMPILER} is {}", value.display()),
                    remedy: "set it to nvrtc or clang, or not at all".to_owned(),
                }),
            };
        }
        match [NVRTC.variable, CLANG].map(|variable| variable.path().is_some()) {
            [true, false] => nvrtc(),
            [false, true] => clang(),
            _ => nvrtc().or_else(|why| clang().map_err(|other| neither(why, other))),
        }
    }

    /// Says its name, its version and where it is.
    pub fn describe(&self) -> String {
        match self {
            Compiler::Nvrtc(nvrtc) => format!("NVRTC {} ({})", nvrtc.build(), nvrtc.path().display()),
            Compiler::Clang(clang) => format!("clang {} ({})", clang.version(), clang.path().display()),
        }
    }

    /// Compiles a learner's CUDA C to PTX for a virtual architecture (`compute_80`). Returns the PTX and the remarks, which may be empty.
    ///
    /// The text can include the headers that people include by habit, and call `__dp4a`.
    /// Fails with [`Error::Compile`] and the compiler's messages, or with another error when it could not do its work.
    pub fn compile(&self, input: Input<'_>, architecture: &str, form: Form) -> Result<(String, String)> {
        match self {
            Compiler::Nvrtc(nvrtc) => compile_with_nvrtc(nvrtc, input, architecture, form),
            Compiler::Clang(clang) => {
                let headers = with_habits(input.headers, &[]);
                clang.compile(Input { headers: &headers, ..input }, architecture, form)
            }
        }
    }
}

/// Compiles a learner's CUDA C as [`Compiler::compile`] does, with this NVRTC.
pub fn compile_with_nvrtc(nvrtc: &Nvrtc, input: Input<'_>, architecture: &str, form: Form) -> Result<(String, String)> {
    let mut options = options(architecture);
    options.push(format!("--pre-include={}", habits::INTRINSICS.name));
    if input.text.starts_with(HOST_CODE) {
        options.push("--device-as-default-execution-space".to_owned());
    }
    match form {
        Form::Optimized => {}
        Form::Plain => options.push("--device-debug".to_owned()),
        Form::Quiet => options.push(format!("--pre-include={}", habits::QUIET.name)),
    }
    let headers = with_habits(input.headers, &[habits::INTRINSICS, habits::QUIET]);
    nvrtc.compile_with_remarks(Input { headers: &headers, ..input }, &options)
}

/// Returns a text's headers, those that people include by habit, and `more`.
fn with_habits(headers: &[Header], more: &[Header]) -> Vec<Header> {
    headers.iter().copied().chain(habits::headers()).chain(more.iter().copied()).collect()
}

/// Returns the error if neither compiler is there.
fn neither(one: Error, other: Error) -> Error {
    let (nvrtc, clang) = (NVRTC.variable, CLANG);
    Error::NotFound {
        reason: format!("{}, and {}", one.reason(), other.reason()),
        remedy: format!("`{}` installs one; or set {nvrtc} or {clang} to the path of one that you have", pip()),
    }
}

/// Returns the command that installs a compiler on this system.
pub fn pip() -> String {
    // NVIDIA has no NVRTC for macOS.
    if cfg!(target_os = "macos") { places::pip() } else { NVRTC.pip() }
}
