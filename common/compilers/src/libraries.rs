//! Where a machine keeps the libraries of the CUDA toolkit, and how to open one.
//!
//! A library can be on the loader's path, in a toolkit, or in a package of Python's package managers, where no loader looks. So we look in
//! all these places, and open the library by its path.
//!
//! That is also how cudarc gets to use it. cudarc asks the loader for a few names, such as `libcufft.so.11`, and panics when the loader
//! has none of them. A library that is already loaded answers to the name that is written in it (its SONAME), wherever its file is.
//! [`Library::open_for_cudarc`] opens it and then asks cudarc whether it finds one.

use std::env;
use std::ffi::{CStr, c_char};
use std::fmt::Display;
use std::mem;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::python::{self, entries};
use crate::recipe::PINNED_VERSION;
use crate::search;
use crate::variables::{self, Variable};
use crate::versions::{LIBRARY_NUMBERS, PACKAGE_FOLDERS, PACKAGE_SUFFIX, TOOLKIT_FOLDERS};

/// A library of the CUDA toolkit, with its names in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    /// The name that people use.
    pub title: &'static str,
    /// The part of its file name between `lib` and `.so`, or before `64_` on Windows.
    pub stem: &'static str,
    /// Its folder among NVIDIA's Python packages.
    pub package: &'static str,
    /// The version to install, where one is better than the others.
    pub version: Option<&'static str>,
    /// Environment variable with the path of the file to use. If it is set, no other file is used.
    pub variable: Variable,
}

/// The run-time compiler of CUDA C.
pub static NVRTC: Library =
    Library { title: "NVRTC", stem: "nvrtc", package: "cuda_nvrtc", version: Some(PINNED_VERSION), variable: variables::NVRTC };
/// Dense linear algebra.
pub static CUBLAS: Library =
    Library { title: "cuBLAS", stem: "cublas", package: "cublas", version: None, variable: variables::CUBLAS };
/// Fourier transforms.
pub static CUFFT: Library = Library { title: "cuFFT", stem: "cufft", package: "cufft", version: None, variable: variables::CUFFT };

/// An open library. A binding keeps it for as long as it calls functions of it.
#[derive(Debug)]
pub struct Opened {
    library: &'static Library,
    path: PathBuf,
    code: libloading::Library,
}

impl Opened {
    /// Returns its path, or the name under which the loader found it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a function's address by its C name. Fails if the library has no such function.
    ///
    /// # Safety
    ///
    /// `F` must be the type of a pointer to the function of that name. The function must not be called after `self` is dropped.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F> {
        // SAFETY: the caller guarantees that `F` is the type of a pointer to this function.
        let found = unsafe { self.code.get::<F>(name) };
        found.map(|symbol| *symbol).map_err(|_| self.refuse(format!("has no {name}")))
    }

    /// Returns the error for a library that is of no use. `why` continues a sentence that starts with the library's path.
    pub fn refuse(&self, why: impl Display) -> Error {
        self.library.not_found(format!("{} {why}", self.path.display()))
    }

    /// Keeps the library open until the process ends, for cudarc to find.
    fn keep_for_cudarc(self, is_found: impl Fn() -> bool) -> Result<PathBuf> {
        if !is_found() {
            return Err(self.refuse("has a version that cudarc does not look for"));
        }
        let path = self.path.clone();
        mem::forget(self);
        Ok(path)
    }
}

