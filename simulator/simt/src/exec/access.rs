//! Loads and stores: from the lanes' addresses to the bytes, and what the access costs.
//!
//! Most accesses are of two forms, all lanes at one address or each at its neighbour's next, and both the bytes and the cost of
//! these follow from the first address alone. Everything else goes lane by lane, and its cost is remembered by its pattern: a loop
//! repeats the same offsets between lanes again and again.

use super::Stop;
use super::block::Core;
use super::registers::{FULL, LANES, Reg, Registers, spread};
use super::stats::count_other;
use crate::finding::{AccessOp, Space};
use crate::instructions::Kind;
use crate::memory::Buffer;
use crate::memory::rules::{self, Direction, GlobalCost, SharedCost};
use crate::program::{Access, Address, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, SINK, WINDOW_OFFSET};

/// What a load or store remembers from its last execution.
#[derive(Debug)]
pub struct Slot {
    /// Where the last address was found.
    hint: u32,
    memo: Memo,
}

impl Default for Slot {
    fn default() -> Self {
        Self { hint: 0, memo: Memo { mask: 0, unit: 0, phase: 0, relative: [0; LANES], cost: (0, 0) } }
    }
}

/// The last pattern of addresses that was not simple, and its cost. A cost does not change when all addresses move by a multiple
/// of what the memory's units repeat by: 32 bytes for sectors, 4 for banks.
#[derive(Debug)]
struct Memo {
    /// Active lanes; none before the first use.
    mask: u32,
    /// Tells the memories apart: a generic address may lead to one or the other.
    unit: u64,
    phase: u64,
    relative: [u64; LANES],
    cost: (u32, u32),
}

impl Memo {
    #[inline(always)]
    fn cost(&mut self, mask: u32, unit: u64, addresses: &[u64; LANES], count: impl FnOnce() -> (u32, u32)) -> (u32, u32) {
        let first = addresses[mask.trailing_zeros() as usize];
        let phase = first % unit;
        let keep = spread(mask);
        let mut relative = [0; LANES];
        let mut differs = 0;
        for lane in 0..LANES {
            relative[lane] = addresses[lane].wrapping_sub(first) & wide(keep[lane]);
            differs |= relative[lane] ^ self.relative[lane];
        }
        if differs != 0 || mask != self.mask || unit != self.unit || phase != self.phase {
            *self = Memo { mask, unit, phase, relative, cost: count() };
        }
        self.cost
    }
}

/// A lane's mask of 32 bits as one of 64.
#[inline(always)]
pub fn wide(keep: u32) -> u64 {
    keep as i32 as i64 as u64
}

/// The form of a warp's addresses.
enum Pattern {
    /// All active lanes at one address.
    Same(u64),
    /// All lanes active, each at the end of the one before.
    Run(u64),
    Other,
}

/// Executes a load for the lanes in `mask`.
#[inline(always)]
pub fn load(
    core: &mut Core<'_>,
    registers: &mut Registers,
    local: &[[u32; LANES]],
    index: u32,
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    let access = core.machine.program.accesses[index as usize];
    let addresses = lane_addresses(registers, &access.address);
    match access.space {
        Some(Space::Global | Space::Const) => load_global(core, registers, &access, index, &addresses, mask, pc),
        Some(Space::Shared) => load_shared(core, registers, &access, index, &addresses, mask, pc),
        _ => load_elsewhere(core, registers, local, &access, index, &addresses, mask, pc),
    }
}

/// Executes a store for the lanes in `mask`.
#[inline(always)]
pub fn store(
    core: &mut Core<'_>,
    registers: &Registers,
    local: &mut [[u32; LANES]],
    index: u32,
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    let access = core.machine.program.accesses[index as usize];
    let addresses = lane_addresses(registers, &access.address);
    match access.space {
        Some(Space::Global | Space::Const) => store_global(core, registers, &access, index, &addresses, mask, pc),
        Some(Space::Shared) => store_shared(core, registers, &access, index, &addresses, mask, pc),
        _ => store_elsewhere(core, registers, local, &access, index, &addresses, mask, pc),
    }
}

