//! The state that all workers of a launch share, and the reasons why a block stops.

use std::sync::{Arc, Mutex};

use super::clusters::Clusters;
use super::request::Polled;
use super::watch::far::Flags;
use super::watch::global_shadow::GlobalShadow;
use crate::footprint::Footprint;
use crate::memory::rules::Rules;
use crate::memory::{Memory, Region};
use crate::options::LaunchOptions;
use alu::registers::{self, Kind, Reg};
use ptx::finding::{Access, FindingKind, Location, Nearest, Space};
use ptx::geometry::{Dim3, LaunchConfig};
use ptx::program::{MachineRequest, Program, SourceMap};

/// The index of the heap among the regions.
const HEAP: u32 = u32::MAX;

/// The state that all workers of a launch share: the program and the memory around it.
pub struct Machine<'a> {
    pub program: &'a Program,
    pub options: &'a LaunchOptions,
    pub config: LaunchConfig,
    /// The kernel's parameters.
    pub params: &'a [u8],
    /// Registers that hold the same value in every thread.
    pub constants: Vec<(Reg, Kind, u64)>,
    /// Registers that hold an address in the block's shared memory, as if it started at 0.
    pub shared_addresses: Vec<(Reg, Kind, u64)>,
    /// The clusters of the grid.
    pub clusters: Clusters,
    /// Static and dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    pub multiprocessors: u32,
    /// Clusters that the GPU holds at once.
    pub resident_clusters: u64,
    /// Lanes of a warp can wait for each other: since compute capability 7.0, barriers count threads, not warps.
    pub independent_lanes: bool,
    /// The rules for the cost of an access.
    pub rules: Rules,
    /// The requests of the program's loads and stores.
    pub requests: Vec<MachineRequest>,
    pub memory: &'a Memory,
    /// The allocations, as of the start of the launch.
    pub regions: Vec<Arc<Region>>,
    /// The shadow of global memory, if races between blocks can be found in this program.
    pub global_shadow: Option<GlobalShadow>,
    /// Which bytes of global memory are accessed, if the caller asks.
    pub footprint: Option<Footprint>,
    /// The address of the memory in which the blocks of a cooperative launch synchronize; 0 in other launches.
    pub grid_workspace: u64,
    /// The block to trace.
    pub traced: Option<u64>,
    /// The places that instructions come from.
    pub map: &'a SourceMap,
    /// Serializes 64-bit atomic operations, which span two words.
    pub wide_atomics: Mutex<()>,
}

impl Machine<'_> {
    /// Returns the region that holds `bytes` bytes at `address`. `hint` is the index of the last one found, and is updated.
    #[inline(always)]
    pub fn region(&self, hint: &mut u32, address: u64, bytes: u64) -> Option<&Region> {
        let holds = |region: &Region| address.wrapping_sub(region.base) < region.buffer.bytes() && bytes <= region.end() - address;
        if let Some(region) = self.regions.get(*hint as usize)
            && holds(region)
        {
            return Some(region);
        }
        let after = self.regions.partition_point(|region| region.base <= address);
        let before = after.checked_sub(1).map(|index| (index, &self.regions[index])).filter(|(_, region)| holds(region));
        if let Some((index, region)) = before {
            *hint = index as u32;
            return Some(region);
        }
        self.in_heap(hint, address, bytes)
    }

    /// Returns the heap, if the bytes are in a block of it. It is asked each time, because blocks come and go during a launch.
    #[cold]
    fn in_heap(&self, hint: &mut u32, address: u64, bytes: u64) -> Option<&Region> {
        let region = self.options.heap.region(address, bytes)?;
        *hint = HEAP;
        Some(region)
    }

    /// Returns the shadow of the last region found. The heap has none: a block may be another thread's soon after it is freed.
    pub fn shadow(&self, hint: u32) -> Option<&GlobalShadow> {
        self.global_shadow.as_ref().filter(|_| hint != HEAP)
    }

    /// Returns the flags between blocks, which may be anywhere in global memory.
    pub fn flags(&self) -> Option<&Flags> {
        self.global_shadow.as_ref()?.flags.as_ref()
    }

    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.config.block.volume().div_ceil(registers::LANES as u64) as u32
    }

    /// Returns the place that an instruction comes from.
    pub fn location(&self, pc: u32) -> Location {
        self.map.location(self.program.origins[pc as usize])
    }

    /// Returns true if the host can access an address, too.
    pub fn is_on_host(&self, address: u64) -> bool {
        self.region(&mut 0, address, 1).is_some_and(|region| region.buffer.host_address() == region.base)
    }

    pub fn nearest(&self, address: u64) -> Option<Nearest> {
        self.options.heap.nearest(address).or_else(|| self.memory.nearest(address))
    }

    /// Finds the allocation or variable that a block's access hits. The access is not to local memory.
    pub fn place(&self, access: &Access, block: u64) -> Option<Nearest> {
        if matches!(access.space, Space::Global | Space::Const) {
            return self.nearest(access.address);
        }
        let address = self.clusters.in_block(access.address);
        let variable = self.program.shared_variable(address)?;
        let bytes = u64::from(variable.bytes.unwrap_or(self.shared_bytes - variable.offset));
        let base = u64::from(variable.offset);
        let owner = self.owner(access.address, block);
        let of_block = if owner == block { String::new() } else { format!(" of block {}", self.config.grid.index_of(owner)) };
        let allocation = format!("{} ({bytes} bytes){of_block}", variable.name);
        Some(Nearest { allocation, base, bytes, offset: (address - base) as i64, freed: false })
    }

    /// Returns the block whose shared memory an address is in. The address is one of `block`'s cluster.
    pub fn owner(&self, address: u64, block: u64) -> u64 {
        let rank = self.clusters.rank_at(address) as u32;
        if self.clusters.blocks == 1 { block } else { self.clusters.block(self.clusters.cluster_of(block), rank) }
    }

    /// Returns the access with its offset in a block's shared memory.
    pub fn in_block(&self, access: Access) -> Access {
        match access.space {
            Space::Shared => Access { address: self.clusters.in_block(access.address), ..access },
            _ => access,
        }
    }
}

/// The reason why a block stops.
#[derive(Debug)]
pub enum Stop {
    /// A defect of the kernel: the instruction, the warp, the first lane, and the number of lanes.
    Fault { kind: Box<FindingKind>, pc: u32, warp: u32, lane: u32, lanes: u32 },
    /// The block used up its fuel. It may only have looked for a change that others make.
    OutOfFuel { pc: u32, warp: u32, polled: Option<Polled> },
}

/// Returns the index of a thread in its block.
pub fn thread_index(block: Dim3, warp: u32, lane: u32) -> Dim3 {
    block.index_of(u64::from(warp) * registers::LANES as u64 + u64::from(lane))
}
