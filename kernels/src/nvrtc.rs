//! NVRTC, NVIDIA's run-time compiler of CUDA C: finding it and calling it. It needs no GPU.
//!
//! A binding of our own, because the one in cudarc panics where there is no NVRTC and only knows the file names of one major
//! version, while any version from 11.2 on compiles our kernels, and Python's package managers put it where no loader looks.

use std::collections::HashSet;
use std::env;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr;

use libloading::Library;
use thiserror::Error;

use crate::stamp::PINNED_VERSION;

/// Environment variable with the path of the NVRTC library to use, and of no other.
pub const PATH_VARIABLE: &str = "UNROLLED_NVRTC";

/// Environment variables that name the root of a CUDA toolkit.
const TOOLKIT_VARIABLES: [&str; 4] = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];
/// Environment variables that name the root of a Python environment.
const PYTHON_VARIABLES: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// Folders that hold toolkits under names like `cuda-12.4`.
const TOOLKIT_PARENTS: [&str; 2] = ["/usr/local", "/opt"];
/// Where the libraries lie under the root of a toolkit, or of a conda environment.
const TOOLKIT_FOLDERS: [&str; 5] = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "bin"];
/// Where Python's packages keep the library, from 11 to 13.
const PACKAGE_FOLDERS: [&str; 4] = ["nvidia/cuda_nvrtc/lib", "nvidia/cuda_nvrtc/bin", "nvidia/cu13/lib", "nvidia/cu13/bin/x86_64"];
/// Names that the loader may know, newest first.
const LOADER_NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"]
} else {
    &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"]
};

/// No NVRTC on this machine, or none that could be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}; `pip install nvidia-cuda-nvrtc-cu12=={PINNED_VERSION}` brings one, and {PATH_VARIABLE} can name its file")]
pub struct NotFound {
    reason: String,
}

/// CUDA C that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name} does not compile:\n{log}")]
pub struct CompileError {
    /// Name of the source.
    pub name: String,
    /// What the compiler says.
    pub log: String,
}

/// What NVRTC calls a program: a source on its way through the compiler.
type Program = *mut std::ffi::c_void;
/// NVRTC's result; zero is success.
type Status = c_int;

const SUCCESS: Status = 0;

/// The functions of NVRTC that we call, by their C names.
struct Functions {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status,
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    architecture_count: unsafe extern "C" fn(*mut c_int) -> Status,
    architectures: unsafe extern "C" fn(*mut c_int) -> Status,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    log: Output,
    ptx: Output,
    cubin: Output,
}

/// A pair of NVRTC functions: one tells the size of a result, the other writes it to a buffer of that size.
#[derive(Clone, Copy)]
struct Output {
    size: unsafe extern "C" fn(Program, *mut usize) -> Status,
    get: unsafe extern "C" fn(Program, *mut c_char) -> Status,
}

/// An open NVRTC library.
pub struct Nvrtc {
    functions: Functions,
    path: PathBuf,
    version: (u32, u32),
    /// Keeps the code behind `functions` loaded.
    _library: Library,
}

impl Nvrtc {
    /// Opens the first NVRTC that works, looking in the order of [`candidates`].
    ///
    /// # Errors
    ///
    /// When there is none; the message says where was looked and what mends it.
    pub fn find() -> Result<Nvrtc, NotFound> {
        Nvrtc::find_where(|_| true)
    }

    /// Opens the first NVRTC that works and that `wanted` accepts.
    ///
    /// # Errors
    ///
    /// As [`Nvrtc::find`]; the message also names those that were found and not wanted.
    pub fn find_where(mut wanted: impl FnMut(&Nvrtc) -> bool) -> Result<Nvrtc, NotFound> {
        let mut refused = Vec::new();
        for candidate in candidates() {
            match Nvrtc::open(&candidate) {
                Ok(nvrtc) if wanted(&nvrtc) => return Ok(nvrtc),
                Ok(nvrtc) => refused.push(format!("{} is version {}", candidate.display(), nvrtc.build())),
                // A bare name that the loader does not know says nothing; a file that is there and does not open does.
                Err(error) if candidate.is_absolute() => refused.push(error.reason),
                Err(_) => {}
            }
        }
        let reason = if let Some(path) = env::var_os(PATH_VARIABLE) {
            format!("no usable NVRTC at {} ({PATH_VARIABLE}): {}", Path::new(&path).display(), refused.join("; "))
        } else if refused.is_empty() {
            format!(
                "no NVRTC on the loader's path, under {}, in {} or in Python's packages",
                TOOLKIT_VARIABLES.join(", "),
                TOOLKIT_PARENTS.map(|parent| format!("{parent}/cuda*")).join(", ")
            )
        } else {
            format!("no usable NVRTC: {}", refused.join("; "))
        };
        Err(NotFound { reason })
    }

