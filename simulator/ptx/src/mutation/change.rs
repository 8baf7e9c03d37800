//! The changes that each operator makes to an instruction.

use rustc_hash::FxHashMap as HashMap;

use super::operator::Operator;
use crate::syntax::Barrier;
use crate::syntax::ast::{Base, Function, Instruction, Operand, Statement, Type};

/// A change of an instruction.
#[derive(Debug)]
pub struct Change {
    pub operator: Operator,
    /// The replacement of the instruction and its guard.
    pub replacement: String,
    /// The change in words, to be read after the instruction's text.
    pub words: String,
}

impl Change {
    fn new(operator: Operator, replacement: String, words: &str) -> Self {
        Self { operator, replacement, words: words.to_owned() }
    }
}

/// A function, with what must be known of all of it.
#[derive(Debug)]
pub struct Surroundings<'a, 't> {
    text: &'t str,
    function: &'a Function<'t>,
    /// How often the instructions mention each name.
    mentions: HashMap<&'t str, usize>,
}

impl<'a, 't> Surroundings<'a, 't> {
    pub fn new(text: &'t str, function: &'a Function<'t>) -> Self {
        let mut mentions: HashMap<&str, usize> = HashMap::default();
        for instruction in function.instructions() {
            let operands = instruction.operands.iter().flat_map(Operand::names);
            for name in operands.chain(instruction.guard.map(|guard| guard.name)) {
                *mentions.entry(name).or_default() += 1;
            }
        }
        Self { text, function, mentions }
    }

    /// Lists the changes of the statement at this index; none if it is no instruction.
    pub fn changes(&self, index: usize) -> Vec<Change> {
        let body = self.function.body.as_deref().unwrap_or_default();
        let (before, after) = body.split_at(index);
        let Some((Statement::Instruction(instruction), after)) = after.split_first() else { return Vec::new() };
        let site = Site { text: self.text, instruction, surroundings: self, before, after };
        let mut changes = Vec::new();
        changes.extend(site.order());
        changes.extend(site.plain_atomic());
        changes.extend(site.guard());
        if site.is_result_used() {
            changes.extend(site.comparison());
            changes.extend(site.swapped());
            changes.extend(site.multiply_add());
            changes.extend(site.sign());
            changes.extend(site.constants());
        }
        changes.extend(site.index());
        changes
    }
}

/// An instruction in its function.
struct Site<'a, 't> {
    text: &'t str,
    instruction: &'a Instruction<'t>,
    surroundings: &'a Surroundings<'a, 't>,
    before: &'a [Statement<'t>],
    after: &'a [Statement<'t>],
}

