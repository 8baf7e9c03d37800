//! Loads and stores: from the lanes' addresses to the bytes.
//!
//! Most requests have one of two forms: all lanes at one address, or each lane right after its neighbor. These move all bytes at
//! once. Everything else goes lane by lane.

use std::sync::atomic::Ordering::Relaxed;

use super::core::Core;
use super::machine::Stop;
use super::request::{Pattern, Request, lane_addresses, lanes_of, wide};
use crate::memory::{element, set_element};
use alu::registers::{Kind, LANES, Reg, Registers, spread};
use ptx::finding::{AccessOp, Space};
use ptx::program::{Access, SINK};

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
    let request = Request { op: AccessOp::Load, index, pc, bytes: access.bytes(), mask, addresses: &addresses };
    if access.semantics.strong | access.semantics.volatile {
        core.note_poll(&request, access.space);
    }
    match access.space {
        Some(space @ (Space::Global | Space::Const)) => load_global(core, registers, &access, &request, space),
        Some(Space::Shared) => load_shared(core, registers, &access, &request),
        _ => load_elsewhere(core, registers, local, &access, &request),
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
    let request = Request { op: AccessOp::Store, index, pc, bytes: access.bytes(), mask, addresses: &addresses };
    core.changed = true;
    match access.space {
        Some(Space::Global | Space::Const) => store_global(core, registers, &access, &request),
        Some(Space::Shared) => store_shared(core, registers, &access, &request),
        _ => store_elsewhere(core, registers, local, &access, &request),
    }
}

#[inline(always)]
fn load_global(
    core: &mut Core<'_>,
    registers: &mut Registers,
    access: &Access,
    request: &Request<'_>,
    space: Space,
) -> Result<(), Stop> {
    let Request { index, bytes, mask, addresses, .. } = *request;
    let pattern = request.pattern();
    let slot = &mut core.slots[index as usize];
    let at_once = match pattern {
        Pattern::Same(address) if address & u64::from(bytes - 1) == 0 => {
            core.machine.region(&mut slot.hint, address, u64::from(bytes)).inspect(|region| {
                let offset = address - region.base;
                for element in 0..access.count {
                    let value = extend(region.buffer.element(offset + u64::from(element * access.width), access.width), access);
                    splat(registers, access.registers[element as usize], access.kind, mask, value);
                }
            })
        }
        Pattern::Run(address) if address & u64::from(bytes - 1) == 0 && access.width == 4 && access.kind == Kind::Word => {
            core.machine.region(&mut slot.hint, address, u64::from(bytes) * LANES as u64).inspect(|region| {
                let count = access.count as usize;
                let words = region.buffer.words(address - region.base, LANES * count);
                for (element, register) in access.registers.iter().enumerate().take(count) {
                    if *register != SINK {
                        let row = registers.words_mut(*register);
                        for (value, word) in row.iter_mut().zip(words.iter().skip(element).step_by(count)) {
                            *value = word.load(Relaxed);
                        }
                    }
                }
            })
        }
        _ => None,
    };
    if at_once.is_none() {
        let all_inside = core.check_global_load(request, access)?;
        let slot = &mut core.slots[index as usize];
        for lane in lanes_of(mask) {
            let Some(region) = core.machine.region(&mut slot.hint, addresses[lane], u64::from(access.width)) else { continue };
            let offset = addresses[lane] - region.base;
            // Elements past the end keep what the registers held; nothing depends on them.
            let there = if all_inside {
                access.count
            } else {
                access.count.min(((region.end() - addresses[lane]) / u64::from(access.width)) as u32)
            };
            for element in 0..there {
                let value = extend(region.buffer.element(offset + u64::from(element * access.width), access.width), access);
                set_lane(registers, access.registers[element as usize], access.kind, lane, value);
            }
        }
    }
    match space {
        Space::Const => core.count_other(request, space),
        _ => {
            core.count_global(request, pattern);
            core.watch_global_load(request, pattern, access.semantics);
        }
    }
    Ok(())
}

#[inline(always)]
fn store_global(core: &mut Core<'_>, registers: &Registers, access: &Access, request: &Request<'_>) -> Result<(), Stop> {
    let Request { index, bytes, mask, addresses, .. } = *request;
    core.check_global(request)?;
    core.count_global(request, request.pattern());
    core.watch_in_flight(request, access.semantics.strong);
    let mut hint = core.slots[index as usize].hint;
    for lane in lanes_of(mask) {
        let Some(region) = core.machine.region(&mut hint, addresses[lane], u64::from(bytes)) else { continue };
        let offset = addresses[lane] - region.base;
        let elements = || {
            let value = |element| registers.lane(access.kind, access.registers[element as usize], lane);
            (0..access.count).map(move |element| (offset + u64::from(element * access.width), value(element)))
        };
        let same = || elements().all(|(at, value)| is_same(region.buffer.element(at, access.width), value, access.width));
        let store = || elements().for_each(|(at, value)| region.buffer.set_element(at, access.width, value));
        core.watch_global_store(request, lane, access.semantics, same, store);
        region.buffer.note_written(offset, u64::from(bytes));
    }
    core.slots[index as usize].hint = hint;
    Ok(())
}

