//! The registers of a block, which its warpgroups give back and take.

use alu::registers::LANES;

/// Warps of a warpgroup, which starts at a multiple of this number.
const WARPS: usize = 4;

/// The registers of a block that no warp holds. The pool also has what each warp holds and did.
#[derive(Debug, Default)]
pub struct RegisterPool {
    /// Registers of each thread, by warp; nothing where they are unknown.
    pub held: Vec<u32>,
    /// Registers that no warp holds.
    pub free: u32,
    /// The instructions that each warp executed.
    pub executed: Vec<Vec<u32>>,
}

impl RegisterPool {
    /// Starts a block.
    pub fn start(&mut self, warps: usize, registers_per_thread: Option<u32>) {
        self.held = registers_per_thread.map_or_else(Vec::new, |count| vec![count.next_multiple_of(8); warps]);
        self.free = 0;
        self.executed = vec![Vec::new(); warps];
    }

    /// Gives each thread of a warp `count` registers, if they are free.
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

    /// Finds a warp that executed other instructions than its warpgroup's first warp. Also returns the first instruction that one
    /// of the two did not execute. A warp that does not exist executes nothing.
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
