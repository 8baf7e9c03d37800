//! The shadow of global memory: which blocks of a launch wrote and read every place.
//!
//! Blocks run in any order, at once or one after the other, and nothing but fences with flags can order them; a program that has
//! those is not judged. In any other, two blocks race when they access the same place and one of them writes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use bytemuck::Zeroable;

use super::found::{Defect, Site};
use super::{Strength, narrowest, strength};
use crate::exec::Machine;
use crate::exec::block::Core;
use crate::exec::registers::LANES;
use crate::exec::request::{Pattern, Request, lanes_of};
use crate::finding::{Access, AccessOp, Space};
use crate::program::{Action, Program, Semantics};

/// The shadow of all allocations, one per launch; each is made when it is first needed.
#[derive(Debug)]
pub struct GlobalShadow {
    regions: Vec<OnceLock<Box<[Place]>>>,
    /// Bytes of a place, as a power of two.
    shift: u32,
}

/// Who wrote and who read a place; zero is nobody.
#[derive(Debug, Zeroable)]
struct Place {
    writer: AtomicU64,
    reader: AtomicU64,
}

/// An access by a thread of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Visit(u64);

/// Bits of the instruction's place, and of the thread in its block.
const PC_BITS: u32 = 19;
const THREAD_BITS: u32 = 10;
const STRENGTH: u32 = PC_BITS + THREAD_BITS;
/// Blocks beside the one that is named read here too.
const MANY: u64 = 1 << (STRENGTH + 2);
const BLOCK: u32 = STRENGTH + 3;
/// In place of a writer: one is about to be.
const BEING_WRITTEN: u64 = u64::MAX;

impl Visit {
    fn new(block: u64, thread: u32, pc: u32, strength: Strength) -> Self {
        Self((block + 1) << BLOCK | (strength as u64) << STRENGTH | u64::from(thread) << PC_BITS | u64::from(pc))
    }

    /// What a place holds, if it holds anything.
    fn of(word: u64) -> Option<Self> {
        (word != 0).then_some(Self(word))
    }

    #[inline(always)]
    fn block(self) -> u64 {
        (self.0 >> BLOCK) - 1
    }

    fn thread(self) -> u32 {
        (self.0 >> PC_BITS) as u32 & ((1 << THREAD_BITS) - 1)
    }

    fn pc(self) -> u32 {
        self.0 as u32 & ((1 << PC_BITS) - 1)
    }

    fn strength(self) -> Strength {
        match self.0 >> STRENGTH & 3 {
            0 => Strength::Plain,
            1 => Strength::Strong,
            _ => Strength::Atomic,
        }
    }

    fn conflicts(self, other: Visit) -> bool {
        self.block() != other.block() && self.strength().min(other.strength()) == Strength::Plain
    }
}

impl GlobalShadow {
    /// A shadow, where one is of use: several blocks, something written, and nothing that orders blocks.
    pub fn new(program: &Program, blocks: u64, regions: usize) -> Option<Self> {
        let writes = program.code.iter().any(|inst| match inst.action {
            Action::Store(index) => matches!(program.accesses[index as usize].space, None | Some(Space::Global)),
            Action::Atomic(_) => true,
            _ => false,
        });
        let names_fit = program.code.len() < 1 << PC_BITS && blocks < (1 << (64 - BLOCK)) - 1;
        if blocks < 2 || !writes || program.orders_blocks || !names_fit {
            return None;
        }
        let shift = narrowest(program, Space::Global).clamp(1, 4).ilog2();
        Some(Self { regions: (0..regions).map(|_| OnceLock::new()).collect(), shift })
    }

    /// The places of a range of one allocation.
    #[inline(always)]
    fn places(&self, machine: &Machine<'_>, region: u32, offset: u64, bytes: u64) -> &[Place] {
        let places = self.regions[region as usize].get_or_init(|| {
            let count = machine.regions[region as usize].buffer.bytes().div_ceil(1 << self.shift) as usize;
            // Zeroed pages cost only where they are touched. Without room for a shadow there are no places, and nothing is found.
            bytemuck::allocation::try_zeroed_slice_box(count).unwrap_or_default()
        });
        let range = (offset >> self.shift) as usize..(offset + bytes).div_ceil(1 << self.shift) as usize;
        places.get(range).unwrap_or_default()
    }
}

