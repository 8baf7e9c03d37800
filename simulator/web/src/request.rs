//! The requests of a page.

use serde::Deserialize;
use simt::WarpOrder;

/// A request, named by its member `do`.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Loads a module in place of the last one. Buffers stay.
    Load {
        /// Its text.
        ptx: String,
    },
    /// Makes a buffer of this many bytes, which are not written yet.
    Allocate {
        /// Its size.
        bytes: u64,
        /// The name that findings have for it.
        #[serde(default)]
        label: Option<String>,
    },
    /// Makes a variable of the module known as a buffer.
    Variable {
        /// The variable's name.
        name: String,
    },
    /// Frees a buffer.
    Free {
        /// Its number.
        buffer: usize,
    },
    /// Launches a kernel of the module.
    Launch(Box<Launch>),
    /// Lists the profiles.
    Profiles {},
    /// Computes how many blocks a multiprocessor holds at once.
    Occupancy(Occupancy),
}

/// The needs of a block, and the GPU.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Occupancy {
    /// Name of the profile.
    #[serde(default = "default_profile")]
    pub profile: String,
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread, if they are known.
    #[serde(default)]
    pub registers: Option<u32>,
    /// Bytes of shared memory of a block.
    #[serde(default)]
    pub shared_bytes: u64,
}

/// A launch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads in a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub shared: u32,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
    /// Name of the profile.
    #[serde(default = "default_profile")]
    pub profile: String,
    /// Look for data races and reads of unwritten memory.
    #[serde(default = "default_checks")]
    pub checks: bool,
    /// The order in which the warps of a block take turns.
    #[serde(default)]
    pub order: WarpOrder,
    /// All blocks are there at once.
    #[serde(default)]
    pub cooperative: bool,
    /// Warp instructions that one block may execute.
    #[serde(default = "default_fuel")]
    pub fuel: u64,
    /// The block whose accesses to global memory are listed.
    #[serde(default)]
    pub trace: Option<[u32; 3]>,
    /// The warp whose instructions are recorded.
    #[serde(default)]
    pub steps: Option<Steps>,
    /// Bytes that the computation must read and write at least. With it the answer has the bound.
    #[serde(default)]
    pub least_bytes: Option<u64>,
}

/// A warp whose instructions are recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Its block.
    #[serde(default)]
    pub block: [u32; 3],
    /// Its number in the block.
    #[serde(default)]
    pub warp: u32,
    /// The most instructions to record.
    pub limit: usize,
}

/// The value of a parameter.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Argument {
    /// The address of a buffer, or one inside it.
    Buffer {
        /// Its number.
        buffer: usize,
        /// Bytes from its start.
        #[serde(default)]
        offset: i64,
    },
    /// A tensor map (`CUtensorMap`) of a tensor in a buffer.
    Map {
        /// Its bytes. The address in them does not count.
        map: Vec<u8>,
        /// The buffer's number.
        buffer: usize,
        /// Bytes from its start to the tensor.
        #[serde(default)]
        offset: i64,
    },
    /// A number or bytes: `{ "u32": 7 }`.
    Value(Plain),
}

/// A value that is its bytes, named by its only member.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Plain {
    /// A 32-bit unsigned number.
    U32(u32),
    /// A 32-bit signed number.
    I32(i32),
    /// A 64-bit unsigned number.
    U64(u64),
    /// A single-precision number.
    F32(f32),
    /// A double-precision number.
    F64(f64),
    /// Any value, byte by byte.
    Bytes(Vec<u8>),
}

impl Plain {
    /// Returns the bytes.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Plain::U32(value) => value.to_le_bytes().to_vec(),
            Plain::I32(value) => value.to_le_bytes().to_vec(),
            Plain::U64(value) => value.to_le_bytes().to_vec(),
            Plain::F32(value) => value.to_le_bytes().to_vec(),
            Plain::F64(value) => value.to_le_bytes().to_vec(),
            Plain::Bytes(bytes) => bytes.clone(),
        }
    }
}

fn default_profile() -> String {
    "h200".to_owned()
}

fn default_checks() -> bool {
    true
}

/// Returns the fuel for a few seconds in a browser.
fn default_fuel() -> u64 {
    1 << 25
}
