//! The simulator as a device: a kernel of PTX, the inputs in the simulator's memory, one launch. No driver is involved.

use std::sync::Arc;

use oracles::output::{Downloaded, poison};
use ptx::finding::AccessOp;
use simt::{
    Call, Dim3, Finding, FindingKind, Image, LaunchConfig, LaunchError, LaunchOptions, LaunchReport, Memory, MemoryError, Module,
    Profile, Space,
};
use workloads::Problem;
use workloads::failure::{Failure, Fault, compared, without_defects};

use crate::device::{Compilation, Device, Form, Launch, Ran, Stored, Value};

/// Bytes of device memory: as much as a module of WebAssembly can have besides everything else.
const CAPACITY: u64 = 1 << 30;

/// Bytes that the arrays of a huge grid may have. Only some of its blocks run.
const MOST_ADDRESSES: u64 = 1 << 36;

/// Returns the GPU that is simulated: the same for everyone, so that counts are the same.
pub(crate) fn profile() -> &'static Profile {
    Profile::named("h200").expect("the simulator has this profile")
}

/// The simulator with a compiler.
pub struct Simulated<C> {
    /// The compiler.
    pub compiler: C,
    /// Threads to run blocks on; `None` takes one per core.
    pub workers: Option<usize>,
    /// Takes what a kernel prints.
    pub print: fn(&str),
}

/// A kernel in PTX that the simulator can execute.
pub struct Function {
    module: Arc<Module>,
    kernel: String,
}

impl<P: Problem, E: From<MemoryError>, C: Fn(Form) -> Compilation<E>> Device<P> for Simulated<C> {
    type Error = E;
    type Function = Function;

    fn is_simulated(&self) -> bool {
        true
    }

    fn compile(&self, form: Form) -> Compilation<E> {
        (self.compiler)(form)
    }

    fn load(&self, ptx: &str, kernel: &str) -> Result<Function, String> {
        let module = Module::parse_in_part(ptx).map_err(|error| error.to_string())?;
        match module.refused().iter().find(|(name, _)| name == kernel) {
            Some((_, error)) => Err(error.to_string()),
            None => Ok(Function { module: Arc::new(module), kernel: kernel.to_owned() }),
        }
    }

    fn run(&self, function: &Function, problem: &P, launch: &Launch) -> Result<Result<Ran, Failure>, E> {
        let device = Prepared::new(function, problem, launch, CAPACITY)?;
        let mut output: Vec<u8> = poison(problem.output_len()).into_iter().flat_map(f32::to_le_bytes).collect();
        device.memory.write(device.output, &output)?;
        let report = match device.launch(self.options(launch)) {
            Ok(report) => report,
            Err(error) => {
                (self.print)(error.printed());
                return Ok(Err(fault(error)));
            }
        };
        (self.print)(&report.printed);
        // A value of an absent lane does harm only if an output depends on it, which garbage shows.
        let (absent, findings): (Vec<Finding>, Vec<Finding>) =
            report.findings.into_iter().partition(|finding| launch.garbage != 0 && is_of_absent_lane(finding));
        if let Err(failure) = without_defects(&findings) {
            return Ok(Err(failure));
        }
        device.memory.read(device.output, &mut output)?;
        let values = output.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect();
        let got = Downloaded { values, breach: None };
        if let Err(mismatch) = compared(problem, &got, problem.allowance()) {
            let failure = if absent.is_empty() { Failure::Mismatch(mismatch).beside(findings) } else { Failure::Defects(absent) };
            return Ok(Err(failure));
        }
        for ((_, expected), (_, address)) in problem.inputs().into_iter().zip(&device.arrays) {
            let mut now = vec![0; expected.len()];
            device.memory.read(*address, &mut now)?;
            if now != expected {
                return Ok(Err(Failure::InputsChanged.beside(findings)));
            }
        }
        let state = device.changed_variable()?;
        let (counters, warnings) = (Some(Box::new(report.counters)), findings);
        Ok(Ok(Ran { output: got.values, counters, warnings, state, median_ms: None }))
    }

    fn run_blocks(
        &self,
        function: &Function,
        problem: &P,
        launch: &Launch,
        blocks: &[u64],
    ) -> Result<Option<Result<Vec<Stored>, Failure>>, E> {
        let bytes = problem.inputs().iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>() + 4 * problem.output_len() as u64;
        // Pages of an output are the host's only once they are written.
        let most = if cfg!(target_pointer_width = "64") { MOST_ADDRESSES } else { CAPACITY };
        if bytes > most {
            return Ok(None);
        }
        let Ok(device) = Prepared::new(function, problem, launch, 2 * most) else { return Ok(None) };
        let (start, end) = (device.output, device.output + 4 * problem.output_len() as u64);
        let [x, y, z] = launch.grid;
        let grid = Dim3::new(x, y, z);
        let mut stored = Vec::new();
        for &block in blocks {
            let options = LaunchOptions { blocks: Some([block].into()), trace: Some(grid.index_of(block)), ..self.options(launch) };
            let report = match device.launch(options) {
                Ok(report) => report,
                Err(error) => return Ok(Some(Err(fault(error)))),
            };
            if let Err(failure) = without_defects(&report.findings) {
                return Ok(Some(Err(failure)));
            }
            let mut indices = Vec::new();
            for touched in report.touched.iter().filter(|touched| touched.op != AccessOp::Load) {
                if touched.address < start || touched.address + touched.bytes > end {
                    return Ok(Some(Err(Failure::InputsChanged)));
                }
                let offset = touched.address - start;
                indices.extend((offset / 4..(offset + touched.bytes).div_ceil(4)).map(|index| index as usize));
            }
            indices.sort_unstable();
            indices.dedup();
            let mut word = [0; 4];
            let mut value =
                |index: usize| device.memory.read(start + 4 * index as u64, &mut word).map(|()| f32::from_le_bytes(word));
            let outputs = indices.into_iter().map(|index| Ok((index, value(index)?))).collect::<Result<_, MemoryError>>()?;
            stored.push(Stored { block, outputs });
        }
        Ok(Some(Ok(stored)))
    }
}

