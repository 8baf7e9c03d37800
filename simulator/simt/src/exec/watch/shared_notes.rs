//! Checks the accesses of a core to shared memory, and the lanes that its warps read.

use super::found::Defect;
use crate::exec::core::Core;
use crate::exec::request::{Pattern, Request, lanes_of};
use alu::registers::LANES;
use ptx::program::Semantics;

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

    /// Notes an access outside the array that its address was made from.
    #[inline(always)]
    pub fn watch_array(&mut self, request: &Request<'_>, pattern: Pattern, array: u32) {
        if self.watch.is_none() {
            return;
        }
        let variable = &self.machine.program.shared_variables[array as usize];
        let (start, end) = (variable.offset, variable.offset + variable.bytes.unwrap_or(u32::MAX / 2));
        let clusters = self.machine.clusters;
        let are_inside = |offset: u32, bytes: u32| {
            let offset = clusters.in_block(offset.into()) as u32;
            offset >= start && offset + bytes <= end
        };
        let (first, bytes) = (request.offset(request.first_lane()), request.bytes);
        let all_inside = match pattern {
            Pattern::Same(_) => are_inside(first, bytes),
            Pattern::Run(_) => are_inside(first, bytes * LANES as u32),
            Pattern::Other => lanes_of(request.mask).all(|lane| are_inside(request.offset(lane), bytes)),
        };
        if !all_inside {
            self.note_outside(request, array, |offset| are_inside(offset, bytes));
        }
    }

    #[cold]
    fn note_outside(&mut self, request: &Request<'_>, array: u32, is_inside: impl Fn(u32) -> bool) {
        for lane in lanes_of(request.mask).filter(|lane| !is_inside(request.offset(*lane))) {
            self.check(|watch, warp| {
                watch.report(Defect::OutsideArray { access: request.in_shared(lane), array }, request.pc, warp, lane)
            });
        }
    }

    /// Notes that a lane reads an absent lane's register. Does nothing if the value is not stored.
    #[cold]
    pub fn note_absent_lane(&mut self, pc: u32, lane: usize, source: usize) {
        if self.fates.is_stored(self.machine.program, pc) {
            self.check(|watch, warp| watch.report(Defect::AbsentLane { source: source as u32 }, pc, warp, lane));
        }
    }

    /// Notes a store of one lane to shared memory, before it happens. `same` says that it leaves the bytes unchanged.
    #[inline(always)]
    pub fn watch_shared_store(&mut self, request: &Request<'_>, lane: usize, semantics: Semantics, same: bool) {
        if self.products.count != 0 {
            self.note_store_in_use(request, lane);
        }
        let warp = self.warp;
        let Some(watch) = &mut self.watch else { return };
        watch.shared_store(request, lane, semantics, warp, same);
    }
}
