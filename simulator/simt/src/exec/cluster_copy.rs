//! Copies from a thread to the shared memory of other blocks of its cluster, where a barrier counts the bytes: `st.async`, and
//! `cp.async.bulk` from one shared memory to another. Which blocks receive a copy that goes to several of them.

use super::bulk::{GlobalBytes, UNIT};
use super::copies::{Bulk, Unit};
use super::core::Core;
use super::machine::Stop;
use super::mbarrier::is_initialized;
use super::request::{Request, lane_addresses, lanes_of};
use alu::registers::{Kind, LANES, Registers};
use alu::windows::WINDOW_OFFSET;
use ptx::finding::{AccessOp, BulkCopyMisuse, FindingKind, MbarrierMisuse};
use ptx::program::{ClusterSource, Semantics};

/// Starts the copies of the lanes in `mask`.
pub fn begin(core: &mut Core<'_>, registers: &Registers, index: u32, mask: u32, pc: u32) -> Result<(), Stop> {
    let copy = core.machine.program.cluster_copies[index as usize];
    let [targets, barriers] = [&copy.target, &copy.barrier].map(|address| lane_addresses(registers, address));
    for lane in lanes_of(mask) {
        let at = |addresses, op, bytes| Request { op, index: 0, pc, bytes, mask: 1 << lane, addresses };
        let barrier = at(&barriers, AccessOp::Atomic, 8);
        core.check_shared(&barrier)?;
        let data = match copy.source {
            ClusterSource::Memory { address, bytes } => {
                let bytes = registers.words(bytes)[lane];
                if !bytes.is_multiple_of(UNIT) {
                    return Err(core.refuse_bulk_copy(BulkCopyMisuse::Size { bytes }, &barrier));
                }
                read(core, lane_addresses(registers, &address)[lane], bytes, &barrier)?
            }
            ClusterSource::Registers { registers: sources, kind, count } => {
                let values = sources.iter().take(count as usize).map(|source| registers.lane(kind, *source, lane));
                let words = if kind == Kind::Double { 2 } else { 1 };
                values.flat_map(|value| [value as u32, (value >> 32) as u32].into_iter().take(words)).collect()
            }
        };
        // An address outside shared memory is found before its low bits are taken for an offset.
        let first = 4 * data.len().min(UNIT as usize / 4) as u32;
        core.check_shared(&Request { op: AccessOp::Store, bytes: first.max(4), addresses: &targets, ..barrier })?;
        let target = (targets[lane] & WINDOW_OFFSET) as u32;
        let units = (target..).step_by(UNIT as usize).zip(data.chunks(UNIT as usize / 4));
        core.send(units.map(|(place, words)| Unit::new(place, words)).collect(), GlobalBytes::default(), &barrier)?;
    }
    Ok(())
}

/// Reads the block's own shared memory for the lane of a request.
fn read(core: &mut Core<'_>, from: u64, bytes: u32, request: &Request<'_>) -> Result<Vec<u32>, Stop> {
    let mut data = Vec::new();
    for at in (0..u64::from(bytes)).step_by(UNIT as usize) {
        let addresses = [from.wrapping_add(at); LANES];
        let part = Request { op: AccessOp::Load, bytes: UNIT, addresses: &addresses, ..*request };
        core.check_shared(&part)?;
        core.check_own_shared(&part)?;
        core.watch_async_read(&part);
        let word = part.offset(part.first_lane()) as usize / 4;
        data.extend_from_slice(&core.shared[word..word + UNIT as usize / 4]);
    }
    Ok(data)
}

impl Core<'_> {
    /// Starts copying these pieces for a request's only lane. They come from `source`. The request is to the barrier that counts them.
    pub fn send(&mut self, units: Vec<Unit>, source: GlobalBytes, barrier: &Request<'_>) -> Result<(), Stop> {
        let lane = barrier.first_lane();
        let offset = barrier.offset(lane);
        if !is_initialized(self, offset) {
            let misuse = MbarrierMisuse::NotInitialized;
            return Err(self.fault(FindingKind::InvalidMbarrier { address: offset.into(), misuse }, *barrier));
        }
        self.watch_shared_store(barrier, lane, Semantics { strong: true, ..Semantics::default() }, false);
        for unit in &units {
            let to = [unit.place.into(); LANES];
            let to = Request { op: AccessOp::Store, bytes: unit.bytes, addresses: &to, ..*barrier };
            self.check_shared(&to)?;
            self.watch_async_write(&to, lane);
        }
        // A thread that sees the phase end sees the copied bytes, and everything that the copying thread did before.
        self.check(|watch, warp| watch.order.arrive_in_memory(warp, offset, true));
        self.begin_bulk(Bulk {
            barrier: offset,
            warp: self.warp,
            lane: lane as u32,
            pc: barrier.pc,
            is_tested: false,
            units,
            source,
        });
        Ok(())
    }

    /// Returns the same place in each of these blocks' shared memory. `blocks` is a mask, and the places are addresses.
    pub fn in_blocks(&self, address: u64, blocks: u32) -> impl Iterator<Item = u64> + use<> {
        let clusters = self.machine.clusters;
        let offset = clusters.in_block(address);
        lanes_of(blocks & 0xffff).map(move |rank| offset | (rank as u64) << clusters.shift)
    }
}
