//! Fuses products and sums, as the DAG combiner of LLVM's own NVPTX back end does, so that results have the same bits.
//!
//! CUDA allows `a * b + c` to be rounded once; clang marks such operations with `contract` and leaves the choice to the back end. That
//! fuses within a basic block, also where a product has other uses, and where both operands of a sum are products it takes the one with
//! fewer uses.

use std::collections::HashMap;

use crate::ir::{Binary, Block, Function, Local, Op, Value};

/// Fuses in all blocks.
pub fn contract(function: &mut Function) {
    let mut outside: HashMap<Local, usize> = HashMap::new();
    let blocks = function.blocks.as_deref_mut().unwrap_or(&mut []);
    // Uses in other blocks count once, as the copy that carries the value there.
    let mut homes: HashMap<Local, usize> = HashMap::new();
    for (at, block) in blocks.iter().enumerate() {
        homes.extend(block.insts.iter().filter_map(|inst| Some((inst.result?, at))));
    }
    for (at, block) in blocks.iter().enumerate() {
        for inst in &block.insts {
            let is_phi = matches!(inst.op, Op::Phi(_));
            inst.op.each_operand(|value| {
                if let Value::Local(local) = value
                    && (is_phi || homes.get(local) != Some(&at))
                {
                    outside.insert(*local, 1);
                }
            });
        }
    }
    for block in blocks {
        Fusion::new(block, &outside).run(block);
    }
}

struct Fusion {
    /// The factors of each product that may be fused.
    products: HashMap<Local, (Value, Value)>,
    uses: HashMap<Local, usize>,
}

impl Fusion {
    fn new(block: &Block, outside: &HashMap<Local, usize>) -> Self {
        let mut uses = outside.clone();
        let mut products = HashMap::new();
        for inst in &block.insts {
            if matches!(inst.op, Op::Phi(_)) {
                continue;
            }
            inst.op.each_operand(|value| {
                if let Value::Local(local) = value {
                    *uses.entry(*local).or_default() += 1;
                }
            });
            if let (Some(result), Op::Binary { op: Binary::FMul, flags, a, b }) = (inst.result, &inst.op)
                && flags.contract
            {
                products.insert(result, (a.clone(), b.clone()));
            }
        }
        Self { products, uses }
    }

    fn run(&mut self, block: &mut Block) {
        for inst in &mut block.insts {
            let Op::Binary { op: op @ (Binary::FAdd | Binary::FSub), flags, a, b } = &inst.op else { continue };
            if !flags.contract {
                continue;
            }
            let (left, right) = (self.product(a), self.product(b));
            let take_left = match (left, right) {
                (None, None) => continue,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(left), Some(right)) => self.count(left) <= self.count(right),
            };
            let is_sub = *op == Binary::FSub;
            let (Some(product), c) = (if take_left { (left, b.clone()) } else { (right, a.clone()) }) else { continue };
            let Some((x, y)) = self.products.get(&product).cloned() else { continue };
            self.used(product, &[&x, &y]);
            inst.op = Op::Fma { a: x, b: y, c, negate_product: is_sub && !take_left, negate_c: is_sub && take_left };
        }
    }

    fn product(&self, value: &Value) -> Option<Local> {
        match value {
            Value::Local(local) if self.products.contains_key(local) => Some(*local),
            _ => None,
        }
    }

    fn count(&self, local: Local) -> usize {
        self.uses.get(&local).copied().unwrap_or(0)
    }

    /// A sum uses the factors now in place of the product.
    fn used(&mut self, product: Local, factors: &[&Value]) {
        let left = self.uses.entry(product).or_insert(1);
        *left = left.saturating_sub(1);
        let is_dead = *left == 0;
        for factor in factors {
            if let Value::Local(local) = factor
                && !is_dead
            {
                *self.uses.entry(*local).or_default() += 1;
            }
        }
    }
}
