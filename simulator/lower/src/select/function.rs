//! A whole function.

use std::collections::HashMap;

use super::memory::Memory;
use super::prelude::*;
use super::symbols::{Names, parameter};
use crate::cfg::Graph;
use crate::error::Error;
use crate::ir::{Function, Module};
use crate::mir;
use crate::space::Spaces;
use crate::uses::Uses;
use crate::vectorize::Plan;

/// Lowers a function that has a body.
pub fn lower(module: &Module, names: &Names, function: &Function, target: u32) -> Result<mir::Function> {
    let graph = Graph::new(function);
    let uses = Uses::new(function);
    let spaces = Spaces::new(module, &uses);
    let plan = Plan::new(module, &graph, &uses, &spaces);
    let blocks = vec![mir::Block::default(); function.blocks.len()];
    let mut selector = Selector {
        module,
        function,
        names,
        target,
        code: mir::Function { blocks, order: layout_of(function, &graph), ..mir::Function::default() },
        graph,
        uses,
        spaces,
        plan,
        current: 0,
        line: function.line,
        dbg: None,
        values: vec![None; function.locals.len()],
        prologue: Vec::new(),
        symbols: HashMap::new(),
        sums: HashMap::new(),
        incoming: HashMap::new(),
        literals: HashMap::new(),
        labels: 0,
    };
    match selector.run() {
        Ok(()) => Ok(selector.code),
        Err(error) => Err(Error { source: crate::debug::place(module, selector.dbg), ..error.or_at(selector.line) }),
    }
}

