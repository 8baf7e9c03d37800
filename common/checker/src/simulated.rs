//! The simulator as a device: a kernel of PTX, the inputs in the simulator's memory, one launch. No driver is involved.

use std::sync::Arc;

use oracles::output::{Downloaded, poison};
use simt::{Call, Dim3, Image, LaunchConfig, LaunchError, LaunchOptions, Memory, MemoryError, Module, Profile};
use workloads::Problem;
use workloads::failure::{Failure, Fault, compared, without_defects};

use crate::device::{Compilation, Device, Form, Launch, Ran, Value};

/// Bytes of device memory: as much as a module of WebAssembly can have besides everything else.
const CAPACITY: u64 = 1 << 30;

/// The GPU that is simulated: the same for everyone, so that counts are the same.
const PROFILE: &str = "h200";

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
        let memory = Memory::new(CAPACITY);
        let image = Image::new(function.module.clone(), &memory)?;
        let mut arrays = Vec::new();
        for (name, bytes) in problem.inputs() {
            let address = memory.allocate(bytes.len() as u64, Some(name))?;
            memory.write(address, bytes)?;
            arrays.push((name, address));
        }
        let inputs = arrays.len();
        let mut output: Vec<u8> = poison(problem.output_len()).into_iter().flat_map(f32::to_le_bytes).collect();
        let place = memory.allocate(output.len() as u64, Some(if let [only] = problem.outputs() { only } else { "the output" }))?;
        memory.write(place, &output)?;
        let each = output.len() / problem.outputs().len();
        arrays.extend(problem.outputs().iter().enumerate().map(|(at, name)| (*name, place + (at * each) as u64)));

        let [grid, block] = [launch.grid, launch.block].map(|[x, y, z]| Dim3::new(x, y, z));
        let config = LaunchConfig { grid, block, dynamic_shared_bytes: launch.shared_bytes };
        let options = LaunchOptions {
            fuel: launch.fuel,
            workers: self.workers,
            warp_order: launch.order,
            garbage: launch.garbage,
            ..LaunchOptions::default()
        };
        let parameters = parameters(&image, &function.kernel, &launch.values, &arrays);
        let profile = Profile::named(PROFILE).expect("the simulator has this profile");
        let call = Call { kernel: &function.kernel, config, params: &parameters };
        let report = match simt::launch(&memory, &image, call, profile, &options) {
            Ok(report) => report,
            Err(error) => {
                (self.print)(error.printed());
                return Ok(Err(fault(error)));
            }
        };
        (self.print)(&report.printed);
        if let Err(failure) = without_defects(&report.findings) {
            return Ok(Err(failure));
        }
        memory.read(place, &mut output)?;
        let values = output.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect();
        let got = Downloaded { values, breach: None };
        if let Err(mismatch) = compared(problem, &got, problem.allowance()) {
            return Ok(Err(Failure::Mismatch(mismatch).beside(report.findings)));
        }
        for ((_, expected), (_, address)) in problem.inputs().into_iter().zip(&arrays[..inputs]) {
            let mut now = vec![0; expected.len()];
            memory.read(*address, &mut now)?;
            if now != expected {
                return Ok(Err(Failure::InputsChanged.beside(report.findings)));
            }
        }
        let (counters, warnings) = (Some(Box::new(report.counters)), report.findings);
        Ok(Ok(Ran { output: got.values, counters, warnings, median_ms: None }))
    }
}

fn parameters(image: &Image, kernel: &str, values: &[Value], arrays: &[(&str, u64)]) -> Vec<u8> {
    let Some(kernel) = image.kernel(kernel) else { return Vec::new() };
    let mut list = vec![0; kernel.param_bytes()];
    for (param, value) in kernel.params().iter().zip(values) {
        let bytes = match *value {
            Value::Array(name) => {
                let address = arrays.iter().find(|(known, _)| *known == name).map_or(0, |(_, address)| *address);
                address.to_le_bytes().to_vec()
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
