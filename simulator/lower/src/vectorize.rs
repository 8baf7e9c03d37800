//! Neighboring loads, and neighboring stores, become one access of up to 16 bytes: what LLVM's load-store vectorizer does in its NVPTX
//! back end. Without it a kernel would make more requests.
//!
//! Within a block, accesses with the same base and the same indices form a chain, ordered by their constant offsets. From each start
//! the longest run is taken whose bytes are contiguous, a power of two, and aligned as a whole, and over which no other access of
//! the block may write (or, for stores, read) the same memory. Loads move to the first of a run and stores to the last.

use std::collections::HashMap;

use crate::address::{Address, Origin, Term, address};
use crate::alias::{Touch, may_alias};
use crate::cfg::Graph;
use crate::ir::{Access, BlockId, Callee, Inst, Module, Op, Ordering, Type, Value};
use crate::layout::{self, Scalar};
use crate::space::Spaces;
use crate::uses::Uses;

/// The widest access.
const WIDEST: u64 = 16;

/// Accesses of one block that become one.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The instructions in order of their addresses, with their distance from the first.
    pub members: Vec<(usize, u64)>,
    /// The member at whose place the access is made.
    pub leader: usize,
    pub align: u64,
}

/// The bundles of a function.
#[derive(Default)]
pub struct Plan {
    bundles: Vec<Bundle>,
    places: HashMap<(BlockId, usize), usize>,
}

impl Plan {
    /// Returns the bundle that an instruction is part of.
    pub fn bundle(&self, block: BlockId, inst: usize) -> Option<&Bundle> {
        self.places.get(&(block, inst)).map(|at| &self.bundles[*at])
    }

    pub fn new(module: &Module, graph: &Graph, uses: &Uses, spaces: &Spaces) -> Self {
        let mut plan = Plan::default();
        for &block in &graph.order {
            let events: Vec<Event> = uses.function.blocks[block].iter().map(|inst| event(module, uses, spaces, inst)).collect();
            for is_store in [false, true] {
                for bundle in (Finder { module, uses, events: &events, is_store }).bundles() {
                    for (member, _) in &bundle.members {
                        plan.places.insert((block, *member), plan.bundles.len());
                    }
                    plan.bundles.push(bundle);
                }
            }
        }
        plan
    }
}

/// The effect of an instruction on memory.
enum Event<'f> {
    Nothing,
    /// It may read or write anything.
    Barrier,
    Access {
        touch: Touch<'f>,
        is_store: bool,
        element: Option<Scalar>, // of what may become part of a bundle
    },
}

fn event<'f>(module: &Module, uses: &Uses<'f>, spaces: &Spaces, inst: &'f Inst) -> Event<'f> {
    let (ty, ptr, access, is_store) = match &inst.op {
        Op::Load { ptr, access } => (&inst.ty, ptr, access, false),
        Op::Store { value, ptr, access } => (uses.function.ty(value), ptr, access, true),
        Op::Call { callee: Callee::Asm { side_effect: false, constraints, .. }, .. } if !constraints.contains("memory") => {
            return Event::Nothing;
        }
        Op::Call { callee: Callee::Function(name), .. } if is_pure(module, name) => return Event::Nothing,
        Op::AtomicRmw { .. } | Op::CmpXchg { .. } | Op::Fence { .. } | Op::Call { .. } => return Event::Barrier,
        _ => return Event::Nothing,
    };
    let Ok(bytes) = layout::size(ty) else { return Event::Barrier };
    if access.volatile || access.ordering != Ordering::NotAtomic {
        return Event::Barrier;
    }
    let touch = Touch { space: spaces.of(ptr), address: address(uses, ptr), bytes, access };
    let is_whole = !matches!(ty, Type::Vector(count, _) if !count.is_power_of_two());
    let element = layout::scalar(ty.scalar()).filter(|scalar| is_whole && matches!(scalar.bits(), 8 | 16 | 32 | 64));
    Event::Access { touch, is_store, element }
}

/// Returns true if a function does not touch memory that others see. It neither accesses such memory, nor orders accesses to it.
fn is_pure(module: &Module, name: &str) -> bool {
    const IGNORED: [&str; 5] = ["llvm.assume", "llvm.lifetime.", "llvm.dbg.", "llvm.experimental.noalias", "llvm.expect"];
    if IGNORED.iter().any(|prefix| name.starts_with(prefix)) {
        return true;
    }
    let Some(function) = module.function(name) else { return false };
    function.all_attributes(module).any(|(key, _)| key == "memory(none)" || key == "readnone")
}

