//! A whole module: which functions and variables it needs, and their order in the text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::coalesce::coalesce;
use crate::contract::contract;
use crate::data;
use crate::dead;
use crate::debug::Files;
use crate::emit::Emitter;
use crate::error::{Error, Result};
use crate::ir::{Function, Global, Item, Module, Node, Param, Type};
use crate::layout::{self, Scalar};
use crate::mir::{self, Base, Op};
use crate::select::{Names, lower, parameter, passed};
use crate::space::Space;

/// The options for making the text.
#[derive(Clone, Debug)]
pub struct Options {
    /// The compute capability that the code is for, times ten: 80 is `sm_80`.
    pub target: u32,
    /// The version of PTX.
    pub version: (u32, u32),
    /// A file whose lines are counted for the lines that use it: the header that gives clang the names of CUDA.
    pub hidden: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { target: 80, version: (8, 0), hidden: None }
    }
}

/// Makes the PTX of a module.
pub fn emit(module: &mut Module, options: &Options) -> Result<String> {
    let launch = annotations(module);
    for function in &mut module.functions {
        contract(function);
    }
    let module = &*module;
    let names = Names::new(module);
    let mut lowered: BTreeMap<&str, mir::Function> = BTreeMap::new();
    let mut wanted: Vec<&Function> = module.functions.iter().filter(|function| function.is_kernel).collect();
    while let Some(function) = wanted.pop() {
        if !function.is_defined() || lowered.contains_key(function.name.as_str()) {
            continue;
        }
        let mut code = lower(module, &names, function, options.target)?;
        dead::remove(&mut code);
        coalesce(&mut code);
        wanted.extend(module.functions.iter().filter(|function| code.callees.contains(&function.name)));
        lowered.insert(&function.name, code);
    }
    let mut emitter = Emitter::new(Files::new(module), options.hidden.clone());
    let (major, minor) = options.version;
    let _ = write!(emitter.text, ".version {major}.{minor}\n.target sm_{}\n.address_size 64\n\n", options.target);
    let symbols: BTreeMap<&str, BTreeSet<String>> = lowered.iter().map(|(name, code)| (*name, symbols(code))).collect();
    let (own, common) = variables(module, &names, &symbols)?;
    for declaration in common {
        let _ = writeln!(emitter.text, "{declaration}");
    }
    prototypes(&mut emitter.text, module, &names, &lowered)?;
    for function in &module.functions {
        let Some(code) = lowered.get(function.name.as_str()) else { continue };
        let _ = write!(emitter.text, "\n{}", header(function, &names)?);
        if let Some(limits) = launch.get(&function.name).filter(|_| function.is_kernel) {
            emitter.text.push_str(limits);
        }
        emitter.text.push('\n');
        emitter.body(code, own.get(function.name.as_str()).map_or(&[], Vec::as_slice));
    }
    Ok(emitter.finish())
}

/// Returns the launch limits of each kernel. They come from attributes and from older annotations, which also name the kernels.
fn annotations(module: &mut Module) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, BTreeMap<&'static str, [Option<i64>; 3]>> = BTreeMap::new();
    let mut kernels = BTreeSet::new();
    for node in module.named_nodes.get("nvvm.annotations").into_iter().flatten() {
        let Some(Node::Tuple(items)) = module.nodes.get(node) else { continue };
        let Some(Item::Global(name)) = items.first() else { continue };
        for pair in items[1..].chunks(2) {
            let [Item::Text(key), Item::Integer(value)] = pair else { continue };
            if key == "kernel" {
                kernels.insert(name.clone());
            }
            let Some(directive) = directive(key.trim_end_matches(['x', 'y', 'z'])) else { continue };
            let axis = match key.as_bytes().last() {
                Some(b'y') => 1,
                Some(b'z') => 2,
                _ => 0,
            };
            found.entry(name.clone()).or_default().entry(directive).or_default()[axis] = Some(*value);
        }
    }
    for function in &mut module.functions {
        function.is_kernel |= kernels.contains(&function.name);
    }
    for function in &module.functions {
        for (key, value) in function.all_attributes(module) {
            let Some(directive) = key.strip_prefix("nvvm.").and_then(directive) else { continue };
            let extents = found.entry(function.name.clone()).or_default().entry(directive).or_default();
            for (extent, number) in extents.iter_mut().zip(value.split(',')) {
                *extent = number.trim().parse().ok();
            }
        }
    }
    let text = |limits: BTreeMap<&str, [Option<i64>; 3]>| {
        let mut text = String::new();
        for (directive, extents) in limits {
            let count = extents.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            let list: Vec<String> = extents[..count].iter().map(|extent| extent.unwrap_or(1).to_string()).collect();
            let _ = write!(text, "\n{directive} {}", list.join(", "));
        }
        text
    };
    found.into_iter().map(|(name, limits)| (name, text(limits))).collect()
}

/// Returns the directive of a limit.
fn directive(limit: &str) -> Option<&'static str> {
    Some(match limit {
        "maxntid" => ".maxntid",
        "reqntid" => ".reqntid",
        "minctasm" => ".minnctapersm",
        "maxnreg" => ".maxnreg",
        _ => return None,
    })
}

