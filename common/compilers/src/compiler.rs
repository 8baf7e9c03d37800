//! The CUDA compiler of this machine, whichever it is: NVRTC, or a clang where there is no NVRTC.
//!
//! NVRTC comes first, because its PTX is what the numbers of the book were counted in. It exists for Linux and Windows; a clang exists for
//! every system.

use kernels::Header;

use crate::clang::{Clang, places};
use crate::error::{Error, Result};
use crate::habits;
use crate::input::{Form, Input};
use crate::libraries::NVRTC;
use crate::nvrtc::Nvrtc;
use crate::recipe::options;
use crate::variables::{CLANG, COMPILER};

/// The compilers that [`COMPILER`] can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// NVIDIA's run-time compiler.
    Nvrtc,
    /// LLVM's.
    Clang,
}

impl Choice {
    /// What [`COMPILER`] says; `None` when it is not set.
    ///
    /// # Errors
    ///
    /// When it is neither `nvrtc` nor `clang`.
    pub fn of_user() -> Result<Option<Choice>> {
        let Some(value) = COMPILER.path() else { return Ok(None) };
        match value.to_str().map(str::to_ascii_lowercase).as_deref() {
            Some("nvrtc") => Ok(Some(Choice::Nvrtc)),
            Some("clang") => Ok(Some(Choice::Clang)),
            _ => Err(Error::NotFound {
                reason: format!("{COMPILER} is {}", value.display()),
                remedy: "set it to nvrtc or clang, or not at all".to_owned(),
            }),
        }
    }
}

/// A compiler that makes PTX of CUDA C.
pub enum Compiler {
    /// NVIDIA's run-time compiler.
    Nvrtc(Nvrtc),
    /// LLVM's.
    Clang(Clang),
}

impl Compiler {
    /// The compiler that [`COMPILER`] names. Without that, the only one whose path is in an environment variable; or else NVRTC, or a clang.
    ///
    /// # Errors
    ///
    /// When there is none. The message says where we looked and how to get one.
    pub fn find() -> Result<Compiler> {
        let named = [NVRTC.variable, CLANG].map(|variable| variable.path().is_some());
        match (Choice::of_user()?, named) {
            (Some(Choice::Nvrtc), _) | (None, [true, false]) => Nvrtc::find().map(Compiler::Nvrtc),
            (Some(Choice::Clang), _) | (None, [false, true]) => Clang::find().map(Compiler::Clang),
            (None, _) => match Nvrtc::find() {
                Ok(nvrtc) => Ok(Compiler::Nvrtc(nvrtc)),
                Err(why) => Clang::find().map(Compiler::Clang).map_err(|other| neither(&why, &other)),
            },
        }
    }

    /// Its name, its version and where it is.
    pub fn describe(&self) -> String {
        match self {
            Compiler::Nvrtc(nvrtc) => format!("NVRTC {} ({})", nvrtc.build(), nvrtc.path().display()),
            Compiler::Clang(clang) => format!("clang {} ({})", clang.version(), clang.path().display()),
        }
    }

    /// Compiles a learner's CUDA C to PTX for a virtual architecture (`compute_80`). Returns the PTX and what the compiler said about the text,
    /// which is empty if it said nothing. The text can include the headers that people include by habit, and call `__dp4a`.
    ///
    /// # Errors
    ///
    /// [`Error::Compile`] with the compiler's messages; other errors when it could not do its work.
    pub fn compile(&self, input: Input<'_>, architecture: &str, form: Form) -> Result<(String, String)> {
        match self {
            Compiler::Nvrtc(nvrtc) => compile_with_nvrtc(nvrtc, input, architecture, form),
            Compiler::Clang(clang) => {
                let headers = with_habits(input.headers, &[]);
                clang.compile_as(form, Input { headers: &headers, ..input }, architecture)
            }
        }
    }
}

/// Compiles a learner's CUDA C as [`Compiler::compile`] does, with this NVRTC.
///
/// # Errors
///
/// As for [`Compiler::compile`].
pub fn compile_with_nvrtc(nvrtc: &Nvrtc, input: Input<'_>, architecture: &str, form: Form) -> Result<(String, String)> {
    let mut options = options(architecture);
    options.push(format!("--pre-include={}", habits::INTRINSICS.name));
    match form {
        Form::Optimized => {}
        Form::Plain => options.push("--device-debug".to_owned()),
        Form::Quiet => options.push(format!("--pre-include={}", habits::QUIET.name)),
    }
    let headers = with_habits(input.headers, &[habits::INTRINSICS, habits::QUIET]);
    nvrtc.compile_with_remarks(Input { headers: &headers, ..input }, &options)
}

/// Headers of a text, those that people include by habit, and more.
fn with_habits(headers: &[Header], more: &[Header]) -> Vec<Header> {
    headers.iter().chain(habits::HEADERS).chain(more).copied().collect()
}

/// Neither compiler is there.
fn neither(one: &Error, other: &Error) -> Error {
    let reason = |error: &Error| match error {
        Error::NotFound { reason, .. } => reason.clone(),
        error => error.to_string(),
    };
    let (nvrtc, variable) = (NVRTC.variable, CLANG);
    Error::NotFound {
        reason: format!("{}, and {}", reason(one), reason(other)),
        remedy: format!("`{}` installs one; or set {nvrtc} or {variable} to the path of one that you have", pip()),
    }
}

/// The command that installs a compiler on this system.
pub fn pip() -> String {
    // NVIDIA has no NVRTC for macOS.
    if cfg!(target_os = "macos") { places::pip() } else { NVRTC.pip() }
}
