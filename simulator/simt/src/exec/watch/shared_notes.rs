//! Checks the accesses of a core to shared memory, and the lanes that its warps read.

use super::found::Defect;
use super::watcher::shared_access;
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
        let bytes = request.bytes;
        let is_inside = |offset: u32| offset >= start && offset + bytes <= end;
        let clusters = self.machine.clusters;
        let is_inside = |offset: u32| is_inside(clusters.in_block(offset.into()) as u32);
        let first = clusters.in_block(request.offset(request.first_lane()).into()) as u32;
        let all_inside = match pattern {
            Pattern::Same(_) => is_inside(first),
            Pattern::Run(_) => first >= start && first + bytes * LANES as u32 <= end,
            Pattern::Other => lanes_of(request.mask).all(|lane| is_inside(request.offset(lane))),
        };
        if !all_inside {
            self.note_outside(request, array, is_inside);
        }
    }

    #[cold]
    fn note_outside(&mut self, request: &Request<'_>, array: u32, is_inside: impl Fn(u32) -> bool) {
        let warp = self.warp;
        let Some(watch) = &mut self.watch else { return };
        for lane in lanes_of(request.mask).filter(|lane| !is_inside(request.offset(*lane))) {
            watch.report(Defect::OutsideArray { access: shared_access(request, lane), array }, request.pc, warp, lane);
        }
    }

    /// Notes that an asynchronous copy of `bytes` bytes is asked to read more of them.
    #[cold]
    pub fn note_copy_size(&mut self, pc: u32, lane: usize, (asked, bytes): (u32, u32)) {
        let warp = self.warp;
        if let Some(watch) = &mut self.watch {
            watch.report(Defect::CopySize { asked, bytes }, pc, warp, lane);
        }
    }

    /// Notes that a lane reads the register of a lane that is not there, if it stores the value.
    #[cold]
    pub fn note_absent_lane(&mut self, pc: u32, lane: usize, source: usize) {
        let (warp, program) = (self.warp, self.machine.program);
        let Some(watch) = &mut self.watch else { return };
        if self.fates.is_stored(program, pc) {
            watch.report(Defect::AbsentLane { source: source as u32 }, pc, warp, lane);
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
