//! `book/records.toml`: every record of the book with the command that makes it, what that takes, and who uses it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::directive::nearest;

/// All entries of `book/records.toml`, by the record's path from `book/` (for example `results/nvidia-h200/03-unroll.json`).
pub struct Manifest {
    root: PathBuf,
    /// The entries, by path.
    pub entries: BTreeMap<String, Entry>,
}

/// One record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The program and its arguments; `--save FILE` follows them.
    pub command: String,
    /// The needs of the command.
    pub needs: Needs,
    /// The model of the GPU, as its driver names it, where the record is one of a GPU.
    pub model: Option<String>,
}

/// The needs of a command, besides the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Needs {
    /// Nothing: it runs on the simulator.
    Sim,
    /// An NVIDIA GPU.
    Gpu,
    /// A GPU, Nsight Compute, and leave to use the GPU's counters.
    Ncu,
    /// A GPU, and `compute-sanitizer` of the CUDA toolkit.
    Sanitizer,
    /// A GPU, and `nvcc` of the CUDA toolkit: a program of `kernels/experiments` is compiled and runs.
    Nvcc,
    /// `nvdisasm` of the CUDA toolkit, and an NVRTC that makes machine code for compute capability 9.0. No GPU.
    Nvdisasm,
}

impl Needs {
    /// Returns the need in words, a program, and true for a GPU. The program has to be on the `PATH`.
    pub fn details(self) -> (&'static str, Option<&'static str>, bool) {
        match self {
            Needs::Sim => ("the simulator", None, false),
            Needs::Gpu => ("a GPU", None, true),
            Needs::Ncu => ("a GPU and Nsight Compute (`ncu`)", Some("ncu"), true),
            Needs::Sanitizer => ("a GPU and `compute-sanitizer` of the CUDA toolkit", Some("compute-sanitizer"), true),
            Needs::Nvcc => ("a GPU and `nvcc` of the CUDA toolkit", Some("nvcc"), true),
            Needs::Nvdisasm => ("`nvdisasm` of the CUDA toolkit", Some("nvdisasm"), false),
        }
    }
}

/// The first word of commands that make the record of an experiment.
pub const EXPERIMENT: &str = "experiment";

impl Entry {
    /// Returns the program and its arguments.
    pub fn words(&self) -> (&str, Vec<&str>) {
        let mut words = self.command.split_whitespace();
        (words.next().unwrap_or_default(), words.collect())
    }
}

impl Manifest {
    /// Reads `book/records.toml` below the root of a repository.
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join("book/records.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let entries = toml::from_str(&text).with_context(|| path.display().to_string())?;
        Ok(Self { root: root.to_owned(), entries })
    }

    /// Reads the manifest in or above the current folder. This program itself may have been copied to a machine with a GPU.
    pub fn find() -> Result<Self> {
        let here = std::env::current_dir()?;
        let root = here.ancestors().find(|folder| folder.join("book/records.toml").is_file());
        Self::read(root.context("run this in a checkout of the repository: there is no book/records.toml here or above")?)
    }

    /// Returns the path of the script that makes the records of experiments.
    pub fn experiment(&self) -> PathBuf {
        self.root.join("kernels/experiments/run")
    }

    /// Returns the path of a record on this machine.
    pub fn path(&self, record: &str) -> PathBuf {
        self.root.join("book").join(record)
    }

    /// Returns the entry that a person means: by its path, or that without folder and extension (`nvidia-h200/03-unroll`).
    pub fn get(&self, name: &str) -> Result<(&str, &Entry)> {
        if let Some((path, entry)) = self.entries.iter().find(|(path, _)| *path == name || short(path) == name) {
            return Ok((path, entry));
        }
        bail!("book/records.toml has no record named {name}{}", nearest(name, self.entries.keys().map(|path| short(path))))
    }
}

/// Returns the name of a record for people: its path without the extension, and without `results/`.
pub fn short(path: &str) -> &str {
    let name = path.rsplit_once('.').map_or(path, |(name, _)| name);
    name.strip_prefix("results/").unwrap_or(name)
}
