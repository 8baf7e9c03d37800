//! Counts per instruction during a launch, and their sums after it.

use std::collections::{BTreeMap, BTreeSet};

use super::printed::OfBlocks;
use crate::counters::{AccessSample, Counters, LineCounters, Touched, counts};
use alu::Class;
use alu::registers::LANES;
use ptx::finding::{AccessOp, Space};
use ptx::program::{
    Action, BulkDirection, Exchange, FactorA, FragmentAccess, Matrices, Origin, Program, ROWS_OF_WARP, SourceMap, TensorOp,
    WgmmaStep,
};

/// The counts of one worker.
#[derive(Debug)]
pub struct Stats {
    /// By index of the instruction.
    pub instructions: Vec<InstructionStats>,
    /// By index of the load or store.
    pub accesses: Vec<AccessStats>,
    /// By index of the atomic operation: requests to global memory, to the block's shared memory, to that of other blocks, and the sectors
    /// of these.
    pub atomics: Vec<[u64; 4]>,
    /// The output of blocks.
    pub printed: OfBlocks,
    /// A request by index of the load or store, from the worker that had the first block.
    pub samples: Vec<Option<Sample>>,
    /// Each access to global memory of the block that is traced.
    pub touched: BTreeSet<Touched>,
}

counts! {
    pub struct InstructionStats {
        warps,
        /// Warps whose guard kept all lanes from acting.
        idle,
        lanes,
        /// Branches at which lanes diverged.
        divergent,
    }
}

counts! {
    pub struct AccessStats {
        global_requests,
        transactions,
        sectors,
        sectors_ideal,
        global_bytes,
        l1_wavefronts,
        shared_requests,
        wavefronts,
        wavefronts_ideal,
        /// Executions that made no request of their own.
        merged,
        const_requests,
        local_requests,
        cluster_requests,
        cluster_sectors,
    }
}

impl AccessStats {
    fn count_load(&self, counters: &mut Counters) {
        counters.global_load_requests = self.global_requests;
        counters.global_load_transactions = self.transactions;
        counters.global_load_sectors = self.sectors;
        counters.global_load_sectors_ideal = self.sectors_ideal;
        counters.global_load_bytes = self.global_bytes;
        counters.global_load_wavefronts = self.l1_wavefronts;
        counters.shared_load_requests = self.shared_requests;
        counters.shared_load_wavefronts = self.wavefronts;
        counters.shared_load_wavefronts_ideal = self.wavefronts_ideal;
        counters.merged_loads = self.merged;
        counters.const_load_requests = self.const_requests;
        counters.local_requests = self.local_requests;
        counters.cluster_requests = self.cluster_requests;
        counters.cluster_sectors = self.cluster_sectors;
    }

    /// Counts a load from global memory whose bytes go to shared memory. The wavefronts that write them also read them from the L1,
    /// so the load counts only one for each request.
    fn count_copy(&self, counters: &mut Counters) {
        self.count_load(counters);
        counters.global_load_wavefronts = self.global_requests;
        (counters.shared_load_wavefronts, counters.shared_load_wavefronts_ideal) = (0, 0);
        (counters.shared_store_wavefronts, counters.shared_store_wavefronts_ideal) = (self.wavefronts, self.wavefronts_ideal);
    }

    fn count_store(&self, counters: &mut Counters) {
        counters.global_store_requests = self.global_requests;
        counters.global_store_transactions = self.transactions;
        counters.global_store_sectors = self.sectors;
        counters.global_store_sectors_ideal = self.sectors_ideal;
        counters.global_store_bytes = self.global_bytes;
        counters.shared_store_requests = self.shared_requests;
        counters.shared_store_wavefronts = self.wavefronts;
        counters.shared_store_wavefronts_ideal = self.wavefronts_ideal;
        counters.merged_stores = self.merged;
        counters.local_requests = self.local_requests;
        counters.cluster_requests = self.cluster_requests;
        counters.cluster_sectors = self.cluster_sectors;
    }
}

