//! The shape and the arguments of a launch at a size: from the manifest, or from the learner's host code.

use ptx::ast::Module;
use simt::{Dim3, WarpOrder};
use workloads::Problem;

use crate::compiled;
use crate::device::{Launch, Value, Written};
use crate::host::{self, Host, Mistake, Noted, so_many};
use crate::manifest::{Extent, Kernel, Manifest};

/// The reason why there is no launch.
pub enum NoPlan {
    /// The exercise has a defect.
    Unusable(String),
    /// The kernel cannot be launched.
    Kernel(String),
    /// The host code has a mistake.
    Host(Mistake),
}

/// Plans the launches of a kernel.
pub struct Planner<'a> {
    manifest: &'a Kernel,
    /// Size in bytes of each of the kernel's parameters.
    parameters: Vec<u64>,
    /// The constants that the launch depends on.
    constants: Vec<(&'a str, u32)>,
    /// The learner's host code, if it launches the kernel.
    host: Option<Host>,
}

impl<'a> Planner<'a> {
    /// Returns the planner for a kernel in PTX, which is also given as `module`. The error says why the kernel cannot be launched.
    pub fn new(manifest: &'a Manifest, kernel: &'a Kernel, text: &str, ptx: &str, module: &Module<'_>) -> Result<Self, String> {
        let name = &kernel.name;
        let entry =
            module.kernel(name).ok_or_else(|| format!("there is no kernel `extern \"C\" __global__ void {name}(…)` in it"))?;
        Ok(Self {
            manifest: kernel,
            parameters: entry.params.iter().filter_map(|parameter| parameter.bytes).collect(),
            constants: compiled::constants(manifest, module),
            host: kernel.launch.as_ref().map(|_| Host::new(ptx, text)).transpose()?,
        })
    }

    /// Returns the launch at a size, with no fuel yet.
    pub fn plan<P: Problem>(&self, problem: &P) -> Result<Launch, NoPlan> {
        let values = self.values(problem)?;
        match &self.host {
            None => {
                self.fits(&values)?;
                let [grid, block] = self.shape(problem)?;
                Ok(launch(grid, block, self.manifest.shared_bytes, values, None))
            }
            Some(host) => self.written(host, problem, &values),
        }
    }

    fn written<P: Problem>(&self, host: &Host, problem: &P, given: &[Value]) -> Result<Launch, NoPlan> {
        let function = self.manifest.launch.as_deref().unwrap_or_default();
        let wrong = |line: Option<u32>, reason: String| NoPlan::Host(Mistake { line, reason });
        let launches = host.launches(given).map_err(|error| NoPlan::Unusable(error.to_string()))?.map_err(NoPlan::Host)?;
        let [Noted { kernel, line, config, words }] = &launches[..] else {
            return Err(match launches.get(1) {
                None => wrong(None, format!("`{function}` launches nothing, so the GPU has nothing to do")),
                Some(second) => wrong(
                    Some(second.line),
                    format!("`{function}` launches {} times, and the task asks for one launch", launches.len()),
                ),
            });
        };
        if *kernel != self.manifest.name {
            return Err(wrong(Some(*line), format!("it launches {kernel}, and the task asks for {}", self.manifest.name)));
        }
        let words = words.iter().zip(&self.parameters);
        let values: Vec<Value> = words.map(|(word, bytes)| host::value(*word, *bytes, given)).collect();
        self.fits(&values)?;
        let (grid, block) = (config.grid, config.block);
        let listed: Vec<String> = values.iter().map(Value::to_string).collect();
        let asked = format!("{kernel}<<<{}>>>({})", host::shape(config), listed.join(", "));
        if let Some(refusal) = host.refusal(kernel, *config) {
            return Err(wrong(Some(*line), format!("the launch is {asked}, and CUDA refuses it: {refusal}")));
        }
        let (blocks, threads, outputs) = (grid.volume(), block.volume(), problem.output_len() as u64);
        // A block more than there must be is no waste.
        if self.manifest.one_thread_per_output && blocks > outputs.div_ceil(threads) + 1 {
            let reason = format!(
                "the launch is {asked}, which has {} for {outputs} outputs. Each thread computes one output, so {} enough",
                so_many(blocks * threads, "thread"),
                match outputs.div_ceil(threads) {
                    1 => "1 block is".to_owned(),
                    blocks => format!("{blocks} blocks are"),
                }
            );
            return Err(wrong(Some(*line), reason));
        }
        let missing = (self.manifest.one_thread_per_output && blocks * threads < outputs).then_some([blocks * threads, outputs]);
        let written = Written { line: *line, launch: asked, missing };
        let three = |extent: Dim3| [extent.x, extent.y, extent.z];
        Ok(launch(three(grid), three(block), config.dynamic_shared_bytes, values, Some(written)))
    }

