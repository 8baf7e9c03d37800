//! Fuses products and sums, as the DAG combiner of LLVM's own NVPTX back end does, so that results have the same bits.
//!
//! CUDA allows `a * b + c` to be rounded once; clang marks such operations with `contract` and leaves the choice to the back end. That
//! chooses twice. First, in all of a function, a product that is used once goes into the sum that uses it; if both operands of the sum
//! are such products, the left one. Then, within each basic block, products with several uses go into sums, too, and where both
//! operands are products the one with fewer uses does.

use std::collections::HashMap;

use crate::ir::{Binary, Block, Function, Inst, Local, Op, Type, Value};

/// Fuses in all blocks.
pub fn contract(function: &mut Function) {
    let blocks = &mut function.blocks;
    let mut all = Fusion::new(blocks.iter().flatten(), HashMap::new(), true);
    blocks.iter_mut().for_each(|block| all.run(block));
    let is_gone =
        |inst: &Inst| inst.result.is_some_and(|result| all.products.contains_key(&result) && all.uses.get(&result) == Some(&0));
    blocks.iter_mut().for_each(|block| block.retain(|inst| !is_gone(inst)));
    // Uses in other blocks count once, as the copy that carries the value there.
    let mut homes: HashMap<Local, usize> = HashMap::new();
    for (at, block) in blocks.iter().enumerate() {
        homes.extend(block.iter().filter_map(|inst| Some((inst.result?, at))));
    }
    let mut outside: HashMap<Local, usize> = HashMap::new();
    for (at, block) in blocks.iter().enumerate() {
        for inst in block {
            let is_phi = matches!(inst.op, Op::Phi(_));
            outside.extend(inst.op.locals().filter(|local| is_phi || homes.get(local) != Some(&at)).map(|local| (local, 1)));
        }
    }
    for block in blocks {
        let others = block.iter().filter(|inst| !matches!(inst.op, Op::Phi(_)));
        Fusion::new(others, outside.clone(), false).run(block);
    }
}

struct Fusion {
    /// The factors of each product that may be fused.
    products: HashMap<Local, [Value; 2]>,
    uses: HashMap<Local, usize>,
    /// Only products with one use are fused.
    once: bool,
}

impl Fusion {
    fn new<'i>(insts: impl Iterator<Item = &'i Inst>, mut uses: HashMap<Local, usize>, once: bool) -> Self {
        let mut products = HashMap::new();
        for inst in insts {
            inst.op.locals().for_each(|local| *uses.entry(local).or_default() += 1);
            if let (Some(result), Op::Binary { op: Binary::FMul, flags, a, b }) = (inst.result, &inst.op)
                && flags.contract
            {
                products.insert(result, [a.clone(), b.clone()]);
            }
        }
        Self { products, uses, once }
    }

    fn run(&mut self, block: &mut Block) {
        for inst in block {
            let Op::Binary { op: op @ (Binary::FAdd | Binary::FSub), flags, a, b } = &inst.op else { continue };
            if !flags.contract || self.once && !matches!(inst.ty, Type::Float | Type::Double) {
                continue;
            }
            let (left, right) = (self.product(a), self.product(b));
            let is_left = match (left, right) {
                (Some(left), Some(right)) => self.count(left) <= self.count(right),
                _ => left.is_some(),
            };
            let (Some(product), c) = (if is_left { (left, b.clone()) } else { (right, a.clone()) }) else { continue };
            let is_sub = *op == Binary::FSub;
            let [a, b] = self.take(product);
            inst.op = Op::Fma { a, b, c, negate_product: is_sub && !is_left, negate_c: is_sub && is_left };
        }
    }

    /// Returns the product that a value is, if it may be fused.
    fn product(&self, value: &Value) -> Option<Local> {
        value.local().filter(|local| self.products.contains_key(local) && (!self.once || self.count(*local) == 1))
    }

    fn count(&self, local: Local) -> usize {
        self.uses.get(&local).copied().unwrap_or(0)
    }

    /// Returns the factors of a product, which a sum uses now.
    fn take(&mut self, product: Local) -> [Value; 2] {
        let factors = self.products[&product].clone();
        let left = self.uses.entry(product).or_insert(1);
        *left = left.saturating_sub(1);
        if *left > 0 {
            factors.iter().filter_map(Value::local).for_each(|local| *self.uses.entry(local).or_default() += 1);
        }
        factors
    }
}
