//! Which lines and branches of the kernels were executed, in one process and in many.
//!
//! Each process writes a [`Covered`] when it ends, into a file of its own. A reader that wants to know about a whole test suite
//! [reads](Covered::read_folder) them all and [adds](Covered::add) them up.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use simt::coverage::Lines;
pub use simt::coverage::{Branch, Coverage, Executed, Outcome, Place, Way};
use simt::{CoverageCounts, LaunchOptions, Module};

use crate::error::Error;
use crate::files::Spool;
use crate::name::readable;
use crate::observer::{Begun, Observer};

/// The version of the format of files. It changes whenever an older reader would misunderstand a file.
const VERSION: u32 = 1;

/// The kind of file that a process's coverage is.
const KIND: &str = "coverage";

/// The executed lines and branches of kernels, of one process or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    version: u32,
    /// Each kernel that was loaded, even if it was never launched. Sorted by name and place.
    pub kernels: Vec<Coverage>,
    /// The text of PTX that names no lines of CUDA C. Its kernels have lines of PTX instead, in a file with the name that is the key here.
    pub ptx: BTreeMap<String, String>,
}

impl Default for Covered {
    fn default() -> Self {
        Self { version: VERSION, kernels: Vec::new(), ptx: BTreeMap::new() }
    }
}

impl Covered {
    /// Adds a kernel. If it has the name and the place of one that is already here, it is the same one, compiled or loaded again.
    fn add_kernel(&mut self, kernel: &Coverage) {
        let key = |kernel: &Coverage| (kernel.kernel.clone(), kernel.at.clone());
        match self.kernels.binary_search_by_key(&key(kernel), key) {
            Ok(at) => self.kernels[at].add(kernel),
            Err(at) => self.kernels.insert(at, kernel.clone()),
        }
    }

    /// Adds what another process executed.
    pub fn add(&mut self, other: Self) {
        other.kernels.iter().for_each(|kernel| self.add_kernel(kernel));
        self.ptx.extend(other.ptx);
    }

    /// Adds up the files of all processes in a folder. Fails with [`Error::File`] if the folder or one of the files cannot
    /// be read, or if a file has another format.
    pub fn read_folder(folder: &Path) -> Result<Self, Error> {
        let mut covered = Self::default();
        Spool::new(folder, KIND).read(Self::parse)?.into_iter().for_each(|other| covered.add(other));
        Ok(covered)
    }

    fn parse(text: &[u8]) -> io::Result<Self> {
        /// The part of the format that never changes.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }

        let Versioned { version } = serde_json::from_slice(text)?;
        if version != VERSION {
            let message = format!("it has version {version} of the format, but this program needs {VERSION}; make it again");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(serde_json::from_slice(text)?)
    }
}

/// Collects what this process executes.
pub(crate) struct Collector {
    pub spool: Spool,
    /// The modules that this process has loaded, by their text. They stay when the program unloads them.
    modules: BTreeMap<String, Arc<ModuleCounts>>,
}

/// The counts of a module's kernels.
#[derive(Debug)]
pub(crate) struct ModuleCounts {
    module: Arc<Module>,
    kernels: BTreeMap<String, Arc<CoverageCounts>>,
}

impl Collector {
    pub fn new(folder: PathBuf) -> Self {
        Self { spool: Spool::new(folder, KIND), modules: BTreeMap::new() }
    }

    /// Returns where the launches of a module are counted. A text that is loaded again shares its counts.
    pub fn counts_of(&mut self, module: &Arc<Module>) -> Arc<ModuleCounts> {
        let counts = || {
            let kernels = module.kernels().iter().map(|kernel| (kernel.name().to_owned(), Arc::default())).collect();
            Arc::new(ModuleCounts { module: module.clone(), kernels })
        };
        self.modules.entry(module.text()).or_insert_with(counts).clone()
    }

    /// Returns what was executed so far.
    pub fn covered(&self) -> Covered {
        let mut covered = Covered::default();
        for (text, counts) in &self.modules {
            let ptx = format!("{:016x}.ptx", counts.module.fingerprint());
            for (kernel, launches) in &counts.kernels {
                let by_lines = |lines| Coverage::new(&counts.module, kernel, launches, lines);
                let by_source = by_lines(Lines::Source).filter(|coverage| !coverage.lines.is_empty());
                let by_source_or_ptx = by_source.or_else(|| {
                    covered.ptx.entry(ptx.clone()).or_insert_with(|| text.clone());
                    by_lines(Lines::Ptx(&ptx))
                });
                if let Some(coverage) = by_source_or_ptx {
                    covered.add_kernel(&Coverage { kernel: readable(kernel).into_owned(), ..coverage });
                }
            }
        }
        covered
    }
}

impl Observer for Arc<ModuleCounts> {
    fn begin(&self, launch: &Begun<'_>, options: &mut LaunchOptions) {
        options.coverage = self.kernels.get(launch.kernel).cloned();
    }
}
