//! Which loads and stores the machine code merges into one request.
//!
//! A GPU does not execute PTX. The assembler, ptxas, merges loads (or stores) of neighboring words into one wide request, and a GPU
//! counts the requests of the machine code. This is a model of what ptxas does, for counting only: every load still moves its own
//! bytes and is checked by itself. The model comes from reading the machine code of ptxas 12.0, 12.9, 13.0 and 13.5 for compute
//! capability 7.5 to 9.0, which agree except where noted. `simt/tests/merging` and `simt/tests/programs/merging.cu` hold the patterns that
//! were read.
//!
//! - Elements of 4 and 8 bytes merge, scalar or vector, and loads of any type with each other. Narrower elements never do.
//! - They merge into aligned pieces of 16 bytes, or of 8. For loads, three of the four words are enough for one request of 16
//!   bytes, which then fetches an unused word. Two words merge only if they are an aligned pair. Stores must not write other words,
//!   so they merge in fours or in aligned pairs. A word that is loaded twice is loaded once.
//! - The addresses must have the same base register plus numbers, and the base must be known to be aligned ([`Facts`]). The address
//!   of a shared variable is as aligned as its offset, whatever `.align` says. Nothing is known about kernel parameters and the
//!   addresses of global variables, so global accesses merge only after a mask. (Up to version 12.0, global variables have the
//!   alignment of their `.align`. For 8.x and before, the offset of a shared variable counts as part of the access's offset, so
//!   accesses also merge in variables that start between two multiples of 16.)
//! - All are in one basic block, without a predicate. Between them there is no barrier, fence or call, and no store or atomic
//!   operation on the same memory, not even one to a provably different address. Between stores there is no load from that memory
//!   either.
//! - Volatile and ordered accesses do not merge.
//!
//! Unrolling does not matter: ptxas unrolls loops after merging, and the front end before.
use std::collections::{BTreeMap, HashMap};

use super::code::{Action, Exchange, Inst, Program};
use super::fixed::TRUE;
use super::flow::leads_block;
use super::known::{Facts, constant};
use super::operations::MachineRequest;
use super::registers::written;
use crate::finding::Space;
use alu::Alu;
use alu::registers::{Kind, Reg};

/// Predicts the requests of a program's loads and stores.
pub fn machine_requests(program: &Program, facts: &Facts) -> Vec<MachineRequest> {
    let requests = vec![MachineRequest::AsWritten; program.accesses.len()];
    let mut merging = Merging { program, facts, requests, values: HashMap::new(), versions: HashMap::new(), open: HashMap::new() };
    let leads = leads_block(&program.code, 0);
    for (at, inst) in program.code.iter().enumerate() {
        if leads[at] {
            merging.close(|_, _| true);
            merging.values.clear();
        }
        merging.instruction(inst);
    }
    merging.close(|_, _| true);
    merging.requests
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Base {
    /// The start of the memory.
    Start,
    /// A register's value, between two writes to it.
    Register(Reg, u32),
}

/// An access that may still merge with later ones.
#[derive(Clone, Copy, Debug)]
struct Member {
    index: u32,
    base: Base,
    offset: i64,
}

struct Merging<'p> {
    program: &'p Program,
    facts: &'p Facts,
    requests: Vec<MachineRequest>,
    /// Registers of the current basic block that are another register's value plus a number.
    values: HashMap<Reg, (Base, i64)>,
    /// How often each register was written.
    versions: HashMap<Reg, u32>,
    /// Accesses with nothing in between that prevents merging.
    open: HashMap<(Space, Kinds), Vec<Member>>,
}

