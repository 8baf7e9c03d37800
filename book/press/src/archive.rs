//! The saved runs in `book/results`, by name: `<device>/<run>`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use run::record::{Record, StageRecord};
use run::report::Place;
use serde_json::Value;
use simt::Profile;
use simt::bound::{Bound, bound};

use crate::digests::Kernels;
use crate::directive::named;
use crate::root;

/// The mark of a stage whose kernel changed after the run.
pub const STALE_MARK: &str = "†";
/// The meaning of [`STALE_MARK`].
pub const STALE_NOTE: &str = "† measured before this kernel last changed";

/// Stages whose counts at one size say nothing about another: one launches other kernels there, and the others do work for each output that does
/// not grow with the filter.
const BY_SIZE: [&str; 4] = [
    matmul_tiled::slices::BY_SIZE.name,
    conv_shared::BLOCK_PER_OUTPUT.name,
    conv_shared::WARP_PER_OUTPUT.name,
    conv_shared::BLOCK_SHUFFLE.name,
];

/// All saved runs.
pub struct Archive {
    runs: BTreeMap<String, Record>,
    is_stale: fn(&Record, &str) -> bool,
    used: RefCell<BTreeSet<String>>,
    used_stale: Cell<bool>,
}

/// A saved run with its name.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// `<device>/<run>`.
    pub name: &'a str,
    /// The run.
    pub record: &'a Record,
    is_stale: fn(&Record, &str) -> bool,
}

/// A measured run with the simulator's counts for it.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// A run on a GPU.
    pub measured: Run<'a>,
    /// A run of the same chapter on the simulated GPU.
    pub counted: Run<'a>,
}

/// A stage that was timed on a GPU, with its bound.
pub struct Bounded<'a> {
    /// The stage's name.
    pub name: &'a str,
    /// Its median time.
    pub median_ms: f64,
    /// Its bound at the size that was timed.
    pub bound: Bound,
}

impl Archive {
    /// Reads all records.
    pub fn read() -> Result<Self> {
        let results = root().join("book/results");
        let mut runs = BTreeMap::new();
        for path in files_below(&results)? {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let record = Record::parse(&text).with_context(|| path.display().to_string())?;
            let name = path.strip_prefix(&results)?.with_extension("").to_string_lossy().replace('\\', "/");
            runs.insert(name, record);
        }
        Ok(Self::of(runs))
    }

    /// Returns an archive of these runs.
    pub fn of(runs: BTreeMap<String, Record>) -> Self {
        let is_stale = |record: &Record, stage: &str| Kernels::stored().is_stale(record, stage);
        Self { runs, is_stale, used: RefCell::default(), used_stale: Cell::default() }
    }

    /// Replaces the judge of the age of records.
    #[must_use]
    pub fn judged_by(mut self, is_stale: fn(&Record, &str) -> bool) -> Self {
        self.is_stale = is_stale;
        self
    }