    /// Returns the grid's blocks and a block's threads at a size.
    fn shape<P: Problem>(&self, problem: &P) -> Result<[[u32; 3]; 2], NoPlan> {
        let sizes = problem.launch_sizes();
        let size = |name: &str| sizes.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
        let three = |extents: &[Extent]| -> Result<[u32; 3], NoPlan> {
            let mut three = [1; 3];
            for (axis, extent) in three.iter_mut().zip(extents) {
                *axis = self.extent(extent, &size)?;
            }
            Ok(three)
        };
        let (grid, block) = (three(&self.manifest.grid)?, three(&self.manifest.block)?);
        let [x, y, z] = block;
        if x == 0 || x.saturating_mul(y).saturating_mul(z) > 1024 {
            return Err(NoPlan::Kernel(format!("a block has 1 to 1024 threads, not {x} x {y} x {z}")));
        }
        Ok([grid, block])
    }

    fn extent(&self, extent: &Extent, size: &impl Fn(&str) -> Option<u32>) -> Result<u32, NoPlan> {
        match extent {
            Extent::Number(number) => Ok(*number),
            Extent::Constant(name) => match self.constants.iter().find(|(known, _)| known == name) {
                Some((_, value)) => Ok(*value),
                None => Err(NoPlan::Kernel(format!("the launch needs the value of {name}, which is no constant"))),
            },
            Extent::Cover { cover, by } => {
                let whole = size(cover).ok_or_else(|| NoPlan::Unusable(format!("no size is named {cover}")))?;
                match self.extent(by, size)? {
                    0 => Err(NoPlan::Kernel(format!("the {cover} cannot be divided into pieces of 0"))),
                    piece => Ok(whole.div_ceil(piece)),
                }
            }
        }
    }

    /// Returns the values in the order of the kernel's parameters.
    fn values<P: Problem>(&self, problem: &P) -> Result<Vec<Value>, NoPlan> {
        let arrays = problem.inputs().into_iter().map(|(name, _)| name).chain(problem.outputs().iter().copied());
        let mut known: Vec<(&str, Value)> = arrays.map(|name| (name, Value::Array(name, 0))).collect();
        known.extend(problem.sums().into_iter().map(|(name, sum)| (name, Value::Sum(sum))));
        known.extend(problem.launch_sizes().into_iter().map(|(name, size)| (name, Value::Size(size))));
        let value = |name: &String| {
            let index = known.iter().position(|(known, _)| known == name)?;
            Some(known.swap_remove(index).1)
        };
        let values: Option<Vec<Value>> = self.manifest.arguments.iter().map(value).collect();
        values.ok_or_else(|| {
            let names = self.manifest.arguments.join(", ");
            NoPlan::Unusable(format!("an argument of {names} is unknown or used twice"))
        })
    }

    /// Makes sure that the kernel's parameters are as wide as these values.
    fn fits(&self, values: &[Value]) -> Result<(), NoPlan> {
        if values.iter().map(|value| value.bytes()).eq(self.parameters.iter().copied()) {
            return Ok(());
        }
        let names = self.manifest.arguments.join(", ");
        Err(NoPlan::Kernel(format!(
            "its parameters do not match the launch, which passes {names}: leave its first lines as they were"
        )))
    }
}

fn launch(grid: [u32; 3], block: [u32; 3], shared_bytes: u32, values: Vec<Value>, written: Option<Written>) -> Launch {
    Launch { grid, block, shared_bytes, values, written, order: WarpOrder::Ascending, garbage: 0, fuel: 0 }
}
