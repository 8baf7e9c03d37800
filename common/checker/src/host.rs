//! The learner's host code. A compiler for GPUs compiles it, one thread of the simulator executes it, and its launches are noted.
//!
//! So whatever CUDA C says about `dim3`, integers and conversions holds, because a compiler said it. Addresses of arrays are made up, since
//! host code must not follow them.

use std::sync::Arc;

use simt::{
    Call, Dim3, FindingKind, Image, LaunchConfig, LaunchError, LaunchMisuse, LaunchOptions, Memory, MemoryError, Module, Profile,
    check_shape,
};
use workloads::Problem;

use crate::device::{Launch, Value, Written};
use crate::manifest::Kernel;
use crate::rejection::Rejection;
use crate::simulated::profile;
use crate::text::{ENTRY, with_calls};

/// The variable that the code notes its launches in: how many, and 24 words for each.
const NOTES: &str = "unrolled_launches";

/// Distance of the made-up addresses.
const APART: u64 = 1 << 40;

/// Instructions that host code may execute.
const FUEL: u64 = 1 << 20;

/// Compiled host code.
pub struct Host {
    module: Arc<Module>,
    /// The name and the line of each launch in the text.
    sites: Vec<(String, u32)>,
}

impl Host {
    /// Takes the code out of PTX. The error says what the simulator does not support.
    pub fn new(ptx: &str, text: &str) -> Result<Self, String> {
        let module = Module::parse_in_part(ptx).map_err(|error| error.to_string())?;
        match module.refused().iter().find(|(name, _)| name == ENTRY) {
            Some((_, error)) => Err(error.to_string()),
            None => Ok(Self { module: Arc::new(module), sites: with_calls(text).1 }),
        }
    }

    /// Executes the code with these values. Returns its launch of the kernel, which has parameters of so many bytes.
    pub fn launch<P: Problem>(
        &self,
        problem: &P,
        kernel: &Kernel,
        given: &[Value],
        parameters: &[u64],
    ) -> Result<Launch, Rejection> {
        let wrong = |line: Option<u32>, reason: String| Rejection::HostCode { at: problem.describe(), line, reason };
        let notes = self.notes(given).map_err(|error| wrong(None, error.to_string()))?.map_err(|error| match error {
            LaunchError::Fault { finding, .. } => {
                let is_followed = matches!(finding.kind, FindingKind::OutOfBounds { .. } | FindingKind::Null { .. });
                let followed = "it reads or writes memory of the GPU, where the host cannot: it can only pass the pointer on.";
                let reason = if is_followed { followed.to_owned() } else { finding.kind.to_string() };
                wrong(finding.location.source.map(|source| source.line), reason)
            }
            _ => wrong(None, "it does not end: is there a loop that never stops?".to_owned()),
        })?;
        let site = |at: usize| &self.sites[notes[1 + 24 * at] as usize];
        match notes[0] {
            0 => return Err(wrong(None, "it launches nothing, so the GPU has nothing to do.".to_owned())),
            1 => {}
            more => return Err(wrong(Some(site(1).1), format!("it launches {more} times, and the task asks for one launch."))),
        }
        let (name, line) = site(0);
        if *name != kernel.name {
            return Err(wrong(Some(*line), format!("it launches {name}, and the task asks for {}.", kernel.name)));
        }
        let [grid, block] = [2, 5].map(|at| [0, 1, 2].map(|axis| notes[at + axis] as u32));
        let shared_bytes = u32::try_from(notes[8]).unwrap_or(u32::MAX);
        let values: Vec<Value> = notes[9..].iter().zip(parameters).map(|(word, bytes)| value(*word, *bytes, given)).collect();
        let [blocks, threads] = [grid, block].map(|extents| extents.map(u64::from).into_iter().product::<u64>());
        let extents = |[x, y, z]: [u32; 3]| if y == 1 && z == 1 { x.to_string() } else { format!("dim3({x}, {y}, {z})") };
        let shared = if shared_bytes == 0 { String::new() } else { format!(", {shared_bytes}") };
        let listed: Vec<String> = values.iter().map(Value::to_string).collect();
        let said = format!("The launch was {name}<<<{}, {}{shared}>>>({})", extents(grid), extents(block), listed.join(", "));
        if let Some(refusal) = self.refusal(name, grid, block, shared_bytes) {
            return Err(wrong(Some(*line), format!("CUDA refuses the launch, with {refusal}. {said}.")));
        }
        let outputs = problem.output_len() as u64;
        let needless = blocks.saturating_sub(outputs.div_ceil(threads));
        // A block more than there must be is no waste.
        if needless > 1 {
            let reason = format!("it launches {needless} blocks more than it takes to have a thread for each output. {said}.");
            return Err(wrong(Some(*line), reason));
        }
        let advice = if blocks * threads < outputs {
            format!(
                "It has {} of the {outputs} threads that the outputs need, one each. How many blocks does it take to have at least as many?",
                blocks * threads
            )
        } else {
            "There are enough threads. Is each argument in the place that the kernel's first lines give it? Are its numbers counts of elements?"
                .to_owned()
        };
        let written = Some(Written { line: *line, said: format!("{said}. {advice}") });
        Ok(Launch { grid, block, shared_bytes, values, written, ..Launch::default() })
    }

