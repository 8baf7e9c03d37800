//! The unfinished products of `wgmma`.

use std::collections::VecDeque;

use super::descriptor::UNIT;
use super::machine::Machine;
use alu::registers::LANES;
use ptx::program::{FactorA, Mentions, Program, Wgmma};

/// Warps of a warpgroup.
pub const WARPS: u32 = 4;

/// The unfinished products of the blocks of a cluster.
#[derive(Debug, Default)]
pub struct Products {
    pub by_warp: Vec<OfWarp>,
    pub by_group: Vec<Group>,
    /// For each unit of shared memory, how many unfinished products read it.
    readers: Vec<u16>,
    /// Unfinished products of all warps.
    pub count: usize,
    /// The checks are on, and the program has products.
    pub are_watched: bool,
}

/// A warp's part of a product.
#[derive(Clone, Debug)]
pub struct Product {
    /// Index of the operation in the program.
    pub index: u32,
    /// The instruction.
    pub pc: u32,
    /// Number of its group, which may not be committed yet.
    pub group: u32,
    /// C is added.
    pub adds: bool,
    /// C, register by register; `None` while an earlier unfinished product computes it.
    pub c: Option<Vec<[u32; LANES]>>,
    /// The units of shared memory that it reads: those of A, and from `first_of_b` on those of B.
    pub units: Vec<u32>,
    pub first_of_b: usize,
}

/// The products of a warp, and the accesses to their registers. A slot is an index into [`Mentions::registers`].
#[derive(Clone, Debug, Default)]
pub struct OfWarp {
    /// In the order in which they started.
    pub unfinished: VecDeque<Product>,
    /// Groups that the warp has committed.
    pub groups: u32,
    /// Groups that the warp has waited for.
    pub finished: u32,
    /// It has executed a fence.
    pub has_fenced: bool,
    /// For each slot, one more than the last instruction that named the register since the last fence, or zero.
    pub named: Vec<u32>,
    /// The same for instructions that wrote it.
    pub written: Vec<u32>,
    /// For each slot, one more than the unfinished product that has the register in D, or zero.
    pub in_d: Vec<u32>,
    /// The same for A.
    pub in_a: Vec<u32>,
}

/// The instructions that a warpgroup's warps executed, in order. Those that all four have executed are left out.
#[derive(Clone, Debug, Default)]
pub struct Group {
    steps: VecDeque<Agreed>,
    /// Products that were dropped from `steps`.
    dropped: u64,
    /// Products that each warp has executed.
    executed: [u64; WARPS as usize],
    /// Warps that have ended.
    pub ended: u32,
}

/// A product as the first warp executed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    pub pc: u32,
    /// Its number in the block.
    pub warp: u32,
    pub descriptors: [Option<u64>; 2],
    pub adds: bool,
}

impl Products {
    pub fn new(machine: &Machine<'_>) -> Self {
        let mut products = Self::default();
        if !machine.program.wgmmas.is_empty() {
            let (warps, blocks) = (machine.warps() as usize, machine.clusters.blocks as usize);
            let slots = vec![0; machine.program.mentions.registers.len()];
            let of_warp =
                OfWarp { named: slots.clone(), written: slots.clone(), in_d: slots.clone(), in_a: slots, ..OfWarp::default() };
            products.by_warp = vec![of_warp; warps * blocks];
            products.by_group = vec![Group::default(); warps.div_ceil(WARPS as usize) * blocks];
            products.readers = vec![0; machine.clusters.bytes().div_ceil(UNIT) as usize];
            products.are_watched = machine.options.checks;
        }
        products
    }

    /// Forgets the products of the previous cluster.
    pub fn clear(&mut self) {
        for of_warp in &mut self.by_warp {
            of_warp.unfinished.clear();
            (of_warp.groups, of_warp.finished, of_warp.has_fenced) = (0, 0, false);
            for slots in [&mut of_warp.named, &mut of_warp.written, &mut of_warp.in_d, &mut of_warp.in_a] {
                slots.fill(0);
            }
        }
        self.by_group.iter_mut().for_each(|group| *group = Group::default());
        self.readers.fill(0);
        self.count = 0;
    }

    pub fn begin(&mut self, units: &[u32]) {
        self.count += 1;
        units.iter().for_each(|unit| self.readers[(unit / UNIT) as usize] += 1);
    }

    pub fn end(&mut self, units: &[u32]) {
        self.count -= 1;
        units.iter().for_each(|unit| self.readers[(unit / UNIT) as usize] -= 1);
    }

    /// Finds an unfinished product that reads any of these bytes. Returns its instruction and its warp.
    pub fn reader(&self, offset: u32, bytes: u32) -> Option<(u32, u32)> {
        let units = offset / UNIT..(offset + bytes).div_ceil(UNIT);
        if units.clone().all(|unit| self.readers[unit as usize] == 0) {
            return None;
        }
        self.by_warp.iter().zip(0..).find_map(|(of_warp, warp)| {
            // All units are looked at, which compilers make vectors of.
            let reads = |product: &&Product| product.units.iter().fold(false, |reads, unit| reads | units.contains(&(unit / UNIT)));
            of_warp.unfinished.iter().find(reads).map(|product| (product.pc, warp))
        })
    }
}

impl OfWarp {
    /// Notes the registers of the unfinished products.
    pub fn note_registers(&mut self, program: &Program) {
        self.in_d.fill(0);
        self.in_a.fill(0);
        for product in &self.unfinished {
            let (of_d, of_a) = slots(program, product.index);
            of_d.for_each(|slot| self.in_d[slot] = product.pc + 1);
            of_a.for_each(|slot| self.in_a[slot] = product.pc + 1);
        }
    }
}

/// Returns true if two products are in order. They are if they have the same registers and shape.
pub fn are_in_order(one: &Wgmma, other: &Wgmma) -> bool {
    one.d == other.d && one.shape.n == other.shape.n
}

/// Returns true if two unordered products share registers of D.
pub fn collide(one: &Wgmma, other: &Wgmma) -> bool {
    !are_in_order(one, other) && one.d.iter().any(|register| other.d.contains(register))
}

/// Returns the slots of a product's registers: those of D, and those of A.
pub fn slots(program: &Program, index: u32) -> (impl Iterator<Item = usize>, impl Iterator<Item = usize>) {
    let wgmma = &program.wgmmas[index as usize];
    let of_a: &[u32] = if let FactorA::Registers(registers) = &wgmma.a { registers } else { &[] };
    let slot = |register: &u32| Mentions::slot(&program.mentions, *register);
    (wgmma.d.iter().map(slot), of_a.iter().map(slot))
}

impl Group {
    /// Notes that a warp executes its next product. Returns what another warp executed in its place, if that differs.
    pub fn execute(&mut self, step: Agreed) -> Option<Agreed> {
        let of_group = (step.warp % WARPS) as usize;
        let position = (self.executed[of_group] - self.dropped) as usize;
        self.executed[of_group] += 1;
        let found = match self.steps.get(position) {
            Some(first) => Some(*first).filter(|first| Agreed { warp: step.warp, ..*first } != step),
            None => {
                self.steps.push_back(step);
                None
            }
        };
        let by_all = self.executed.iter().min().copied().unwrap_or(0);
        while self.dropped < by_all {
            self.steps.pop_front();
            self.dropped += 1;
        }
        found
    }

    /// Finds the first product that one of the warps has not executed. Call it after all have ended.
    pub fn missed(&self) -> Option<Agreed> {
        self.steps.front().copied()
    }
}
