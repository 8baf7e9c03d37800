//! The executed lines and branches, by source file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use simcuda::coverage::{Branch, Coverage, Covered, Executed, Outcome};

/// The files that count.
#[derive(Debug)]
pub struct Filter {
    root: PathBuf,
    excluded: Vec<String>,
    all: bool,
}

/// The coverage of the files that count.
#[derive(Debug)]
pub struct Files {
    /// By path: relative to the project's folder for files in it.
    pub files: BTreeMap<PathBuf, SourceFile>,
    /// Names of files that do not count.
    left_out: BTreeSet<String>,
    /// Names of kernels without line information that do not count.
    without_lines: BTreeSet<String>,
}

/// The coverage of one file.
#[derive(Debug, Default)]
pub struct SourceFile {
    /// The kernels that begin in it.
    pub kernels: Vec<KernelSummary>,
    /// Each line that has instructions.
    pub lines: BTreeMap<u32, Executed>,
    /// Its branches and guarded instructions.
    pub branches: Vec<Branch>,
    /// Its text, line by line; empty if it cannot be read.
    pub text: Vec<String>,
}

/// A kernel, with the functions that it calls.
#[derive(Debug)]
pub struct KernelSummary {
    pub name: String,
    /// The line where it begins.
    pub line: u32,
    pub launches: u64,
    pub lines: Share,
    pub ways: Share,
    pub divergent: Share,
}

/// The number of items, and of those with a property, such as being executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub hit: usize,
    pub all: usize,
}

impl Share {
    fn of<T>(items: impl Iterator<Item = T>, is_hit: impl Fn(T) -> bool) -> Self {
        items.fold(Self::default(), |Self { hit, all }, item| Self { hit: hit + usize::from(is_hit(item)), all: all + 1 })
    }

    fn and(self, other: Self) -> Self {
        Self { hit: self.hit + other.hit, all: self.all + other.all }
    }

    /// Returns the percentage. All of nothing is 100 %.
    pub fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * self.hit as f64 / self.all as f64 }
    }

    /// Formats the percentage, rounded down: only all of them are `100.0 %`.
    pub fn shown(self) -> String {
        format!("{:.1} %", (10.0 * self.percent()).floor() / 10.0)
    }
}

impl SourceFile {
    pub fn covered_lines(&self) -> Share {
        Share::of(self.lines.values(), |executed| executed.lanes > 0)
    }

    pub fn covered_ways(&self) -> Share {
        ways(self.branches.iter())
    }

    pub fn divergent(&self) -> Share {
        divergent(self.branches.iter())
    }

    fn add(&mut self, kernel: &Coverage, name: &str) {
        for (line, Executed { warps, lanes }) in &kernel.lines[name] {
            let known = self.lines.entry(*line).or_default();
            (known.warps, known.lanes) = (known.warps + warps, known.lanes + lanes);
        }
        for branch in kernel.branches.iter().filter(|branch| branch.at.file == name) {
            match self.branches.iter_mut().find(|known| known.is_same(branch)) {
                Some(known) => known.add(branch),
                None => self.branches.push(branch.clone()),
            }
        }
    }
}

fn ways<'a>(branches: impl Iterator<Item = &'a Branch>) -> Share {
    Share::of(branches.flat_map(|branch| &branch.ways), |way| way.lanes > 0)
}

/// Counts the warps that diverged at branches that they executed.
fn divergent<'a>(branches: impl Iterator<Item = &'a Branch>) -> Share {
    let share = |branch: &Branch| Share { hit: branch.diverged as usize, all: branch.warps as usize };
    branches.filter(|branch| !branch.is_guard()).map(share).fold(Share::default(), Share::and)
}

impl Filter {
    /// # Errors
    ///
    /// If there is no such folder.
    pub fn new(root: &Path, excluded: &[String], all: bool) -> Result<Self, String> {
        let found: io::Result<PathBuf> = root.canonicalize();
        let root = found.map_err(|error| format!("{}: {error}", root.display()))?;
        Ok(Self { root, excluded: excluded.to_vec(), all })
    }

    /// Returns the path of a file as it is shown, or `None` if the file does not count.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let full = self.root.join(name);
        // A file of another machine, or of a string that the program compiled, does not exist here.
        let full = full.canonicalize().unwrap_or_else(|_| without_dots(&full));
        let is_excluded = self.excluded.iter().any(|text| full.to_string_lossy().contains(text));
        let mut folders = full.ancestors().take_while(|folder| *folder != self.root);
        let is_own = full.starts_with(&self.root) && !folders.any(is_of_toolkit);
        (!is_excluded && (is_own || self.all)).then(|| self.relative(full))
    }

    /// Returns the path from the project's folder, for files in it.
    fn relative(&self, full: PathBuf) -> PathBuf {
        full.strip_prefix(&self.root).map(Path::to_owned).unwrap_or(full)
    }
}