impl Selector<'_> {
    fn run(&mut self) -> Result<()> {
        self.parameters()?;
        let blocks = &self.function.blocks;
        let text = &self.code.order;
        let next: HashMap<usize, usize> = text.iter().copied().zip(text.iter().copied().skip(1)).collect();
        for block in self.graph.order.clone() {
            self.current = block;
            self.block(block, &blocks[block])?;
            let Some(last) = blocks[block].last() else { continue };
            self.at(last);
            self.leave(last, next.get(&block).copied())?;
        }
        for block in self.graph.order.clone() {
            let insts = &blocks[block];
            let phis = insts.iter().position(|inst| !matches!(inst.op, IrOp::Phi(_))).unwrap_or(insts.len());
            self.phi_copies(block, &insts[..phis])?;
        }
        // The start of the first block loads the addresses of variables.
        self.code.blocks[0].insts.splice(..0, self.prologue.drain(..));
        Ok(())
    }

    pub fn at(&mut self, inst: &Inst) {
        self.line = inst.line;
        self.dbg = inst.dbg;
    }

    fn parameters(&mut self) -> Result<()> {
        for (at, param) in self.function.params.iter().enumerate() {
            let name = parameter(self.names.of(&self.function.name), at);
            let parts = if let Some(of) = param.byval.as_ref().filter(|_| self.spaces.of_local(at as u32) == Space::Param) {
                // A structure is read where it is, unless its address is needed for something else.
                layout::size(of)?;
                vec![Part::Address(Base::Symbol(name), 0)]
            } else if !self.function.is_kernel || param.byval.is_some() {
                self.receive(at, name)?
            } else {
                let places = layout::places(&param.ty)?;
                let align = layout::align(&param.ty);
                let memory = Memory { base: Base::Symbol(name), offset: 0, space: Space::Param };
                let mut parts = self.load_places(&places, &memory, "ld.param", align, false)?;
                if let (Type::Ptr(0), [part]) = (&param.ty, parts.as_mut_slice()) {
                    *part = self.pointer_from_host(part)?;
                }
                parts
            };
            self.values[at] = Some(parts);
        }
        Ok(())
    }

    fn block(&mut self, block: usize, insts: &[Inst]) -> Result<()> {
        let late = self.late(block, insts);
        let mut deferred = Vec::new();
        let count = insts.len().saturating_sub(1);
        for (at, inst) in insts[..count].iter().enumerate() {
            if late[at] {
                deferred.push(inst);
            } else {
                self.instruction(block, at, inst)?;
            }
        }
        for inst in deferred {
            self.instruction(block, usize::MAX, inst)?;
        }
        Ok(())
    }

    /// Finds instructions that only the branch and the next blocks need. They come last, so that a counter and its successor can
    /// share a register.
    fn late(&self, block: usize, insts: &[Inst]) -> Vec<bool> {
        let mut late = vec![false; insts.len()];
        for (at, inst) in insts.iter().enumerate().rev() {
            let (Some(result), true) = (inst.result, matches!(inst.ty, Type::Int(_))) else { continue };
            let is_plain = match &inst.op {
                IrOp::Binary { op, .. } => matches!(op, Binary::Add | Binary::Sub | Binary::And | Binary::Or | Binary::Xor),
                IrOp::ICmp { a, .. } => matches!(self.function.ty(a), Type::Int(_)),
                _ => false,
            };
            let mut users = self.uses.users(result).peekable();
            late[at] = is_plain
                && users.peek().is_some()
                && users.all(|(home, user, inst)| {
                    matches!(inst.op, IrOp::Phi(_))
                        || home == block && (user + 1 == insts.len() || late.get(user).copied().unwrap_or(false))
                });
        }
        late
    }

    fn instruction(&mut self, block: usize, at: usize, inst: &Inst) -> Result<()> {
        self.at(inst);
        if let Some(bundle) = self.plan.bundle(block, at).cloned() {
            match &inst.op {
                _ if bundle.leader != at => {}
                IrOp::Load { .. } => self.load_bundle(block, &bundle)?,
                _ => self.store_bundle(block, &bundle)?,
            }
            return Ok(());
        }
        let parts = match &inst.op {
            IrOp::Phi(_) => return self.phi(inst),
            IrOp::Binary { op, flags, a, b } => self.binary(inst, *op, *flags, a, b)?,
            IrOp::FNeg(value) => self.negate(value)?,
            IrOp::Fma { a, b, c, negate_product, negate_c } => self.fused(inst, [a, b, c], *negate_product, *negate_c)?,
            IrOp::Cast { op, value, .. } => self.convert(inst, *op, value)?,
            IrOp::ICmp { predicate, a, b } => self.compare(*predicate, a, b)?,
            IrOp::FCmp { predicate, a, b } => self.compare_floats(predicate, a, b)?,
            IrOp::Select { condition, a, b } => self.select(inst, condition, a, b)?,
            IrOp::Freeze(value) => {
                let parts = self.parts_as(value, inst.result)?;
                // One value from here on.
                parts.into_iter().map(|part| if part == Part::Undef { Part::Bits(0) } else { part }).collect()
            }
            IrOp::Load { ptr, access } => self.load(inst, ptr, access)?,
            IrOp::Store { value, ptr, access } => self.store(value, ptr, access)?,
            IrOp::Gep { source, base, indices } => self.element_address(inst, source, base, indices)?,
            IrOp::Alloca { ty, count, align } => vec![self.variable(ty, count, *align)?],
            IrOp::ExtractValue { value, path } => self.extract_value(value, path)?,
            IrOp::InsertValue { into, value, path } => self.insert_value(into, value, path)?,
            IrOp::ExtractElement { vector, index } => self.extract_element(vector, index)?,
            IrOp::InsertElement { vector, element, index } => self.insert_element(vector, element, index)?,
            IrOp::Shuffle { a, b, mask } => self.shuffle(a, b, mask)?,
            IrOp::Call { callee, args, flags } => self.any_call(inst, callee, args, *flags)?,
            IrOp::AtomicRmw { op, ptr, value, scope } => self.atomic_update(inst, op, ptr, value, scope)?,
            IrOp::CmpXchg { ptr, expected, new, ordering, scope } => {
                self.compare_exchange([ptr, expected, new], *ordering, scope)?
            }
            IrOp::Fence { ordering, scope } => self.fence(*ordering, scope),
            IrOp::Ret(_) | IrOp::Br(_) | IrOp::CondBr { .. } | IrOp::Switch { .. } | IrOp::Unreachable => {
                return Err(Error::at(inst.line, "a branch is not the last instruction of its block"));
            }
        };
        if let Some(result) = inst.result {
            if parts.len() != layout::parts(&inst.ty)?.len() {
                return self.fail("an instruction with a result of a wrong type");
            }
            self.values[result as usize] = Some(parts);
        }
        Ok(())
    }

    fn variable(&mut self, ty: &Type, count: &Value, align: u64) -> Result<Part> {
        let Some(&Const::Int(count)) = count.constant() else {
            return self.fail("an array in local memory whose size is not constant");
        };
        let size = layout::size(ty)?;
        let Some(bytes) = u64::try_from(count).ok().and_then(|count| size.checked_mul(count)).filter(|bytes| *bytes <= 1 << 24)
        else {
            return self.fail("an array in local memory of more than 16 MB");
        };
        let name = self.local_variable(bytes, align);
        Ok(Part::Address(Base::Symbol(name), 0))
    }
}

/// Returns the order of the blocks in the text. After each block comes a block that it goes to, if one is left, preferably one in the
/// same loop than by one behind it.
fn layout_of(function: &Function, graph: &Graph) -> Vec<usize> {
    let blocks = &function.blocks;
    let depth = graph.loop_depths();
    let mut placed = vec![false; blocks.len()];
    let mut text = Vec::with_capacity(blocks.len());
    for &start in function.order.iter().filter(|block| graph.is_reachable(**block)) {
        let mut next = Some(start);
        while let Some(block) = next.filter(|block| !placed[*block]) {
            placed[block] = true;
            text.push(block);
            let left = blocks[block].last().map_or_else(Vec::new, |last| last.op.successors());
            let left = left.into_iter().filter(|next| !placed[*next]);
            // The first in the text of those in the innermost loop.
            next = left.min_by_key(|next| (usize::MAX - depth[*next], function.order.iter().position(|block| block == next)));
        }
    }
    text
}
