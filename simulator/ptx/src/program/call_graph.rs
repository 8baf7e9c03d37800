//! Which functions of a module call which, by name and through pointers.

use rustc_hash::FxHashSet as HashSet;

use crate::syntax::ast::{self, Initializer, Operand, Prototype, Statement};

/// A call, as written.
pub struct Call<'o> {
    pub results: &'o [Operand<'o>],
    pub callee: &'o str,
    pub arguments: &'o [Operand<'o>],
    /// The name of the prototype, or of the list of targets, of a call through a pointer.
    pub through: Option<&'o str>,
}

impl<'o> Call<'o> {
    pub fn of(instruction: &'o ast::Instruction<'_>) -> Option<Self> {
        let (results, rest): (&[Operand<'_>], _) = match instruction.operands.as_slice() {
            [Operand::List(results), rest @ ..] => (results, rest),
            rest => (&[], rest),
        };
        let (callee, arguments, through): (&str, &[Operand<'_>], _) = match rest {
            [Operand::Name(callee)] => (callee, &[], None),
            [Operand::Name(callee), Operand::List(arguments)] => (callee, arguments, None),
            [Operand::Name(callee), Operand::List(arguments), Operand::Name(through)] => (callee, arguments, Some(*through)),
            [Operand::Name(callee), Operand::Name(through)] => (callee, &[], Some(*through)),
            _ => return None,
        };
        Some(Self { results, callee, arguments, through })
    }
}

pub fn statements<'m, 't>(module: &'m ast::Module<'t>, function: usize) -> impl Iterator<Item = &'m Statement<'t>> {
    module.functions[function].body.iter().flatten()
}

/// Which functions of a module call which.
pub struct CallGraph {
    /// For each function, those that it calls or may call through a pointer.
    callees: Vec<Vec<usize>>,
    /// The functions whose addresses the module takes.
    addresses_taken: Vec<usize>,
    /// True for each function that may call itself, directly or through others.
    recursive: Vec<bool>,
}

impl CallGraph {
    pub fn new(module: &ast::Module<'_>) -> Self {
        let mut graph = Self { callees: Vec::new(), addresses_taken: addresses_taken(module), recursive: Vec::new() };
        graph.callees = (0..module.functions.len()).map(|function| graph.callees_of(module, function)).collect();
        graph.recursive = (0..module.functions.len()).map(|function| graph.reached_from(function)[function]).collect();
        graph
    }

    /// Returns true if a function may call itself, directly or through others.
    pub fn is_recursive(&self, function: usize) -> bool {
        self.recursive[function]
    }

    fn callees_of(&self, module: &ast::Module<'_>, function: usize) -> Vec<usize> {
        let instructions = module.functions[function].instructions();
        let calls = instructions.filter(|instruction| instruction.root() == "call").filter_map(Call::of);
        calls
            .flat_map(|call| match call.through {
                Some(through) => self.candidates(module, function, through).unwrap_or_default(),
                None => defined(module, call.callee).into_iter().collect(),
            })
            .collect()
    }

    /// Lists the functions that a call through a pointer may reach: those of its list of targets, or those that fit its prototype
    /// and whose address is taken. `None` without either.
    pub fn candidates(&self, module: &ast::Module<'_>, caller: usize, through: &str) -> Option<Vec<usize>> {
        statements(module, caller).find_map(|statement| match statement {
            Statement::Targets { name, targets } if *name == through => {
                Some(targets.iter().filter_map(|target| defined(module, target)).collect())
            }
            Statement::Prototype(prototype) if prototype.name == through => {
                let fits = |index: &usize| matches(&module.functions[*index], prototype);
                Some(self.addresses_taken.iter().copied().filter(fits).collect())
            }
            _ => None,
        })
    }

    /// Finds the functions that a function reaches by calls; itself only if it is recursive.
    fn reached_from(&self, function: usize) -> Vec<bool> {
        let mut reached = vec![false; self.callees.len()];
        let mut open = vec![function];
        while let Some(caller) = open.pop() {
            for callee in &self.callees[caller] {
                if !std::mem::replace(&mut reached[*callee], true) {
                    open.push(*callee);
                }
            }
        }
        reached
    }

    /// Finds the functions that a kernel reaches, including itself. Also returns the names in their instructions.
    pub(super) fn names_used<'t>(&self, module: &ast::Module<'t>, kernel: usize) -> (Vec<bool>, HashSet<&'t str>) {
        let mut reached = self.reached_from(kernel);
        reached[kernel] = true;
        let mut names = HashSet::default();
        for function in (0..reached.len()).filter(|function| reached[*function]) {
            let instructions = module.functions[function].instructions();
            names.extend(instructions.flat_map(|instruction| &instruction.operands).flat_map(Operand::names));
        }
        (reached, names)
    }
}

pub fn matches(function: &ast::Function<'_>, prototype: &Prototype<'_>) -> bool {
    let same = |a: &[ast::Variable<'_>], b: &[ast::Variable<'_>]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a.in_register, a.bytes, a.align) == (b.in_register, b.bytes, b.align))
    };
    same(&function.params, &prototype.params) && same(&function.returns, &prototype.returns)
}

/// The address above which functions are placed. There is no memory there.
const FUNCTION_WINDOW: u64 = 4 << 56;

/// Returns the address of the module's function with that index.
pub fn function_address(index: usize) -> u64 {
    FUNCTION_WINDOW + (index as u64 + 1) * 16
}

/// Returns the address of the function of that name.
pub fn address_of_function(module: &ast::Module<'_>, name: &str) -> Option<u64> {
    defined(module, name).map(function_address)
}

/// Finds the function of that name, if it can be called.
pub fn defined(module: &ast::Module<'_>, name: &str) -> Option<usize> {
    module.functions.iter().position(|function| function.name == name && function.body.is_some() && !function.is_kernel)
}

/// Lists the functions whose addresses are put in registers or variables. They are in module order.
fn addresses_taken(module: &ast::Module<'_>) -> Vec<usize> {
    let in_variables = module.variables.iter().flat_map(|variable| &variable.init).filter_map(|value| match value {
        Initializer::Address { name, .. } => Some(*name),
        Initializer::Bits(_) => None,
    });
    let instructions = module.functions.iter().flat_map(ast::Function::instructions);
    let moves = instructions.filter(|instruction| instruction.root() == "mov");
    let in_code = moves.filter_map(|instruction| match instruction.operands.as_slice() {
        [_, Operand::Name(name)] => Some(*name),
        _ => None,
    });
    let mut taken: Vec<usize> = in_variables.chain(in_code).filter_map(|name| defined(module, name)).collect();
    taken.sort_unstable();
    taken.dedup();
    taken
}
