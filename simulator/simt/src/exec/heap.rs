//! `malloc` and `free` of kernels.

use super::core::Core;
use super::machine::Stop;
use super::request::lanes_of;
use crate::memory::{element, set_element};
use alu::registers::LANES;
use ptx::finding::FindingKind;

/// Executes `malloc` for the lanes in `mask`, one by one. The parameter and the result are at these offsets in local memory.
pub fn allocate(core: &Core<'_>, local: &mut [[u32; LANES]], (bytes, result): (u32, u32), mask: u32) {
    for lane in lanes_of(mask) {
        let address = core.machine.options.heap.allocate(double(local, bytes, lane));
        set_element(result.into(), 8, address, |word, _, bits| local[word as usize][lane] = bits);
    }
}

/// Executes `free`. A null pointer is allowed.
pub fn free(core: &Core<'_>, local: &[[u32; LANES]], pointer: u32, mask: u32, pc: u32) -> Result<(), Stop> {
    for lane in lanes_of(mask) {
        let address = double(local, pointer, lane);
        if address != 0 && !core.machine.options.heap.free(address) {
            return Err(core.stop(FindingKind::InvalidFree { address, nearest: core.machine.nearest(address) }, 1 << lane, pc));
        }
    }
    Ok(())
}

/// Returns 64 bits at an offset of local memory.
fn double(local: &[[u32; LANES]], offset: u32, lane: usize) -> u64 {
    element(|word| local[word as usize][lane], offset.into(), 8)
}
