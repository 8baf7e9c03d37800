//! The names of a function: registers and variables, by the block in which they are declared.

use rustc_hash::FxHashMap as HashMap;

use super::code::{Axis, Special};
use super::named::{Family, PARTS, rows};
use alu::registers::{Kind, Reg};

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub enum Symbol {
    Register(Reg, Kind),
    /// Neighboring registers, named `v.x` and so on.
    Vector(Reg, Kind, u8),
    /// Number of a variable in the block's shared memory.
    Shared(u32),
    /// Also for parameters of functions.
    Local(Local),
    /// Offset in the kernel's parameters.
    Param(u32),
    /// Index of a module variable.
    Variable(usize),
}

/// A variable in the thread's local memory.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// Its offset.
    pub at: u32,
    pub bytes: u32,
    /// The offset is one in the frame of the recursive function that is being decoded.
    pub in_frame: bool,
}

impl Family {
    fn member(self, number: u32) -> Symbol {
        let first = self.first + number * rows(self.kind) * u32::from(self.lanes.unwrap_or(1));
        self.lanes.map_or(Symbol::Register(first, self.kind), |lanes| Symbol::Vector(first, self.kind, lanes))
    }
}

/// Names, innermost block last.
#[derive(Debug, Default)]
pub struct Scopes<'t> {
    open: Vec<Block<'t>>,
    /// Number of blocks opened so far.
    seen: usize,
    /// True if a vector of registers was declared.
    has_vectors: bool,
}

#[derive(Debug, Default)]
struct Block<'t> {
    id: usize,
    symbols: HashMap<&'t str, Symbol>,
    /// `a<2>` is another name than `a`.
    families: HashMap<&'t str, Family>,
}

impl<'t> Scopes<'t> {
    /// Opens a block and returns its number; blocks are numbered as they open.
    pub fn open(&mut self) -> usize {
        let id = self.seen;
        self.seen += 1;
        self.open.push(Block { id, ..Block::default() });
        id
    }

    pub fn close(&mut self) {
        self.open.pop();
    }

    /// Declares a name in the innermost block.
    pub fn declare(&mut self, name: &'t str, symbol: Symbol) {
        if let Some(block) = self.open.last_mut() {
            block.symbols.insert(name, symbol);
        }
    }

    /// Declares registers there.
    pub fn declare_registers(&mut self, name: &'t str, family: Family) {
        self.has_vectors |= family.lanes.is_some();
        match (self.open.last_mut(), family.count) {
            (Some(block), Some(_)) => drop(block.families.insert(name, family)),
            _ => self.declare(name, family.member(0)),
        }
    }

    /// Returns how many elements a vector of registers of this name has.
    pub fn lanes(&self, name: &str) -> Option<u8> {
        match self.has_vectors.then(|| self.find(name))?? {
            Symbol::Vector(.., lanes) => Some(lanes),
            _ => None,
        }
    }

    /// Lists the blocks that are open, innermost first.
    pub fn ids(&self) -> impl Iterator<Item = usize> {
        self.open.iter().rev().map(|block| block.id)
    }

    /// Finds what a name means: `%r12` is register 12 of the family `%r<35>`, or register 2 of `%r1<4>`; `v.y` is an element of `v`.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.declared(name).or_else(|| {
            let (vector, part) = name.rsplit_once('.')?;
            let part = PARTS.iter().position(|names| names.contains(&part))?;
            self.part(vector, part as u8)
        })
    }

    /// Finds an element of a vector of registers.
    pub fn part(&self, vector: &str, part: u8) -> Option<Symbol> {
        match self.declared(vector)? {
            Symbol::Vector(first, kind, lanes) if part < lanes => {
                Some(Symbol::Register(first + u32::from(part) * rows(kind), kind))
            }
            _ => None,
        }
    }

    fn declared(&self, name: &str) -> Option<Symbol> {
        let family = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
        self.open.iter().rev().find_map(|block| {
            // Most names are those of a family's registers. The name of a family may itself end in digits.
            let longer = || (family + 1..name.len()).find_map(|end| block.numbered(name, end));
            block.numbered(name, family).or_else(|| block.symbols.get(name).copied()).or_else(longer)
        })
    }
}

impl Block<'_> {
    /// Finds the meaning of a name whose number starts at this byte.
    fn numbered(&self, name: &str, start: usize) -> Option<Symbol> {
        let (family, digits) = name.split_at(start);
        if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        let family = *self.families.get(family)?;
        let number = digits.parse::<u32>().ok()?;
        (Some(number) < family.count).then(|| family.member(number))
    }
}

/// Finds the special register of that name, other than clocks.
pub fn special(name: &str) -> Option<Special> {
    let axis = |suffix: &str| match suffix {
        "x" => Some(Axis::X),
        "y" => Some(Axis::Y),
        "z" => Some(Axis::Z),
        _ => None,
    };
    let name = name.strip_prefix('%')?;
    if let Some((vector, suffix)) = name.split_once('.') {
        let axis = axis(suffix)?;
        return match vector {
            "tid" => Some(Special::ThreadIndex(axis)),
            "ntid" => Some(Special::BlockExtent(axis)),
            "ctaid" => Some(Special::BlockIndex(axis)),
            "nctaid" => Some(Special::GridExtent(axis)),
            "clusterid" => Some(Special::ClusterIndex(axis)),
            "nclusterid" => Some(Special::ClustersExtent(axis)),
            "cluster_ctaid" => Some(Special::IndexInCluster(axis)),
            "cluster_nctaid" => Some(Special::ClusterExtent(axis)),
            _ => None,
        };
    }
    Some(match name {
        "laneid" => Special::Lane,
        "warpid" => Special::Warp,
        "nwarpid" => Special::Warps,
        "smid" => Special::Multiprocessor,
        "nsmid" => Special::Multiprocessors,
        "gridid" => Special::GridId,
        _ if name.starts_with("envreg") => Special::Environment(name["envreg".len()..].parse().ok().filter(|number| *number < 32)?),
        "dynamic_smem_size" => Special::DynamicSharedBytes,
        "total_smem_size" | "aggr_smem_size" => Special::TotalSharedBytes,
        "cluster_ctarank" => Special::RankInCluster,
        "cluster_nctarank" => Special::BlocksOfCluster,
        // The system reserves no shared memory, no counter of performance is set up, and no graph launches its own kernels.
        "current_graph_exec" => Special::Fixed(0),
        "reserved_smem_offset_begin" | "reserved_smem_offset_end" | "reserved_smem_offset_cap" => Special::Fixed(0),
        "reserved_smem_offset_0" | "reserved_smem_offset_1" => Special::Fixed(0),
        _ if is_performance_counter(name) => Special::Fixed(0),
        "lanemask_lt" => Special::LanesBelow,
        "lanemask_le" => Special::LanesUpTo,
        "lanemask_eq" => Special::LanesEqual,
        "lanemask_ge" => Special::LanesFrom,
        "lanemask_gt" => Special::LanesAbove,
        _ => return None,
    })
}

/// `pm0` to `pm7`, and `pm0_64` to `pm7_64`
fn is_performance_counter(name: &str) -> bool {
    let number = name.strip_prefix("pm").map(|rest| rest.strip_suffix("_64").unwrap_or(rest));
    number.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'7']))
}
