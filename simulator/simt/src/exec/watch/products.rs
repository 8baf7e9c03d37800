//! Checks the use of `wgmma`: the registers of products, their operands in shared memory, and what the warps of a warpgroup execute.

use super::found::{Defect, WgmmaDefect};
use super::watcher::Watch;
use crate::exec::core::Core;
use crate::exec::machine::Machine;
use crate::exec::products::{Agreed, WARPS, collide, slots};
use crate::exec::request::Request;
use ptx::finding::wgmma::RegisterUse;

impl Core<'_> {
    /// Notes the registers of products that an instruction names.
    pub fn note_mentions(&mut self, pc: u32) {
        let program = self.machine.program;
        let of_warp = &mut self.products.by_warp[self.warp as usize];
        for mention in program.mentions.at(pc) {
            let slot = mention.slot as usize;
            of_warp.named[slot] = pc + 1;
            if mention.writes {
                of_warp.written[slot] = pc + 1;
            }
            let usage = if mention.writes { RegisterUse::WritesSum } else { RegisterUse::ReadsSum };
            let found = match (of_warp.in_d[slot], of_warp.in_a[slot]) {
                (0, 0) => continue,
                (0, product) if mention.writes => (product, RegisterUse::WritesFactor),
                (0, _) => continue,
                (product, _) => (product, usage),
            };
            if let Some(watch) = &mut self.watch {
                watch.product(WgmmaDefect::RegisterInUse { product: found.0 - 1, usage: found.1 }, pc, self.warp);
            }
        }
    }

    /// Checks the start of a product.
    pub fn watch_start(&mut self, step: Agreed, index: u32) {
        let program = self.machine.program;
        let Some(watch) = &mut self.watch else { return };
        let (pc, warp) = (step.pc, self.warp);
        let of_warp = &self.products.by_warp[warp as usize];
        let (of_d, of_a) = slots(program, index);
        let accessed = of_d.map(|slot| of_warp.named[slot]).chain(of_a.map(|slot| of_warp.written[slot]));
        let last = accessed.max().and_then(|access| access.checked_sub(1));
        if !of_warp.has_fenced || last.is_some() {
            let access = last.filter(|_| of_warp.has_fenced);
            watch.product(WgmmaDefect::Unfenced { access, moves: access.is_some_and(|pc| program.is_move(pc)) }, pc, warp);
        }
        let of = |index: u32| &program.wgmmas[index as usize];
        for product in of_warp.unfinished.iter().filter(|product| collide(of(product.index), of(index))) {
            let usage = RegisterUse::OtherProduct;
            watch.product(WgmmaDefect::RegisterInUse { product: product.pc, usage }, pc, warp);
        }
        if let Some(other) = self.products.by_group[group(self.first_warp, warp, self.machine)].execute(step) {
            watch.product(WgmmaDefect::Disagreement { other: Some((other.pc, other.warp)) }, pc, warp);
        }
    }

    /// Notes a store to bytes that an unfinished product reads.
    #[cold]
    pub fn note_store_in_use(&mut self, request: &Request<'_>, lane: usize) {
        let reader = self.products.reader(request.offset(lane), request.bytes);
        if let (Some((pc, warp)), Some(watch)) = (reader, &mut self.watch) {
            let product = watch.site(pc, warp, 0);
            let access = request.in_shared(lane);
            watch.report(Defect::Wgmma(WgmmaDefect::SharedInUse { access, product }), request.pc, self.warp, lane);
        }
    }

    /// Ends a warp. Notes the products that it leaves behind, and, after the last of its warpgroup, those that not all warps executed.
    pub fn end_products(&mut self) {
        let warp = self.warp;
        let Some(watch) = &mut self.watch else { return };
        let of_warp = &self.products.by_warp[warp as usize];
        if let Some(product) = of_warp.unfinished.front() {
            let committed = product.group < of_warp.groups;
            watch.product(WgmmaDefect::Abandoned { committed }, product.pc, warp);
        }
        let (warps, in_block) = (self.machine.warps(), warp - self.first_warp);
        let group = &mut self.products.by_group[group(self.first_warp, warp, self.machine)];
        group.ended += 1;
        if group.ended == WARPS.min(warps - in_block / WARPS * WARPS)
            && let Some(missed) = group.missed()
        {
            watch.product(WgmmaDefect::Disagreement { other: None }, missed.pc, self.first_warp + missed.warp);
        }
    }
}

/// Returns the index of a warp's warpgroup in the cluster. `first_warp` is the first warp of its block.
fn group(first_warp: u32, warp: u32, machine: &Machine<'_>) -> usize {
    let warps = machine.warps();
    (first_warp / warps * warps.div_ceil(WARPS) + (warp - first_warp) / WARPS) as usize
}

impl Watch {
    fn product(&mut self, defect: WgmmaDefect, pc: u32, warp: u32) {
        self.report(Defect::Wgmma(defect), pc, warp, 0);
    }
}
