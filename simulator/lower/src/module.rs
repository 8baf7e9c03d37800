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
use crate::ir::{Function, Global, Item, Module, Node, Type};
use crate::layout::{self, Scalar};
use crate::mir::{self, Base, Op};
use crate::select::{Lowered, Names, lower, parameter};
use crate::space::Space;

/// How the text is to be made.
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
    let mut lowered: BTreeMap<&str, Lowered> = BTreeMap::new();
    let kernels = module.functions.iter().filter(|function| function.is_kernel && function.blocks.is_some());
    let mut wanted: Vec<&str> = kernels.map(|function| function.name.as_str()).collect();
    while let Some(name) = wanted.pop() {
        let with_body = module.functions.iter().find(|function| function.name == name && function.blocks.is_some());
        let Some(function) = with_body.filter(|_| !lowered.contains_key(name)) else { continue };
        let mut new = lower(module, &names, function, options.target)?;
        dead::remove(&mut new.code);
        coalesce(&mut new.code);
        wanted.extend(module.functions.iter().map(|function| function.name.as_str()).filter(|name| new.callees.contains(*name)));
        lowered.insert(&function.name, new);
    }
    let mut emitter = Emitter::new(Files::new(module), options.hidden.clone());
    let (major, minor) = options.version;
    let _ = write!(emitter.text, ".version {major}.{minor}\n.target sm_{}\n.address_size 64\n\n", options.target);
    let symbols: BTreeMap<&str, BTreeSet<String>> = lowered.iter().map(|(name, lowered)| (*name, symbols(&lowered.code))).collect();
    let (own, common) = variables(module, &names, &symbols)?;
    for declaration in common {
        let _ = writeln!(emitter.text, "{declaration}");
    }
    prototypes(&mut emitter.text, module, &names, &lowered)?;
    for function in &module.functions {
        let Some(lowered) = lowered.get(function.name.as_str()) else { continue };
        let _ = write!(emitter.text, "\n{}", header(function, &names)?);
        if let Some(limits) = launch.get(&function.name).filter(|_| function.is_kernel) {
            emitter.text.push_str(limits);
        }
        emitter.text.push('\n');
        emitter.body(&lowered.code, own.get(function.name.as_str()).map_or(&[], Vec::as_slice));
    }
    Ok(emitter.finish())
}

