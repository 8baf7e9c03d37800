//! Writes each launch to a file, so that a web page or a test can repeat it: the module, the shape, the arguments, and the bytes they point to.
//!
//! Memory is written as it was before the launch. An argument of eight bytes that is an address in an allocation stands for that allocation, and
//! so does a tensor map. A pointer inside another structure, or one that is in memory, is a plain number in the file, and the repeated launch cannot use it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use simt::memory::Allocation;
use simt::tensor_map::TensorMap;
use simt::{LaunchConfig, LaunchOptions};

use crate::files::Spool;
use crate::messages::say_if_not_written;
use crate::observer::{Begun, Observer};
use crate::variables::LAUNCHES;

/// A launch as its file has it.
#[derive(Debug, Serialize, Deserialize)]
pub struct LaunchFile {
    /// The name of the kernel.
    pub kernel: String,
    /// The shape.
    #[serde(flatten)]
    pub config: LaunchConfig,
    /// True if all blocks are resident at once.
    pub cooperative: bool,
    /// The name of the simulated GPU.
    pub profile: String,
    /// The values of the parameters, in order.
    pub arguments: Vec<Argument>,
    /// The bytes of the allocations that arguments point to, as two hexadecimal digits each.
    pub buffers: Vec<String>,
    /// The variables of the module.
    pub variables: Vec<Variable>,
    /// The text of the module.
    pub ptx: String,
}

/// A parameter's value.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the comment on a variant says what its fields are")]
pub enum Argument {
    /// A tensor in a buffer: its map, and where it starts.
    Map { map: Vec<u8>, buffer: usize, offset: u64 },
    /// An address in a buffer.
    Buffer { buffer: usize, offset: u64 },
    /// Any other value.
    Bytes { bytes: Vec<u8> },
}

/// A variable of the module. Each byte is two hexadecimal digits.
#[derive(Debug, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: String,
}

/// The folder that launches are written to.
pub struct LaunchFiles(PathBuf);

impl LaunchFiles {
    /// Reads from the environment whether launches are written.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        variable(LAUNCHES.name).map(|folder| Self(folder.into()))
    }
}

impl Observer for LaunchFiles {
    fn begin(&self, launch: &Begun<'_>, options: &mut LaunchOptions) {
        let written = write(&self.0, launch, options.cooperative);
        say_if_not_written(written, format_args!("the launch of {} ({LAUNCHES})", launch.kernel));
    }
}

/// Names the files of launches in a folder.
pub fn launches_in(folder: &Path) -> Spool {
    Spool::new(folder, "launch")
}

/// Writes the launch into a folder, which it makes if need be.
fn write(folder: &Path, launch: &Begun<'_>, cooperative: bool) -> io::Result<()> {
    let (memory, image) = (launch.memory, launch.image);
    let contents = |Allocation { base, bytes }: Allocation| {
        let mut read = vec![0; bytes as usize];
        // Another thread may have freed it meanwhile; then the kernel has a defect that no file can repeat.
        let _ = memory.read(base, &mut read);
        hexadecimal(&read)
    };
    let mut pointed_to: Vec<Allocation> = Vec::new();
    let argument = |bytes: &[u8]| {
        let pointer = bytes.try_into().ok().map(u64::from_le_bytes);
        let map = bytes.try_into().ok().and_then(TensorMap::decode);
        let address = pointer.or(map.as_ref().map(|map| map.address));
        let Some((address, allocation)) = address.and_then(|address| Some((address, memory.allocation_at(address)?))) else {
            return Argument::Bytes { bytes: bytes.to_vec() };
        };
        let known = pointed_to.iter().position(|known| *known == allocation);
        let buffer = known.unwrap_or_else(|| {
            pointed_to.push(allocation);
            pointed_to.len() - 1
        });
        let offset = address - allocation.base;
        if map.is_some() { Argument::Map { map: bytes.to_vec(), buffer, offset } } else { Argument::Buffer { buffer, offset } }
    };
    let params = image.kernel(launch.kernel).map(|kernel| kernel.params()).unwrap_or_default();
    let arguments = params.iter().map(|param| &launch.parameters[param.offset..][..param.bytes]).map(argument).collect();
    let variables = image.module().variables().iter().filter_map(|variable| {
        let (base, bytes) = image.variable(&variable.name)?;
        Some(Variable { name: variable.name.clone(), bytes: contents(Allocation { base, bytes }) })
    });
    let file = LaunchFile {
        kernel: launch.kernel.to_owned(),
        config: launch.config,
        cooperative,
        profile: launch.profile.name.to_owned(),
        arguments,
        buffers: pointed_to.iter().copied().map(contents).collect(),
        variables: variables.collect(),
        ptx: image.module().text(),
    };
    fs::create_dir_all(folder)?;
    launches_in(folder).add(&file)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