impl<C> Simulated<C> {
    fn options(&self, launch: &Launch) -> LaunchOptions {
        LaunchOptions {
            fuel: launch.fuel,
            workers: self.workers,
            warp_order: launch.order,
            garbage: launch.garbage,
            ..LaunchOptions::default()
        }
    }
}

/// Returns true for a value of a lane that takes no part.
pub fn is_of_absent_lane(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::AbsentLane { .. })
}

/// A kernel in a memory of its own, with inputs and outputs.
struct Prepared<'f> {
    memory: Memory,
    image: Image,
    kernel: &'f str,
    config: LaunchConfig,
    parameters: Vec<u8>,
    /// The addresses of the inputs, and then of the outputs, by name.
    arrays: Vec<(&'static str, u64)>,
    /// Where the outputs begin, one array after the other.
    output: u64,
}

impl<'f> Prepared<'f> {
    fn new<P: Problem>(function: &'f Function, problem: &P, launch: &Launch, capacity: u64) -> Result<Self, MemoryError> {
        let memory = Memory::new(capacity);
        let image = Image::new(function.module.clone(), &memory)?;
        let mut arrays = Vec::new();
        for (name, bytes) in problem.inputs() {
            let address = memory.allocate(bytes.len() as u64, Some(name))?;
            memory.write(address, bytes)?;
            arrays.push((name, address));
        }
        let name = if let [only] = problem.outputs() { only } else { "the output" };
        let output = memory.allocate(4 * problem.output_len() as u64, Some(name))?;
        let each = 4 * (problem.output_len() / problem.outputs().len());
        arrays.extend(problem.outputs().iter().enumerate().map(|(at, name)| (*name, output + (at * each) as u64)));
        let [grid, block] = [launch.grid, launch.block].map(|[x, y, z]| Dim3::new(x, y, z));
        let config = LaunchConfig { grid, block, dynamic_shared_bytes: launch.shared_bytes };
        let parameters = parameters(&image, &function.kernel, &launch.values, &arrays);
        Ok(Self { memory, image, kernel: &function.kernel, config, parameters, arrays, output })
    }

    fn launch(&self, options: LaunchOptions) -> Result<LaunchReport, LaunchError> {
        let call = Call { kernel: self.kernel, config: self.config, params: &self.parameters };
        simt::launch(&self.memory, &self.image, call, profile(), &options)
    }

    /// Returns the name of a variable of the module that has changed.
    fn changed_variable(&self) -> Result<Option<String>, MemoryError> {
        for variable in self.image.module().variables() {
            let is_plain = variable.space == Space::Global && variable.opaque.is_none() && variable.pointers.is_empty();
            if let (true, Some((address, bytes))) = (is_plain, self.image.variable(&variable.name)) {
                let mut now = vec![0; bytes as usize];
                self.memory.read(address, &mut now)?;
                let (first, rest) = now.split_at(variable.init.len());
                if first != variable.init || rest.iter().any(|byte| *byte != 0) {
                    return Ok(Some(variable.name.clone()));
                }
            }
        }
        Ok(None)
    }
}

fn parameters(image: &Image, kernel: &str, values: &[Value], arrays: &[(&str, u64)]) -> Vec<u8> {
    let Some(kernel) = image.kernel(kernel) else { return Vec::new() };
    let mut list = vec![0; kernel.param_bytes()];
    for (param, value) in kernel.params().iter().zip(values) {
        let bytes = match *value {
            Value::Array(name, offset) => {
                let address = arrays.iter().find(|(known, _)| *known == name).map_or(0, |(_, address)| *address);
                address.wrapping_add_signed(offset).to_le_bytes().to_vec()
            }
            Value::Size(size) => size.to_le_bytes().to_vec(),
            Value::Sum(sum) => sum.to_le_bytes().to_vec(),
        };
        list[param.offset..][..bytes.len()].copy_from_slice(&bytes);
    }
    list
}

fn fault(error: LaunchError) -> Failure {
    let message = error.to_string();
    let finding = if let LaunchError::Fault { finding, .. } = error { Some(*finding) } else { None };
    Failure::Fault(Box::new(Fault { message, finding, error: None }))
}