struct Finder<'f> {
    module: &'f Module,
    uses: &'f Uses<'f>,
    events: &'f [Event<'f>],
    is_store: bool,
}

/// An access of a chain: its instruction and what it touches.
type Member<'f> = (usize, &'f Touch<'f>);

impl Finder<'_> {
    fn bundles(&self) -> Vec<Bundle> {
        type Key<'k> = (&'k Origin, &'k [Term], u64);
        let mut chains: HashMap<Key, Vec<Member>> = HashMap::new();
        for (at, event) in self.events.iter().enumerate() {
            let Event::Access { touch, is_store, element: Some(element) } = event else { continue };
            let Address { origin, terms, .. } = &touch.address;
            if *is_store == self.is_store && *origin != Origin::Unknown {
                chains.entry((origin, terms, element.bytes())).or_default().push((at, touch));
            }
        }
        // The order does not matter: an access is in one chain only.
        chains.into_values().flat_map(|chain| self.split(chain)).collect()
    }

    /// Returns the bundles of accesses with the same base.
    fn split(&self, mut chain: Vec<Member>) -> Vec<Bundle> {
        chain.sort_by_key(|(at, touch)| (touch.address.offset, *at));
        // Two accesses to the same place: LLVM keeps the first for a chain.
        chain.dedup_by_key(|(_, touch)| touch.address.offset);
        let mut bundles = Vec::new();
        let mut rest = chain.as_slice();
        while let Some((_, first)) = rest.first() {
            let distance = |touch: &Touch| touch.address.offset.wrapping_sub(first.address.offset) as u64;
            let align = first.access.align;
            let (mut taken, mut bytes) = (1, first.bytes);
            for (end, (_, next)) in rest.iter().enumerate().skip(1) {
                if distance(next) != bytes {
                    break;
                }
                bytes += next.bytes;
                if bytes > WIDEST {
                    break;
                }
                if bytes.is_power_of_two() && align >= bytes && self.is_free(&rest[..=end]) {
                    taken = end + 1;
                }
            }
            let (members, others) = rest.split_at(taken);
            if taken > 1 {
                let places = members.iter().map(|(at, _)| *at);
                let leader = if self.is_store { places.max() } else { places.min() }.unwrap_or(0);
                let members = members.iter().map(|(at, touch)| (*at, distance(touch))).collect();
                bundles.push(Bundle { members, leader, align });
            }
            rest = others;
        }
        bundles
    }

    /// Returns true if the accesses can be made at one place.
    fn is_free(&self, members: &[Member]) -> bool {
        let places = || members.iter().map(|(at, _)| *at);
        let (Some(first), Some(last)) = (places().min(), places().max()) else { return false };
        (first..last).all(|between| match &self.events[between] {
            Event::Nothing => true,
            Event::Barrier => false,
            Event::Access { is_store, .. } if !is_store && !self.is_store => true,
            Event::Access { touch, .. } => members.iter().all(|&(place, moved)| {
                // A load moves over what is before it, and a store over what is after it.
                let is_passed = if self.is_store { place < between } else { place > between };
                let is_free = moved.access.invariant || !may_alias(self.module, self.uses, touch, moved);
                !is_passed || places().any(|place| place == between) || is_free
            }),
        })
    }
}

/// Returns true if the read-only cache can serve a load: nothing writes there while the kernel runs.
pub fn is_read_only(uses: &Uses, ptr: &Value, access: &Access) -> bool {
    access.invariant || uses.function.is_kernel && only_read(uses, ptr, 0)
}

/// Returns true if a pointer comes only from `const __restrict__` parameters.
fn only_read(uses: &Uses, ptr: &Value, depth: usize) -> bool {
    if depth > 4 {
        return false;
    }
    let Origin::Local(origin) = address(uses, ptr).origin else { return false };
    if let Some(param) = uses.function.params.get(origin as usize) {
        return param.noalias && param.readonly && param.byval.is_none();
    }
    match uses.def(&Value::Local(origin)) {
        Some(Op::Phi(incoming)) => incoming.iter().all(|(value, _)| {
            // A loop advances the pointer that it started with.
            address(uses, value).origin == Origin::Local(origin) || only_read(uses, value, depth + 1)
        }),
        Some(Op::Select { a, b, .. }) => [a, b].into_iter().all(|value| only_read(uses, value, depth + 1)),
        _ => false,
    }
}
