//! Branches and phis.

use std::collections::HashMap;

use super::prelude::*;
use crate::mir::Inst as Machine;

/// A value that one part of a phi takes from a predecessor.
struct Copy {
    to: Reg,
    part: Part,
    scalar: Scalar,
    /// The register of the phi.
    phi: Reg,
    dbg: Option<u32>,
}

impl Copy {
    /// Returns the register that the value is in or is made from.
    fn source(&self) -> Option<Reg> {
        match &self.part {
            Part::Reg(reg, _) | Part::Address(Base::Reg(reg), _) => Some(*reg),
            _ => None,
        }
    }
}

impl Selector<'_> {
    /// Makes a phi: each part is a register that a register before the block is copied to. Since the latter is set in every
    /// predecessor and read here only, it does not matter in which order copies are made, nor where else a predecessor goes.
    pub fn phi(&mut self, inst: &Inst) -> Result<()> {
        let Some(result) = inst.result else { return Ok(()) };
        let scalars = layout::parts(&inst.ty)?;
        let mut parts = Vec::with_capacity(scalars.len());
        let mut copied = Vec::with_capacity(scalars.len());
        for scalar in &scalars {
            let class = class(*scalar);
            let (reg, source) = (self.new_reg(class), self.new_reg(class));
            self.push(mov(class), ops![reg], ops![source], false);
            copied.push([reg, source]);
            parts.push(Part::of(*scalar, reg));
        }
        self.values[result as usize] = Some(parts);
        self.incoming.insert(result, copied);
        Ok(())
    }

    /// Copies what the phis of a block take from its predecessors. A copy from a phi goes before the copy to it, so that one register
    /// will do for both sides of that phi.
    pub fn phi_copies(&mut self, block: usize, phis: &[Inst]) -> Result<()> {
        for from in self.graph.predecessors[block].clone() {
            self.current = from;
            let mut copies = Vec::new();
            for inst in phis {
                self.at(inst);
                self.copies_of(inst, from, &mut copies)?;
            }
            // How many copies are left to make from each phi.
            let mut readers: HashMap<Reg, usize> = HashMap::new();
            for copy in &copies {
                if let Some(reg) = copy.source() {
                    *readers.entry(reg).or_default() += 1;
                }
            }
            while !copies.is_empty() {
                let is_free = |copy: &Copy| {
                    let is_own = copy.source() == Some(copy.phi);
                    readers.get(&copy.phi).copied().unwrap_or(0) == usize::from(is_own)
                };
                // In a circle, any will do.
                let next = copies.iter().position(is_free).unwrap_or(0);
                let copy = copies.remove(next);
                if let Some(reg) = copy.source() {
                    *readers.entry(reg).or_insert(1) -= 1;
                }
                self.dbg = copy.dbg;
                self.copy_to_phi(from, copy)?;
            }
        }
        Ok(())
    }

    /// Finds the copies of one phi from one predecessor.
    fn copies_of(&mut self, inst: &Inst, from: usize, copies: &mut Vec<Copy>) -> Result<()> {
        let (IrOp::Phi(incoming), Some(result)) = (&inst.op, inst.result) else { return Ok(()) };
        let Some((value, _)) = incoming.iter().find(|(_, block)| *block == from) else {
            return self.fail("a phi without a value for one of its predecessors");
        };
        let parts = self.parts_as(value, inst.result)?;
        let scalars = layout::parts(&inst.ty)?;
        if parts.len() != scalars.len() {
            return self.fail("a phi of values of several types");
        }
        for (index, (part, scalar)) in parts.into_iter().zip(scalars).enumerate() {
            let [phi, to] = self.incoming[&result][index];
            copies.push(Copy { to, part, scalar, phi, dbg: inst.dbg });
        }
        Ok(())
    }

    fn copy_to_phi(&mut self, from: usize, Copy { to, part, scalar, .. }: Copy) -> Result<()> {
        let class = self.class(to);
        let source = match &part {
            Part::Undef => return Ok(()),
            // Copies of one register may become one; two constants would stay.
            Part::Bits(bits) => {
                let key = (from, class, *bits);
                let known = self.literals.get(&key).copied();
                let common = known.map_or_else(|| self.register(&part, scalar), Ok)?;
                self.literals.insert(key, common);
                common.into()
            }
            _ => self.operand(&part, scalar)?,
        };
        self.push(mov(class), ops![to], vec![source], false);
        Ok(())
    }

    /// Makes an instruction at the end of the block.
    fn exit(&mut self, opcode: &'static str, guard: Option<(Reg, bool)>, ops: Vec<Op>) {
        let inst = Machine { guard, ..Machine::new(opcode, Vec::new(), ops, true, self.dbg) };
        self.code.blocks[self.current].exits.push(inst);
    }

    fn jump(&mut self, to: usize, next: Option<usize>) {
        if next != Some(to) {
            self.exit("bra.uni", None, vec![Op::Label(to)]);
        }
    }

    /// Makes the end of a block; `next` is the block after it in the text.
    pub fn leave(&mut self, inst: &Inst, next: Option<usize>) -> Result<()> {
        self.code.blocks[self.current].successors = inst.op.successors();
        match &inst.op {
            IrOp::Br(to) => self.jump(*to, next),
            IrOp::CondBr { condition, then, or_else } => {
                let condition = self.part(condition)?;
                match condition.truth() {
                    _ if then == or_else => self.jump(*then, next),
                    Some(truth) => self.jump(if truth { *then } else { *or_else }, next),
                    None => {
                        let reg = self.register(&condition, Scalar::Int(1))?;
                        // The conditional branch is the one that repeats a loop, since it is taken more often.
                        let current = self.current;
                        let is_back = |to: usize| self.graph.dominates(to, current);
                        let is_negated = next == Some(*then) || next != Some(*or_else) && is_back(*or_else) && !is_back(*then);
                        let (first, second) = if is_negated { (*or_else, *then) } else { (*then, *or_else) };
                        self.exit("bra", Some((reg, is_negated)), vec![Op::Label(first)]);
                        self.jump(second, next);
                    }
                }
            }
            IrOp::Switch { value, default, cases } => self.switch(value, *default, cases, next)?,
            IrOp::Ret(value) => {
                if let Some(value) = value {
                    self.return_value(value)?;
                }
                self.exit("ret", None, Vec::new());
            }
            IrOp::Unreachable => {
                let has_ended =
                    self.code.blocks[self.current].insts.last().is_some_and(|inst| matches!(&*inst.opcode, "trap" | "exit"));
                self.exit(if has_ended { "exit" } else { "trap" }, None, Vec::new());
                if !has_ended {
                    self.exit("exit", None, Vec::new());
                }
            }
            _ => return self.fail("a block does not end with a branch"),
        }
        Ok(())
    }

    fn switch(&mut self, value: &Value, default: usize, cases: &[(u128, usize)], next: Option<usize>) -> Result<()> {
        let Type::Int(width @ 2..=64) = *self.function.ty(value) else { return self.fail("a switch over a value of this type") };
        let part = self.part(value)?;
        let reg = self.extended_reg(&part, width, Ext::Zero)?;
        let (bits, class) = whole(width);
        let (least, most) = (cases.iter().map(|(case, _)| *case).min(), cases.iter().map(|(case, _)| *case).max());
        if let (Some(least), Some(most)) = (least, most)
            && cases.len() >= 4
            && width <= 32
            && most - least < 4 * cases.len() as u128
        {
            let index = if least == 0 { reg } else { self.one("sub.s32", class, ops![reg, least as i64]) };
            let outside = self.pred("setp.gt.u32", ops![index, (most - least) as i64]);
            self.exit("bra", Some((outside, false)), vec![Op::Label(default)]);
            let case_of = |value| cases.iter().find(|(case, _)| *case == value).map_or(default, |(_, to)| *to);
            return self.table(index, (least..=most).map(case_of).collect());
        }
        for (case, to) in cases {
            let case = signed_bits(*case as u64, if width == bits { width } else { 64 });
            let is_it = self.pred(format!("setp.eq.s{bits}"), ops![reg, case]);
            self.exit("bra", Some((is_it, false)), vec![Op::Label(*to)]);
        }
        self.jump(default, next);
        Ok(())
    }

    /// Makes a branch through a table.
    fn table(&mut self, index: Reg, targets: Vec<usize>) -> Result<()> {
        let name = format!("$$L__table_{}", self.labels);
        self.labels += 1;
        let list: Vec<String> = (1..=targets.len()).map(|at| format!("${at}")).collect();
        let text = format!("{name}: .branchtargets {};\n\tbrx.idx $0, {name};", list.join(", "));
        let template = Some(self.pieces(&text, targets.len() + 1)?);
        let ops = [Op::Reg(index)].into_iter().chain(targets.into_iter().map(Op::Label)).collect();
        let inst = Machine { template, ..Machine::new("", Vec::new(), ops, true, self.dbg) };
        self.code.blocks[self.current].exits.push(inst);
        Ok(())
    }
}
