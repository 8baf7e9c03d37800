//! Where a machine keeps the libraries of the CUDA toolkit, and how to open one.
//!
//! A library can be on the loader's path, in a toolkit, or in a package of Python's package managers, where no loader looks. So we look in
//! all these places, and open the library by its path.
//!
//! That is also how cudarc gets to use it. cudarc asks the loader for a few names, such as `libcufft.so.11`, and panics when the loader
//! has none of them. A library that is already loaded answers to the name that is written in it (its SONAME), wherever its file is.
//! [`Library::open_for_cudarc`] opens it and then asks cudarc whether it finds one.

use std::collections::HashSet;
use std::env;
use std::fmt::Display;
use std::mem;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::python::{self, entries};
use crate::recipe::PINNED_VERSION;
use crate::variables::{self, Variable};

/// A library of the CUDA toolkit, by the names that it has in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    /// What people call it.
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

/// An open library. A binding keeps it for as long as it calls the functions that it got from [`Opened::function`].
#[derive(Debug)]
pub struct Opened {
    library: &'static Library,
    path: PathBuf,
    code: libloading::Library,
}

impl Opened {
    /// Where it was opened: a path, or the name under which the loader found it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The address of a function, by its C name.
    ///
    /// # Errors
    ///
    /// When the library has no such function.
    ///
    /// # Safety
    ///
    /// `F` must be the type of a pointer to the function of that name. The function must not be called after `self` is dropped.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F> {
        // SAFETY: the caller guarantees that `F` is the type of a pointer to this function.
        let found = unsafe { self.code.get::<F>(name) };
        found.map(|symbol| *symbol).map_err(|_| self.refuse(format!("has no {name}")))
    }

    /// The error for a library that is open but of no use. `why` continues a sentence that starts with the library's path.
    pub fn refuse(&self, why: impl Display) -> Error {
        self.library.not_found(format!("{} {why}", self.path.display()))
    }

    /// Keeps the library open for the life of the process, so that the loader has it for cudarc.
    fn keep_for_cudarc(self, is_found: impl Fn() -> bool) -> Result<PathBuf> {
        if !is_found() {
            return Err(self.refuse("has a version that cudarc does not look for"));
        }
        let path = self.path.clone();
        mem::forget(self);
        Ok(path)
    }
}

/// Environment variables that name the root of a CUDA toolkit.
const TOOLKIT_VARIABLES: [&str; 4] = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];
/// Folders that hold toolkits under names like `cuda-12.4`.
const TOOLKIT_PARENTS: [&str; 2] = ["/usr/local", "/opt"];
/// Where the libraries are under the root of a toolkit or of a conda environment.
const TOOLKIT_FOLDERS: [&str; 5] = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "bin"];
/// The numbers at the end of the file names in toolkits 11 to 13, newest first. (NVRTC 11 is `.so.11.2`; cuFFT is one behind.)
const VERSIONS: &[&str] =
    if cfg!(windows) { &["130_0", "120_0", "112_0", "13", "12", "11", "10"] } else { &["13", "12", "11.2", "11", "10"] };

