//! The executed lines and branches, by source file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use driver::coverage::{Branch, Coverage, Covered, Executed, Outcome};

/// The files that count.
#[derive(Debug)]
pub struct Filter<'a> {
    /// The project's folder.
    pub root: PathBuf,
    /// Texts in the paths of files that do not count.
    pub excluded: &'a [String],
    /// True if files count that are not the project's own.
    pub all: bool,
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
    pub shares: Shares,
}

/// The executed shares of a kernel, a file, or all files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    pub lines: Share,
    pub ways: Share,
    /// The warps that diverged, of those that executed a branch.
    pub divergent: Share,
}

/// The number of items, and of those with a property (such as being executed).
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

impl Shares {
    fn of<'a>(lines: impl Iterator<Item = &'a Executed>, branches: impl Iterator<Item = &'a Branch> + Clone) -> Self {
        let divergent = |branch: &Branch| Share { hit: branch.diverged as usize, all: branch.warps as usize };
        Self {
            lines: Share::of(lines, |executed| executed.lanes > 0),
            ways: Share::of(branches.clone().flat_map(|branch| &branch.ways), |way| way.lanes > 0),
            divergent: branches.filter(|branch| !branch.is_guard()).map(divergent).fold(Share::default(), Share::and),
        }
    }

    fn and(self, other: Self) -> Self {
        Self { lines: self.lines.and(other.lines), ways: self.ways.and(other.ways), divergent: self.divergent.and(other.divergent) }
    }
}

impl SourceFile {
    pub fn shares(&self) -> Shares {
        Shares::of(self.lines.values(), self.branches.iter())
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

impl Filter<'_> {
    /// Returns the path that is shown for a file. It is `None` if the file does not count.
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

/// Returns true for a folder of the CUDA toolkit. With the toolkit's Python packages, it can be in the project's folder.
fn is_of_toolkit(folder: &Path) -> bool {
    folder.ends_with("include") && ["cuda.h", "nv/target"].iter().any(|header| folder.join(header).is_file())
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    plain
}

impl Files {
    /// Sorts what was executed by file. `ptx` is the folder of PTX without line information, if that counts.
    pub fn new(covered: &Covered, filter: &Filter<'_>, ptx: Option<&Path>) -> Self {
        let mut files = Self { files: BTreeMap::new(), left_out: BTreeSet::new(), without_lines: BTreeSet::new() };
        for kernel in &covered.kernels {
            let mut counts = BTreeMap::new();
            for name in kernel.lines.keys() {
                let is_ptx = covered.ptx.contains_key(name);
                let path = if is_ptx { ptx.map(|folder| filter.relative(folder.join(name))) } else { filter.path(name) };
                if let Some(path) = path {
                    counts.insert(name.as_str(), path);
                } else if is_ptx {
                    files.without_lines.insert(kernel.kernel.clone());
                } else {
                    files.left_out.insert(name.clone());
                }
            }
            files.add(kernel, &counts);
        }
        for (path, file) in &mut files.files {
            file.kernels.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
            file.branches.sort_by_key(|branch| (branch.at.line, branch.at.column));
            file.text = text_of(&filter.root.join(path));
        }
        files
    }

    /// Adds a kernel with those of its files that count.
    fn add(&mut self, kernel: &Coverage, counts: &BTreeMap<&str, PathBuf>) {
        let lines = counts.keys().flat_map(|name| kernel.lines[*name].values());
        let branches = kernel.branches.iter().filter(|branch| counts.contains_key(branch.at.file.as_str()));
        let shares = Shares::of(lines, branches);
        for (&name, path) in counts {
            let file = self.files.entry(path.clone()).or_default();
            file.add(kernel, name);
            if let Some(at) = kernel.at.as_ref().filter(|at| at.file == name) {
                file.kernels.push(KernelSummary { name: kernel.kernel.clone(), line: at.line, launches: kernel.launches, shares });
            }
        }
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
        let mut notes = Vec::new();
        let mut note = |why, names: &BTreeSet<String>| {
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                notes.push(format!("not counted, because they {why}: {}", names.join(", ")));
            }
        };
        note("are excluded, or not in the project's folder", &self.left_out);
        if !self.files.is_empty() {
            note("were compiled without -lineinfo", &self.without_lines);
        }
        notes
    }

    /// Adds up the shares of all files.
    pub fn shares(&self) -> Shares {
        self.files.values().map(SourceFile::shares).fold(Shares::default(), Shares::and)
    }
}

fn text_of(path: &Path) -> Vec<String> {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()).unwrap_or_default()
}

/// Returns true if any thread went any of a branch's ways.
pub fn is_reached(branch: &Branch) -> bool {
    branch.ways.iter().any(|way| way.lanes > 0)
}

/// Lists the outcomes of a branch that never happened. The list is empty if no outcome happened.
pub fn missing(branch: &Branch) -> Vec<&Outcome> {
    let never = branch.ways.iter().filter(|way| is_reached(branch) && way.lanes == 0);
    never.map(|way| &way.outcome).collect()
}
