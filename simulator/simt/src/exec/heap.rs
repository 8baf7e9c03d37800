//! `malloc` and `free` of kernels.

use super::core::Core;
use super::machine::Stop;
use super::request::lanes_of;
use alu::registers::LANES;
use ptx::finding::FindingKind;

/// `malloc` by the lanes in `mask`, one after the other, with the offsets of the parameter and of the result in local memory.
pub fn allocate(core: &Core<'_>, local: &mut [[u32; LANES]], (bytes, result): (u32, u32), mask: u32) {
    for lane in lanes_of(mask) {
        let address = core.machine.options.heap.allocate(double(local, bytes, lane));
        let at = result as usize / 4;
        (local[at][lane], local[at + 1][lane]) = (address as u32, (address >> 32) as u32);
    }
}

/// `free`. A null pointer is allowed.
pub fn free(core: &Core<'_>, local: &[[u32; LANES]], pointer: u32, mask: u32, pc: u32) -> Result<(), Stop> {
    for lane in lanes_of(mask) {
        let address = double(local, pointer, lane);
        if address != 0 && !core.machine.options.heap.free(address) {
            let kind = Box::new(FindingKind::InvalidFree { address, nearest: core.machine.nearest(address) });
            return Err(Stop::Fault { kind, pc, warp: core.warp, lane: lane as u32, lanes: 1 });
        }
    }
    Ok(())
}

/// 64 bits at an offset of local memory.
fn double(local: &[[u32; LANES]], offset: u32, lane: usize) -> u64 {
    let at = offset as usize / 4;
    u64::from(local[at][lane]) | u64::from(local[at + 1][lane]) << 32
}