    /// Returns the run of that name.
    pub fn run(&self, name: &str) -> Result<Run<'_>> {
        let runs = self.all().map(|run| (run.name, run));
        Ok(self.used(named(format_args!("there is no record book/results/{name}.json"), name, runs)?))
    }

    /// Returns the names of all runs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.runs.keys().map(String::as_str)
    }

    /// Returns the chosen runs, in the order of their names.
    pub fn runs_where(&self, is_chosen: impl Fn(&Run<'_>) -> bool) -> Vec<Run<'_>> {
        self.all().filter(is_chosen).map(|run| self.used(run)).collect()
    }

    /// Iterates over all runs without noting their use.
    fn all(&self) -> impl Iterator<Item = Run<'_>> {
        self.runs.iter().map(|(name, record)| Run { name, record, is_stale: self.is_stale })
    }

    fn used<'a>(&self, run: Run<'a>) -> Run<'a> {
        self.note(&format!("results/{}.json", run.name));
        run
    }

    /// Notes that a record is used, by its path from `book/`.
    pub fn note(&self, path: &str) {
        self.used.borrow_mut().insert(path.to_owned());
    }

    /// Takes the paths of the records used since the last call.
    pub fn take_used(&self) -> BTreeSet<String> {
        self.used.take()
    }

    /// Notes that a page uses a stage's number, which may be stale.
    pub fn note_stage(&self, run: Run<'_>, stage: &str) {
        self.used_stale.set(self.used_stale.get() || run.is_stale(stage));
    }

    /// Returns true if a number used since the last call is stale.
    pub fn take_stale(&self) -> bool {
        self.used_stale.take()
    }

    /// Returns a measured run with counts from the matching simulated GPU.
    ///
    /// They are those of the chapter's largest run. In a small run, what blocks do once is a large share, which does not grow with the work: scaled
    /// up, such counts are too high, and so is their bound.
    pub fn pair(&self, name: &str) -> Result<Pair<'_>> {
        let measured = self.run(name)?;
        let counted = self.counted(&measured).with_context(|| format!("{name} is not a run on a GPU whose stages were counted"))?;
        Ok(Pair { measured, counted: self.used(counted) })
    }

    /// Returns the counts of a measured run without noting their use.
    fn counted(&self, measured: &Run<'_>) -> Option<Run<'_>> {
        let device = format!("sim-{}", measured.device().strip_prefix("nvidia-")?);
        let is_of_chapter = |run: &Run| run.device() == device && run.demands() == measured.demands();
        self.all().filter(is_of_chapter).max_by_key(|run| run.record.work().multiply_adds)
    }

    /// Returns the pairs of all runs on a device whose counts scale.
    pub fn comparable_pairs(&self, device: &str) -> Vec<Pair<'_>> {
        let is_comparable = |run: &Run<'_>| {
            run.device() == device && self.counted(run).is_some_and(|counted| Pair { measured: *run, counted }.is_of_one_kind())
        };
        self.runs_where(is_comparable).into_iter().filter_map(|run| self.pair(run.name).ok()).collect()
    }

    /// Returns every chapter's pair, measured on a device at headline size.
    pub fn pairs(&self, device: &str) -> Vec<Pair<'_>> {
        let headline = |run: &Run| run.name == format!("{device}/{}", run.record.chapter);
        self.runs_where(headline).into_iter().filter_map(|run| self.pair(run.name).ok()).collect()
    }
}

/// Lists the files below a folder, in order, except hidden ones.
pub fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let path = entry.path();
        // A run that is not over keeps its place with a hidden file.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() { files.extend(files_below(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

impl<'a> Run<'a> {
    /// Returns the folder of records of its device.
    pub fn device(&self) -> &'a str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// Returns the path of the record from the root of the repository.
    pub fn path(&self) -> String {
        format!("book/results/{}.json", self.name)
    }

