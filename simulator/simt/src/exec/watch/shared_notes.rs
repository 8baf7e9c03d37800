//! Checks the accesses of a core to shared memory.

use crate::exec::core::Core;
use crate::exec::request::{Pattern, Request};
use crate::program::Semantics;
use crate::registers::LANES;

impl Core<'_> {
    /// Notes a load from shared memory.
    #[inline(always)]
    pub fn watch_shared_load(&mut self, request: &Request<'_>, pattern: Pattern, semantics: Semantics) {
        let warp = self.warp;
        let Some(watch) = &mut self.watch else { return };
        let settled = match pattern {
            Pattern::Same(_) => watch.shared.is_settled(request.offset(request.first_lane()), request.bytes),
            Pattern::Run(_) => watch.shared.is_settled(request.offset(0), request.bytes * LANES as u32),
            Pattern::Other => false,
        };
        if !settled || semantics.strong {
            let (fates, program) = (&mut self.fates, self.machine.program);
            watch.shared_load(request, pattern, semantics, warp, || fates.used_bytes(program, request.pc));
        }
    }

    /// Notes a store of one lane to shared memory, before it happens. `same` says that it leaves the bytes unchanged.
    #[inline(always)]
    pub fn watch_shared_store(&mut self, request: &Request<'_>, lane: usize, semantics: Semantics, same: bool) {
        let warp = self.warp;
        let Some(watch) = &mut self.watch else { return };
        watch.shared_store(request, lane, semantics, warp, same);
    }
}
