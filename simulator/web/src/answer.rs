//! The answers to a page's requests.

use serde::Serialize;
use simt::bound::{Bound, Part};
use simt::occupancy::Occupancy;
use simt::steps::{Step, Values};
use simt::{Finding, LaunchError, LaunchReport, LoadError, Location, MemoryError, Profile, Severity, SourceLine};

/// An answer: one of these, as JSON.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// To `load`.
    Loaded(Loaded),
    /// To `allocate` and `variable`.
    Buffer {
        /// Its number.
        buffer: usize,
        /// The address of its first byte, by which findings name places in it.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// To `free`.
    Done {},
    /// To `launch`, when the kernel ended.
    Launched(Box<Launched>),
    /// To `profiles`.
    Profiles {
        /// All of them, the newest first.
        profiles: &'static [Profile],
    },
    /// To `occupancy`.
    Occupancy(Occupancy),
    /// To any request that failed.
    Failed {
        /// The reason.
        error: Box<Failure>,
    },
}

/// A module.
#[derive(Debug, Serialize)]
pub struct Loaded {
    pub(crate) kernels: Vec<KernelEntry>,
    /// Those in global and constant memory.
    pub(crate) variables: Vec<SizedEntry>,
    /// Kernels that the simulator cannot execute.
    pub(crate) refused: Vec<Refused>,
    /// `.target` as a compute capability.
    pub(crate) target: (u32, u32),
}

#[derive(Debug, Serialize)]
pub(crate) struct KernelEntry {
    pub name: String,
    pub params: Vec<SizedEntry>,
    /// Bytes of shared memory that it declares.
    pub shared_bytes: u32,
    /// The most threads of a block, if it has a limit.
    pub max_threads: Option<u32>,
}

