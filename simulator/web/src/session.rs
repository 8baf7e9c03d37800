//! A session: one module and its buffers in the memory of one simulated GPU.

use std::sync::Arc;

use simt::bound::bound;
use simt::occupancy::{BlockNeeds, Occupancy};
use simt::steps::StepRecord;
use simt::tensor_map::TensorMap;
use simt::{Call, Dim3, Image, Kernel, LaunchConfig, LaunchOptions, Memory, Module, Profile};

use crate::answer::{
    Answer, BoundEntry, Failure, FailureKind, FindingText, KernelEntry, Launched, Loaded, Refused, SizedEntry, StepEntry,
};
use crate::request::{Argument, Launch, Request};

/// Bytes of device memory: as much as a module of WebAssembly can have beside everything else.
pub const CAPACITY: u64 = 1 << 30;

/// A module, its buffers, and the memory that holds them.
#[derive(Debug)]
pub struct Session {
    memory: Memory,
    image: Option<Image>,
    /// By number; a freed buffer leaves a hole.
    buffers: Vec<Option<Buffer>>,
}

/// A piece of device memory with a number.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    address: u64,
    bytes: u64,
    /// It belongs to the module, and goes with it.
    is_variable: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self::new(CAPACITY)
    }
}

impl Session {
    /// Makes a session whose device has this many bytes of memory.
    pub fn new(capacity: u64) -> Self {
        Self { memory: Memory::new(capacity), image: None, buffers: Vec::new() }
    }

    /// Executes one request and returns its answer, both as JSON.
    pub fn call(&mut self, request: &[u8]) -> String {
        let answer = serde_json::from_slice(request)
            .map_err(|error| Failure::new(FailureKind::Request, format!("this is not a request: {error}")))
            .and_then(|request| self.execute(request))
            .unwrap_or_else(|error| Answer::Failed { error: Box::new(error) });
        serde_json::to_string(&answer).expect("answers hold nothing that JSON cannot")
    }

    /// Executes one request.
    ///
    /// # Errors
    ///
    /// See [`FailureKind`].
    pub fn execute(&mut self, request: Request) -> Result<Answer, Failure> {
        match request {
            Request::Load { ptx } => self.load(&ptx),
            Request::Allocate { bytes, label } => {
                let address = self.memory.allocate(bytes, label.as_deref())?;
                Ok(self.number(Buffer { address, bytes, is_variable: false }))
            }
            Request::Variable { name } => {
                let variable = self.image.as_ref().and_then(|image| image.variable(&name));
                let (address, bytes) = variable.ok_or_else(|| misuse(format!("the module has no variable {name}")))?;
                Ok(self.number(Buffer { address, bytes, is_variable: true }))
            }
            Request::Free { buffer: number } => {
                let Buffer { address, is_variable, .. } = self.buffer(number)?;
                if !is_variable {
                    self.memory.free(address)?;
                }
                self.buffers[number] = None;
                Ok(Answer::Done {})
            }
            Request::Launch(launch) => self.launch(&launch),
            Request::Profiles {} => Ok(Answer::Profiles { profiles: Profile::all() }),
            Request::Occupancy(request) => {
                let needs = BlockNeeds {
                    threads: request.threads,
                    registers_per_thread: request.registers,
                    shared_bytes: request.shared_bytes,
                };
                Ok(Answer::Occupancy(Occupancy::of(profile(&request.profile)?, needs)))
            }
        }
    }

    /// Writes bytes into a buffer.
    ///
    /// # Errors
    ///
    /// There is no such buffer, or the bytes do not fit.
    pub fn upload(&mut self, buffer: usize, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        let address = self.inside(buffer, offset, bytes.len() as u64)?;
        Ok(self.memory.write(address, bytes)?)
    }

    /// Reads bytes of a buffer.
    ///
    /// # Errors
    ///
    /// There is no such buffer, or it has fewer bytes.
    pub fn download(&self, buffer: usize, offset: u64, bytes: u64) -> Result<Vec<u8>, Failure> {
        let address = self.inside(buffer, offset, bytes)?;
        let mut read = vec![0; bytes as usize];
        self.memory.read(address, &mut read)?;
        Ok(read)
    }

    fn load(&mut self, text: &str) -> Result<Answer, Failure> {
        let module = Module::parse_in_part(text).map_err(|error| Failure::from(&error))?;
        if let Some(image) = self.image.take() {
            image.unload(&self.memory);
        }
        for buffer in &mut self.buffers {
            buffer.take_if(|buffer| buffer.is_variable);
        }
        let image = self.image.insert(Image::new(Arc::new(module), &self.memory)?);
        let module = image.module();
        let names = ptx::parse(text).map_err(|error| Failure::from(&error))?;
        let entry = |kernel: &Kernel| {
            let declared = names.functions.iter().find(|function| function.is_kernel && function.name == kernel.name());
            let declared = declared.into_iter().flat_map(|function| &function.params);
            let params = kernel.params().iter().zip(declared);
            KernelEntry {
                name: kernel.name().to_owned(),
                params: params
                    .map(|(param, declared)| SizedEntry { name: declared.name.to_owned(), bytes: param.bytes as u64 })
                    .collect(),
                shared_bytes: kernel.static_shared_bytes(),
                max_threads: kernel.max_threads(),
            }
        };
        let refused = module.refused().iter();
        Ok(Answer::Loaded(Loaded {
            kernels: module.kernels().iter().map(entry).collect(),
            variables: module.variables().iter().map(|v| SizedEntry { name: v.name.clone(), bytes: v.bytes }).collect(),
            refused: refused.map(|(name, error)| Refused { name: name.clone(), error: error.into() }).collect(),
            target: module.target(),
        }))
    }