    /// Opens the library at `path`, or, for a bare file name, the one that the loader finds under it.
    ///
    /// # Errors
    ///
    /// When it does not load, or is not an NVRTC from 11.2 on.
    pub fn open(path: &Path) -> Result<Nvrtc, NotFound> {
        let refuse = |reason: String| NotFound { reason: format!("{} does not load: {reason}", path.display()) };
        // SAFETY: loading runs the library's initialisers; NVRTC's have no effect on this process but their own memory.
        let library = unsafe { Library::new(path) }.map_err(|error| refuse(root_cause(&error)))?;
        let functions = Functions::load(&library).map_err(|error| refuse(root_cause(&error)))?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live integers.
        let status = unsafe { (functions.version)(&mut major, &mut minor) };
        if status != SUCCESS {
            return Err(refuse(functions.describe(status)));
        }
        let version = (major.unsigned_abs(), minor.unsigned_abs());
        Ok(Nvrtc { functions, path: path.to_owned(), version, _library: library })
    }

    /// Major and minor version.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Where the library was opened: a path, or the name that the loader found it under.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The full version, for example `12.0.140`: NVRTC has no function that tells it, but writes it on top of its PTX.
    pub fn build(&self) -> String {
        let (major, minor) = self.version;
        let lowest = self.architectures().first().map(|architecture| format!("--gpu-architecture=compute_{architecture}"));
        self.compile("", "version.cu", lowest.as_slice())
            .ok()
            .and_then(|ptx| build_version(&ptx).map(str::to_owned))
            .unwrap_or_else(|| format!("{major}.{minor}"))
    }

    /// The architectures that it compiles for, as in `90` for `compute_90`, lowest first.
    pub fn architectures(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: the pointer is to a live integer.
        if unsafe { (self.functions.architecture_count)(&mut count) } != SUCCESS {
            return Vec::new();
        }
        let mut architectures: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the buffer has as many elements as the library has just said that it will write.
        if unsafe { (self.functions.architectures)(architectures.as_mut_ptr()) } != SUCCESS {
            return Vec::new();
        }
        architectures.into_iter().map(c_int::unsigned_abs).collect()
    }

    /// Compiles CUDA C to PTX. `name` stands for the source in messages and in `.file`.
    ///
    /// # Errors
    ///
    /// With the compiler's messages.
    pub fn compile(&self, source: &str, name: &str, options: &[impl AsRef<str>]) -> Result<String, CompileError> {
        let ptx = self.compile_to(self.functions.ptx, source, name, options)?;
        Ok(String::from_utf8_lossy(&ptx).trim_end_matches('\0').to_owned())
    }

    /// Compiles CUDA C to machine code; the options must name a real architecture (`--gpu-architecture=sm_90`).
    ///
    /// # Errors
    ///
    /// With the compiler's messages.
    pub fn compile_to_cubin(&self, source: &str, name: &str, options: &[impl AsRef<str>]) -> Result<Vec<u8>, CompileError> {
        self.compile_to(self.functions.cubin, source, name, options)
    }

    fn compile_to(&self, output: Output, source: &str, name: &str, options: &[impl AsRef<str>]) -> Result<Vec<u8>, CompileError> {
        let error = |log: String| CompileError { name: name.to_owned(), log };
        let c_string = |text: &str, what: &str| CString::new(text).map_err(|_| error(format!("{what} contains a NUL byte")));
        let c_source = c_string(source, "the source")?;
        let c_name = c_string(name, "the name")?;
        let options: Vec<CString> =
            options.iter().map(|option| c_string(option.as_ref(), "an option")).collect::<Result<_, _>>()?;
        let option_pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let option_count = c_int::try_from(options.len()).map_err(|_| error("too many options".to_owned()))?;

        let mut handle: Program = ptr::null_mut();
        // SAFETY: the strings are NUL-terminated and outlive the call, which copies them; with no headers their arrays may be null.
        let status =
            unsafe { (self.functions.create)(&mut handle, c_source.as_ptr(), c_name.as_ptr(), 0, ptr::null(), ptr::null()) };
        if status != SUCCESS {
            return Err(error(self.functions.describe(status)));
        }
        let program = OwnedProgram { handle, functions: &self.functions };
        // SAFETY: the program is live, and the array has as many NUL-terminated options as is said.
        let status = unsafe { (self.functions.compile)(program.handle, option_count, option_pointers.as_ptr()) };
        if status != SUCCESS {
            let log = program.read(self.functions.log).unwrap_or_default();
            let log = String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_owned();
            return Err(error(if log.is_empty() { self.functions.describe(status) } else { log }));
        }
        program.read(output).map_err(|status| error(self.functions.describe(status)))
    }
}