impl Place {
    /// Notes a reader; what it conflicts with.
    #[inline(always)]
    fn read(&self, visit: Visit) -> Option<Visit> {
        // The reader is noted before the writer is looked at, and the other way round in a write: one of the two sees the other.
        let noted = self.reader.load(SeqCst);
        if noted == 0 || (noted & MANY == 0 && Visit(noted).block() != visit.block()) {
            self.note_reader(noted, visit);
        }
        self.writer().filter(|writer| writer.conflicts(visit))
    }

    #[inline(never)]
    fn note_reader(&self, mut noted: u64, visit: Visit) {
        loop {
            let next = match Visit::of(noted) {
                None => visit.0,
                Some(reader) if reader.block() == visit.block() => return,
                // A plain reader stands for a strong one too.
                Some(reader) if reader.strength() > visit.strength() => visit.0 | MANY,
                Some(_) => noted | MANY,
            };
            match self.reader.compare_exchange(noted, next, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => noted = now,
            }
        }
    }

    /// Begins a write: other blocks wait until it [ends](Self::end_write), so that what is found does not depend on the moment.
    /// Who wrote before.
    fn begin_write(&self) -> Option<Visit> {
        loop {
            match self.writer.swap(BEING_WRITTEN, SeqCst) {
                BEING_WRITTEN => std::hint::spin_loop(),
                writer => return Visit::of(writer),
            }
        }
    }

    /// Ends a write. Who read before.
    fn end_write(&self, visit: Visit) -> Option<Visit> {
        self.writer.store(visit.0, SeqCst);
        Visit::of(self.reader.load(SeqCst))
    }

    /// Who wrote last.
    #[inline(always)]
    fn writer(&self) -> Option<Visit> {
        loop {
            match self.writer.load(SeqCst) {
                BEING_WRITTEN => std::hint::spin_loop(),
                writer => return Visit::of(writer),
            }
        }
    }
}