    /// Executes the code with these values. Returns its notes.
    fn notes(&self, given: &[Value]) -> Result<Result<Vec<u64>, LaunchError>, MemoryError> {
        let memory = Memory::new(1 << 24);
        let image = Image::new(self.module.clone(), &memory)?;
        let list = memory.allocate(8 * given.len() as u64, None)?;
        let bytes: Vec<u8> = given.iter().enumerate().flat_map(|(at, value)| word(at, *value).to_le_bytes()).collect();
        memory.write(list, &bytes)?;
        let one = Dim3::new(1, 1, 1);
        let config = LaunchConfig { grid: one, block: one, dynamic_shared_bytes: 0 };
        let call = Call { kernel: ENTRY, config, params: &list.to_le_bytes() };
        let options = LaunchOptions { fuel: FUEL, workers: Some(1), ..LaunchOptions::default() };
        if let Err(error) = simt::launch(&memory, &image, call, profile(), &options) {
            return Ok(Err(error));
        }
        // A compiler may leave out a variable that nothing uses.
        let Some((address, bytes)) = image.variable(NOTES) else { return Ok(Ok(vec![0])) };
        let mut notes = vec![0; bytes as usize];
        memory.read(address, &mut notes)?;
        Ok(Ok(notes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect()))
    }

    /// Returns CUDA's error for a shape that it refuses, and the reason. More shared memory than every kernel may have must be asked for
    /// in host code (CUDA C++ Programming Guide, Compute Capability 7.x, Shared Memory), which these exercises do not do. The names are what
    /// `cudaGetLastError` gives with CUDA 13.0 on an H200.
    fn refusal(&self, kernel: &str, grid: [u32; 3], block: [u32; 3], dynamic_shared_bytes: u32) -> Option<String> {
        let profile = Profile { shared_bytes_per_block_optin: profile().shared_bytes_per_block, ..profile().clone() };
        let [grid, block] = [grid, block].map(|[x, y, z]| Dim3::new(x, y, z));
        let misuse =
            check_shape(self.module.kernel(kernel)?, LaunchConfig { grid, block, dynamic_shared_bytes }, &profile).err()?;
        let code = match misuse {
            LaunchMisuse::Extent { .. } => "cudaErrorInvalidValue (before CUDA 13: cudaErrorInvalidConfiguration)",
            _ => "cudaErrorInvalidValue",
        };
        Some(format!("{code}: {misuse}"))
    }
}

/// Returns the word that host code gets for a value. An array has an address that nothing is at.
fn word(at: usize, value: Value) -> u64 {
    match value {
        Value::Array(..) => (at as u64 + 1) * APART,
        Value::Size(size) => size.into(),
        Value::Sum(sum) => sum as u64,
    }
}

/// Returns the value for a word of a parameter of `bytes` bytes. `values` are those that the host code got.
fn value(word: u64, bytes: u64, values: &[Value]) -> Value {
    let at = (word.wrapping_add(APART / 2) / APART).wrapping_sub(1) as usize;
    match (bytes, values.get(at)) {
        (8, Some(Value::Array(name, _))) => Value::Array(name, word.wrapping_sub((at as u64 + 1) * APART) as i64),
        (8, _) => Value::Sum(word as i64),
        _ => Value::Size(word as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_values_again() {
        let given = [Value::Size(7), Value::Array("signal", 0), Value::Sum(-1)];
        for (at, bytes, offset, expected) in [
            (0, 4, 0, Value::Size(7)),
            (1, 8, 0, Value::Array("signal", 0)),
            (1, 8, -4, Value::Array("signal", -4)),
            (2, 8, 0, Value::Sum(-1)),
        ] {
            assert_eq!(value(word(at, given[at]).wrapping_add_signed(offset), bytes, &given), expected);
        }
    }
}
