//! NVRTC, NVIDIA's run-time compiler of CUDA C. It needs no GPU.
//!
//! This is a binding of our own, because `cudarc::nvrtc` lacks what we need: it makes no machine code, which tells us registers per thread;
//! it passes no headers, names no architectures, and holds one library per process, while we try several until one has the pinned version,
//! or writes PTX that the driver of this machine loads. At the CUDA version that our bindings are made for (12.0) it would not look
//! for CUDA 13's `libnvrtc.so.13` either, and it panics where there is no NVRTC.

use std::ffi::{CString, c_char, c_int};
use std::path::Path;
use std::ptr;

use kernels::Header;

use crate::error::{Error, Result};
use crate::input::Input;
use crate::libraries::{self, Opened, functions, words};

/// A source on its way through the compiler.
type Program = *mut std::ffi::c_void;
/// NVRTC's result; zero is success.
type Status = c_int;
/// A pair of NVRTC functions: one returns the size of a result, and the other writes it to a buffer of that size.
type Output = (unsafe extern "C" fn(Program, *mut usize) -> Status, unsafe extern "C" fn(Program, *mut c_char) -> Status);

const SUCCESS: Status = 0;

functions! {
    /// The functions of NVRTC that we call.
    struct Functions {
        version = "nvrtcVersion" (*mut c_int, *mut c_int) -> Status;
        error_string = "nvrtcGetErrorString" (Status) -> *const c_char;
        architecture_count = "nvrtcGetNumSupportedArchs" (*mut c_int) -> Status;
        architectures = "nvrtcGetSupportedArchs" (*mut c_int) -> Status;
        create = "nvrtcCreateProgram" (
            *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
        ) -> Status;
        compile = "nvrtcCompileProgram" (Program, c_int, *const *const c_char) -> Status;
        destroy = "nvrtcDestroyProgram" (*mut Program) -> Status;
        log_size = "nvrtcGetProgramLogSize" (Program, *mut usize) -> Status;
        log = "nvrtcGetProgramLog" (Program, *mut c_char) -> Status;
        ptx_size = "nvrtcGetPTXSize" (Program, *mut usize) -> Status;
        ptx = "nvrtcGetPTX" (Program, *mut c_char) -> Status;
        cubin_size = "nvrtcGetCUBINSize" (Program, *mut usize) -> Status;
        cubin = "nvrtcGetCUBIN" (Program, *mut c_char) -> Status;
    }
}

/// An open NVRTC library.
pub struct Nvrtc {
    functions: Functions,
    version: (u32, u32),
    /// Keeps the code of `functions` loaded.
    opened: Opened,
}

impl Nvrtc {
    /// Opens the first NVRTC that works. If there is none, the error says where we looked and how to get one.
    pub fn find() -> Result<Nvrtc> {
        Nvrtc::find_where(|_| true)
    }

    /// Opens the first NVRTC that works and that `wanted` accepts. The error of [`Nvrtc::find`] also names those that it refused.
    pub fn find_where(mut wanted: impl FnMut(&Nvrtc) -> bool) -> Result<Nvrtc> {
        libraries::NVRTC.open_first(|opened| {
            let nvrtc = Nvrtc::bind(opened)?;
            if wanted(&nvrtc) { Ok(nvrtc) } else { Err(nvrtc.opened.refuse(format!("is version {}", nvrtc.build()))) }
        })
    }

    /// Opens the library at `path`. The loader searches for a bare file name. The version must be 11.2 or later.
    pub fn open(path: &Path) -> Result<Nvrtc> {
        Nvrtc::bind(libraries::NVRTC.open(path)?)
    }

    fn bind(opened: Opened) -> Result<Nvrtc> {
        // SAFETY: the types are those of the declarations in nvrtc.h, which have never changed. The library stays open with its functions.
        let functions = unsafe { Functions::load(&opened) }?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live integers.
        let status = unsafe { (functions.version)(&mut major, &mut minor) };
        if status != SUCCESS {
            return Err(opened.refuse(format!("does not report its version: {}", functions.describe(status))));
        }
        let version = (major.unsigned_abs(), minor.unsigned_abs());
        Ok(Nvrtc { functions, version, opened })
    }

    /// Returns its major and minor version.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Returns its path, or the name under which the loader found it.
    pub fn path(&self) -> &Path {
        self.opened.path()
    }

    /// Returns the full version, for example `12.0.140`. NVRTC writes it at the top of its PTX, and has no function for it.
    pub fn build(&self) -> String {
        let (major, minor) = self.version;
        let lowest = self.architectures().first().map(|architecture| format!("--gpu-architecture=compute_{architecture}"));
        self.compile(Input { name: "version.cu", text: "", headers: &[] }, lowest.as_slice())
            .ok()
            .and_then(|ptx| build_version(&ptx).map(str::to_owned))
            .unwrap_or_else(|| format!("{major}.{minor}"))
    }

    /// Returns the architectures that it compiles for, lowest first: 90 for `compute_90`.
    pub fn architectures(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: the pointer is to a live integer.
        if unsafe { (self.functions.architecture_count)(&mut count) } != SUCCESS {
            return Vec::new();
        }
        let mut architectures: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the buffer has the number of elements that the library has just returned, which is what it writes.
        if unsafe { (self.functions.architectures)(architectures.as_mut_ptr()) } != SUCCESS {
            return Vec::new();
        }
        architectures.into_iter().map(c_int::unsigned_abs).collect()
    }

