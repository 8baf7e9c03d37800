//! The calls that a core makes for the async proxy: bulk copies, and whatever else reads and writes shared memory past the threads.

use super::found::Defect;
use super::mark::Mark;
use super::watcher::Watch;
use crate::exec::core::Core;
use crate::exec::phases::Wait;
use crate::exec::request::{Pattern, Request, lanes_of};
use alu::registers::LANES;
use ptx::finding::AccessOp;
use ptx::program::Semantics;

impl Core<'_> {
    /// Notes that the async proxy may read shared memory from now on. It does so for the lanes of a request. What the async proxy
    /// reads must have been written, and be visible to it.
    pub fn watch_async_read(&mut self, request: &Request<'_>) {
        let warp = self.warp;
        self.watch_shared_load(request, Pattern::Other, Semantics::default());
        let Some(watch) = &mut self.watch else { return };
        for lane in lanes_of(request.mask) {
            let Some(proxy) = &watch.proxy else { return };
            let unseen = proxy.read(&watch.order, (warp, lane as u32), request.offset(lane), request.bytes);
            // If nothing orders the two, that is a race, and was reported as one.
            let Some(unseen) = unseen.filter(|unseen| watch.order.is_behind(unseen.write, warp, lane as u32)) else { continue };
            let writer = watch.site(unseen.write.pc(), unseen.write.warp(), unseen.write.lane());
            let (access, writer_op) = (request.in_shared(lane), AccessOp::Store);
            let defect = Defect::MissingProxyFence { access, writer, writer_op, late: unseen.late };
            watch.report(defect, request.pc, warp, lane);
        }
    }

    /// Notes that the async proxy may write shared memory from now on. It does so for one lane.
    pub fn watch_async_write(&mut self, request: &Request<'_>, lane: usize) {
        self.watch_shared_store(request, lane, Semantics::default(), false);
        if let Some(proxy) = self.watch.as_mut().and_then(|watch| watch.proxy.as_mut()) {
            proxy.write(Mark::default(), request.offset(lane), request.bytes);
        }
    }

    /// Notes that a lane's wait for a phase is over.
    pub fn watch_wait(&mut self, lane: usize, wait: Wait) {
        let thread = self.warp * LANES as u32 + lane as u32;
        if let Some(proxy) = self.watch.as_mut().and_then(|watch| watch.proxy.as_mut()) {
            proxy.waited(thread, wait);
        }
    }
}

impl Watch {
    /// Notes that lanes of a warp execute a proxy fence.
    pub fn proxy_fence(&mut self, warp: u32, lanes: u32) {
        let Some(proxy) = &mut self.proxy else { return };
        let (time, known) = self.order.mark_fence(warp);
        proxy.fence(warp, lanes, time, known);
    }

    /// Finds the wait that explains a race with a bulk copy. It is the last wait of one of the threads, if that was for a phase
    /// that the thread had seen end.
    pub(super) fn stale_wait(&self, pcs: [u32; 2], threads: [u32; 2]) -> Option<Wait> {
        let proxy = self.proxy.as_ref().filter(|proxy| pcs.iter().any(|pc| proxy.is_bulk(*pc)))?;
        threads.iter().find_map(|thread| proxy.stale_wait(*thread))
    }
}
