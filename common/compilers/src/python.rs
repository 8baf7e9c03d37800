//! Where Python keeps its packages. Compilers and libraries come in some, and no loader and no shell looks there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Environment variables that name the root of a Python environment.
pub const VARIABLES: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// The names under which a shell may know Python.
const PROGRAMS: [&str; 3] = ["python3", "python", "py"];
/// The virtual environment that our instructions create, in the repository's folder.
const OURS: &str = ".venv";

/// Returns the package folders of the active environment and the repository's own.
pub fn chosen_sites() -> impl Iterator<Item = PathBuf> {
    let active = VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned);
    let ours = repository.into_iter().chain(env::current_dir().ok()).map(|folder| folder.join(OURS));
    active.chain(ours).flat_map(|root| sites_under(&root))
}

/// Returns the other folders of packages: the system's, and last those that Python itself lists, because asking starts a process.
pub fn other_sites() -> impl Iterator<Item = PathBuf> {
    let home = env::home_dir().map(|home| home.join(".local"));
    let roots = ["/usr/local", "/usr"].into_iter().map(PathBuf::from).chain(home);
    // Lazily, so that no process starts when what is looked for was found before.
    let asked = std::iter::once_with(sites_that_python_knows).flatten().cloned();
    roots.flat_map(|root| sites_under(&root)).chain(asked)
}

/// Returns `root/lib/python3.X/site-packages` and its Debian and Windows variants.
fn sites_under(root: &Path) -> Vec<PathBuf> {
    let versions = entries(&root.join("lib"), |name| name.starts_with("python3")).into_iter();
    let sites = versions.flat_map(|version| [version.join("site-packages"), version.join("dist-packages")]);
    sites.chain([root.join("Lib").join("site-packages")]).collect()
}

/// Returns the search paths of the Pythons that the shell would start.
fn sites_that_python_knows() -> &'static [PathBuf] {
    static SITES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    SITES.get_or_init(|| {
        let mut sites: Vec<PathBuf> = Vec::new();
        for program in PROGRAMS {
            let output = Command::new(program)
                .args(["-c", "import sys; print('\\n'.join(sys.path))"])
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .output();
            let Ok(output) = output else { continue };
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            for site in text.lines().filter(|line| !line.is_empty()).map(PathBuf::from) {
                if !sites.contains(&site) {
                    sites.push(site);
                }
            }
        }
        sites
    })
}

/// Returns the paths in a folder whose names are wanted, sorted; none if the folder cannot be read.
pub fn entries(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(&is_wanted)).collect();
    paths.sort();
    paths
}