impl<'t> Site<'_, 't> {
    /// Returns the guard as written, with what separates it from the opcode.
    fn guard_text(&self) -> &'t str {
        &self.text[self.instruction.span.start..self.instruction.unguarded.start]
    }

    /// Returns an operand as written.
    fn operand(&self, index: usize) -> &'t str {
        &self.text[self.instruction.operand_spans[index].clone()]
    }

    /// Returns the last part of the opcode. For most instructions, it is the type of the result.
    fn type_name(&self) -> &'t str {
        self.instruction.opcode.rsplit('.').next().unwrap_or_default()
    }

    fn is_integer(&self) -> bool {
        self.type_name().starts_with(['u', 's', 'b']) && !self.type_name().starts_with("bf")
    }

    /// Returns true if the register of the result is mentioned elsewhere. An instruction with several results counts, too.
    fn is_result_used(&self) -> bool {
        match self.instruction.operands.first() {
            Some(Operand::Name(name)) => self.surroundings.mentions.get(name).is_some_and(|mentions| *mentions > 1),
            Some(_) => true,
            None => false,
        }
    }

    /// Returns the text of the instruction with another opcode.
    fn with_opcode(&self, opcode: &str) -> String {
        let Instruction { span, unguarded, opcode: old, .. } = self.instruction;
        format!("{}{opcode}{}", self.guard_text(), &self.text[unguarded.start + old.len()..span.end])
    }

    /// Returns the text of the instruction with another operand.
    fn with_operand(&self, index: usize, operand: &str) -> String {
        let (span, place) = (&self.instruction.span, &self.instruction.operand_spans[index]);
        format!("{}{operand}{}", &self.text[span.start..place.start], &self.text[place.end..span.end])
    }

    /// Puts instructions in braces, each with the guard. They have a register of their own: `mutant`.
    fn block(&self, register: &str, instructions: &[String]) -> String {
        let guard = self.guard_text();
        let instructions: String = instructions.iter().map(|instruction| format!("{guard}{instruction}; ")).collect();
        format!("{{ .reg .{register} mutant; {instructions}}}")
    }

    fn new_opcode(&self, operator: Operator, opcode: &str) -> Change {
        Change::new(operator, self.with_opcode(opcode), &format!("becomes `{opcode}`"))
    }

    fn removed(operator: Operator) -> Change {
        Change::new(operator, String::new(), "is removed")
    }

    /// Barriers, fences, waits and arrivals.
    fn order(&self) -> Option<Change> {
        let instruction = self.instruction;
        let has = |modifier| instruction.has(modifier);
        let operator = match (instruction.root(), instruction.barrier()) {
            // One with a result is also a vote, which cannot be left out alone.
            (_, Some(Barrier::Block)) if has("red") => return None,
            (_, Some(Barrier::Block | Barrier::Warp)) => Operator::RemoveBarrier,
            (_, Some(Barrier::BlockArrive)) => Operator::RemoveArrive,
            (_, Some(Barrier::Cluster)) if has("wait") => Operator::RemoveWait,
            (_, Some(Barrier::Cluster)) => Operator::RemoveArrive,
            (_, Some(Barrier::Copies)) => Operator::RemoveWait,
            (_, Some(Barrier::Mbarrier)) if has("try_wait") || has("test_wait") => {
                let Some(Operand::Name(over)) = instruction.operands.first() else { return None };
                let replacement = format!("{}setp.eq.u32 {over}, 0, 0;", self.guard_text());
                return Some(Change::new(Operator::RemoveWait, replacement, "says at once that the phase is over"));
            }
            (_, Some(Barrier::Mbarrier)) if has("arrive") || has("arrive_drop") || has("expect_tx") => Operator::RemoveArrive,
            ("fence" | "membar", _) if self.is_covered_by_barrier() => return None,
            ("fence" | "membar", _) => Operator::RemoveFence,
            ("wgmma", _) if has("fence") => Operator::RemoveFence,
            ("wgmma", _) if has("wait_group") => Operator::RemoveWait,
            ("wgmma" | "cp", _) if has("commit_group") => Operator::RemoveArrive,
            ("griddepcontrol", _) if has("wait") => Operator::RemoveWait,
            _ => return None,
        };
        Some(Self::removed(operator))
    }

    /// Returns true for a block's fence right before or after its barrier. The fence is for the block's own threads only.
    fn is_covered_by_barrier(&self) -> bool {
        let code = |statement: &&Statement<'_>| !matches!(statement, Statement::Location { .. });
        let is_barrier = |statement: Option<&Statement<'_>>| match statement {
            Some(Statement::Instruction(next)) => next.guard.is_none() && next.barrier() == Some(Barrier::Block),
            _ => false,
        };
        self.instruction.has("cta") && (is_barrier(self.before.iter().rfind(code)) || is_barrier(self.after.iter().find(code)))
    }

    /// Removes the guard: `@%p1 bra` is never taken, and every other instruction with a guard is always executed.
    fn guard(&self) -> Option<Change> {
        self.instruction.guard?;
        let operator = Operator::RemoveGuard;
        match self.instruction.root() {
            "bra" | "brx" if self.leads_to_next() => None,
            "bra" | "brx" => Some(Change::new(operator, String::new(), "is never taken")),
            "ret" | "exit" | "trap" => Some(Change::new(operator, String::new(), "never ends the thread")),
            _ => {
                let replacement = self.text[self.instruction.unguarded.clone()].to_owned();
                Some(Change::new(operator, replacement, "is executed whatever its guard says"))
            }
        }
    }

    /// Returns true if a branch leads to the instruction after it.
    fn leads_to_next(&self) -> bool {
        let labels = self.after.iter().map_while(|statement| match statement {
            Statement::Label(name) => Some(Some(*name)),
            Statement::Location { .. } => Some(None),
            _ => None,
        });
        labels.flatten().any(|label| matches!(self.instruction.operands.first(), Some(Operand::Name(name)) if *name == label))
    }

    /// `red.global.add.u32 [%rd1], %r1` as a load, a sum and a store.
    fn plain_atomic(&self) -> Option<Change> {
        let instruction = self.instruction;
        if !matches!(instruction.root(), "atom" | "red") || instruction.has("async") {
            return None;
        }
        let is_red = instruction.root() == "red";
        let (address, value) = (self.operand(usize::from(!is_red)), self.operand(usize::from(!is_red) + 1));
        let ty = self.type_name();
        let operation =
            ["add", "min", "max", "and", "or", "xor", "exch"].into_iter().find(|operation| instruction.has(operation))?;
        let parts = instruction.opcode.split('.');
        let space = parts.clone().find(|part| ["global", "shared"].contains(&part.split("::").next().unwrap_or_default()));
        let space = space.map(|space| format!(".{space}")).unwrap_or_default();
        let register = register_type(ty)?;
        let mut code = vec![format!("ld{space}.{register} mutant, {address}")];
        let new = if operation == "exch" {
            value.to_owned()
        } else {
            code.push(format!("{operation}.{ty} mutant_new, mutant, {value}"));
            "mutant_new".to_owned()
        };
        code.push(format!("st{space}.{register} {address}, {new}"));
        if !is_red && self.operand(0) != "_" {
            code.push(format!("mov.{register} {}, mutant", self.operand(0)));
        }
        let replacement = self.block(&format!("{register} mutant_new; .reg .{register}"), &code);
        Some(Change::new(Operator::PlainAtomic, replacement, "becomes a load and a store that others can come between"))
    }

    /// Comparisons, with another bound or negated.
    fn comparison(&self) -> Vec<Change> {
        let instruction = self.instruction;
        let Some(comparison) = instruction.opcode.split('.').nth(1).filter(|_| matches!(instruction.root(), "setp" | "set")) else {
            return Vec::new();
        };
        let change = |(operator, new): (Operator, &str)| {
            let opcode = instruction.opcode.replacen(&format!(".{comparison}"), &format!(".{new}"), 1);
            self.new_opcode(operator, &opcode)
        };
        let bound = other_of(BOUNDS, comparison).filter(|_| !self.only_chooses()).map(|new| (Operator::ChangeBound, new));
        let opposites = if self.is_integer() { INTEGER_OPPOSITES } else { FLOAT_OPPOSITES };
        let negated = other_of(opposites, comparison).map(|new| (Operator::NegateComparison, new));
        bound.into_iter().chain(negated).map(change).collect()
    }

    /// Returns true if the comparison only chooses between the two compared values.
    fn only_chooses(&self) -> bool {
        let Some(Operand::Name(predicate)) = self.instruction.operands.first() else { return false };
        if self.instruction.operands.len() != 3 || self.surroundings.mentions.get(predicate) != Some(&2) {
            return false;
        }
        let compared = [self.operand(1), self.operand(2)];
        // Zeros of different signs are equal and not the same value.
        self.is_integer()
            && self.surroundings.function.instructions().filter(|other| other.root() == "selp").any(|choice| {
                let operand = |index: usize| &self.text[choice.operand_spans[index].clone()];
                choice.operands.len() == 4
                    && operand(3) == *predicate
                    && (compared == [operand(1), operand(2)] || compared == [operand(2), operand(1)])
            })
    }

    /// Sums and differences, minima and maxima, conjunctions and disjunctions.
    fn swapped(&self) -> Option<Change> {
        let instruction = self.instruction;
        let (operator, new) = match instruction.root() {
            "add" | "sub" if instruction.has("cc") || matches!(instruction.operands.get(2), Some(Operand::Integer(0))) => {
                return None;
            }
            "add" => (Operator::SwapArithmetic, "sub"),
            "sub" => (Operator::SwapArithmetic, "add"),
            "min" | "max" if instruction.operands.len() > 2 && self.operand(1) == self.operand(2) => return None,
            "min" => (Operator::SwapMinMax, "max"),
            "max" => (Operator::SwapMinMax, "min"),
            "and" if instruction.has("pred") => (Operator::SwapLogic, "or"),
            "or" if instruction.has("pred") => (Operator::SwapLogic, "and"),
            _ => return None,
        };
        Some(self.new_opcode(operator, &format!("{new}{}", &instruction.opcode[instruction.root().len()..])))
    }

    /// `a * b + c` becomes `c - a * b`.
    fn multiply_add(&self) -> Option<Change> {
        let instruction = self.instruction;
        let ty = self.type_name();
        if instruction.operands.len() != 4 || instruction.has("cc") {
            return None;
        }
        let [result, a, b, c] = [0, 1, 2, 3].map(|index| self.operand(index));
        let replacement = match instruction.root() {
            "fma" => {
                let code = [format!("neg.{ty} mutant, {a}"), format!("{} {result}, mutant, {b}, {c}", instruction.opcode)];
                self.block(register_type(ty)?, &code)
            }
            "mad" if instruction.has("lo") || instruction.has("wide") => {
                let sum = match (instruction.has("wide"), ty) {
                    (false, _) => ty,
                    (true, "s16") => "s32",
                    (true, "u16") => "u32",
                    (true, "s32") => "s64",
                    (true, "u32") => "u64",
                    _ => return None,
                };
                let product = format!("mul{} mutant, {a}, {b}", &instruction.opcode["mad".len()..]);
                self.block(register_type(sum)?, &[product, format!("sub.{sum} {result}, {c}, mutant")])
            }
            _ => return None,
        };
        Some(Change::new(Operator::SwapArithmetic, replacement, "subtracts the product instead of adding it"))
    }

    /// Negates a product of floats; leaves out a negation or an absolute value.
    fn sign(&self) -> Option<Change> {
        let ty = self.type_name();
        let register = register_type(ty)?;
        match self.instruction.root() {
            "neg" | "abs" => Some(self.new_opcode(Operator::FlipSign, &format!("mov.{register}"))),
            "mul" if ty.contains('f') => {
                let [result, a, b] = [0, 1, 2].map(|index| self.operand(index));
                let code = [format!("{} mutant, {a}, {b}", self.instruction.opcode), format!("neg.{ty} {result}, mutant")];
                Some(Change::new(Operator::FlipSign, self.block(register, &code), "has the opposite sign"))
            }
            _ => None,
        }
    }

    /// Constants, one larger and one smaller.
    fn constants(&self) -> Vec<Change> {
        const ROOTS: [&str; 16] =
            ["add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "shl", "shr", "and", "or", "mov", "setp", "selp"];
        if !ROOTS.contains(&self.instruction.root()) {
            return Vec::new();
        }
        let mut changes = Vec::new();
        for (index, operand) in self.instruction.operands.iter().enumerate().skip(1) {
            // Small floats change by one, as integers do, and large ones are doubled, because one would be lost.
            let larger = |old: f64| if old.abs() < 4096.0 { old + 1.0 } else { 2.0 * old };
            let new = match operand {
                Operand::Integer(bits) => self.other_integers(*bits as i64),
                Operand::F32(bits) if f32::from_bits(*bits).is_finite() => {
                    vec![format!("0f{:08X}", (larger(f32::from_bits(*bits).into()) as f32).to_bits())]
                }
                Operand::F64(bits) if f64::from_bits(*bits).is_finite() => {
                    vec![format!("0d{:016X}", larger(f64::from_bits(*bits)).to_bits())]
                }
                _ => Vec::new(),
            };
            for new in new {
                let words = format!("has {new} instead of {}", self.operand(index));
                changes.push(Change::new(Operator::ChangeConstant, self.with_operand(index, &new), &words));
            }
        }
        changes
    }

    fn other_integers(&self, old: i64) -> Vec<String> {
        let instruction = self.instruction;
        let steps: &[i64] = match instruction.root() {
            // Conditions as numbers: any other than 0 means the same as 1.
            "selp" if old == 0 => &[1],
            "selp" if old == 1 => &[-1],
            "mov" => &[1],
            // The step that is not made is the one that changes the bound.
            "setp" => match instruction.opcode.split('.').nth(1) {
                Some("lt" | "lo" | "ge" | "hs") => &[-1],
                Some("le" | "ls" | "gt" | "hi") => &[1],
                _ => &[1, -1],
            },
            _ => &[1, -1],
        };
        let fits = |new: &i64| match instruction.element_type() {
            Some(Type::Bytes(4)) => (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(new),
            _ => true,
        };
        steps.iter().filter_map(|step| old.checked_add(*step)).filter(fits).map(|new| new.to_string()).collect()
    }

    /// Moves an access to the next element: a load, a store or an atomic operation.
    fn index(&self) -> Option<Change> {
        let instruction = self.instruction;
        let is_access = matches!(instruction.root(), "ld" | "ldu" | "st" | "atom" | "red" | "ldmatrix" | "stmatrix");
        let is_copy = instruction.root() == "cp" && instruction.has("async") && !instruction.has("bulk");
        if !(is_access || is_copy) || instruction.has("param") || instruction.has("mbarrier") {
            return None;
        }
        // A copy has its target first.
        let is_address = |operand: &Operand<'_>| matches!(operand, Operand::Address(Base::Name(_), _));
        let index = instruction.operands.iter().rposition(is_address)?;
        let Operand::Address(Base::Name(base), offset) = instruction.operands[index] else { return None };
        let bytes = match (instruction.root(), instruction.element_type()) {
            ("cp", _) => match instruction.operands.get(2) {
                Some(Operand::Integer(bytes)) => i64::try_from(*bytes).ok()?,
                _ => return None,
            },
            // A row of a matrix.
            ("ldmatrix" | "stmatrix", _) => 16,
            (_, Some(Type::Bytes(width))) => {
                let lanes = [("v2", 2), ("v4", 4), ("v8", 8)].into_iter().find(|(lanes, _)| instruction.has(lanes));
                i64::from(width) * lanes.map_or(1, |(_, lanes)| lanes)
            }
            _ => return None,
        };
        let new = match offset.checked_add(bytes)? {
            0 => format!("[{base}]"),
            offset => format!("[{base}+{offset}]"),
        };
        let words = format!("accesses {new} instead of {}", self.operand(index));
        Some(Change::new(Operator::ShiftIndex, self.with_operand(index, &new), &words))
    }
}

/// Returns a type for a register that holds values of this one.
fn register_type(ty: &str) -> Option<&'static str> {
    Some(match ty {
        "f32" => "f32",
        "f64" => "f64",
        "u16" | "s16" | "b16" | "f16" | "bf16" => "b16",
        "u32" | "s32" | "b32" | "f16x2" | "bf16x2" => "b32",
        "u64" | "s64" | "b64" => "b64",
        _ => return None,
    })
}

/// Comparisons that differ for equal values only.
const BOUNDS: &[(&str, &str)] = &[("lt", "le"), ("gt", "ge"), ("lo", "ls"), ("hi", "hs"), ("ltu", "leu"), ("gtu", "geu")];

/// Opposite comparisons of integers. One is true exactly if the other is false.
const INTEGER_OPPOSITES: &[(&str, &str)] = &[("eq", "ne"), ("lt", "ge"), ("le", "gt"), ("lo", "hs"), ("ls", "hi")];

/// Those of floats: one of the two is also true if a value is not a number.
const FLOAT_OPPOSITES: &[(&str, &str)] =
    &[("eq", "neu"), ("ne", "equ"), ("lt", "geu"), ("le", "gtu"), ("gt", "leu"), ("ge", "ltu"), ("num", "nan")];

/// Returns the other comparison of a pair.
fn other_of(pairs: &[(&'static str, &'static str)], comparison: &str) -> Option<&'static str> {
    pairs.iter().find_map(|(one, other)| match comparison {
        _ if comparison == *one => Some(*other),
        _ if comparison == *other => Some(*one),
        _ => None,
    })
}
