//! Fuses products and sums, as the DAG combiner of LLVM's own NVPTX back end does, so that results have the same bits.
//!
//! CUDA allows `a * b + c` to be rounded once; clang marks such operations with `contract` and leaves the choice to the back end. That
//! chooses twice. First, in all of a function, a product that is used once goes into the sum that uses it; if both operands of the sum
//! are such products, the left one. Then, within each basic block, products with several uses go into sums, too, and where both
//! operands are products the one with fewer uses does.

use std::collections::{HashMap, HashSet};

use crate::ir::{Binary, Block, Function, Inst, Local, Op, Type, Value};

/// Fuses in all blocks.
pub fn contract(function: &mut Function) {
    contract_single_uses(function);
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
            outside.extend(inst.op.locals().filter(|local| is_phi || homes.get(local) != Some(&at)).map(|local| (local, 1)));
        }
    }
    for block in blocks {
        let others = block.insts.iter().filter(|inst| !matches!(inst.op, Op::Phi(_)));
        Fusion::new(others, outside.clone()).run(block);
    }
}

/// Products with one use, anywhere in the function.
fn contract_single_uses(function: &mut Function) {
    let order = function.order.clone();
    let Some(blocks) = &mut function.blocks else { return };
    let Fusion { products, uses } = Fusion::new(blocks.iter().flat_map(|block| &block.insts), HashMap::new());
    let single = |value: &Value| {
        let local = value.local().filter(|local| uses.get(local) == Some(&1))?;
        products.get(&local).map(|factors| (local, factors.clone()))
    };
    let mut gone = HashSet::new();
    for block in order {
        for inst in &mut blocks[block].insts {
            let Op::Binary { op: op @ (Binary::FAdd | Binary::FSub), flags, a, b } = &inst.op else { continue };
            if !flags.contract || !matches!(inst.ty, Type::Float | Type::Double) {
                continue;
            }
            let (left, is_sub) = (single(a), *op == Binary::FSub);
            let is_left = left.is_some();
            let Some((product, (x, y))) = left.or_else(|| single(b)) else { continue };
            let c = if is_left { b.clone() } else { a.clone() };
            gone.insert(product);
            inst.op = Op::Fma { a: x, b: y, c, negate_product: is_sub && !is_left, negate_c: is_sub && is_left };
        }
    }
    for block in blocks {
        block.insts.retain(|inst| inst.result.is_none_or(|result| !gone.contains(&result)));
    }
}

/// Returns the factors of a product that may be fused.
fn factors(op: &Op) -> Option<(Value, Value)> {
    match op {
        Op::Binary { op: Binary::FMul, flags, a, b } if flags.contract => Some((a.clone(), b.clone())),
        _ => None,
    }
}

struct Fusion {
    /// The factors of each product that may be fused.
    products: HashMap<Local, (Value, Value)>,
    uses: HashMap<Local, usize>,
}

impl Fusion {
    fn new<'i>(insts: impl Iterator<Item = &'i Inst>, mut uses: HashMap<Local, usize>) -> Self {
        let mut products = HashMap::new();
        for inst in insts {
            inst.op.locals().for_each(|local| *uses.entry(local).or_default() += 1);
            if let (Some(result), Some(factors)) = (inst.result, factors(&inst.op)) {
                products.insert(result, factors);
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
            self.used(product, [&x, &y]);
            inst.op = Op::Fma { a: x, b: y, c, negate_product: is_sub && !take_left, negate_c: is_sub && take_left };
        }
    }

    fn product(&self, value: &Value) -> Option<Local> {
        value.local().filter(|local| self.products.contains_key(local))
    }

    fn count(&self, local: Local) -> usize {
        self.uses.get(&local).copied().unwrap_or(0)
    }

    /// Counts that a sum uses the factors now in place of the product.
    fn used(&mut self, product: Local, factors: [&Value; 2]) {
        let left = self.uses.entry(product).or_insert(1);
        *left = left.saturating_sub(1);
        if *left > 0 {
            factors.into_iter().filter_map(Value::local).for_each(|local| *self.uses.entry(local).or_default() += 1);
        }
    }
}