#[inline(always)]
fn load_global(
    core: &mut Core<'_>,
    registers: &mut Registers,
    access: &Access,
    index: u32,
    addresses: &[u64; LANES],
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    let bytes = access.bytes();
    let lanes = mask.count_ones();
    let slot = &mut core.slots[index as usize];
    let stats = &mut core.stats.accesses[index as usize];
    if access.space == Some(Space::Const) {
        stats.const_requests += 1;
    }
    let counted = access.space != Some(Space::Const);
    match pattern(addresses, mask, bytes) {
        Pattern::Same(address) if address & u64::from(bytes - 1) == 0 => {
            if let Some(region) = core.machine.region(&mut slot.hint, address, u64::from(bytes)) {
                let offset = address - region.base;
                for element in 0..access.count {
                    let value = element_at(&region.buffer, offset + u64::from(element * access.width), access);
                    splat(registers, access.registers[element as usize], access.kind, mask, value);
                }
                if counted {
                    stats.global(GlobalCost { sectors: 1, ideal: 1 }, lanes, bytes);
                }
                return Ok(());
            }
        }
        Pattern::Run(address) if address & u64::from(bytes - 1) == 0 && access.width == 4 && access.kind == Kind::Word => {
            if let Some(region) = core.machine.region(&mut slot.hint, address, u64::from(bytes) * LANES as u64) {
                let count = access.count as usize;
                let words = region.buffer.words(address - region.base, LANES * count);
                for (element, register) in access.registers.iter().enumerate().take(count) {
                    if *register != SINK {
                        let row = registers.words_mut(*register);
                        for (value, word) in row.iter_mut().zip(words.iter().skip(element).step_by(count)) {
                            *value = word.load(std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                }
                if counted {
                    stats.global(run_cost(address, bytes), lanes, bytes);
                }
                return Ok(());
            }
        }
        _ => {}
    }
    core.check_global(AccessOp::Load, bytes, addresses, mask, pc)?;
    let slot = &mut core.slots[index as usize];
    for lane in lanes_of(mask) {
        let Some(region) = core.machine.region(&mut slot.hint, addresses[lane], u64::from(bytes)) else { continue };
        let offset = addresses[lane] - region.base;
        for element in 0..access.count {
            let value = element_at(&region.buffer, offset + u64::from(element * access.width), access);
            set_lane(registers, access.registers[element as usize], access.kind, lane, value);
        }
    }
    if counted {
        let cost = global_cost(&mut slot.memo, mask, bytes, addresses);
        core.stats.accesses[index as usize].global(cost, lanes, bytes);
    }
    Ok(())
}

#[inline(always)]
fn store_global(
    core: &mut Core<'_>,
    registers: &Registers,
    access: &Access,
    index: u32,
    addresses: &[u64; LANES],
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    let bytes = access.bytes();
    let lanes = mask.count_ones();
    core.check_global(AccessOp::Store, bytes, addresses, mask, pc)?;
    let slot = &mut core.slots[index as usize];
    for lane in lanes_of(mask) {
        let Some(region) = core.machine.region(&mut slot.hint, addresses[lane], u64::from(bytes)) else { continue };
        let offset = addresses[lane] - region.base;
        for element in 0..access.count {
            let value = lane_of(registers, access.registers[element as usize], access.kind, lane);
            set_element(&region.buffer, offset + u64::from(element * access.width), access.width, value);
        }
    }
    let cost = match pattern(addresses, mask, bytes) {
        Pattern::Same(_) => GlobalCost { sectors: 1, ideal: 1 },
        Pattern::Run(address) => run_cost(address, bytes),
        Pattern::Other => global_cost(&mut slot.memo, mask, bytes, addresses),
    };
    core.stats.accesses[index as usize].global(cost, lanes, bytes);
    Ok(())
}

#[inline(always)]
fn load_shared(
    core: &mut Core<'_>,
    registers: &mut Registers,
    access: &Access,
    index: u32,
    addresses: &[u64; LANES],
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    let bytes = access.bytes();
    let limit = u64::from(core.machine.shared_bytes);
    match pattern(addresses, mask, bytes) {
        Pattern::Same(address)
            if bytes == 4 && access.kind == Kind::Word && address & 3 == 0 && address.saturating_add(4) <= limit =>
        {
            splat(registers, access.registers[0], Kind::Word, mask, u64::from(core.shared[address as usize / 4]));
            core.stats.accesses[index as usize].shared(SharedCost { wavefronts: 1, ideal: 1 });
            return Ok(());
        }
        Pattern::Run(address)
            if bytes == 4 && access.kind == Kind::Word && address & 3 == 0 && address.saturating_add(128) <= limit =>
        {
            if access.registers[0] != SINK {
                let words = &core.shared[address as usize / 4..][..LANES];
                registers.words_mut(access.registers[0]).copy_from_slice(words);
            }
            core.stats.accesses[index as usize].shared(SharedCost { wavefronts: 1, ideal: 1 });
            return Ok(());
        }
        _ => {}
    }
    core.check_shared(AccessOp::Load, bytes, addresses, mask, pc)?;
    for lane in lanes_of(mask) {
        let offset = core.shared_offset(addresses[lane]);
        for element in 0..access.count {
            let value = shared_element(&core.shared, offset + element * access.width, access);
            set_lane(registers, access.registers[element as usize], access.kind, lane, value);
        }
    }
    core.count_shared(Direction::Load, index, bytes, addresses, mask);
    Ok(())
}

#[inline(always)]
fn store_shared(
    core: &mut Core<'_>,
    registers: &Registers,
    access: &Access,
    index: u32,
    addresses: &[u64; LANES],
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    let bytes = access.bytes();
    core.check_shared(AccessOp::Store, bytes, addresses, mask, pc)?;
    for lane in lanes_of(mask) {
        let offset = core.shared_offset(addresses[lane]);
        for element in 0..access.count {
            let value = lane_of(registers, access.registers[element as usize], access.kind, lane);
            set_shared_element(&mut core.shared, offset + element * access.width, access.width, value);
        }
    }
    core.count_shared(Direction::Store, index, bytes, addresses, mask);
    Ok(())
}

/// Loads from local and parameter memory, and through generic addresses, which each lane may take to another memory.
#[expect(clippy::too_many_arguments, reason = "the parts of one access, which the fast paths must not gather in memory first")]
fn load_elsewhere(
    core: &mut Core<'_>,
    registers: &mut Registers,
    local: &[[u32; LANES]],
    access: &Access,
    index: u32,
    addresses: &[u64; LANES],
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    for (space, mask) in split_windows(access.space, addresses, mask) {
        match space {
            Space::Global | Space::Const => load_global(core, registers, access, index, addresses, mask, pc)?,
            Space::Shared => load_shared(core, registers, access, index, addresses, mask, pc)?,
            Space::Local | Space::Param => {
                let bytes_there = if space == Space::Local { local.len() * 4 } else { core.machine.params.len() };
                core.check_private(space, AccessOp::Load, access.bytes(), bytes_there, addresses, mask, pc)?;
                if !access.of_function {
                    count_other(&mut core.stats.accesses[index as usize], space);
                }
                for lane in lanes_of(mask) {
                    let offset = (addresses[lane] & WINDOW_OFFSET) as usize;
                    for element in 0..access.count {
                        let at = offset + (element * access.width) as usize;
                        let byte = |i: usize| match space {
                            Space::Local => (local[(at + i) / 4][lane] >> ((at + i) % 4 * 8)) as u8,
                            _ => core.machine.params[at + i],
                        };
                        let value = (0..access.width as usize).rev().fold(0, |value, i| value << 8 | u64::from(byte(i)));
                        let value = extend(value, access);
                        set_lane(registers, access.registers[element as usize], access.kind, lane, value);
                    }
                }
            }
        }
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the parts of one access, which the fast paths must not gather in memory first")]
fn store_elsewhere(
    core: &mut Core<'_>,
    registers: &Registers,
    local: &mut [[u32; LANES]],
    access: &Access,
    index: u32,
    addresses: &[u64; LANES],
    mask: u32,
    pc: u32,
) -> Result<(), Stop> {
    for (space, mask) in split_windows(access.space, addresses, mask) {
        match space {
            Space::Global | Space::Const => store_global(core, registers, access, index, addresses, mask, pc)?,
            Space::Shared => store_shared(core, registers, access, index, addresses, mask, pc)?,
            Space::Local => {
                core.check_private(space, AccessOp::Store, access.bytes(), local.len() * 4, addresses, mask, pc)?;
                if !access.of_function {
                    count_other(&mut core.stats.accesses[index as usize], space);
                }
                for lane in lanes_of(mask) {
                    let offset = (addresses[lane] & WINDOW_OFFSET) as usize;
                    for element in 0..access.count {
                        let value = lane_of(registers, access.registers[element as usize], access.kind, lane);
                        for i in 0..access.width as usize {
                            let at = offset + (element * access.width) as usize + i;
                            let shift = at % 4 * 8;
                            let word = &mut local[at / 4][lane];
                            *word = (*word & !(0xff << shift)) | ((value >> (8 * i)) as u32 & 0xff) << shift;
                        }
                    }
                }
            }
            Space::Param => return Err(core.out_of_bounds(space, AccessOp::Store, access.bytes(), addresses, mask, pc)),
        }
    }
    Ok(())
}

impl Core<'_> {
    /// Where in the block's shared memory an address lies, generic or not.
    #[inline(always)]
    pub fn shared_offset(&self, address: u64) -> u32 {
        (address & WINDOW_OFFSET) as u32
    }

    #[inline(always)]
    fn count_shared(&mut self, direction: Direction, index: u32, bytes: u32, addresses: &[u64; LANES], mask: u32) {
        let memo = &mut self.slots[index as usize].memo;
        let (wavefronts, ideal) = memo.cost(mask, 4, addresses, || {
            let offsets = addresses.map(|address| (address & WINDOW_OFFSET) as u32);
            let cost = rules::shared(direction, mask, bytes, &offsets);
            (cost.wavefronts, cost.ideal)
        });
        self.stats.accesses[index as usize].shared(SharedCost { wavefronts, ideal });
    }
}

#[inline(always)]
fn global_cost(memo: &mut Memo, mask: u32, bytes: u32, addresses: &[u64; LANES]) -> GlobalCost {
    let (sectors, ideal) = memo.cost(mask, 32, addresses, || {
        let cost = rules::global(mask, bytes, addresses);
        (cost.sectors, cost.ideal)
    });
    GlobalCost { sectors, ideal }
}

/// Cost of lanes that stand side by side.
#[inline(always)]
fn run_cost(address: u64, bytes: u32) -> GlobalCost {
    GlobalCost { sectors: ((address % 32) as u32 + 32 * bytes).div_ceil(32), ideal: bytes }
}

/// The addresses of all lanes; those of inactive ones mean nothing.
#[inline(always)]
pub fn lane_addresses(registers: &Registers, address: &Address) -> [u64; LANES] {
    let offset = address.offset as u64;
    let mut addresses = [0; LANES];
    match address.kind {
        Kind::Double => {
            for (address, base) in addresses.iter_mut().zip(registers.doubles(address.base)) {
                *address = base.wrapping_add(offset);
            }
        }
        _ => {
            for (address, base) in addresses.iter_mut().zip(registers.words(address.base)) {
                *address = u64::from(*base).wrapping_add(offset);
            }
        }
    }
    addresses
}

#[inline(always)]
fn pattern(addresses: &[u64; LANES], mask: u32, bytes: u32) -> Pattern {
    let first = addresses[mask.trailing_zeros() as usize];
    let mut same = 0;
    let mut run = 0;
    if mask == FULL {
        for (lane, address) in addresses.iter().enumerate() {
            let distance = address.wrapping_sub(first);
            same |= distance;
            run |= distance ^ (lane as u64 * u64::from(bytes));
        }
    } else {
        run = 1;
        let keep = spread(mask);
        for lane in 0..LANES {
            same |= (addresses[lane] ^ first) & wide(keep[lane]);
        }
    }
    if same == 0 {
        Pattern::Same(first)
    } else if run == 0 {
        Pattern::Run(first)
    } else {
        Pattern::Other
    }
}

/// The spaces that the active lanes' addresses lie in, with the lanes of each.
pub fn split_windows(space: Option<Space>, addresses: &[u64; LANES], mask: u32) -> Vec<(Space, u32)> {
    if let Some(space) = space {
        return vec![(space, mask)];
    }
    let of_window = |window: Option<u64>| {
        lanes_where(mask, |lane| {
            let found = addresses[lane] & !WINDOW_OFFSET;
            match window {
                Some(window) => found == window,
                None => ![SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW].contains(&found),
            }
        })
    };
    let spaces = [
        (Space::Global, of_window(None)),
        (Space::Shared, of_window(Some(SHARED_WINDOW))),
        (Space::Local, of_window(Some(LOCAL_WINDOW))),
        (Space::Param, of_window(Some(PARAM_WINDOW))),
    ];
    spaces.into_iter().filter(|(_, lanes)| *lanes != 0).collect()
}

/// The set lanes of a mask, lowest first.
#[inline(always)]
pub fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The lanes of a mask for which a condition holds.
pub fn lanes_where(mask: u32, mut condition: impl FnMut(usize) -> bool) -> u32 {
    lanes_of(mask).filter(|lane| condition(*lane)).fold(0, |lanes, lane| lanes | 1 << lane)
}

/// An element of global memory, extended to 64 bits.
#[inline(always)]
fn element_at(buffer: &Buffer, offset: u64, access: &Access) -> u64 {
    match access.width {
        4 => extend(u64::from(buffer.word(offset)), access),
        8 => u64::from(buffer.word(offset)) | u64::from(buffer.word(offset + 4)) << 32,
        _ => extend(u64::from(buffer.word(offset & !3) >> (offset % 4 * 8)), access),
    }
}

#[inline(always)]
fn set_element(buffer: &Buffer, offset: u64, width: u32, value: u64) {
    match width {
        4 => buffer.set_word(offset, value as u32),
        8 => {
            buffer.set_word(offset, value as u32);
            buffer.set_word(offset + 4, (value >> 32) as u32);
        }
        _ => {
            let shift = offset % 4 * 8;
            let field = ((1_u32 << (8 * width)) - 1) << shift;
            buffer.update_word(offset & !3, |word| (word & !field) | ((value as u32) << shift & field));
        }
    }
}

#[inline(always)]
fn shared_element(shared: &[u32], offset: u32, access: &Access) -> u64 {
    let word = u64::from(shared[offset as usize / 4]);
    match access.width {
        4 => extend(word, access),
        8 => word | u64::from(shared[offset as usize / 4 + 1]) << 32,
        _ => extend(word >> (offset % 4 * 8), access),
    }
}

#[inline(always)]
fn set_shared_element(shared: &mut [u32], offset: u32, width: u32, value: u64) {
    let word = &mut shared[offset as usize / 4];
    match width {
        4 => *word = value as u32,
        8 => {
            *word = value as u32;
            shared[offset as usize / 4 + 1] = (value >> 32) as u32;
        }
        _ => {
            let shift = offset % 4 * 8;
            let field = ((1_u32 << (8 * width)) - 1) << shift;
            *word = (*word & !field) | ((value as u32) << shift & field);
        }
    }
}

/// Fills the bits above an element by its sign or with zeros.
#[inline(always)]
fn extend(value: u64, access: &Access) -> u64 {
    let above = 64 - 8 * access.width;
    if access.signed { ((value << above) as i64 >> above) as u64 } else { value << above >> above }
}

#[inline(always)]
fn lane_of(registers: &Registers, register: Reg, kind: Kind, lane: usize) -> u64 {
    match kind {
        Kind::Double => registers.doubles(register)[lane],
        _ => u64::from(registers.words(register)[lane]),
    }
}

#[inline(always)]
fn set_lane(registers: &mut Registers, register: Reg, kind: Kind, lane: usize, value: u64) {
    if register == SINK {
        return;
    }
    match kind {
        Kind::Double => registers.doubles_mut(register)[lane] = value,
        _ => registers.words_mut(register)[lane] = value as u32,
    }
}

/// Gives all lanes of the mask one value.
#[inline(always)]
fn splat(registers: &mut Registers, register: Reg, kind: Kind, mask: u32, value: u64) {
    if register == SINK {
        return;
    }
    let keep = spread(mask);
    match kind {
        Kind::Double => {
            for (lane, old) in registers.doubles_mut(register).iter_mut().enumerate() {
                *old = (*old & !wide(keep[lane])) | (value & wide(keep[lane]));
            }
        }
        _ => {
            for (lane, old) in registers.words_mut(register).iter_mut().enumerate() {
                *old = (*old & !keep[lane]) | (value as u32 & keep[lane]);
            }
        }
    }
}
