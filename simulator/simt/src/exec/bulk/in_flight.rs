//! Accesses to global memory that an unfinished copy writes, or has yet to read.
//!
//! PTX ISA 9.0, "Async proxy" and "cp.async.bulk": a copy is made at some time between its start and the end of the wait for it, and nothing orders
//! it with other copies. For the writes of a store, that wait is `cp.async.bulk.wait_group` without `.read`. For the reads of a load, it is the
//! wait for its barrier. So it is for `cp.async`. "Completion Mechanisms for Asynchronous Copy Operations": "Once an asynchronous copy operation is
//! initiated, modifying the source memory location or tensor descriptor or reading from the destination memory location before the asynchronous
//! operation completes, exhibits undefined behavior." Reductions of bulk copies are relaxed operations on each element, and may be at one place
//! at the same time.

use crate::exec::core::Core;
use crate::exec::request::{Request, lanes_of};
use crate::exec::watch::found::Defect;
use crate::exec::watch::mark::Mark;
use ptx::finding::{AccessOp, Space};

impl Core<'_> {
    /// Notes a request to bytes of an unfinished copy. If it `combines`, it may be at one place with reductions.
    #[inline(always)]
    pub fn watch_in_flight(&mut self, request: &Request<'_>, combines: bool) {
        let may_be_read = self.copies.count != 0 && request.op != AccessOp::Load;
        if self.watch.is_some() && (may_be_read || !self.stores.pending.is_empty()) {
            self.note_in_flight(request, combines);
        }
    }

    #[inline(never)]
    fn note_in_flight(&mut self, request: &Request<'_>, combines: bool) {
        for lane in lanes_of(request.mask) {
            let access = request.access(Space::Global, request.addresses[lane]);
            let bytes = access.address..access.address + u64::from(access.bytes);
            let writer =
                self.stores.pending.iter().find(|store| !(combines && store.reduction.is_some()) && store.global.meets(&bytes));
            let Some(watch) = &mut self.watch else { return };
            let reader = || {
                let bulk = self.copies.bulk.iter().find(|load| load.source.meets(&bytes));
                // Without a barrier, this is a race with the read of another warp's copy when that begins, which is found elsewhere.
                let is_behind = |mark: Mark| mark.warp() == self.warp || watch.order.is_behind(mark, self.warp, lane as u32);
                let of_lane = || self.copies.reader(&bytes, is_behind);
                let found = bulk.map(|load| (load.pc, load.warp, load.lane)).or_else(of_lane);
                found.filter(|_| request.op != AccessOp::Load)
            };
            let defect = match writer {
                Some(store) => Some(Defect::UnfinishedCopy { access, copy: watch.site(store.pc, store.warp, store.lane) }),
                None => reader().map(|(pc, warp, lane)| Defect::OverwritesStore { access, store: watch.site(pc, warp, lane) }),
            };
            if let Some(defect) = defect {
                return watch.report(defect, request.pc, self.warp, lane);
            }
        }
    }
}