    /// Returns the stage of that name.
    pub fn stage(&self, name: &str) -> Result<&'a StageRecord> {
        let stages = self.record.stages.iter().map(|stage| (stage.name.as_str(), stage));
        named(format_args!("{} has no stage {name}", self.name), name, stages)
    }

    /// Returns true if the kernel of a stage has changed since.
    pub fn is_stale(&self, stage: &str) -> bool {
        (self.is_stale)(self.record, stage)
    }

    /// Returns true if any stage is stale.
    pub fn has_stale(&self) -> bool {
        self.record.stages.iter().any(|stage| self.is_stale(&stage.name))
    }

    /// Returns the label of a stage: its name, with a mark if it is stale.
    pub fn label(&self, stage: &str) -> String {
        if self.is_stale(stage) { format!("{stage} {STALE_MARK}") } else { stage.to_owned() }
    }

    /// Returns the verified stages on the device, with median times in milliseconds.
    pub fn times(&self) -> impl Iterator<Item = (&'a str, f64)> + use<'a> {
        let on_device = self.record.stages.iter().filter(|stage| stage.place == Place::Device && stage.verified);
        on_device.filter_map(|stage| Some((stage.name.as_str(), stage.median_ms?)))
    }

    /// Returns one of the workload's sizes.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.record.workload.get(name)?.as_u64()
    }

    /// Returns the chapter, and a product's numbers and bias. Each of these has stages of its own.
    pub fn demands(&self) -> (&'a str, [Option<&'a Value>; 2]) {
        (&self.record.chapter, ["numbers", "bias"].map(|key| self.record.workload.get(key)))
    }

    /// Returns the day of the run.
    pub fn day(&self) -> &'a str {
        self.record.date.split('T').next().unwrap_or_default()
    }

    /// Returns the workload's sizes in words.
    pub fn sizes(&self) -> String {
        let size = |name: &str| self.size(name).map(|size| size.to_string());
        let pair = |a: &str, b: &str| Some(format!("{}x{}", size(a)?, size(b)?));
        let border = self.border().map_or(String::new(), |border| format!(", border {border}"));
        if let Some(image) = pair("image_width", "image_height") {
            return match (pair("template_width", "template_height"), size("window")) {
                (Some(template), _) => format!("{image} pixels, template {template}{border}"),
                (None, Some(window)) => format!("{image} pixels, window {window}{border}"),
                (None, None) => format!("{image} pixels"),
            };
        }
        if let (Some(m), Some(n), Some(k)) = (size("m"), size("n"), size("k")) {
            return format!("{m} x {k} times {k} x {n}");
        }
        let outputs = ["outputs", "taps"].map(|name| size(name).map(|size| format!("{size} {name}")));
        outputs.into_iter().flatten().collect::<Vec<_>>().join(" x ")
    }

    /// Returns the method for outputs near the border, if there are any.
    pub fn border(&self) -> Option<&'a str> {
        self.record.workload.get("border").and_then(|border| border.as_str()).filter(|border| *border != "valid")
    }
}

impl<'a> Pair<'a> {
    /// Returns true if a stage changed since it was measured or counted.
    pub fn is_stale(&self, stage: &str) -> bool {
        self.measured.is_stale(stage) || self.counted.is_stale(stage)
    }

    /// Returns the counted stage that corresponds to a measured one.
    pub fn counted_stage(&self, name: &str) -> Option<&'a StageRecord> {
        let stage = self.counted.record.stages.iter().find(|stage| stage.name == name)?;
        (self.measured.record.work() == self.counted.record.work() || !BY_SIZE.contains(&name)).then_some(stage)
    }

    /// Returns true if each output takes the same work in both runs. A product of matrices has one inner loop at every size.
    pub fn is_of_one_kind(&self) -> bool {
        let [measured, counted] = [self.measured, self.counted].map(|run| &run.record.workload);
        ["taps", "template_width", "template_height", "window"].iter().all(|key| measured.get(*key) == counted.get(*key))
            && self.measured.border() == self.counted.border()
    }

    /// Lists the stages that were timed and counted.
    pub fn bounded(&self) -> Vec<Bounded<'a>> {
        let stages = self.measured.record.stages.iter().filter(|stage| stage.place == Place::Device);
        let bounded =
            |stage: &'a StageRecord| Some(Bounded { name: &stage.name, median_ms: stage.median_ms?, bound: self.bound(stage)? });
        stages.filter_map(bounded).collect()
    }

    /// Returns the bound of a stage at the measured size. Counts are scaled from one size to another, because those that limit a stage are of its
    /// inner loop, and grow with the multiply-adds.
    pub fn bound(&self, stage: &StageRecord) -> Option<Bound> {
        let (measured, counted) = (self.measured.record, self.counted.record);
        let factor = measured.work().multiply_adds as f64 / counted.work().multiply_adds as f64;
        let counters = self.counted_stage(&stage.name)?.counters?;
        Some(bound(&scaled(&counters, factor)?, measured.work_of(stage).bytes, Profile::named(counted.device.profile.as_deref()?)?))
    }
}

/// Returns every count times a factor.
fn scaled(counters: &simt::Counters, factor: f64) -> Option<simt::Counters> {
    let mut counts = serde_json::to_value(counters).ok()?;
    for count in counts.as_object_mut()?.values_mut() {
        *count = ((count.as_f64()? * factor) as u64).into();
    }
    serde_json::from_value(counts).ok()
}