/// A kernel's parameter or a module's variable, by its name in PTX.
#[derive(Debug, Serialize)]
pub(crate) struct SizedEntry {
    pub name: String,
    pub bytes: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Refused {
    pub name: String,
    pub error: Failure,
}

/// The results of a launch.
#[derive(Debug, Serialize)]
pub struct Launched {
    /// The report.
    pub report: LaunchReport,
    /// The findings of the report in words, in the same order.
    pub findings: Vec<FindingText>,
    /// The least time that the work needs, with its working.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<BoundEntry>,
    /// The recorded instructions.
    pub(crate) steps: Vec<StepEntry>,
}

/// A finding in words, and where it is.
#[derive(Debug, Serialize)]
pub struct FindingText {
    pub(crate) severity: Severity,
    pub(crate) text: String,
    /// A suggested fix.
    pub(crate) help: Option<&'static str>,
    pub(crate) ptx_line: u32,
    pub(crate) source: Option<SourceLine>,
}

impl From<&Finding> for FindingText {
    fn from(finding: &Finding) -> Self {
        let Location { ptx_line, source, .. } = finding.location.clone();
        Self { severity: finding.kind.severity(), text: finding.to_string(), help: finding.help(), ptx_line, source }
    }
}

/// The bound of a launch, in clocks: a simulator has no time.
#[derive(Debug, Serialize)]
pub(crate) struct BoundEntry {
    pub least_clocks: f64,
    /// The units that have work to do, longest time first.
    pub parts: Vec<PartEntry>,
    /// Work that a compiler may remove. Not in the bound.
    pub as_written: Vec<PartEntry>,
}

/// The work of a unit: `amount / (rate * copies)` clocks at least.
#[derive(Debug, Serialize)]
pub(crate) struct PartEntry {
    pub unit: String,
    pub amount: u64,
    /// The unit of the amount.
    pub of: &'static str,
    /// The rate per clock, or per second for memory.
    pub rate: f64,
    /// How many of the units work in parallel.
    pub copies: u32,
    pub least_clocks: f64,
}

impl PartEntry {
    fn of(part: &Part, profile: &Profile) -> Self {
        let Part { unit, amount, of, rate, copies, least_ms } = *part;
        Self { unit: unit.to_string(), amount, of, rate, copies, least_clocks: least_ms * f64::from(profile.clock_khz) }
    }
}

impl BoundEntry {
    /// Returns the bound in clocks of the GPU that was simulated.
    pub fn of(bound: &Bound, profile: &Profile) -> Self {
        let entries = |parts: &[Part]| parts.iter().map(|part| PartEntry::of(part, profile)).collect();
        let least_clocks = bound.least_ms() * f64::from(profile.clock_khz);
        Self { least_clocks, parts: entries(&bound.parts), as_written: entries(&bound.as_written) }
    }
}

/// An instruction of the recorded warp.
#[derive(Debug, Serialize)]
pub struct StepEntry {
    pub(crate) location: Location,
    /// A bit for each lane that executed it.
    pub(crate) lanes: u32,
    pub(crate) writes: Vec<WriteEntry>,
}

/// The new values of a register, by its name in PTX.
#[derive(Debug, Serialize)]
pub(crate) struct WriteEntry {
    pub register: String,
    /// 1, 32 or 64.
    pub bits: u32,
    /// A value for each lane, as text if it has 64 bits, because a JavaScript number cannot hold all of those.
    pub values: Lanes,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Lanes {
    Numbers(Vec<u32>),
    Texts(Vec<String>),
}

impl From<Step> for StepEntry {
    fn from(step: Step) -> Self {
        let entry = |write: simt::steps::Write| {
            let (bits, values) = match write.values {
                Values::Predicate(bits) => (1, Lanes::Numbers((0..32).map(|lane| bits >> lane & 1).collect())),
                Values::Words(words) => (32, Lanes::Numbers(words.to_vec())),
                Values::Doubles(doubles) => (64, Lanes::Texts(doubles.iter().map(u64::to_string).collect())),
            };
            WriteEntry { register: write.register, bits, values }
        };
        Self { location: step.location, lanes: step.lanes, writes: step.writes.into_iter().map(entry).collect() }
    }
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The request is not one.
    Request,
    /// The text is not PTX.
    Syntax,
    /// The text is PTX that the simulator cannot execute.
    Unsupported,
    /// The kernel has a defect that ended it.
    Fault,
    /// The kernel did not end within its fuel.
    OutOfFuel,
    /// No device could execute the launch.
    Misuse,
    /// Memory is used up, or a buffer was used wrongly.
    Memory,
}

/// The reason why a request failed.
#[derive(Debug, Serialize)]
pub struct Failure {
    /// The kind of a failure.
    pub kind: FailureKind,
    /// In words.
    pub message: String,
    /// Line of the PTX, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_line: Option<u32>,
    /// Line of the CUDA source, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<SourceLine>>,
    /// The defect of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<Box<Finding>>,
    /// A suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'static str>,
    /// The output of the kernel so far.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub printed: String,
    /// The recorded instructions, up to the defect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepEntry>,
}

impl Failure {
    /// Returns a failure without a place.
    pub fn new(kind: FailureKind, message: impl ToString) -> Self {
        let message = message.to_string();
        Self { kind, message, ptx_line: None, source: None, finding: None, help: None, printed: String::new(), steps: Vec::new() }
    }

    fn at(self, Location { ptx_line, source, .. }: Location) -> Self {
        Self { ptx_line: Some(ptx_line), source: source.map(Box::new), ..self }
    }
}

impl From<&LoadError> for Failure {
    fn from(error: &LoadError) -> Self {
        match error {
            LoadError::Syntax { line, .. } => Self { ptx_line: Some(*line), ..Self::new(FailureKind::Syntax, error) },
            LoadError::Unsupported { location, .. } => Self::new(FailureKind::Unsupported, error).at(location.as_ref().clone()),
            LoadError::NoKernel { .. } => Self::new(FailureKind::Misuse, error),
        }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        Self::new(FailureKind::Memory, error)
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        let message = error.to_string();
        match error {
            LaunchError::Fault { finding, printed, .. } => {
                let (location, help) = (finding.location.clone(), finding.help());
                Self { finding: Some(finding), help, printed, ..Self::new(FailureKind::Fault, message) }.at(location)
            }
            LaunchError::OutOfFuel { location, printed, .. } => {
                Self { printed, ..Self::new(FailureKind::OutOfFuel, message) }.at(*location)
            }
            LaunchError::Misuse(_) => Self::new(FailureKind::Misuse, message),
        }
    }
}