#[inline(always)]
fn load_shared(core: &mut Core<'_>, registers: &mut Registers, access: &Access, request: &Request<'_>) -> Result<(), Stop> {
    let Request { mask, .. } = *request;
    let pattern = request.pattern();
    let whole_words = access.width == 4 && access.count == 1 && access.kind == Kind::Word;
    match pattern {
        Pattern::Same(address) if whole_words && address & 3 == 0 && core.may_take(address, 4) => {
            splat(registers, access.registers[0], Kind::Word, mask, u64::from(core.shared[address as usize / 4]));
        }
        Pattern::Run(address) if whole_words && address & 3 == 0 && core.may_take(address, 128) => {
            if access.registers[0] != SINK {
                let words = &core.shared[address as usize / 4..][..LANES];
                registers.words_mut(access.registers[0]).copy_from_slice(words);
            }
        }
        _ => {
            core.check_shared(request)?;
            for lane in lanes_of(mask) {
                let offset = request.offset(lane);
                for element in 0..access.count {
                    let value = extend(core.shared_element(offset + element * access.width, access.width), access);
                    set_lane(registers, access.registers[element as usize], access.kind, lane, value);
                }
            }
        }
    }
    core.count_shared(request, pattern);
    if let Some(array) = access.array {
        core.watch_array(request, pattern, array);
    }
    core.watch_shared_load(request, pattern, access.semantics);
    Ok(())
}

#[inline(always)]
fn store_shared(core: &mut Core<'_>, registers: &Registers, access: &Access, request: &Request<'_>) -> Result<(), Stop> {
    core.check_shared(request)?;
    core.count_shared(request, request.pattern());
    if let Some(array) = access.array {
        core.watch_array(request, request.pattern(), array);
    }
    for lane in lanes_of(request.mask) {
        let offset = request.offset(lane);
        let value = |element| registers.lane(access.kind, access.registers[element as usize], lane);
        let elements = (0..access.count).map(|element| (offset + element * access.width, value(element)));
        if core.watch.is_some() {
            let same = elements.clone().all(|(at, value)| is_same(core.shared_element(at, access.width), value, access.width));
            core.watch_shared_store(request, lane, access.semantics, same);
        }
        elements.for_each(|(at, value)| core.set_shared_element(at, access.width, value));
    }
    Ok(())
}

/// Loads from local or parameter memory, or through generic addresses. With a generic address, each lane may reach another memory.
fn load_elsewhere(
    core: &mut Core<'_>,
    registers: &mut Registers,
    local: &[[u32; LANES]],
    access: &Access,
    request: &Request<'_>,
) -> Result<(), Stop> {
    for (space, mask) in request.spaces(access.space) {
        let request = &request.of(mask);
        match space {
            Space::Global | Space::Const => load_global(core, registers, access, request, space)?,
            Space::Shared => load_shared(core, registers, access, request)?,
            Space::Local | Space::Param => {
                let bytes_there = if space == Space::Local { local.len() * 4 } else { core.machine.params.len() };
                core.check_private(space, request, bytes_there)?;
                if !access.of_function {
                    core.count_other(request, space);
                }
                for lane in lanes_of(mask) {
                    let offset = request.offset(lane);
                    for number in 0..access.count {
                        let at = offset + number * access.width;
                        let value = match space {
                            Space::Local => element(|word| local[word as usize][lane], at.into(), access.width),
                            _ => {
                                let bytes = &core.machine.params[at as usize..][..access.width as usize];
                                bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
                            }
                        };
                        set_lane(registers, access.registers[number as usize], access.kind, lane, extend(value, access));
                    }
                }
            }
        }
    }
    Ok(())
}

fn store_elsewhere(
    core: &mut Core<'_>,
    registers: &Registers,
    local: &mut [[u32; LANES]],
    access: &Access,
    request: &Request<'_>,
) -> Result<(), Stop> {
    for (space, mask) in request.spaces(access.space) {
        let request = &request.of(mask);
        match space {
            Space::Global | Space::Const => store_global(core, registers, access, request)?,
            Space::Shared => store_shared(core, registers, access, request)?,
            Space::Local => {
                core.check_private(space, request, local.len() * 4)?;
                if !access.of_function {
                    core.count_other(request, space);
                }
                for lane in lanes_of(mask) {
                    for element in 0..access.count {
                        let value = registers.lane(access.kind, access.registers[element as usize], lane);
                        let at = request.offset(lane) + element * access.width;
                        set_element(at.into(), access.width, value, |word, field, bits| {
                            let word = &mut local[word as usize][lane];
                            *word = *word & !field | bits;
                        });
                    }
                }
            }
            Space::Param => return Err(core.out_of_bounds(space, request)),
        }
    }
    Ok(())
}

/// Returns true if a memory element equals a register's low bytes.
#[inline(always)]
fn is_same(element: u64, value: u64, width: u32) -> bool {
    (element ^ value) << (64 - 8 * width) == 0
}

/// Extends an element by its sign or with zeros.
#[inline(always)]
fn extend(value: u64, access: &Access) -> u64 {
    let above = 64 - 8 * access.width;
    if access.signed { ((value << above) as i64 >> above) as u64 } else { value << above >> above }
}

/// Gives a lane a value, unless nothing reads the register.
#[inline(always)]
pub fn set_lane(registers: &mut Registers, register: Reg, kind: Kind, lane: usize, value: u64) {
    if register != SINK {
        registers.set_lane(kind, register, lane, value);
    }
}

/// Gives all lanes of the mask the same value.
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