/// Declares a struct of C functions, and how a library gives them.
macro_rules! functions {
    ($(#[$attribute:meta])* struct $name:ident { $($field:ident = $symbol:literal ($($type:ty),* $(,)?) -> $result:ty;)* }) => {
        $(#[$attribute])*
        struct $name {
            $($field: unsafe extern "C" fn($($type),*) -> $result,)*
        }

        impl $name {
            /// Looks the functions up in a library. It must stay open while they are called.
            ///
            /// # Safety
            ///
            /// The library's functions of these names have these types.
            unsafe fn load(opened: &$crate::libraries::Opened) -> $crate::Result<Self> {
                // SAFETY: the caller guarantees the types.
                Ok(unsafe { Self { $($field: opened.function($symbol)?,)* } })
            }
        }
    };
}
pub(crate) use functions;

/// Reads a text that a library returned for a status; `None` if there is none.
///
/// # Safety
///
/// The pointer is null, or to a NUL-terminated text that is never freed.
pub(crate) unsafe fn words(text: *const c_char) -> Option<String> {
    // SAFETY: it is not null, so it is to a text, as the caller guarantees.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Environment variables that name the root of a CUDA toolkit.
const TOOLKIT_VARIABLES: [&str; 4] = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];
/// Folders with toolkits under names like `cuda-12.4`.
const TOOLKIT_PARENTS: [&str; 2] = ["/usr/local", "/opt"];

impl Library {
    /// Returns the paths to try, in order. A path without a folder is a name for the loader.
    ///
    /// The file that [`Library::variable`] names, and then no other; the active Python environment; the loader's path; toolkits; Python's
    /// packages; and last the folders that `python3` itself lists, because asking starts a process.
    pub fn candidates(&self) -> impl Iterator<Item = PathBuf> {
        let in_folder = |path: PathBuf| self.in_folder(&path).unwrap_or(path);
        search::candidates(self.variable, in_folder, self.searched())
    }

    /// Says in words where [`Library::candidates`] looks.
    pub fn places(&self) -> String {
        let parents = TOOLKIT_PARENTS.map(|parent| format!("{parent}/cuda*")).join(", ");
        let variables = TOOLKIT_VARIABLES.join(", ");
        search::places(self.variable, format!("on the loader's path, under {variables}, in {parents} or in Python's packages"))
    }

    /// Returns the first candidate that loads.
    pub fn find(&'static self) -> Option<PathBuf> {
        self.candidates().find(|path| self.open(path).is_ok())
    }

    /// Opens the candidates in order until `bind` accepts one.
    /// Fails when there is none. The message says where we looked, what is wrong with each file that we found, and how to get the library.
    pub fn open_first<T>(&'static self, mut bind: impl FnMut(Opened) -> Result<T>) -> Result<T> {
        let tried = self.candidates().filter_map(|path| match self.open(&path) {
            // That the loader does not know a bare name says nothing. That a file exists and does not open does.
            Err(_) if !path.is_absolute() => None,
            opened => Some(opened.and_then(&mut bind)),
        });
        let (none, unusable) = (format!("no {}", self.title), format!("no usable {}", self.title));
        search::first(tried, &none, &unusable, &self.places()).map_err(|reason| self.not_found(reason))
    }

    /// Opens the first candidate that cudarc then finds by name. It stays open for the life of the process.
    ///
    /// `is_found` asks cudarc: it is the `is_culib_present` of the library's module, for example `cudarc::cufft::sys::is_culib_present`.
    /// (Where the loader's path has a library of that name, too, cudarc may take that one.)
    /// Fails as [`Library::open_first`] does. After an error, cudarc must not be called: it would panic.
    pub fn open_for_cudarc(&'static self, is_found: impl Fn() -> bool) -> Result<PathBuf> {
        self.open_first(|opened| opened.keep_for_cudarc(&is_found))
    }

    /// Opens the file at `path`. The loader searches for a bare file name. An error has the loader's words.
    pub fn open(&'static self, path: &Path) -> Result<Opened> {
        // SAFETY: loading runs the library's initializers. Those of the CUDA toolkit touch nothing in this process but their own memory.
        match unsafe { libloading::Library::new(path) } {
            Ok(code) => Ok(Opened { library: self, path: path.to_owned(), code }),
            Err(error) => Err(self.not_found(format!("{} does not load: {}", path.display(), root_cause(&error)))),
        }
    }

    /// Returns the command that installs it with Python's package manager.
    ///
    /// It makes an environment of its own: many systems allow it nowhere else.
    pub fn pip(&self) -> String {
        let version = self.version.map(|version| format!("=={version}")).unwrap_or_default();
        let package = format!("nvidia-{}-{PACKAGE_SUFFIX}{version}", self.package.replace('_', "-"));
        format!("python3 -m venv .venv && . .venv/bin/activate && pip install {package}")
    }

    fn not_found(&self, reason: String) -> Error {
        Error::NotFound { reason, remedy: format!("`{}` installs it, or set {} to its path", self.pip(), self.variable) }
    }

    fn searched(self) -> impl Iterator<Item = PathBuf> {
        let environments = python::VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
        let roots = TOOLKIT_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
        let roots = roots.chain(installed_toolkits()).chain(environments);
        let toolkits = roots.flat_map(|root| TOOLKIT_FOLDERS.map(|folder| root.join(folder)));

        let in_sites = move |site: PathBuf| {
            let own = ["lib", "bin"].map(|folder| site.join(format!("nvidia/{}/{folder}", self.package)));
            own.into_iter().chain(PACKAGE_FOLDERS.map(|folder| site.join(folder)))
        };
        let find = move |folder: PathBuf| self.in_folder(&folder);
        (python::chosen_sites().flat_map(in_sites).filter_map(find))
            .chain(self.loader_names())
            .chain(toolkits.filter_map(find))
            .chain(python::other_sites().flat_map(in_sites).filter_map(find))
    }

    /// Returns names that the loader may know, newest first.
    fn loader_names(self) -> impl Iterator<Item = PathBuf> {
        let stem = self.stem;
        let name = move |number| if cfg!(windows) { format!("{stem}64_{number}.dll") } else { format!("lib{stem}.so.{number}") };
        let unversioned = (!cfg!(windows)).then(|| format!("lib{stem}.so"));
        LIBRARY_NUMBERS.iter().map(name).chain(unversioned).map(PathBuf::from)
    }

    /// Finds the library in a folder; the one with the highest name if there are several.
    fn in_folder(&self, folder: &Path) -> Option<PathBuf> {
        let (unix, windows) = (format!("lib{}.so", self.stem), format!("{}64_", self.stem));
        let is_it = |name: &str| name.starts_with(&unix) || (name.starts_with(&windows) && name.ends_with(".dll"));
        entries(folder, is_it).pop()
    }
}

/// Returns `/usr/local/cuda`, `/usr/local/cuda-12.4` and the like, newest first.
fn installed_toolkits() -> impl Iterator<Item = PathBuf> {
    let is_toolkit = |name: &str| name == "cuda" || name.starts_with("cuda-");
    TOOLKIT_PARENTS.iter().flat_map(move |parent| entries(Path::new(parent), is_toolkit).into_iter().rev())
}

/// Returns the error at the bottom of a chain: `libloading` keeps the loader's own words there.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => root_cause(source),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_yields_the_library_and_none_of_its_relatives() {
        let folder = env::temp_dir().join(format!("unrolled-toolkit-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["libnvrtc-builtins.so.12.0", "libnvrtc.so.12", "libcublasLt.so.12", "libcublas.so.12", "libcudart.so.12"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let found = [&NVRTC, &CUBLAS, &CUFFT].map(|library| library.in_folder(&folder));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, [Some(folder.join("libnvrtc.so.12")), Some(folder.join("libcublas.so.12")), None]);
        assert_eq!(NVRTC.in_folder(&folder), None);
    }

    #[test]
    fn a_missing_library_comes_with_the_way_to_get_it() {
        for (library, file, command) in [
            (
                &NVRTC,
                "libnvrtc.so.12",
                "`python3 -m venv .venv && . .venv/bin/activate && pip install nvidia-cuda-nvrtc-cu12==12.0.140` installs it, or set UNROLLED_NVRTC to its path",
            ),
            (
                &CUBLAS,
                "libcublas.so.12",
                "`python3 -m venv .venv && . .venv/bin/activate && pip install nvidia-cublas-cu12` installs it, or set UNROLLED_CUBLAS to its path",
            ),
            (
                &CUFFT,
                "libcufft.so.11",
                "`python3 -m venv .venv && . .venv/bin/activate && pip install nvidia-cufft-cu12` installs it, or set UNROLLED_CUFFT to its path",
            ),
        ] {
            let path = Path::new("/nonexistent").join(file);
            let text = library.open(&path).expect_err("nothing is there").to_string();
            assert!(text.starts_with(&format!("{} does not load: ", path.display())), "{text}");
            assert!(text.contains(command), "{text}");
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_library_without_the_function_is_refused_by_the_names_of_both() {
        let libc = CUBLAS.open(Path::new("libc.so.6")).unwrap();
        // SAFETY: libc has no such function, so there is no pointer whose type could be wrong.
        let error = unsafe { libc.function::<extern "C" fn()>("cublasCreate_v2") }.unwrap_err().to_string();
        assert!(error.starts_with("libc.so.6 has no cublasCreate_v2; `python3 -m venv "), "{error}");
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_library_that_cudarc_does_not_find_is_refused() {
        let libc = || CUFFT.open(Path::new("libc.so.6")).unwrap();
        let refused = libc().keep_for_cudarc(|| false).unwrap_err().to_string();
        assert!(refused.starts_with("libc.so.6 has a version that cudarc does not look for; `python3 -m venv "), "{refused}");
        assert_eq!(libc().keep_for_cudarc(|| true), Ok(PathBuf::from("libc.so.6")));
    }
}
