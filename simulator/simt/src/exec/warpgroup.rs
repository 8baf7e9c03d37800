//! `setmaxnreg`: warpgroups of a block give registers back to the block, and take them.
//!
//! The registers of a block at its launch are all that it ever has: a warpgroup that asks for more waits until others have given enough
//! back (PTX ISA, `setmaxnreg`). Where the registers per thread are unknown, nobody waits.

use super::core::Core;
use super::machine::Stop;
use alu::registers::LANES;
use ptx::finding::FindingKind;

/// Sets the registers of the running warp. Returns whether it has them; otherwise it waits.
pub fn set(core: &mut Core<'_>, (count, grows): (u32, bool), active: u32, live: u32, pc: u32) -> Result<bool, Stop> {
    if active != live {
        return Err(core.stop(FindingKind::PartialWarp, active, pc));
    }
    let warp = (core.warp - core.first_warp) as usize;
    let pool = &mut core.own.register_pool;
    pool.executed[warp].push(pc);
    let Some(held) = pool.held.get(warp).copied() else { return Ok(true) };
    if grows && count < held || !grows && count > held {
        return Err(core.stop(FindingKind::InvalidRegisterCount { held, count, grows }, active, pc));
    }
    if !grows {
        pool.free += (held - count) * LANES as u32;
        pool.held[warp] = count;
        return Ok(true);
    }
    Ok(pool.take(warp, count))
}