/// Returns the limits of each kernel's launch, from attributes and from older annotations, which also name the kernels.
fn annotations(module: &mut Module) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, BTreeMap<&'static str, [Option<i64>; 3]>> = BTreeMap::new();
    let mut kernels = BTreeSet::new();
    for node in module.named_nodes.get("nvvm.annotations").into_iter().flatten() {
        let Some(Node::Tuple(items)) = module.nodes.get(node) else { continue };
        let Some(Item::Global(name)) = items.first() else { continue };
        for pair in items[1..].chunks(2) {
            let [Item::Text(key), Item::Integer(value)] = pair else { continue };
            let (directive, axis) = match key.as_str() {
                "kernel" => {
                    kernels.insert(name.clone());
                    continue;
                }
                "maxntidx" | "maxntidy" | "maxntidz" => (".maxntid", usize::from(key.as_bytes()[7] - b'x')),
                "reqntidx" | "reqntidy" | "reqntidz" => (".reqntid", usize::from(key.as_bytes()[7] - b'x')),
                "minctasm" => (".minnctapersm", 0),
                "maxnreg" => (".maxnreg", 0),
                _ => continue,
            };
            found.entry(name.clone()).or_default().entry(directive).or_default()[axis] = Some(*value);
        }
    }
    for function in &mut module.functions {
        function.is_kernel |= kernels.contains(&function.name);
        let groups = function.groups.iter().filter_map(|group| module.attributes.get(group)).flatten();
        for (key, value) in groups.chain(&function.attributes) {
            let directive = match key.as_str() {
                "nvvm.maxntid" => ".maxntid",
                "nvvm.reqntid" => ".reqntid",
                "nvvm.minctasm" => ".minnctapersm",
                "nvvm.maxnreg" => ".maxnreg",
                _ => continue,
            };
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

/// Returns the declarations of the variables that are used: shared ones of a single kernel, by kernel, and all others.
#[expect(clippy::type_complexity, reason = "taken apart at once")]
fn variables<'m>(
    module: &'m Module,
    names: &Names,
    symbols: &BTreeMap<&'m str, BTreeSet<String>>,
) -> Result<(BTreeMap<&'m str, Vec<String>>, Vec<String>)> {
    let mut own: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut common = Vec::new();
    let mut referred = BTreeSet::new();
    let inits = module.globals.iter().filter(|global| !global.name.starts_with("llvm.")).filter_map(|global| global.init.as_ref());
    inits.for_each(|init| {
        init.each_global(&mut |name| {
            referred.insert(name);
        })
    });
    for global in &module.globals {
        if global.name.starts_with("llvm.") {
            continue;
        }
        let Some(declaration) = data::declaration(names, global)? else { continue };
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
fn prototypes(text: &mut String, module: &Module, names: &Names, lowered: &BTreeMap<&str, Lowered>) -> Result<()> {
    let called: BTreeSet<&String> = lowered.values().flat_map(|lowered| &lowered.callees).collect();
    for function in &module.functions {
        if called.contains(&function.name) {
            let linkage = if function.blocks.is_none() { ".extern " } else { "" };
            let _ = writeln!(text, "{linkage}{};", signature(function, names)?);
        }
    }
    Ok(())
}

/// Returns `.func (result) name(parameters)`.
fn signature(function: &Function, names: &Names) -> Result<String> {
    let at = |error: Error| Error { line: function.line, ..error };
    let mut text = ".func ".to_owned();
    if function.result != Type::Void {
        let how = crate::select::passed(&function.result, None, layout::align(&function.result)).map_err(at)?;
        let _ = write!(text, "({}func_retval0{}) ", how.declaration, how.extent);
    }
    let name = names.of(&function.name);
    let params: Result<Vec<String>> = function
        .params
        .iter()
        .enumerate()
        .map(|(index, param)| {
            let how = crate::select::passed(&param.ty, param.byval.as_ref(), param.align).map_err(at)?;
            Ok(format!("{}{}{}", how.declaration, parameter(name, index), how.extent))
        })
        .collect();
    let _ = write!(text, "{name}({})", params?.join(", "));
    Ok(text)
}

/// Returns the header of a kernel or a function, with its parameters.
fn header(function: &Function, names: &Names) -> Result<String> {
    if !function.is_kernel {
        return signature(function, names);
    }
    let name = names.of(&function.name);
    let params: Result<Vec<String>> = function
        .params
        .iter()
        .enumerate()
        .map(|(index, param)| {
            let of = param.byval.as_ref().unwrap_or(&param.ty);
            let parameter = parameter(name, index);
            let whole = layout::scalar(of).filter(|scalar| param.byval.is_none() && scalar.bits() <= 64);
            Ok(match whole {
                Some(Scalar::Float) => format!("\t.param .f32 {parameter}"),
                Some(Scalar::Double) => format!("\t.param .f64 {parameter}"),
                Some(Scalar::Half | Scalar::BFloat) => format!("\t.param .b16 {parameter}"),
                Some(scalar) => format!("\t.param .u{} {parameter}", scalar.bytes() * 8),
                None => {
                    let bytes = layout::size(of).map_err(|error| Error { line: function.line, ..error })?;
                    let align = param.align.max(layout::align(of));
                    format!("\t.param .align {align} .b8 {parameter}[{bytes}]")
                }
            })
        })
        .collect();
    Ok(format!(".visible .entry {name}(\n{}\n)", params?.join(",\n")))
}