impl Library {
    /// Where the library may be, in the order in which to try: the file that [`Library::variable`] names, and then no other; the active
    /// Python environment; the loader's path; toolkits; Python's packages; and last the folders that `python3` itself lists,
    /// because asking starts a process. A path without a folder is a name for the loader.
    pub fn candidates(&self) -> impl Iterator<Item = PathBuf> {
        let named = self.variable.path();
        let searched = named.is_none().then(|| self.searched());
        let named = named.map(|path| self.in_folder(&path).unwrap_or(path));
        let mut seen = HashSet::new();
        let all = named.into_iter().chain(searched.into_iter().flatten());
        all.filter(move |path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
    }

    /// Where [`Library::candidates`] looks, in words.
    pub fn places(&self) -> String {
        match self.variable.path() {
            Some(path) => format!("at {} (from {})", path.display(), self.variable),
            None => format!(
                "on the loader's path, under {}, in {} or in Python's packages",
                TOOLKIT_VARIABLES.join(", "),
                TOOLKIT_PARENTS.map(|parent| format!("{parent}/cuda*")).join(", ")
            ),
        }
    }

    /// The first candidate that loads; `None` when none does.
    pub fn find(&'static self) -> Option<PathBuf> {
        self.candidates().find(|path| self.open(path).is_ok())
    }

    /// Opens the candidates in order until `bind` accepts one.
    ///
    /// # Errors
    ///
    /// When there is none. The message says where we looked, what is wrong with each file that we found, and how to get the library.
    pub fn open_first<T>(&'static self, mut bind: impl FnMut(Opened) -> Result<T>) -> Result<T> {
        let mut refused = Vec::new();
        for candidate in self.candidates() {
            let bound = match self.open(&candidate) {
                // That the loader does not know a bare name says nothing. That a file exists and does not open does.
                Err(_) if !candidate.is_absolute() => continue,
                opened => opened.and_then(&mut bind),
            };
            match bound {
                Ok(bound) => return Ok(bound),
                Err(Error::NotFound { reason, .. }) => refused.push(reason),
                Err(error) => refused.push(error.to_string()),
            }
        }
        let (title, places) = (self.title, self.places());
        Err(self.not_found(match refused.as_slice() {
            [] => format!("no {title} {places}"),
            refused => format!("no usable {title} {places}: {}", refused.join("; ")),
        }))
    }

    /// Opens the first candidate that cudarc then finds by name, and keeps it open for the life of the process. `is_found` asks cudarc: it
    /// is the `is_culib_present` of the library's module, for example `cudarc::cufft::sys::is_culib_present`. (Where the loader's path
    /// has a library of that name, too, cudarc may take that one.)
    ///
    /// # Errors
    ///
    /// As for [`Library::open_first`]. After an error, cudarc must not be called: it would panic.
    pub fn open_for_cudarc(&'static self, is_found: impl Fn() -> bool) -> Result<PathBuf> {
        self.open_first(|opened| opened.keep_for_cudarc(&is_found))
    }

    /// Opens the file at `path`, or, for a bare file name, the one that the loader finds under it.
    ///
    /// # Errors
    ///
    /// With the loader's words.
    pub fn open(&'static self, path: &Path) -> Result<Opened> {
        // SAFETY: loading runs the library's initializers. Those of the CUDA toolkit touch nothing in this process but their own memory.
        match unsafe { libloading::Library::new(path) } {
            Ok(code) => Ok(Opened { library: self, path: path.to_owned(), code }),
            Err(error) => Err(self.not_found(format!("{} does not load: {}", path.display(), root_cause(&error)))),
        }
    }

    /// The command that installs it with Python's package manager, in an environment of its own: many systems allow it nowhere else.
    pub fn pip(&self) -> String {
        let version = self.version.map(|version| format!("=={version}")).unwrap_or_default();
        format!(
            "python3 -m venv .venv && . .venv/bin/activate && pip install nvidia-{}-cu12{version}",
            self.package.replace('_', "-")
        )
    }

    fn not_found(&self, reason: String) -> Error {
        Error::NotFound { reason, remedy: format!("`{}` installs it, or set {} to its path", self.pip(), self.variable) }
    }

    fn searched(self) -> impl Iterator<Item = PathBuf> {
        let environments = python::VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
        let roots = TOOLKIT_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
        let roots = roots.chain(installed_toolkits()).chain(environments);
        let toolkits = roots.flat_map(|root| TOOLKIT_FOLDERS.map(|folder| root.join(folder)));

        let in_sites = move |site: PathBuf| self.package_folders().map(|folder| site.join(folder));
        let find = move |folder: PathBuf| self.in_folder(&folder);
        (python::chosen_sites().flat_map(in_sites).filter_map(find))
            .chain(self.loader_names())
            .chain(toolkits.filter_map(find))
            .chain(python::other_sites().flat_map(in_sites).filter_map(find))
    }

    fn package_folders(self) -> [String; 4] {
        let package = self.package;
        [
            format!("nvidia/{package}/lib"),
            format!("nvidia/{package}/bin"),
            "nvidia/cu13/lib".to_owned(),
            "nvidia/cu13/bin/x86_64".to_owned(),
        ]
    }

    /// Names that the loader may know, newest first.
    fn loader_names(self) -> impl Iterator<Item = PathBuf> {
        let stem = self.stem;
        let versioned = VERSIONS
            .iter()
            .map(move |version| if cfg!(windows) { format!("{stem}64_{version}.dll") } else { format!("lib{stem}.so.{version}") });
        versioned.chain((!cfg!(windows)).then(|| format!("lib{stem}.so"))).map(PathBuf::from)
    }

    /// The library in a folder; the one with the highest name when there are several.
    fn in_folder(&self, folder: &Path) -> Option<PathBuf> {
        let (unix, windows) = (format!("lib{}.so", self.stem), format!("{}64_", self.stem));
        let is_it = |name: &str| name.starts_with(&unix) || (name.starts_with(&windows) && name.ends_with(".dll"));
        entries(folder).into_iter().rev().find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_it))
    }
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

/// The error at the bottom of a chain: `libloading` keeps the loader's own words there.
fn root_cause(error: &dyn std::error::Error) -> String {
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
