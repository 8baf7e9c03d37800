//! Bulk copies to global memory, which their thread commits in groups and waits for.

use super::footprint::{Footprint, Row, UNIT};
use crate::exec::atomics;
use crate::exec::core::Core;
use crate::exec::machine::Stop;
use crate::exec::request::{Pattern, Request};
use crate::exec::stores::Store;
use crate::exec::watch::found::Defect;
use crate::tensor_map::{Element, TensorMap};
use alu::registers::LANES;
use ptx::finding::{AccessOp, BulkCopyMisuse};
use ptx::program::{AtomicOp, Reduction, Semantics, typed_reduction};

/// Starts the store of one lane. `request` is to its first bytes in shared memory.
pub fn begin(core: &mut Core<'_>, footprint: Footprint, reduction: Option<Reduction>, request: &Request<'_>) -> Result<(), Stop> {
    let lane = request.first_lane();
    let reduction = match reduction {
        None => None,
        Some(Reduction::Typed(op, width)) => Some((op, width)),
        Some(Reduction::OfMap(op)) => match footprint.map().and_then(|map| reduction_of(op, map)) {
            Some(typed) => Some(typed),
            None => {
                return Err(core.refuse_bulk_copy(BulkCopyMisuse::Reduction { op: op.to_owned() }, request));
            }
        },
    };
    let op = if reduction.is_some() { AccessOp::Atomic } else { AccessOp::Store };
    for row in footprint.rows().iter().filter(|row| !row.inside.is_empty()) {
        let addresses = [row.address; LANES];
        let write = Request { op, bytes: row.inside.end - row.inside.start, addresses: &addresses, ..*request };
        core.check_row(&footprint, row, &write)?;
        core.count_store_row(&write);
        core.watch_in_flight(&write, reduction.is_some());
        read_row(core, &footprint, row, request)?;
    }
    let group = *core.stores.groups(core.warp, lane as u32);
    core.copies.begin_reading(footprint.units());
    core.stores.pending.push(Store {
        warp: core.warp,
        lane: lane as u32,
        pc: request.pc,
        index: request.index,
        group,
        global: footprint.global(),
        footprint,
        data: None,
        reduction,
    });
    Ok(())
}

/// Notes that the async proxy reads the bytes of a row.
fn read_row(core: &mut Core<'_>, footprint: &Footprint, row: &Row, request: &Request<'_>) -> Result<(), Stop> {
    for at in row.units() {
        let addresses = [u64::from(footprint.place(at)); LANES];
        let unit = Request { op: AccessOp::Load, bytes: UNIT, addresses: &addresses, ..*request };
        core.check_shared(&unit)?;
        core.watch_async_read(&unit);
    }
    Ok(())
}

/// Returns a reduction's operation on the map's elements, and their width.
fn reduction_of(op: &str, map: &TensorMap) -> Option<(AtomicOp, u32)> {
    let ty = match (map.element, op) {
        (Element::U8 | Element::U16, _) => return None,
        (Element::U32 | Element::S32, "and" | "or" | "xor") => "b32",
        (Element::U64, "and" | "or" | "xor") => "b64",
        (Element::U32, _) => "u32",
        (Element::S32, _) => "s32",
        (Element::U64, _) => "u64",
        (Element::S64, _) => "s64",
        (Element::F16, _) => "f16",
        (Element::Bf16, _) => "bf16",
        (Element::F32 | Element::F32Ftz | Element::Tf32 | Element::Tf32Ftz, _) => "f32",
        (Element::F64, _) => "f64",
    };
    typed_reduction(op, ty)
}

/// Waits for the stores of the lanes in `mask`. The last `pending` groups stay unfinished.
///
/// With `reads`, the wait is only until the stores have read shared memory, and otherwise until they have written global memory.
pub fn wait(core: &mut Core<'_>, (pending, reads): (u32, bool), mask: u32) {
    let mut stores = std::mem::take(&mut core.stores.pending);
    let is_waited_for = |core: &Core<'_>, store: &Store| {
        let is_ours = store.warp == core.warp && mask >> store.lane & 1 != 0;
        is_ours && store.group < core.stores.committed(store).saturating_sub(pending)
    };
    for store in &mut stores {
        if is_waited_for(core, store) {
            read(core, store, true);
        }
    }
    let finished: Vec<_> = stores.extract_if(.., |store| !reads && is_waited_for(core, store)).collect();
    core.stores.pending = stores;
    finished.iter().for_each(|store| write(core, store));
}

