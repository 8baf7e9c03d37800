//! Mutants of the kernels that a process runs: small, deliberate mistakes, to see whether its tests notice them. `simcuda mutate` sets the
//! variables of this module, and reads the files.
//!
//! With [`MUTANTS`] alone, each process lists the mutants of the kernels that it launches, and says which of them it reached. The
//! files are up to date after each launch, because a process can end in ways that no library notices. With [`MUTANT`] as well, a
//! module that has the mutant is loaded with that mistake, and an empty file says so.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use ptx::mutation;
pub use ptx::mutation::Operator;
use serde::{Deserialize, Serialize};
use simt::{LaunchOptions, Module, SourceLine};

use crate::error::Error;
use crate::files::{self, Spool};
use crate::messages::say_if_not_written;
use crate::name::readable;
use crate::observer::{Begun, Ended, Observer};
use crate::variables::{MUTANT, MUTANTS};

/// The kind of file that a list of mutants is.
const KIND: &str = "mutants";

/// The file that says that a module was loaded with the mistake.
pub const APPLIED: &str = "applied";
/// The file that says that the simulator cannot load the mistake. It has the reason.
pub const REFUSED: &str = "refused";

/// A mutant of a launched kernel or a function it may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its [name](mutation::Mutant::id).
    pub id: String,
    /// Name of the function, as its source has it.
    pub function: String,
    /// The kind of mistake.
    pub operator: Operator,
    /// The instruction.
    pub instruction: String,
    /// The change of the instruction, to be read after its text.
    pub change: String,
    /// Line of the instruction in the PTX text, from 1.
    pub ptx_line: u32,
    /// Line of CUDA C, if the PTX names one.
    pub source: Option<SourceLine>,
    /// True if a launch executed the instruction. Otherwise, no test can notice the mistake.
    pub covered: bool,
}

/// The mutants of this process: whether they are listed, and which is chosen.
#[derive(Debug, Default)]
pub(crate) struct Mutants {
    folder: Option<PathBuf>,
    chosen: Option<String>,
    launched: Mutex<BTreeMap<(u64, String), Launched>>,
}

/// A kernel of a module that was launched.
#[derive(Debug)]
struct Launched {
    file: PathBuf,
    lines: BTreeSet<u32>,
    mutants: Vec<mutation::Mutant>,
}

impl Mutants {
    /// Reads from the environment what to do.
    pub(crate) fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let is_folder = |text: &str| std::path::absolute(text).ok().filter(|folder| folder.is_dir());
        let folder = MUTANTS.parsed(&variable, "a folder that exists", is_folder)?;
        let is_name = |id: &str| id.split_once('@').filter(|(function, _)| !function.is_empty()).map(|_| id.to_owned());
        let chosen = MUTANT.parsed(&variable, "the name of a mutant, as `simcuda mutate --list` prints it", is_name)?;
        Ok(Self { folder, chosen, launched: Mutex::default() })
    }

    /// Returns the text to load in place of this one: with the chosen mistake, if it has that mutant.
    pub(crate) fn mutated<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(id) = &self.chosen else { return text.into() };
        let function = id.split('@').next().unwrap_or_default();
        let mutant = text.contains(function).then(|| ptx::parse(text).ok()).flatten().and_then(|tree| mutation::find(&tree, id));
        let Some(mutant) = mutant else { return text.into() };
        let mutated = mutant.apply(text);
        let trouble = |text: &str| match Module::parse_in_part(text) {
            Ok(module) => module.refused().first().map(|(_, reason)| reason.to_string()),
            Err(reason) => Some(reason.to_string()),
        };
        // A module that is refused in part without the mistake, too, is one of which the program uses the rest.
        match trouble(&mutated).filter(|new| trouble(text).as_ref() != Some(new)) {
            Some(reason) => {
                self.leave(REFUSED, &reason);
                text.into()
            }
            None => {
                self.leave(APPLIED, "");
                mutated.into()
            }
        }
    }

    fn leave(&self, name: &str, text: &str) {
        let Some(folder) = &self.folder else { return };
        say_if_not_written(fs::write(folder.join(name), text), format_args!("{name} ({MUTANTS})"));
    }
}

impl Observer for Mutants {
    /// Records which instructions are executed, if the mutants are listed.
    fn begin(&self, _launch: &Begun<'_>, options: &mut LaunchOptions) {
        if self.folder.is_some() && self.chosen.is_none() {
            options.coverage.get_or_insert_default();
        }
    }

    /// Writes the file about the kernel if there is something new.
    fn end(&self, launch: &Begun<'_>, options: &LaunchOptions, _ended: &Ended) {
        let (Some(folder), None, Some(counts)) = (&self.folder, &self.chosen, &options.coverage) else { return };
        let Some(kernel) = launch.image.kernel(launch.kernel) else { return };
        let module = launch.image.module();
        let mut launched = self.launched.lock();
        let known = launched.entry((module.fingerprint(), launch.kernel.to_owned())).or_insert_with(|| Launched {
            file: Spool::new(folder, KIND).new_file(),
            lines: BTreeSet::new(),
            mutants: mutants_of_kernel(&module.text(), launch.kernel),
        });
        let before = known.lines.len();
        known.lines.extend(counts.lines(kernel));
        if known.lines.len() > before {
            say_if_not_written(known.write(), format_args!("the mutants of {} ({MUTANTS})", launch.kernel));
        }
    }
}

/// Lists the mutants of a kernel and of functions it may call.
fn mutants_of_kernel(text: &str, kernel: &str) -> Vec<mutation::Mutant> {
    let Ok(module) = ptx::parse(text) else { return Vec::new() };
    let Some(kernel) = module.kernel(kernel) else { return Vec::new() };
    let functions = std::iter::once(kernel).chain(module.uses(kernel).functions);
    functions.flat_map(|function| mutation::mutants_of(&module, function)).collect()
}

impl Launched {
    fn write(&self) -> io::Result<()> {
        let listed: Vec<Listed> = self.mutants.iter().map(|mutant| self.listed(mutant)).collect();
        files::replace(&self.file, serde_json::to_vec(&listed)?)
    }

    fn listed(&self, mutant: &mutation::Mutant) -> Listed {
        let mutation::Mutant { id, function, operator, instruction, change, ptx_line, source, together, .. } = mutant.clone();
        Listed {
            id,
            function: readable(&function).into_owned(),
            operator,
            instruction,
            change,
            ptx_line,
            source,
            covered: self.lines.range(together).next().is_some(),
        }
    }
}

/// Reads what the processes of a run listed in a folder. A mutant that several processes listed is covered if one of them reached it. Fails
/// with [`Error::File`] if a file cannot be read or is not such a list.
pub fn read(folder: &Path) -> Result<Vec<Listed>, Error> {
    let mut all: BTreeMap<String, Listed> = BTreeMap::new();
    let lists = Spool::new(folder, KIND).read(|text| Ok(serde_json::from_slice::<Vec<Listed>>(text)?))?;
    for listed in lists.into_iter().flatten() {
        match all.get_mut(&listed.id) {
            Some(known) => known.covered |= listed.covered,
            None => drop(all.insert(listed.id.clone(), listed)),
        }
    }
    Ok(all.into_values().collect())
}