impl Functions {
    fn load(library: &Library) -> Result<Functions, libloading::Error> {
        /// Copies a function's address out of the library.
        ///
        /// # Safety
        ///
        /// `F` must be the type that the function of that name has.
        unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, libloading::Error> {
            // SAFETY: passed on to the caller.
            unsafe { library.get::<F>(name) }.map(|symbol| *symbol)
        }
        // SAFETY: the types are those of the declarations in nvrtc.h, which have not changed since these functions exist.
        unsafe {
            Ok(Functions {
                version: function(library, "nvrtcVersion")?,
                error_string: function(library, "nvrtcGetErrorString")?,
                architecture_count: function(library, "nvrtcGetNumSupportedArchs")?,
                architectures: function(library, "nvrtcGetSupportedArchs")?,
                create: function(library, "nvrtcCreateProgram")?,
                compile: function(library, "nvrtcCompileProgram")?,
                destroy: function(library, "nvrtcDestroyProgram")?,
                log: Output { size: function(library, "nvrtcGetProgramLogSize")?, get: function(library, "nvrtcGetProgramLog")? },
                ptx: Output { size: function(library, "nvrtcGetPTXSize")?, get: function(library, "nvrtcGetPTX")? },
                cubin: Output { size: function(library, "nvrtcGetCUBINSize")?, get: function(library, "nvrtcGetCUBIN")? },
            })
        }
    }

    /// NVRTC's own words for a status.
    fn describe(&self, status: Status) -> String {
        // SAFETY: the function takes any number and returns a string of static life, or null.
        let text = unsafe { (self.error_string)(status) };
        if text.is_null() {
            return format!("NVRTC error {status}");
        }
        // SAFETY: it is not null, so it is the NUL-terminated static string that NVRTC documents.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// Destroys the program with its owner.
struct OwnedProgram<'nvrtc> {
    handle: Program,
    functions: &'nvrtc Functions,
}

impl OwnedProgram<'_> {
    fn read(&self, output: Output) -> Result<Vec<u8>, Status> {
        let mut size = 0;
        // SAFETY: the program is live and the pointer is to a live integer.
        let status = unsafe { (output.size)(self.handle, &mut size) };
        if status != SUCCESS {
            return Err(status);
        }
        let mut bytes = vec![0u8; size];
        // SAFETY: the buffer has the size that the library has just asked for.
        let status = unsafe { (output.get)(self.handle, bytes.as_mut_ptr().cast()) };
        if status == SUCCESS { Ok(bytes) } else { Err(status) }
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and is destroyed once, here.
        unsafe { (self.functions.destroy)(&mut self.handle) };
    }
}

/// What lies at the bottom of an error: `libloading` keeps the loader's own words there.
fn root_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => root_cause(source),
        None => error.to_string(),
    }
}

/// The version in the comment on top of PTX: `// Cuda compilation tools, release 12.0, V12.0.140`.
fn build_version(ptx: &str) -> Option<&str> {
    ptx.lines().find_map(|line| line.strip_prefix("// Cuda compilation tools, ")?.rsplit_once(", V")).map(|(_, version)| version)
}

