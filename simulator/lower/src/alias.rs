//! Finds out which accesses may touch the same memory.

use std::collections::HashMap;

use crate::address::{Address, Origin};
use crate::ir::{Access, Item, Module, Node, Op, Value};
use crate::space::Space;
use crate::uses::Uses;

/// An access to memory.
pub struct Touch<'f> {
    pub space: Space,
    pub address: Address,
    pub bytes: u64,
    pub access: &'f Access,
}

/// Returns true if two accesses may touch the same byte.
pub fn may_alias(module: &Module, uses: &Uses, a: &Touch, b: &Touch) -> bool {
    if a.space != b.space && a.space != Space::Generic && b.space != Space::Generic {
        return false;
    }
    let (left, right) = (&a.address, &b.address);
    if left.origin == right.origin && left.origin != Origin::Unknown && left.terms == right.terms {
        let distance = right.offset.wrapping_sub(left.offset);
        return if distance >= 0 { (distance as u64) < a.bytes } else { distance.unsigned_abs() < b.bytes };
    }
    if let (Origin::Symbol(left), Origin::Symbol(right)) = (&left.origin, &right.origin)
        && left != right
    {
        return false;
    }
    if let (Some(is_left_own), Some(is_right_own)) = (is_own(uses, &left.origin), is_own(uses, &right.origin))
        && left.origin != right.origin
        && (is_left_own || is_right_own)
    {
        return false;
    }
    !(excluded(module, a.access.alias_scope, b.access.no_alias) || excluded(module, b.access.alias_scope, a.access.no_alias))
}

/// Returns true if no other pointer reaches an object. It is an array of the function, or a parameter with `__restrict__`. `None`: the
/// object is not known, since a pointer from elsewhere may be any of the others.
fn is_own(uses: &Uses, origin: &Origin) -> Option<bool> {
    match origin {
        Origin::Unknown => None,
        Origin::Symbol(_) => Some(false),
        Origin::Local(local) => match uses.function.params.get(*local as usize) {
            Some(param) => Some(param.noalias || param.byval.is_some()),
            None => matches!(uses.def(&Value::Local(*local))?, Op::Alloca { .. }).then_some(true),
        },
    }
}

/// Returns true if metadata excludes aliases: for some domain, all scopes of the first access are excluded by
/// the other.
fn excluded(module: &Module, scopes: Option<u32>, no_alias: Option<u32>) -> bool {
    let (Some(scopes), Some(no_alias)) = (scopes, no_alias) else { return false };
    let excluded = nodes(module, no_alias);
    let mut domains: HashMap<u32, bool> = HashMap::new();
    for scope in nodes(module, scopes) {
        let domain = nodes(module, scope).into_iter().find(|domain| *domain != scope).unwrap_or(scope);
        *domains.entry(domain).or_insert(true) &= excluded.contains(&scope);
    }
    domains.values().any(|all| *all)
}

/// Returns the nodes that a tuple lists.
fn nodes(module: &Module, node: u32) -> Vec<u32> {
    let Some(Node::Tuple(items)) = module.nodes.get(&node) else { return Vec::new() };
    items.iter().filter_map(Item::node).collect()
}