impl Stats {
    pub fn new(program: &Program) -> Self {
        Self {
            instructions: vec![InstructionStats::default(); program.code.len()],
            accesses: vec![AccessStats::default(); program.accesses.len()],
            atomics: vec![[0; 4]; program.atomics.len()],
            printed: OfBlocks::default(),
            samples: vec![None; program.accesses.len()],
            touched: BTreeSet::new(),
        }
    }

    pub fn add(&mut self, other: &Stats) {
        self.instructions.iter_mut().zip(&other.instructions).for_each(|(sum, part)| *sum += *part);
        self.accesses.iter_mut().zip(&other.accesses).for_each(|(sum, part)| *sum += *part);
        for (sum, part) in self.atomics.iter_mut().zip(&other.atomics) {
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        self.printed.append(&other.printed);
        for (kept, other) in self.samples.iter_mut().zip(&other.samples) {
            if kept.is_none() {
                kept.clone_from(other);
            }
        }
        self.touched.extend(&other.touched);
    }

    /// Returns the sums of the launch and of each line of source.
    pub fn finish(&self, program: &Program, map: &SourceMap) -> (Counters, Vec<LineCounters>) {
        let mut total = Counters::default();
        let mut lines: BTreeMap<_, Counters> = BTreeMap::new();
        for (pc, origin) in program.origins.iter().enumerate() {
            let counters = self.instruction(program, pc);
            total += counters;
            *lines.entry(origin.source).or_default() += counters;
        }
        let mut by_line: BTreeMap<_, Counters> = BTreeMap::new();
        for (source, counters) in lines.into_iter().filter(|(_, counters)| *counters != Counters::default()) {
            let source = source.and_then(|source| map.source_line(source));
            *by_line.entry(source).or_default() += counters;
        }
        let lines = by_line.into_iter().map(|(source, counters)| LineCounters { source, counters }).collect();
        (total, lines)
    }

    /// Returns the samples, in program order.
    pub fn samples(&self, program: &Program, map: &SourceMap) -> Vec<AccessSample> {
        let kept = program.code.iter().zip(&program.origins).filter_map(|(inst, origin)| match inst.action {
            Action::Load(index) | Action::Store(index) => Some((self.samples[index as usize].as_ref()?, origin)),
            _ => None,
        });
        let sample = |(sample, origin): (&Sample, &Origin)| {
            let Sample { space, op, bytes, mask, addresses } = *sample;
            let first = addresses[mask.trailing_zeros() as usize];
            let variable =
                (space == Space::Shared).then(|| program.shared_variable(first)).flatten().map(|found| found.name.clone());
            AccessSample { location: map.location(*origin), space, variable, op, bytes, lanes: mask, addresses }
        };
        kept.map(sample).collect()
    }

    /// Returns the bytes that were accessed, with adjacent ranges joined.
    pub fn touched(&self) -> Vec<Touched> {
        let mut touched: Vec<Touched> = Vec::new();
        for next in &self.touched {
            match touched.last_mut() {
                Some(last) if (last.thread, last.op) == (next.thread, next.op) && next.address <= last.address + last.bytes => {
                    last.bytes = last.bytes.max(next.address + next.bytes - last.address);
                }
                _ => touched.push(*next),
            }
        }
        touched
    }

    fn instruction(&self, program: &Program, pc: usize) -> Counters {
        let InstructionStats { warps, idle, lanes, divergent } = self.instructions[pc];
        let acting = warps - idle;
        let mut counters = Counters::default();
        if program.origins[pc].counts {
            counters.ptx_instructions = warps;
            counters.ptx_thread_instructions = lanes;
        }
        match program.code[pc].action {
            Action::Alu { alu, .. } if program.origins[pc].counts => match alu.row().class {
                Class::F32Fma => counters.f32_fma = lanes,
                Class::F32 => counters.f32_other = lanes,
                Class::F64 => counters.f64_ops = lanes,
                Class::Half => counters.f16_ops = lanes,
                Class::HalfPair => counters.f16_ops = 2 * lanes,
                Class::IntMad => {
                    counters.int_mad = lanes;
                    counters.int_mul24 = if program.multiplies_24[pc] { lanes } else { 0 };
                }
                Class::Int => counters.int_other = lanes,
                Class::Dp4a => counters.dp4a = lanes,
                Class::Convert => counters.conversions = lanes,
                Class::Special => counters.special = lanes,
                Class::Move | Class::Predicate => {}
            },
            Action::Load(index) => self.accesses[index as usize].count_load(&mut counters),
            Action::Store(index) => self.accesses[index as usize].count_store(&mut counters),
            Action::Copy(index) => {
                let source = program.copies[index as usize].source;
                self.accesses[source as usize].count_copy(&mut counters);
                counters.async_copy_requests = acting;
            }
            Action::BulkCopy(index) => {
                let copy = &program.bulk_copies[index as usize];
                let access = &self.accesses[copy.access as usize];
                match copy.direction {
                    BulkDirection::Load { .. } => access.count_load(&mut counters),
                    BulkDirection::Store { .. } => access.count_store(&mut counters),
                }
                counters.async_copy_requests = lanes;
            }
            Action::Tensor(index) => match &program.tensor_ops[index as usize] {
                TensorOp::MultiplyAdd(operation) => {
                    let (rows, columns) = operation.a.extents();
                    counters.tensor_multiply_adds = acting * (rows * columns * operation.a.shape.n) as u64;
                    counters.tensor_factor_bytes = counters.tensor_multiply_adds * operation.a.number.bits() as u64 / 8;
                }
                TensorOp::LoadFragment(FragmentAccess { access, .. }) | TensorOp::LoadMatrices(Matrices { access, .. }) => {
                    self.accesses[*access as usize].count_load(&mut counters);
                }
                TensorOp::StoreFragment(FragmentAccess { access, .. }) | TensorOp::StoreMatrices(Matrices { access, .. }) => {
                    self.accesses[*access as usize].count_store(&mut counters);
                }
                TensorOp::Transpose { .. } => counters.warp_exchanges = acting,
            },
            Action::Wgmma(WgmmaStep::Start(index)) => {
                let wgmma = &program.wgmmas[index as usize];
                counters.tensor_multiply_adds = acting * wgmma.shape.multiply_adds();
                counters.tensor_factor_bytes = counters.tensor_multiply_adds * wgmma.a_number.bytes() as u64;
                counters.warpgroup_factor_bytes = counters.tensor_factor_bytes;
                // Measured with Nsight Compute 2025.3 on an H200, for 64 to 256 columns of tf32, f16 and s8, swizzled and not.
                // Four rows of A or columns of B, with 32 bytes each, take one, and the four warps share them.
                let in_shared = wgmma.shape.n + if matches!(wgmma.a, FactorA::Shared(_)) { 4 * ROWS_OF_WARP } else { 0 };
                counters.tensor_shared_wavefronts = acting * in_shared as u64 / (4 * 4);
            }
            Action::Atomic(index) => {
                let [global, shared, requests, sectors] = self.atomics[index as usize];
                (counters.cluster_requests, counters.cluster_sectors) = (requests, sectors);
                counters.global_atomic_requests = global;
                counters.shared_atomic_requests = shared;
            }
            Action::Barrier { .. } | Action::ClusterWait { .. } => counters.barriers = acting,
            Action::Branch { .. } => {
                counters.branches = warps;
                counters.divergent_branches = divergent;
            }
            Action::Exchange(Exchange::ActiveMask { .. }) => {}
            Action::Exchange(_) => counters.warp_exchanges = acting,
            _ => {}
        }
        counters
    }
}

/// A request that was kept.
#[derive(Clone, Debug)]
pub struct Sample {
    pub space: Space,
    pub op: AccessOp,
    pub bytes: u32,
    pub mask: u32,
    pub addresses: [u64; LANES],
}
