//! A CUDA Toolkit in one folder, from NVIDIA's packages on PyPI.
//!
//! Each package holds one part, in a folder of its own, but programs look for all headers in the one folder that `CUDA_PATH` names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::source;

/// Merges these packages into a folder in `folder`, unless already there. Returns that folder, for `CUDA_PATH`. As in a toolkit that NVIDIA's
/// installer has made, its libraries are in `lib64`, NVRTC among them.
pub fn make(folder: &Path, packages: &[String]) -> Result<PathBuf> {
    let [toolkit, wheels] = ["cuda", "wheels"].map(|name| folder.join(name));
    source::once(&toolkit, packages, || {
        for old in [&toolkit, &wheels].into_iter().filter(|old| old.exists()) {
            fs::remove_dir_all(old).with_context(|| old.display().to_string())?;
        }
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--target"]);
        source::text(install.arg(&wheels).args(packages))?;
        for part in fs::read_dir(wheels.join("nvidia"))? {
            let part = part?.path();
            for (from, to) in [("include", "include"), ("lib", "lib64")] {
                let (from, to) = (part.join(from), toolkit.join(to));
                if from.is_dir() {
                    fs::create_dir_all(&to)?;
                    source::text(Command::new("cp").args(["--recursive", "--link", "--force"]).arg(from.join(".")).arg(&to))?;
                }
            }
        }
        Ok(())
    })?;
    Ok(toolkit)
}