    /// Compiles CUDA C to PTX. An error has the compiler's messages.
    pub fn compile(&self, input: Input<'_>, options: &[impl AsRef<str>]) -> Result<String> {
        Ok(self.compile_with_remarks(input, options)?.0)
    }

    /// Compiles CUDA C to PTX. Returns the PTX and the compiler's remarks about the text, which are empty if it has none.
    pub fn compile_with_remarks(&self, input: Input<'_>, options: &[impl AsRef<str>]) -> Result<(String, String)> {
        let (ptx, remarks) = self.compile_to((self.functions.ptx_size, self.functions.ptx), input, options)?;
        Ok((String::from_utf8_lossy(&ptx).trim_end_matches('\0').to_owned(), remarks))
    }

    /// Compiles CUDA C to machine code; the options must name a real architecture (`--gpu-architecture=sm_90`).
    pub fn compile_to_cubin(&self, input: Input<'_>, options: &[impl AsRef<str>]) -> Result<Vec<u8>> {
        Ok(self.compile_to((self.functions.cubin_size, self.functions.cubin), input, options)?.0)
    }

    fn compile_to(&self, output: Output, input: Input<'_>, options: &[impl AsRef<str>]) -> Result<(Vec<u8>, String)> {
        let error = |log: String| Error::Compile { name: input.name.to_owned(), log };
        let c_string = |text: &str, what: &str| CString::new(text).map_err(|_| error(format!("{what} contains a NUL byte")));
        let (text, name) = (c_string(input.text, "the source")?, c_string(input.name, "the name")?);
        let strings = |part: fn(&Header) -> &str| {
            input.headers.iter().map(|header| c_string(part(header), "a header")).collect::<Result<Vec<CString>>>()
        };
        let (headers, header_names) = (strings(|header| header.text)?, strings(|header| header.name)?);
        let options: Vec<CString> = options.iter().map(|option| c_string(option.as_ref(), "an option")).collect::<Result<_>>()?;
        let pointers = |strings: &[CString]| strings.iter().map(|string| string.as_ptr()).collect::<Vec<*const c_char>>();
        let (texts, names, flags) = (pointers(&headers), pointers(&header_names), pointers(&options));

        let (mut handle, count): (Program, c_int) = (ptr::null_mut(), texts.len() as c_int);
        let (create, compile) = (self.functions.create, self.functions.compile);
        // SAFETY: the strings are NUL-terminated and outlive the call, which copies them; both arrays have `count` strings.
        let status = unsafe { create(&mut handle, text.as_ptr(), name.as_ptr(), count, texts.as_ptr(), names.as_ptr()) };
        if status != SUCCESS {
            return Err(error(self.functions.describe(status)));
        }
        let program = OwnedProgram { handle, functions: &self.functions };
        // SAFETY: the program is live, and the array has that many NUL-terminated strings.
        let status = unsafe { compile(program.handle, flags.len() as c_int, flags.as_ptr()) };
        let log = program.read((self.functions.log_size, self.functions.log)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
        if status != SUCCESS {
            return Err(error(if log.is_empty() { self.functions.describe(status) } else { log }));
        }
        let output = program.read(output).map_err(|status| error(self.functions.describe(status)))?;
        Ok((output, log))
    }
}

impl Functions {
    /// Returns NVRTC's own words for a status.
    fn describe(&self, status: Status) -> String {
        // SAFETY: the function takes any number, and returns a string that is never freed, or null.
        unsafe { words((self.error_string)(status)) }.unwrap_or_else(|| format!("NVRTC error {status}"))
    }
}

/// A program that is destroyed with its owner.
struct OwnedProgram<'nvrtc> {
    handle: Program,
    functions: &'nvrtc Functions,
}

impl OwnedProgram<'_> {
    fn read(&self, (size_of, write): Output) -> Result<Vec<u8>, Status> {
        let mut size = 0;
        // SAFETY: the program is live and the pointer is to a live integer.
        let status = unsafe { size_of(self.handle, &mut size) };
        if status != SUCCESS {
            return Err(status);
        }
        let mut bytes = vec![0u8; size];
        // SAFETY: the buffer has the size that the library has just asked for.
        let status = unsafe { write(self.handle, bytes.as_mut_ptr().cast()) };
        if status == SUCCESS { Ok(bytes) } else { Err(status) }
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and is destroyed once, here.
        unsafe { (self.functions.destroy)(&mut self.handle) };
    }
}

/// Reads the version from the comment at the top of PTX: `// Cuda compilation tools, release 12.0, V12.0.140`.
fn build_version(ptx: &str) -> Option<&str> {
    ptx.lines().find_map(|line| line.strip_prefix("// Cuda compilation tools, ")?.rsplit_once(", V")).map(|(_, version)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_read_from_the_head_of_ptx() {
        let ptx = "//\n// Generated by NVIDIA NVVM Compiler\n//\n// Cuda compilation tools, release 12.0, V12.0.140\n";
        assert_eq!(build_version(ptx), Some("12.0.140"));
        assert_eq!(build_version(".version 8.0\n"), None);
    }

    #[test]
    fn a_file_that_is_no_library_is_refused_by_name() {
        let error = Nvrtc::open(Path::new("/nonexistent/libnvrtc.so.12")).err().expect("nothing is there");
        let text = error.to_string();
        assert!(text.contains("/nonexistent/libnvrtc.so.12"), "{text}");
        assert!(text.contains("pip install nvidia-cuda-nvrtc-cu12"), "{text}");
    }
}
