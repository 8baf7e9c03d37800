//! Bulk copies, which one thread starts and the async proxy makes: between global and shared memory, of bytes in a row or of a box of a
//! tensor.
//!
//! As with `cp.async`, what a copy does happens at the latest moment: the bytes of a load arrive when a thread tests its barrier. A store
//! reads shared memory when its thread waits for the read, and writes global memory when its thread waits for that, or when the block ends.

pub mod footprint;
mod in_flight;
mod load;
mod map;
mod store;

pub use footprint::{Footprint, GlobalBytes, UNIT};
pub use store::{end_block, wait};

use super::core::Core;
use super::machine::Stop;
use super::request::{Request, lane_addresses, lanes_of};
use alu::registers::{LANES, Registers};
use alu::windows::WINDOW_OFFSET;
use ptx::finding::{AccessOp, BulkCopyMisuse, Space};
use ptx::program::{BulkDirection, BulkExtent};

/// Boxes of tensors begin in shared memory at multiples of this.
const BOX_ALIGN: u32 = 128;

/// Starts the bulk copies of the lanes in `mask`.
pub fn begin(core: &mut Core<'_>, registers: &Registers, index: u32, mask: u32, pc: u32) -> Result<(), Stop> {
    let program = core.machine.program;
    let copy = program.bulk_copies[index as usize];
    let access = program.accesses[copy.access as usize];
    let [shared, global] = [&copy.shared, &access.address].map(|address| lane_addresses(registers, address));
    for lane in lanes_of(mask) {
        let op = if matches!(copy.direction, BulkDirection::Load { .. }) { AccessOp::Store } else { AccessOp::Load };
        let request = Request { op, index: copy.access, pc, bytes: UNIT, mask: 1 << lane, addresses: &shared };
        // An address outside shared memory is found before its low bits are taken for an offset.
        core.check_shared(&request)?;
        if op == AccessOp::Load {
            core.check_own_shared(&request)?;
        }
        let offset = (shared[lane] & WINDOW_OFFSET) as u32;
        let footprint = match copy.extent {
            BulkExtent::Bytes(bytes) => {
                let bytes = registers.words(bytes)[lane];
                if !bytes.is_multiple_of(UNIT) {
                    return Err(core.refuse_bulk_copy(BulkCopyMisuse::Size { bytes }, &request));
                }
                Footprint::line(global[lane], bytes, offset)
            }
            BulkExtent::Box { coordinates, rank } => {
                let map_request = Request { op: AccessOp::Load, addresses: &global, ..request };
                let map = core.tensor_map(&map_request, access.space, rank)?;
                if !offset.is_multiple_of(BOX_ALIGN) {
                    return Err(core.refuse_bulk_copy(BulkCopyMisuse::BoxAlignment { offset }, &request));
                }
                let mut origin = [0; 5];
                for (at, register) in origin.iter_mut().zip(coordinates).take(rank as usize) {
                    *at = registers.words(register)[lane] as i32;
                }
                if let Some(misuse) = map::misplaced(&map, origin, op == AccessOp::Load) {
                    return Err(core.refuse_bulk_copy(misuse, &request));
                }
                Footprint::of_box(map, origin, offset)
            }
        };
        let in_block = core.machine.clusters.in_block(offset.into()) as u32;
        if footprint.bytes() > core.machine.shared_bytes.saturating_sub(in_block) {
            let bytes = footprint.bytes();
            if footprint.map().is_none() {
                return Err(core.out_of_bounds(Space::Shared, &Request { bytes, ..request }));
            }
            let misuse = BulkCopyMisuse::OutsideShared { offset: in_block, bytes, there: core.machine.shared_bytes };
            return Err(core.refuse_bulk_copy(misuse, &request));
        }
        match copy.direction {
            BulkDirection::Load { barrier, receivers } => {
                let barriers = lane_addresses(registers, &barrier);
                let receivers = receivers.map(|receivers| registers.words(receivers)[lane]);
                let barrier = Request { bytes: 8, addresses: &barriers, op: AccessOp::Atomic, ..request };
                load::begin(core, &footprint, &barrier, receivers)?;
            }
            BulkDirection::Store { reduction } => store::begin(core, footprint, reduction, &request)?,
        }
    }
    Ok(())
}

impl Core<'_> {
    /// Checks that a row's bytes inside the tensor are in global memory.
    fn check_row(&mut self, footprint: &Footprint, row: &footprint::Row, request: &Request<'_>) -> Result<(), Stop> {
        let bytes = row.inside.end - row.inside.start;
        let machine = self.machine;
        let region = machine.region(&mut self.check_hint, row.address, bytes.into());
        if region.is_some_and(|region| request.op == AccessOp::Load || !region.read_only) {
            return Ok(());
        }
        let Some(map) = footprint.map() else {
            // The fault of the 16 bytes that are not there.
            for at in (0..u64::from(bytes)).step_by(UNIT as usize) {
                let addresses = [row.address.wrapping_add(at); LANES];
                self.check_global(&Request { bytes: UNIT, addresses: &addresses, ..*request })?;
            }
            return Ok(());
        };
        let misuse = BulkCopyMisuse::OutsideAllocation {
            address: row.address,
            bytes,
            nearest: machine.nearest(row.address),
            tensor: map.address,
            extent: map.extent_bytes(),
        };
        Err(self.refuse_bulk_copy(misuse, request))
    }
}