/// Finishes the stores that the running block has left. It has this many warps, which should have waited until the stores had read.
pub fn end_block(core: &mut Core<'_>, warps: u32) {
    let own = core.first_warp..core.first_warp + warps;
    let stores: Vec<_> = core.stores.pending.extract_if(.., |store| own.contains(&store.warp)).collect();
    for mut store in stores {
        core.warp = store.warp;
        if store.data.is_none() {
            let defect = Defect::UnwaitedStore { committed: store.group < core.stores.committed(&store) };
            core.check(|watch, warp| watch.report(defect, store.pc, warp, store.lane as usize));
            read(core, &mut store, false);
        }
        write(core, &store);
    }
}

/// Reads shared memory, if the store has not done so yet. To the other threads, the thread that waits does, if one `waits`.
fn read(core: &mut Core<'_>, store: &mut Store, waits: bool) {
    let Store { lane, pc, index, ref footprint, ref mut data, .. } = *store;
    if data.is_some() {
        return;
    }
    core.copies.end_reading(footprint.units());
    let bytes = data.insert(Vec::new());
    for row in footprint.rows().iter().filter(|row| !row.inside.is_empty()) {
        let first = bytes.len();
        bytes.resize(first + row.bytes as usize, 0);
        for at in row.units() {
            let place = footprint.place(at) as usize / 4;
            let words: &[u8] = bytemuck::cast_slice(&core.shared[place..][..UNIT as usize / 4]);
            bytes[first + (at - row.offset) as usize..][..UNIT as usize].copy_from_slice(words);
            let addresses = [place as u64 * 4; LANES];
            // The async proxy has read these bytes by now, as far as the lane can know.
            if waits {
                let unit = Request { op: AccessOp::Load, index, pc, bytes: UNIT, mask: 1 << lane, addresses: &addresses };
                core.watch_shared_load(&unit, Pattern::Other, Semantics::default());
            }
        }
    }
}

/// Writes global memory. To the other threads, the store's own thread does.
fn write(core: &mut Core<'_>, store: &Store) {
    let Store { lane, pc, index, ref footprint, ref data, reduction, .. } = *store;
    let (lane, mut data) = (lane as usize, data.as_deref().unwrap_or_default());
    let machine = core.machine;
    let op = if reduction.is_some() { AccessOp::Atomic } else { AccessOp::Store };
    for row in footprint.rows().iter().filter(|row| !row.inside.is_empty()) {
        let bytes = data.split_off(..row.bytes as usize).unwrap_or_default();
        let mut hint = core.atomic_hint;
        let Some(region) = machine.region(&mut hint, row.address, 1) else { continue };
        // The last 16 bytes of a row are written whole, as on an H200, though some may be past the tensor's last element.
        let end = u64::from(row.inside.end.next_multiple_of(UNIT)).min(u64::from(row.inside.start) + region.end() - row.address);
        let bytes = &bytes[row.inside.start as usize..end as usize];
        let addresses = [row.address; LANES];
        let request = Request { op, index, pc, bytes: bytes.len() as u32, mask: 1 << lane, addresses: &addresses };
        let offset = row.address - region.base;
        let same = || {
            let mut there = vec![0; bytes.len()];
            region.buffer.read(offset, &mut there);
            there == bytes
        };
        match reduction {
            None => {
                let write = || region.buffer.write(offset, bytes);
                core.watch_global_store(&request, lane, Semantics::default(), same, write);
                region.buffer.note_written(offset, bytes.len() as u64);
            }
            Some((op, width)) => {
                // As an H200 adds, which keeps denormals unless the map says otherwise.
                let flushes = footprint.map().is_some_and(|map| matches!(map.element, Element::F32Ftz | Element::Tf32Ftz));
                let combine = || {
                    for (address, element) in (row.address..).step_by(width as usize).zip(bytes.chunks_exact(width as usize)) {
                        let operand = element.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                        atomics::on_global(machine, &mut hint, (op, width, flushes), address, [operand, 0]);
                    }
                };
                let relaxed = Semantics { strong: true, ..Semantics::default() };
                core.watch_global_store(&request, lane, relaxed, || false, combine);
            }
        }
    }
}