    fn launch(&mut self, launch: &Launch) -> Result<Answer, Failure> {
        let image = self.image.as_ref().ok_or_else(|| misuse("load a module before you launch a kernel"))?;
        let kernel = image.kernel(&launch.kernel).ok_or_else(|| misuse(format!("the module has no kernel {}", launch.kernel)))?;
        let profile = profile(&launch.profile)?;
        let params = self.params(kernel, &launch.arguments)?;
        let extents = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
        let config = LaunchConfig { grid: extents(launch.grid), block: extents(launch.block), dynamic_shared_bytes: launch.shared };
        let steps = launch.steps.as_ref();
        let steps = steps.map(|steps| Arc::new(StepRecord::new(extents(steps.block), steps.warp, 0, steps.limit)));
        let options = LaunchOptions {
            fuel: launch.fuel,
            // A page has one thread for this.
            workers: Some(1),
            checks: launch.checks,
            cooperative: launch.cooperative,
            warp_order: launch.order,
            trace: launch.trace.map(extents),
            steps: steps.clone(),
            ..LaunchOptions::default()
        };
        let call = Call { kernel: &launch.kernel, config, params: &params };
        let outcome = simt::launch(&self.memory, image, call, profile, &options);
        let steps = steps.map(|record| record.take().steps.into_iter().map(StepEntry::from).collect()).unwrap_or_default();
        match outcome {
            Ok(report) => Ok(Answer::Launched(Box::new(Launched {
                findings: report.findings.iter().map(FindingText::from).collect(),
                bound: launch.least_bytes.map(|bytes| BoundEntry::of(&bound(&report.counters, bytes, profile), profile)),
                report,
                steps,
            }))),
            Err(error) => Err(Failure { steps, ..error.into() }),
        }
    }

    /// Returns the parameter list of a kernel.
    fn params(&self, kernel: &Kernel, arguments: &[Argument]) -> Result<Vec<u8>, Failure> {
        let (name, expected, got) = (kernel.name(), kernel.params().len(), arguments.len());
        if expected != got {
            return Err(misuse(format!("kernel {name} takes {expected} arguments, got {got}")));
        }
        let address = |buffer, offset| Ok::<_, Failure>(self.buffer(buffer)?.address.wrapping_add_signed(offset));
        let mut list = vec![0; kernel.param_bytes()];
        for (number, (param, argument)) in kernel.params().iter().zip(arguments).enumerate() {
            let value = match argument {
                Argument::Buffer { buffer, offset } => address(*buffer, *offset)?.to_le_bytes().to_vec(),
                Argument::Map { map, buffer, offset } => {
                    let address = address(*buffer, *offset)?;
                    let map = map.as_slice().try_into().ok().and_then(TensorMap::decode);
                    let map = map.ok_or_else(|| misuse(format!("argument {} of kernel {name} is no tensor map", number + 1)))?;
                    TensorMap { address, ..map }.encode().to_vec()
                }
                Argument::Value(plain) => plain.bytes(),
            };
            if value.len() != param.bytes {
                let (expected, got) = (param.bytes, value.len());
                return Err(misuse(format!("argument {} of kernel {name} has {expected} bytes, got {got}", number + 1)));
            }
            list[param.offset..][..param.bytes].copy_from_slice(&value);
        }
        Ok(list)
    }

    fn number(&mut self, buffer: Buffer) -> Answer {
        let number = self.buffers.len();
        self.buffers.push(Some(buffer));
        Answer::Buffer { buffer: number, address: buffer.address, bytes: buffer.bytes }
    }

    fn buffer(&self, number: usize) -> Result<Buffer, Failure> {
        let buffer = self.buffers.get(number).copied().flatten();
        buffer.ok_or_else(|| Failure::new(FailureKind::Memory, format!("there is no buffer {number}")))
    }

    /// Returns the address of bytes in a buffer.
    fn inside(&self, number: usize, offset: u64, bytes: u64) -> Result<u64, Failure> {
        let buffer = self.buffer(number)?;
        if offset > buffer.bytes || bytes > buffer.bytes - offset {
            let message = format!("buffer {number} has {} bytes, not {bytes} from byte {offset} on", buffer.bytes);
            return Err(Failure::new(FailureKind::Memory, message));
        }
        Ok(buffer.address + offset)
    }
}

fn profile(name: &str) -> Result<&'static Profile, Failure> {
    Profile::named(name).ok_or_else(|| misuse(format!("there is no profile {name}")))
}

fn misuse(message: impl ToString) -> Failure {
    Failure::new(FailureKind::Misuse, message)
}