impl Core<'_> {
    /// Notes a load from global memory.
    #[inline(always)]
    pub fn watch_global_load(&mut self, request: &Request<'_>, pattern: Pattern, semantics: Semantics) {
        if self.watch.is_some() {
            self.note_global_load(request, pattern, semantics);
        }
    }

    #[inline(never)]
    fn note_global_load(&mut self, request: &Request<'_>, pattern: Pattern, semantics: Semantics) {
        self.trace(request);
        let bytes = u64::from(request.bytes);
        let first = request.first_lane();
        // The whole request at once where its bytes stand together, else lane by lane.
        match pattern {
            Pattern::Same(address) => self.note_global_bytes(request, first, address, bytes, semantics),
            Pattern::Run(address) => self.note_global_bytes(request, first, address, bytes * LANES as u64, semantics),
            Pattern::Other => {
                for lane in lanes_of(request.mask) {
                    self.note_global_bytes(request, lane, request.addresses[lane], bytes, semantics);
                }
            }
        }
    }

    /// Notes bytes that lanes from `first` on read, each its own part or all the same.
    #[inline(always)]
    fn note_global_bytes(&mut self, request: &Request<'_>, first: usize, address: u64, bytes: u64, semantics: Semantics) {
        let machine = self.machine;
        let Some(region) = machine.region(&mut self.check_hint, address, bytes) else { return };
        let Some(watch) = &mut self.watch else { return };
        let offset = address - region.base;
        if let Some(unwritten) = region.buffer.first_unwritten(offset, bytes) {
            let lane = first + ((unwritten - offset) / u64::from(request.bytes)) as usize;
            let access = global_access(request, address + (lane - first) as u64 * u64::from(request.bytes));
            watch.report(Defect::Uninitialised { access }, request.pc, self.warp, lane);
        }
        if semantics.strong && watch.has_fences {
            watch.order.read(self.warp, address, semantics.acquires);
        }
        let Some(shadow) = &machine.global_shadow else { return };
        let thread = self.warp * LANES as u32 + first as u32;
        let strength = strength(request.op, semantics);
        let visit = Visit::new(watch.block, thread, request.pc, strength);
        let per_lane = (request.bytes >> shadow.shift).max(1) as usize;
        for (position, place) in shadow.places(machine, self.check_hint, offset, bytes).iter().enumerate() {
            let lane = (position / per_lane) as u32;
            // A lane later in the warp is a thread later in the block.
            let visit = Visit(visit.0 + (u64::from(lane) << PC_BITS));
            if let Some(other) = place.read(visit) {
                let own = address + u64::from(lane) * u64::from(request.bytes);
                watch.global_race(global_access(request, own), visit, other, AccessOp::Store);
            }
        }
    }

    /// Does a store or an atomic operation of one lane on global memory, and notes it. `same` says that it would leave the bytes as
    /// they are.
    #[inline(always)]
    pub fn watch_global_store<T>(
        &mut self,
        request: &Request<'_>,
        lane: usize,
        semantics: Semantics,
        same: impl FnOnce() -> bool,
        store: impl FnOnce() -> T,
    ) -> T {
        if self.watch.is_some() { self.note_global_store(request, lane, semantics, same, store) } else { store() }
    }

    fn note_global_store<T>(
        &mut self,
        request: &Request<'_>,
        lane: usize,
        semantics: Semantics,
        same: impl FnOnce() -> bool,
        store: impl FnOnce() -> T,
    ) -> T {
        self.trace(&request.of(1 << lane));
        let machine = self.machine;
        let (address, bytes) = (request.addresses[lane], u64::from(request.bytes));
        let Some(region) = machine.region(&mut self.check_hint, address, bytes) else { return store() };
        let Some(watch) = &mut self.watch else { return store() };
        let offset = address - region.base;
        let atomic = request.op == AccessOp::Atomic;
        if atomic && region.buffer.first_unwritten(offset, bytes).is_some() {
            watch.report(Defect::Uninitialised { access: global_access(request, address) }, request.pc, self.warp, lane);
        }
        if semantics.strong && watch.has_fences {
            if atomic {
                watch.order.read(self.warp, address, semantics.acquires);
            }
            watch.order.write(self.warp, address, semantics.releases);
        }
        let Some(shadow) = &machine.global_shadow else { return store() };
        let places = shadow.places(machine, self.check_hint, offset, bytes);
        let visit = Visit::new(watch.block, self.warp * LANES as u32 + lane as u32, request.pc, strength(request.op, semantics));
        let conflicting = |other: Option<Visit>| other.filter(|other| other.conflicts(visit));
        // Places are taken in the order of their addresses, so that no two blocks wait for each other.
        let writer = places.iter().fold(None, |writer, place| writer.or(conflicting(place.begin_write())));
        let writer = if writer.is_some() && same() { None } else { writer };
        let result = store();
        let reader = places.iter().fold(None, |reader, place| reader.or(conflicting(place.end_write(visit))));
        if let Some((other, op)) = writer.zip(Some(AccessOp::Store)).or(reader.zip(Some(AccessOp::Load))) {
            watch.global_race(global_access(request, address), visit, other, op);
        }
        result
    }
}

impl super::Watch {
    #[cold]
    fn global_race(&mut self, access: Access, visit: Visit, other: Visit, other_op: AccessOp) {
        let other_op = if other.strength() == Strength::Atomic { AccessOp::Atomic } else { other_op };
        let site = |visit: Visit| Site { block: visit.block(), thread: visit.thread(), pc: visit.pc() };
        self.found.add(site(visit), Defect::Race { access, other: site(other), other_op, same_warp: false });
    }
}

fn global_access(request: &Request<'_>, address: u64) -> Access {
    Access { space: Space::Global, op: request.op, address, bytes: request.bytes }
}