impl Merging<'_> {
    fn instruction(&mut self, inst: &Inst) {
        match inst.action {
            Action::Load(index) => self.load(index, inst),
            Action::Store(index) => self.store(index, inst),
            Action::Atomic(index) => match self.program.atomics[index as usize].space {
                Some(space) => self.close(|other, _| other == space),
                None => self.close(|_, _| true),
            },
            Action::Alu { .. }
            | Action::Exchange(
                Exchange::Match { .. }
                | Exchange::Reduce { .. }
                | Exchange::Shuffle { .. }
                | Exchange::Vote { .. }
                | Exchange::ActiveMask { .. },
            )
            | Action::Clock { .. }
            | Action::Nothing => {}
            _ => self.close(|_, _| true),
        }
        let sum = self.sum(inst);
        written(self.program, inst, &mut |register, kind| {
            if kind != Kind::Predicate {
                *self.versions.entry(register).or_default() += 1;
                self.values.remove(&register);
            }
        });
        if let Some((register, value)) = sum {
            self.values.insert(register, value);
        }
    }

    /// Reads an instruction that adds a number to a register's value. Returns the register that it sets, and the sum.
    fn sum(&self, inst: &Inst) -> Option<(Reg, (Base, i64))> {
        let Action::Alu { alu, destination, sources } = inst.action else { return None };
        let number = |source: Reg| constant(self.program, source).map(|bits| bits as i64);
        let (source, offset) = match alu {
            Alu::Mov64 => (sources[0], 0),
            Alu::Add64 => match number(sources[1]) {
                Some(offset) => (sources[0], offset),
                None => (sources[1], number(sources[0])?),
            },
            Alu::Sub64 => (sources[0], number(sources[1])?.wrapping_neg()),
            _ => return None,
        };
        let (base, before) = self.value(source);
        (inst.guard == TRUE).then_some((destination, (base, before.wrapping_add(offset))))
    }

    fn value(&self, register: Reg) -> (Base, i64) {
        if let Some(bits) = constant(self.program, register) {
            return (Base::Start, bits as i64);
        }
        let itself = (Base::Register(register, self.versions.get(&register).copied().unwrap_or(0)), 0);
        self.values.get(&register).copied().unwrap_or(itself)
    }

    /// Returns the access, if it may merge at all.
    fn member(&self, index: u32, inst: &Inst) -> Option<Member> {
        let access = &self.program.accesses[index as usize];
        let (base, offset) = self.value(access.address.base);
        let merges = inst.guard == TRUE
            && access.width >= 4
            && !access.semantics.strong
            && !access.of_function
            && matches!(access.space, Some(Space::Shared | Space::Global | Space::Local));
        merges.then_some(Member { index, base, offset: offset.wrapping_add(access.address.offset) })
    }

    fn load(&mut self, index: u32, inst: &Inst) {
        let space = self.program.accesses[index as usize].space;
        self.close(|other, kinds| space.is_none_or(|space| space == other) && kinds == Kinds::Stores);
        if let (Some(space), Some(member)) = (space, self.member(index, inst)) {
            self.open.entry((space, Kinds::Loads)).or_default().push(member);
        }
    }

    fn store(&mut self, index: u32, inst: &Inst) {
        let Some(space) = self.program.accesses[index as usize].space else { return self.close(|_, _| true) };
        self.close(|other, kinds| other == space && kinds == Kinds::Loads);
        let extent =
            |member: &Member| member.offset..member.offset + i64::from(self.program.accesses[member.index as usize].bytes());
        let member = self.member(index, inst);
        let is_apart = |old: &Member, new: &Member| {
            old.base == new.base && (extent(old).end <= extent(new).start || extent(new).end <= extent(old).start)
        };
        let before = self.open.get(&(space, Kinds::Stores));
        if !member.is_some_and(|new| before.is_none_or(|before| before.iter().all(|old| is_apart(old, &new)))) {
            self.close(|other, kinds| other == space && kinds == Kinds::Stores);
        }
        if let Some(member) = member {
            self.open.entry((space, Kinds::Stores)).or_default().push(member);
        }
    }

    /// Merges the collected accesses of some memories and kinds. Later accesses cannot join them.
    fn close(&mut self, is_closed: impl Fn(Space, Kinds) -> bool) {
        let closed: Vec<_> = self.open.extract_if(|(space, kinds), _| is_closed(*space, *kinds)).collect();
        for ((_, kinds), members) in closed {
            self.merge(members, kinds);
        }
    }

    fn merge(&mut self, members: Vec<Member>, kinds: Kinds) {
        if members.len() < 2 {
            return;
        }
        // By base, element and aligned piece of memory, and in each group in program order.
        let mut chunks: BTreeMap<(Base, u32, i64), Vec<Member>> = BTreeMap::new();
        for member in members {
            let access = &self.program.accesses[member.index as usize];
            let bytes = i64::from(access.bytes());
            let aligned = self.aligned(member.base);
            if aligned >= bytes && member.offset % bytes == 0 {
                chunks.entry((member.base, access.width, member.offset.div_euclid(aligned) * aligned)).or_default().push(member);
            }
        }
        for ((base, width, start), members) in chunks {
            self.merge_chunk(&members, kinds, width, start, self.aligned(base));
        }
    }

    /// Returns the known alignment of a base, up to 16 bytes.
    fn aligned(&self, base: Base) -> i64 {
        match base {
            Base::Start => 16,
            Base::Register(register, _) => 1 << self.facts.known(register).low_zeros.min(4),
        }
    }

    /// Merges the accesses within `size` bytes from `start` on.
    fn merge_chunk(&mut self, members: &[Member], kinds: Kinds, width: u32, start: i64, size: i64) {
        let bytes_of = |member: &Member| i64::from(self.program.accesses[member.index as usize].bytes());
        if kinds == Kinds::Stores && members.iter().any(|member| bytes_of(member) != bytes_of(&members[0])) {
            return;
        }
        let touches = |at: i64| members.iter().any(|member| (member.offset..member.offset + bytes_of(member)).contains(&at));
        let width = i64::from(width);
        let touched =
            |start: i64, size: i64| (start..start + size).step_by(width as usize).filter(|at| touches(*at)).count() as i64;
        let enough = |size: i64| match kinds {
            // Three words of four.
            Kinds::Loads if size == 4 * width => 3,
            _ => size / width,
        };
        let mut pieces = Vec::new();
        let mut open = vec![(start, size)];
        while let Some((start, size)) = open.pop() {
            if size == width || touched(start, size) >= enough(size) {
                pieces.push((start, size));
            } else {
                open.extend([(start, size / 2), (start + size / 2, size / 2)]);
            }
        }
        for (start, size) in pieces {
            let of_piece: Vec<_> = members.iter().filter(|member| (start..start + size).contains(&member.offset)).collect();
            if let [first, others @ ..] = of_piece.as_slice()
                && !others.is_empty()
            {
                let shift = (start - first.offset) as i32;
                self.requests[first.index as usize] = MachineRequest::Merged { bytes: size as u32, shift };
                others.iter().for_each(|other| self.requests[other.index as usize] = MachineRequest::OfAnother);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kinds {
    Loads,
    Stores,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Module;

    /// Lists the memory instructions that the model predicts for a kernel. The test's files write them like this: `LDS.128 1, STG 1`.
    fn machine_code(program: &Program) -> String {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for inst in &program.code {
            let (name, index) = match inst.action {
                Action::Load(index) => ("LD", index),
                Action::Store(index) => ("ST", index),
                _ => continue,
            };
            let access = &program.accesses[index as usize];
            let bytes = match program.machine_requests[index as usize] {
                MachineRequest::AsWritten => access.bytes(),
                MachineRequest::Merged { bytes, .. } => bytes,
                MachineRequest::OfAnother => continue,
            };
            let space = match access.space {
                Some(Space::Shared) => "S",
                Some(Space::Global) => "G",
                Some(Space::Local) => "L",
                _ => "",
            };
            let width = ["", ".U8", ".U16", "", "", "", "", "", ".64"].get(bytes as usize).unwrap_or(&".128");
            *counts.entry(format!("{name}{space}{width}")).or_default() += 1;
        }
        counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    }

    /// Checks each kernel against the comments above it in its source.
    fn check(ptx: &str, source: &str, kernels: usize) {
        let module = Module::parse(ptx).unwrap_or_else(|error| panic!("{error}"));
        let mut checked = 0;
        let (mut machine, mut model) = ("", None);
        for line in source.lines() {
            let declared = [".visible .entry ", "extern \"C\" __global__ void "].iter().find_map(|start| line.strip_prefix(start));
            if let Some(read) = line.strip_prefix("// machine: ") {
                (machine, model) = (read, None);
            } else if let Some(differs) = line.strip_prefix("// model: ") {
                model = Some(differs);
            } else if let Some(rest) = declared {
                let name = rest.split('(').next().unwrap_or_default();
                let found = machine_code(&module.kernel(name).expect("a kernel of the module").program);
                assert_eq!(found, model.unwrap_or(machine), "{name}");
                assert_ne!(model, Some(machine), "{name}: no difference");
                checked += 1;
            }
        }
        assert_eq!(checked, kernels);
    }

    #[test]
    fn neighboring_words_merge_as_ptxas_merges_them() {
        let patterns = include_str!("../../../simt/tests/merging/patterns.ptx");
        check(patterns, patterns, 110);
    }

    #[test]
    fn whole_kernels_merge_as_ptxas_merges_them() {
        let source = include_str!("../../../simt/tests/programs/merging.cu");
        check(include_str!("../../../simt/tests/programs/merging.ptx"), source, 21);
    }
}