/// Returns the names that a function refers to.
fn symbols(code: &mir::Function) -> BTreeSet<String> {
    let ops = code.blocks.iter().flat_map(|block| &block.insts).flat_map(|inst| &inst.ops);
    let name = |op: &Op| match op {
        Op::Mem(Base::Symbol(name), _) => Some(name.clone()),
        Op::Text(text) => Some(text.clone().into_owned()),
        _ => None,
    };
    ops.filter_map(name).collect()
}

/// Declarations of variables: shared ones of a single kernel, by kernel, and all others.
type Declarations<'m> = (BTreeMap<&'m str, Vec<String>>, Vec<String>);

/// Returns the declarations of the variables that are used.
fn variables<'m>(module: &'m Module, names: &Names, symbols: &BTreeMap<&'m str, BTreeSet<String>>) -> Result<Declarations<'m>> {
    let (mut own, mut common) = (BTreeMap::<&str, Vec<String>>::new(), Vec::new());
    let globals = || module.globals.iter().filter(|global| !global.name.starts_with("llvm."));
    let referred: BTreeSet<&str> = globals().filter_map(|global| global.init.as_ref()).flat_map(|init| init.globals()).collect();
    for global in globals() {
        let declaration = data::declaration(names, global)?;
        let name = names.of(&global.name);
        let users: Vec<&str> = symbols.iter().filter(|(_, symbols)| symbols.contains(name)).map(|(user, _)| *user).collect();
        let is_kernel = |name: &str| module.functions.iter().any(|function| function.name == name && function.is_kernel);
        let is_shared = Space::numbered(global.space) == Some(Space::Shared);
        if global.is_external && !is_shared {
            if users.is_empty() {
                continue;
            }
            return Err(Error::at(global.line, format!("@{} is defined in another module", global.name)));
        }
        match users.as_slice() {
            [user] if is_shared && !global.is_external && is_kernel(user) => own.entry(*user).or_default().push(declaration),
            // It is unused. In shared memory it would take space from every kernel.
            [] if global.space == 3 || !global.is_public && !referred.contains(global.name.as_str()) => {}
            _ => common.push((refers(global), declaration)),
        }
    }
    // Variables that others point to come first.
    common.sort_by_key(|(refers, _)| *refers);
    Ok((own, common.into_iter().map(|(_, declaration)| declaration).collect()))
}

/// Returns true if its initial value may have addresses.
fn refers(global: &Global) -> bool {
    layout::parts(&global.ty).is_ok_and(|parts| parts.contains(&Scalar::Ptr))
}

/// Declarations of the functions that others call.
fn prototypes(text: &mut String, module: &Module, names: &Names, lowered: &BTreeMap<&str, mir::Function>) -> Result<()> {
    let called: BTreeSet<&String> = lowered.values().flat_map(|code| &code.callees).collect();
    for function in &module.functions {
        if called.contains(&function.name) {
            let linkage = if function.is_defined() { "" } else { ".extern " };
            let _ = writeln!(text, "{linkage}{};", signature(function, names)?);
        }
    }
    Ok(())
}

/// Returns `.func (result) name(parameters)`.
fn signature(function: &Function, names: &Names) -> Result<String> {
    let mut result = String::new();
    if function.result != Type::Void {
        let how = passed(&function.result, None, layout::align(&function.result)).map_err(|error| error.or_at(function.line))?;
        result = format!("({}func_retval0{}) ", how.declaration, how.extent);
    }
    let params = parameters(function, names, |param, name| {
        let how = passed(&param.ty, param.byval.as_ref(), param.align)?;
        Ok(format!("{}{name}{}", how.declaration, how.extent))
    })?;
    Ok(format!(".func {result}{}({})", names.of(&function.name), params.join(", ")))
}

/// Returns the header of a kernel or a function, with its parameters.
fn header(function: &Function, names: &Names) -> Result<String> {
    if !function.is_kernel {
        return signature(function, names);
    }
    let params = parameters(function, names, |param, name| {
        let of = param.byval.as_ref().unwrap_or(&param.ty);
        Ok(match layout::scalar(of).filter(|scalar| param.byval.is_none() && scalar.bits() <= 64) {
            Some(Scalar::Float) => format!("\t.param .f32 {name}"),
            Some(Scalar::Double) => format!("\t.param .f64 {name}"),
            Some(Scalar::Half | Scalar::BFloat) => format!("\t.param .b16 {name}"),
            Some(scalar) => format!("\t.param .u{} {name}", scalar.bytes() * 8),
            None => {
                let align = param.align.max(layout::align(of));
                format!("\t.param .align {align} .b8 {name}[{}]", layout::size(of)?)
            }
        })
    })?;
    Ok(format!(".visible .entry {}(\n{}\n)", names.of(&function.name), params.join(",\n")))
}

/// Returns the declaration of each parameter.
fn parameters(function: &Function, names: &Names, declare: impl Fn(&Param, String) -> Result<String>) -> Result<Vec<String>> {
    let name = names.of(&function.name);
    let declared = function.params.iter().enumerate().map(|(index, param)| declare(param, parameter(name, index)));
    declared.collect::<Result<_>>().map_err(|error| error.or_at(function.line))
}
