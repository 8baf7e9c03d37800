//! A CUDA Toolkit in one folder, from NVIDIA's packages on PyPI.
//!
//! Each package holds one part, in a folder of its own, but programs look for all headers in the one folder that `CUDA_PATH` names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::source;

/// A toolkit, as NVIDIA's installer would have made it.
pub struct CudaPath {
    /// What `CUDA_PATH` names.
    pub folder: PathBuf,
    /// Where its libraries are, NVRTC among them.
    pub libraries: PathBuf,
}

/// Merges these packages into a folder inside of `folder`, unless they are there already.
///
/// # Errors
///
/// When a package cannot be fetched or its files cannot be linked.
pub fn make(folder: &Path, packages: &[String]) -> Result<CudaPath> {
    let [toolkit, wheels] = ["cuda", "wheels"].map(|name| folder.join(name));
    let made = CudaPath { libraries: toolkit.join("lib64"), folder: toolkit.clone() };
    let done = toolkit.join("packages.txt");
    let wanted = packages.join("\n");
    if fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(made);
    }
    for old in [&toolkit, &wheels].into_iter().filter(|old| old.exists()) {
        fs::remove_dir_all(old).with_context(|| old.display().to_string())?;
    }
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--target"]);
    source::text(install.arg(&wheels).args(packages))?;
    let parts = fs::read_dir(wheels.join("nvidia"))?.collect::<Result<Vec<_>, _>>()?;
    for part in parts {
        for (from, to) in [("include", "include"), ("lib", "lib64")] {
            let from = part.path().join(from);
            if from.is_dir() {
                let to = toolkit.join(to);
                fs::create_dir_all(&to)?;
                source::text(Command::new("cp").args(["--recursive", "--link", "--force"]).arg(from.join(".")).arg(&to))?;
            }
        }
    }
    fs::write(&done, wanted)?;
    Ok(made)
}