/// Returns true for a folder of the CUDA toolkit, which may be in the project's, as Python packages are.
fn is_of_toolkit(folder: &Path) -> bool {
    folder.ends_with("include") && ["cuda.h", "nv/target"].iter().any(|header| folder.join(header).is_file())
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

impl Files {
    /// Sorts what was executed by file. `ptx` is the folder of PTX without line information, if that counts.
    pub fn new(covered: &Covered, filter: &Filter, ptx: Option<&Path>) -> Self {
        let mut files = Self { files: BTreeMap::new(), left_out: BTreeSet::new(), without_lines: BTreeSet::new() };
        for kernel in &covered.kernels {
            let path = |name: &String| match (covered.ptx.contains_key(name), ptx) {
                (false, _) => filter.path(name),
                (true, folder) => folder.map(|folder| filter.relative(folder.join(name))),
            };
            let (counts, others): (Vec<_>, Vec<_>) =
                kernel.lines.keys().map(|name| (name, path(name))).partition(|(_, path)| path.is_some());
            for (name, _) in others {
                match covered.ptx.contains_key(name) {
                    true => files.without_lines.insert(kernel.kernel.clone()),
                    false => files.left_out.insert(name.clone()),
                };
            }
            files.add(kernel, counts.into_iter().filter_map(|(name, path)| Some((name.as_str(), path?))).collect());
        }
        for (path, file) in &mut files.files {
            file.kernels.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
            file.branches.sort_by_key(|branch| (branch.at.line, branch.at.column));
            file.text = text_of(&filter.root.join(path));
        }
        files
    }

    /// Adds a kernel with those of its files that count.
    fn add(&mut self, kernel: &Coverage, counts: BTreeMap<&str, PathBuf>) {
        let lines = counts.keys().flat_map(|name| kernel.lines[*name].values());
        let lines = Share::of(lines, |executed| executed.lanes > 0);
        let branches = || kernel.branches.iter().filter(|branch| counts.contains_key(branch.at.file.as_str()));
        let (ways, divergent) = (ways(branches()), divergent(branches()));
        for (&name, path) in &counts {
            let file = self.files.entry(path.clone()).or_default();
            file.add(kernel, name);
            if let Some(at) = kernel.at.as_ref().filter(|at| at.file == name) {
                let (name, line, launches) = (kernel.kernel.clone(), at.line, kernel.launches);
                file.kernels.push(KernelSummary { name, line, launches, lines, ways, divergent });
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Says why no file counts.
    pub fn why_empty(&self) -> &'static str {
        if self.left_out.is_empty() {
            "no kernel has line information; compile with -lineinfo (nvcc, NVRTC) or lineinfo=True (numba), \
             or count lines of PTX with --ptx FOLDER"
        } else {
            "all source files are left out; set --source-root to the project's folder, or use --all"
        }
    }

    /// Lists for people what does not count.
    pub fn notes(&self) -> Vec<String> {
        let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let mut notes = Vec::new();
        if !self.left_out.is_empty() {
            notes.push(format!("not counted, because they are excluded, or not in the project's folder: {}", list(&self.left_out)));
        }
        if !self.without_lines.is_empty() && !self.files.is_empty() {
            notes.push(format!("not counted, because they were compiled without -lineinfo: {}", list(&self.without_lines)));
        }
        notes
    }

    pub fn lines(&self) -> Share {
        self.files.values().map(SourceFile::covered_lines).fold(Share::default(), Share::and)
    }

    pub fn ways(&self) -> Share {
        self.files.values().map(SourceFile::covered_ways).fold(Share::default(), Share::and)
    }

    pub fn divergent(&self) -> Share {
        self.files.values().map(SourceFile::divergent).fold(Share::default(), Share::and)
    }
}

fn text_of(path: &Path) -> Vec<String> {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()).unwrap_or_default()
}

/// Lists the outcomes of a branch that never happened, if another one did.
pub fn missing(branch: &Branch) -> Vec<&Outcome> {
    let reached = branch.ways.iter().any(|way| way.lanes > 0);
    let never = branch.ways.iter().filter(|way| reached && way.lanes == 0);
    never.map(|way| &way.outcome).collect()
}
