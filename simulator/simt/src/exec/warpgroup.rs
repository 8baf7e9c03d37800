//! `setmaxnreg`: warpgroups of a block give registers back to the block, and take them.
//!
//! The registers of a block at its launch are all that it ever has: a warpgroup that asks for more waits until others have given enough
//! back (PTX ISA, `setmaxnreg`). Where the registers per thread are unknown, nobody waits.

use super::core::Core;
use super::machine::Stop;
use super::warp::fault;
use crate::finding::FindingKind;
use crate::registers::LANES;

/// Warps of a warpgroup, which starts at a multiple of this number.
const WARPS: usize = 4;

/// The registers of a block that none of its warps holds, and what each warp holds and did.
#[derive(Debug, Default)]
pub struct RegisterPool {
    /// Registers of each thread, by warp; nothing where they are unknown.
    held: Vec<u32>,
    /// Registers that no warp holds.
    pub free: u32,
    /// The instructions that each warp executed.
    executed: Vec<Vec<u32>>,
}

impl RegisterPool {
    /// Starts a block.
    pub fn start(&mut self, warps: usize, registers_per_thread: Option<u32>) {
        self.held = registers_per_thread.map_or_else(Vec::new, |count| vec![count.next_multiple_of(8); warps]);
        self.free = 0;
        self.executed = vec![Vec::new(); warps];
    }

    /// Gives each thread of a warp this many registers, if they are there.
    pub fn take(&mut self, warp: usize, count: u32) -> bool {
        let Some(held) = self.held.get_mut(warp) else { return true };
        let more = count.saturating_sub(*held) * LANES as u32;
        let there = more <= self.free;
        if there {
            self.free -= more;
            *held = count;
        }
        there
    }

    /// A warp that did not execute the same as the first warp of its warpgroup, and the first instruction that one of the two lacks.
    /// A warp that does not exist executes nothing.
    pub fn first_partial(&self) -> Option<(usize, u32)> {
        self.executed.chunks(WARPS).zip(0..).find_map(|(group, number)| {
            let absent = Vec::new();
            let others = (0..WARPS).map(|warp| group.get(warp).unwrap_or(&absent));
            others.zip(0..).find_map(|(own, warp)| {
                let lacks = (0..own.len().max(group[0].len())).find(|at| own.get(*at) != group[0].get(*at))?;
                let pc = *group[0].get(lacks).or(own.get(lacks))?;
                Some((number * WARPS + if group[0].len() > lacks { 0 } else { warp }, pc))
            })
        })
    }
}

/// Sets the registers of the running warp. Returns whether it has them; otherwise it waits.
pub fn set(core: &mut Core<'_>, (count, grows): (u32, bool), active: u32, live: u32, pc: u32) -> Result<bool, Stop> {
    if active != live {
        return Err(fault(core, FindingKind::PartialWarp, active, pc));
    }
    let warp = (core.warp - core.first_warp) as usize;
    let pool = &mut core.register_pool;
    pool.executed[warp].push(pc);
    let Some(held) = pool.held.get(warp).copied() else { return Ok(true) };
    if grows && count < held || !grows && count > held {
        return Err(fault(core, FindingKind::InvalidRegisterCount { held, count, grows }, active, pc));
    }
    if !grows {
        pool.free += (held - count) * LANES as u32;
        pool.held[warp] = count;
        return Ok(true);
    }
    Ok(pool.take(warp, count))
}
