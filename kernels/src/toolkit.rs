//! Where a machine keeps the libraries of the CUDA toolkit: under the loader's names, in toolkits, and in the packages that
//! Python's package managers install, where no loader looks.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A library of the CUDA toolkit, by the names that it has in different places.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// What people call it.
    pub title: &'static str,
    /// The part of its file name between `lib` and `.so`, or before `64_` on Windows.
    pub stem: &'static str,
    /// Its folder among NVIDIA's Python packages.
    pub package: &'static str,
    /// Environment variable with the path of the file to use, and of no other.
    pub variable: &'static str,
}

/// The run-time compiler of CUDA C.
pub const NVRTC: Library = Library { title: "NVRTC", stem: "nvrtc", package: "cuda_nvrtc", variable: "UNROLLED_NVRTC" };
/// Dense linear algebra.
pub const CUBLAS: Library = Library { title: "cuBLAS", stem: "cublas", package: "cublas", variable: "UNROLLED_CUBLAS" };
/// Fourier transforms.
pub const CUFFT: Library = Library { title: "cuFFT", stem: "cufft", package: "cufft", variable: "UNROLLED_CUFFT" };

/// Environment variables that name the root of a CUDA toolkit.
const TOOLKIT_VARIABLES: [&str; 4] = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];
/// Folders that hold toolkits under names like `cuda-12.4`.
const TOOLKIT_PARENTS: [&str; 2] = ["/usr/local", "/opt"];
/// Where the libraries lie under the root of a toolkit, or of a conda environment.
const TOOLKIT_FOLDERS: [&str; 5] = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "bin"];
/// Environment variables that name the root of a Python environment.
const PYTHON_VARIABLES: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// The numbers that file names of toolkits 11 to 13 end in, newest first. (NVRTC 11 is `.so.11.2`, cuFFT counts one lower.)
const VERSIONS: &[&str] =
    if cfg!(windows) { &["130_0", "120_0", "112_0", "13", "12", "11", "10"] } else { &["13", "12", "11.2", "11", "10"] };

impl Library {
    /// Where the library may be, in the order in which to try: what [`Library::variable`] says and nothing else; the Python
    /// environment that is active; the loader's path; toolkits; Python's packages; and last what `python3` itself says,
    /// because asking starts a process. A path without a folder is a name for the loader.
    pub fn candidates(&self) -> impl Iterator<Item = PathBuf> {
        let named = env::var_os(self.variable).map(PathBuf::from);
        let searched = named.is_none().then(|| self.searched());
        let named = named.map(|path| self.in_folder(&path).unwrap_or(path));
        let mut seen = HashSet::new();
        let all = named.into_iter().chain(searched.into_iter().flatten());
        all.filter(move |path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
    }

    /// In words, where [`Library::candidates`] looks.
    pub fn places(&self) -> String {
        match env::var_os(self.variable) {
            Some(path) => format!("at {} (from {})", Path::new(&path).display(), self.variable),
            None => format!(
                "on the loader's path, under {}, in {} or in Python's packages",
                TOOLKIT_VARIABLES.join(", "),
                TOOLKIT_PARENTS.map(|parent| format!("{parent}/cuda*")).join(", ")
            ),
        }
    }

    /// Opens the first candidate that loads; `None` when none does.
    pub fn find(&self) -> Option<PathBuf> {
        // SAFETY: loading runs the library's initialisers; those of the toolkit have no effect on this process but their own
        // memory.
        self.candidates().find(|path| unsafe { libloading::Library::new(path) }.is_ok())
    }

    fn searched(self) -> impl Iterator<Item = PathBuf> {
        let environments: Vec<PathBuf> = PYTHON_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from).collect();
        let roots = TOOLKIT_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
        let roots = roots.chain(installed_toolkits()).chain(environments.clone());
        let toolkits = roots.flat_map(|root| TOOLKIT_FOLDERS.map(|folder| root.join(folder)));
        let active = environments.into_iter().flat_map(|root| sites_under(&root));
        let system = system_python_roots().into_iter().flat_map(|root| sites_under(&root));
        // Lazily, so that no process is started when the library was found before.
        let asked = std::iter::once_with(sites_that_python_knows).flatten().cloned();

        let in_sites = move |site: PathBuf| self.package_folders().map(|folder| site.join(folder));
        let find = move |folder: PathBuf| self.in_folder(&folder);
        (active.flat_map(in_sites).filter_map(find))
            .chain(self.loader_names())
            .chain(toolkits.filter_map(find))
            .chain(system.chain(asked).flat_map(in_sites).filter_map(find))
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

/// Roots under which a system keeps `lib/python3.X`.
fn system_python_roots() -> Vec<PathBuf> {
    let home = env::home_dir().map(|home| home.join(".local"));
    ["/usr/local", "/usr"].into_iter().map(PathBuf::from).chain(home).collect()
}

/// `root/lib/python3.X/site-packages` and its Debian and Windows variants.
fn sites_under(root: &Path) -> Vec<PathBuf> {
    let is_python =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("python3"));
    let versions = entries(&root.join("lib")).into_iter().filter(is_python);
    let sites = versions.flat_map(|version| [version.join("site-packages"), version.join("dist-packages")]);
    sites.chain([root.join("Lib").join("site-packages")]).collect()
}

/// The search path of the `python3` that the shell would start.
fn sites_that_python_knows() -> &'static [PathBuf] {
    static SITES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    SITES.get_or_init(|| {
        let output = Command::new("python3")
            .args(["-c", "import sys; print('\\n'.join(sys.path))"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let Ok(output) = output else { return Vec::new() };
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()
    })
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
    fn a_folder_yields_the_library_and_none_of_its_relatives() {
        let folder = env::temp_dir().join(format!("unrolled-toolkit-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["libnvrtc-builtins.so.12.0", "libnvrtc.so.12", "libcublasLt.so.12", "libcublas.so.12", "libcudart.so.12"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let found = [NVRTC, CUBLAS, CUFFT].map(|library| library.in_folder(&folder));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, [Some(folder.join("libnvrtc.so.12")), Some(folder.join("libcublas.so.12")), None]);
        assert_eq!(NVRTC.in_folder(&folder), None);
    }
}