/// Where NVRTC may be, in the order in which it is tried: what [`PATH_VARIABLE`] says and nothing else; the Python environment
/// that is active; the loader's path; toolkits; Python's packages; and last what `python3` itself says, because asking starts
/// a process.
pub fn candidates() -> impl Iterator<Item = PathBuf> {
    let named: Option<Vec<PathBuf>> = env::var_os(PATH_VARIABLE).map(|path| {
        let path = PathBuf::from(path);
        vec![library_in(&path).unwrap_or(path)]
    });
    let searched = named.is_none().then(|| {
        let in_python = PYTHON_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from).collect::<Vec<_>>();
        let toolkits = TOOLKIT_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from).chain(installed_toolkits());
        let toolkits = toolkits.chain(in_python.clone()).flat_map(|root| TOOLKIT_FOLDERS.map(|folder| root.join(folder)));
        let active = in_python.iter().flat_map(|root| packages_under(root)).collect::<Vec<_>>();
        let system = system_python_roots().into_iter().flat_map(|root| packages_under(&root));
        let asked = std::iter::once_with(packages_that_python_knows).flatten();
        in_folders(active)
            .chain(LOADER_NAMES.iter().map(PathBuf::from))
            .chain(in_folders(toolkits))
            .chain(in_folders(system))
            .chain(in_folders(asked))
    });
    let mut seen = HashSet::new();
    named
        .into_iter()
        .flatten()
        .chain(searched.into_iter().flatten())
        .filter(move |path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
}

fn in_folders(folders: impl IntoIterator<Item = PathBuf>) -> impl Iterator<Item = PathBuf> {
    folders.into_iter().filter_map(|folder| library_in(&folder))
}

/// The NVRTC in a folder; the one with the longest version in its name when there are several.
fn library_in(folder: &Path) -> Option<PathBuf> {
    let names = |name: &str| {
        name.starts_with("libnvrtc.so") || (name.starts_with("nvrtc64_") && name.ends_with(".dll") && !name.contains("builtins"))
    };
    entries(folder).into_iter().rev().find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(names))
}

/// `/usr/local/cuda`, `/usr/local/cuda-12.4` and the like, newest first.
fn installed_toolkits() -> impl Iterator<Item = PathBuf> {
    TOOLKIT_PARENTS.iter().flat_map(|parent| {
        let is_toolkit = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name == "cuda" || name.starts_with("cuda-"))
        };
        entries(Path::new(parent)).into_iter().rev().filter(is_toolkit).collect::<Vec<_>>()
    })
}

/// Roots under which a system keeps `lib/python3.X`.
fn system_python_roots() -> Vec<PathBuf> {
    let home = env::home_dir().map(|home| home.join(".local"));
    ["/usr/local", "/usr"].into_iter().map(PathBuf::from).chain(home).collect()
}

/// Folders of NVRTC packages under `root/lib/python3.X/site-packages` and its Debian and Windows variants.
fn packages_under(root: &Path) -> Vec<PathBuf> {
    let is_python =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("python3"));
    let versions = entries(&root.join("lib")).into_iter().filter(is_python);
    let sites = versions.flat_map(|version| [version.join("site-packages"), version.join("dist-packages")]);
    let windows = root.join("Lib").join("site-packages");
    sites.chain([windows]).flat_map(|site| PACKAGE_FOLDERS.map(|folder| site.join(folder))).collect()
}

/// Folders of NVRTC packages in the search path of the `python3` that the shell would start.
fn packages_that_python_knows() -> Vec<PathBuf> {
    let output = Command::new("python3")
        .args(["-c", "import sys; print('\\n'.join(sys.path))"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else { return Vec::new() };
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| !line.is_empty())
        .flat_map(|line| PACKAGE_FOLDERS.map(|folder| Path::new(line).join(folder)))
        .collect()
}

/// Paths in a folder, in order of their names; none when it cannot be read, because then there is nothing to find in it.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
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
    fn a_folder_yields_the_compiler_and_never_its_builtins() {
        let folder = env::temp_dir().join(format!("unrolled-nvrtc-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["libnvrtc-builtins.so.12.0", "libnvrtc.so.12", "libcudart.so.12"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let found = library_in(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, Some(folder.join("libnvrtc.so.12")));
        assert_eq!(library_in(&folder), None);
    }

    #[test]
    fn a_file_that_is_no_library_is_refused_by_name() {
        let error = Nvrtc::open(Path::new("/nonexistent/libnvrtc.so.12")).err().expect("nothing is there");
        let text = error.to_string();
        assert!(text.contains("/nonexistent/libnvrtc.so.12"), "{text}");
        assert!(text.contains("pip install nvidia-cuda-nvrtc-cu12"), "{text}");
    }
}
