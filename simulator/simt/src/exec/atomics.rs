//! Read-modify-write: `atom` and `red`.

use super::access::set_lane;
use super::core::Core;
use super::machine::{Machine, Stop};
use super::request::{Request, lane_addresses, lanes_of};
use alu::float::{canonical32, pass_nan};
use alu::half::{self, Bf16, F16};
use alu::registers::{Kind, Reg, Registers};
use ptx::finding::{AccessOp, Space};
use ptx::program::{Atomic, AtomicOp, MOST_ELEMENTS};

/// Computes an atomic operation's new value from the old one. Values of 4 bytes are in the low half.
pub fn combine(op: AtomicOp, width: u32, old: u64, operand: u64, swap: u64) -> u64 {
    let signed = |value: u64| if width == 4 { i64::from(value as u32 as i32) } else { value as i64 };
    let f32_of = |bits: u64| f32::from_bits(bits as u32);
    let of_halves = |op| combine(op, 2, old, operand, swap) | combine(op, 2, old >> 16, operand >> 16, swap) << 16;
    match op {
        AtomicOp::Add if width == 4 => u64::from((old as u32).wrapping_add(operand as u32)),
        AtomicOp::Add => old.wrapping_add(operand),
        AtomicOp::AddF32 => u64::from(canonical32(f32_of(old) + f32_of(operand)).to_bits()),
        AtomicOp::AddF64 => {
            let (old, operand) = (f64::from_bits(old), f64::from_bits(operand));
            pass_nan(old + operand, [operand, old]).to_bits()
        }
        AtomicOp::AddF16 => u64::from(half::add(F16(old as u16), F16(operand as u16)).0),
        AtomicOp::AddBf16 => u64::from(half::add(Bf16(old as u16), Bf16(operand as u16)).0),
        AtomicOp::AddF16x2 => of_halves(AtomicOp::AddF16),
        AtomicOp::AddBf16x2 => of_halves(AtomicOp::AddBf16),
        AtomicOp::MinF16 => u64::from(half::min(F16(old as u16), F16(operand as u16)).0),
        AtomicOp::MaxF16 => u64::from(half::max(F16(old as u16), F16(operand as u16)).0),
        AtomicOp::MinBf16 => u64::from(half::min(Bf16(old as u16), Bf16(operand as u16)).0),
        AtomicOp::MaxBf16 => u64::from(half::max(Bf16(old as u16), Bf16(operand as u16)).0),
        AtomicOp::MinF16x2 => of_halves(AtomicOp::MinF16),
        AtomicOp::MaxF16x2 => of_halves(AtomicOp::MaxF16),
        AtomicOp::MinBf16x2 => of_halves(AtomicOp::MinBf16),
        AtomicOp::MaxBf16x2 => of_halves(AtomicOp::MaxBf16),
        AtomicOp::MinUnsigned => old.min(operand),
        AtomicOp::MaxUnsigned => old.max(operand),
        AtomicOp::MinSigned if signed(operand) < signed(old) => operand,
        AtomicOp::MaxSigned if signed(operand) > signed(old) => operand,
        AtomicOp::CompareAndSwap if old == operand => swap,
        AtomicOp::MinSigned | AtomicOp::MaxSigned | AtomicOp::CompareAndSwap => old,
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
        AtomicOp::Exchange => operand,
        AtomicOp::Increment if old >= operand => 0,
        AtomicOp::Increment => old + 1,
        AtomicOp::Decrement if old == 0 || old > operand => operand,
        AtomicOp::Decrement => old - 1,
    }
}

/// Executes an atomic operation for the lanes in `mask`, one by one.
pub fn execute(core: &mut Core<'_>, registers: &mut Registers, index: u32, mask: u32, pc: u32) -> Result<(), Stop> {
    let atomic = core.machine.program.atomics[index as usize];
    let addresses = lane_addresses(registers, &atomic.address);
    let request = Request { op: AccessOp::Atomic, index, pc, bytes: atomic.width * atomic.count, mask, addresses: &addresses };
    let kind = if atomic.width == 8 { Kind::Double } else { Kind::Word };
    core.note_poll(&request, atomic.space);
    for (space, mask) in request.spaces(atomic.space) {
        let request = &request.of(mask);
        match space {
            Space::Global | Space::Const => {
                core.stats.atomics[index as usize][0] += 1;
                core.check_global(request)?;
                core.watch_in_flight(request, true);
            }
            Space::Shared => {
                core.check_shared(request)?;
                core.count_shared_atomic(request);
            }
            space => return Err(core.out_of_bounds(space, request)),
        }
        for lane in lanes_of(mask) {
            if atomic.is_wide {
                wide(core, registers, &atomic, request, (space, lane));
                continue;
            }
            let operands = atomic.operands.map(|register| registers.lane(kind, register, lane));
            let old = if space == Space::Shared {
                core.watch_shared_store(request, lane, atomic.semantics, false);
                // No vector is in shared memory.
                let mut old = [0; MOST_ELEMENTS];
                old[0] = on_shared(core, &atomic, request.offset(lane), operands_of(&atomic, &operands, 0));
                old
            } else {
                let (machine, mut hint) = (core.machine, core.atomic_hint);
                let on_elements = || {
                    let mut old = [0; MOST_ELEMENTS];
                    for (element, old) in old.iter_mut().enumerate().take(atomic.count as usize) {
                        let address = addresses[lane] + u64::from(atomic.width) * element as u64;
                        *old = on_global(
                            machine,
                            &mut hint,
                            (atomic.op, atomic.width, true),
                            address,
                            operands_of(&atomic, &operands, element),
                        );
                    }
                    old
                };
                let old = core.watch_global_store(request, lane, atomic.semantics, || false, on_elements);
                core.atomic_hint = hint;
                old
            };
            for (element, (old, destination)) in old.into_iter().zip(atomic.destinations).enumerate().take(atomic.count as usize) {
                if core.machine.options.cooperative {
                    let [operand, swap] = operands_of(&atomic, &operands, element);
                    core.changed |= combine(atomic.op, atomic.width, old, operand, swap) != old;
                }
                set_lane(registers, destination, kind, lane, old);
            }
        }
    }
    Ok(())
}

/// Returns the operand of an element, and what compare-and-swap stores.
fn operands_of(atomic: &Atomic, operands: &[u64; MOST_ELEMENTS], element: usize) -> [u64; 2] {
    if atomic.op == AtomicOp::CompareAndSwap { [operands[0], operands[1]] } else { [operands[element], 0] }
}

/// Executes an exchange or a compare-and-swap of 16 bytes by one lane.
fn wide(core: &mut Core<'_>, registers: &mut Registers, atomic: &Atomic, request: &Request<'_>, (space, lane): (Space, usize)) {
    let whole = |low: Reg, high: Reg| u128::from(registers.doubles(low)[lane]) | u128::from(registers.doubles(high)[lane]) << 64;
    let [low, high, swap_low, swap_high, ..] = atomic.operands;
    let (operand, swap) = (whole(low, high), whole(swap_low, swap_high));
    let new = |old: u128| match atomic.op {
        AtomicOp::CompareAndSwap if old != operand => old,
        AtomicOp::CompareAndSwap => swap,
        _ => operand,
    };
    let word = |value: u128, index: u64| (value >> (32 * index)) as u32;
    let old = if space == Space::Shared {
        core.watch_shared_store(request, lane, atomic.semantics, false);
        let words = &mut core.shared[request.offset(lane) as usize / 4..][..4];
        let old = words.iter().rev().fold(0, |value, word| value << 32 | u128::from(*word));
        (0..4).for_each(|index| words[index as usize] = word(new(old), index));
        old
    } else {
        let (machine, mut hint) = (core.machine, core.atomic_hint);
        let on_global = || {
            let address = request.addresses[lane];
            // The address was checked before, and regions stay as long as the launch.
            let Some(region) = machine.region(&mut hint, address, 16) else { return 0 };
            let offset = address - region.base;
            region.buffer.note_written(offset, 16);
            let _one_at_a_time = machine.wide_atomics.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let old = (0..4).rev().fold(0, |value, index| value << 32 | u128::from(region.buffer.word(offset + 4 * index)));
            (0..4).for_each(|index| region.buffer.set_word(offset + 4 * index, word(new(old), index)));
            old
        };
        let old = core.watch_global_store(request, lane, atomic.semantics, || false, on_global);
        core.atomic_hint = hint;
        old
    };
    if core.machine.options.cooperative {
        core.changed |= new(old) != old;
    }
    for (register, value) in atomic.destinations.into_iter().zip([old as u64, (old >> 64) as u64]) {
        set_lane(registers, register, Kind::Double, lane, value);
    }
}

fn on_shared(core: &mut Core<'_>, atomic: &Atomic, offset: u32, [operand, swap]: [u64; 2]) -> u64 {
    let old = core.shared_element(offset, atomic.width);
    let operand = if atomic.width == 2 { operand & 0xffff } else { operand };
    core.set_shared_element(offset, atomic.width, combine(atomic.op, atomic.width, old, operand, swap));
    old
}

/// Changes the 16 bits of a word from `shift` on; returns the new word, and the old bits.
fn in_half(word: u32, shift: u32, change: impl Fn(u64) -> u64) -> (u32, u64) {
    let old = u64::from(word >> shift & 0xffff);
    let new = change(old) as u32 & 0xffff;
    (word & !(0xffff << shift) | new << shift, old)
}

/// Returns an f32 with denormals flushed to zeros of the same sign.
fn flushed(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// Executes an atomic operation of that width in global memory; returns the old value. An addition of f32 may flush denormals.
pub fn on_global(
    machine: &Machine<'_>,
    hint: &mut u32,
    (op, width, flushes): (AtomicOp, u32, bool),
    address: u64,
    [operand, swap]: [u64; 2],
) -> u64 {
    let region = machine.region(hint, address, u64::from(width));
    // The address was checked before, and regions stay as long as the launch.
    let Some(region) = region else { return 0 };
    let offset = address - region.base;
    region.buffer.note_written(offset, u64::from(width));
    if width == 4 {
        let change = |old: u32| match op {
            // The units at the L2 cache, which do additions in global memory, flush denormals for `atom` and `red` (PTX ISA, `atom`).
            AtomicOp::AddF32 if flushes => flushed(combine(op, 4, flushed(old.into()), flushed(operand), swap)) as u32,
            _ => combine(op, 4, u64::from(old), operand, swap) as u32,
        };
        return u64::from(region.buffer.update_word(offset, change));
    }
    if width == 2 {
        let change = |word| in_half(word, (offset % 4 * 8) as u32, |old| combine(op, 2, old, operand & 0xffff, swap));
        let before = region.buffer.update_word(offset & !3, |word| change(word).0);
        return change(before).1;
    }
    let _one_at_a_time = machine.wide_atomics.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let old = region.buffer.element(offset, 8);
    let new = if op == AtomicOp::AddF64 { sum_at_l2(old, operand) } else { combine(op, 8, old, operand, swap) };
    region.buffer.set_element(offset, 8, new);
    old
}

/// Adds two f64 in global memory.
///
/// There the units at the L2 cache of an H200 add. They leave a NaN as it is, where an instruction makes it quiet.
fn sum_at_l2(old: u64, operand: u64) -> u64 {
    let is_nan = |bits: &u64| f64::from_bits(*bits).is_nan();
    [operand, old].into_iter().find(is_nan).unwrap_or_else(|| combine(AtomicOp::AddF64, 8, old, operand, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomic_operations_follow_their_definitions() {
        let minus_one = u64::from(u32::MAX);
        for (op, old, operand, swap, expected) in [
            (AtomicOp::Add, minus_one, 2, 0, 1),
            (AtomicOp::MinSigned, minus_one, 3, 0, minus_one),
            (AtomicOp::MinUnsigned, minus_one, 3, 0, 3),
            (AtomicOp::MaxSigned, minus_one, 3, 0, 3),
            (AtomicOp::MaxUnsigned, minus_one, 3, 0, minus_one),
            (AtomicOp::CompareAndSwap, 5, 5, 9, 9),
            (AtomicOp::CompareAndSwap, 5, 6, 9, 5),
            (AtomicOp::Increment, 6, 7, 0, 7),
            (AtomicOp::Increment, 7, 7, 0, 0),
            (AtomicOp::Decrement, 0, 7, 0, 7),
            (AtomicOp::Decrement, 8, 7, 0, 7),
            (AtomicOp::Decrement, 3, 7, 0, 2),
            (AtomicOp::AddF32, u64::from(1.5_f32.to_bits()), u64::from(2.25_f32.to_bits()), 0, u64::from(3.75_f32.to_bits())),
        ] {
            assert_eq!(combine(op, 4, old, operand, swap), expected, "{op:?} of {operand} on {old}");
        }
    }

    /// On an H200, in global and in shared memory.
    #[test]
    fn a_nan_of_64_bits_is_made_quiet_in_shared_memory_only() {
        const ONE: u64 = 0x3ff0_0000_0000_0000;
        const INFINITY: u64 = 0x7ff0_0000_0000_0000;
        let (a, b) = (0x7ff0_0000_0000_0001, 0xfff1_2345_0000_0000);
        for (old, operand, global, shared) in [
            (a, ONE, a, 0x7ff8_0000_0000_0001),
            (ONE, a, a, 0x7ff8_0000_0000_0001),
            (a, b, b, 0xfff9_2345_0000_0000),
            (b, a, a, 0x7ff8_0000_0000_0001),
            (INFINITY, INFINITY | 1 << 63, 0xfff8_0000_0000_0000, 0xfff8_0000_0000_0000),
            (ONE, ONE, 0x4000_0000_0000_0000, 0x4000_0000_0000_0000),
        ] {
            assert_eq!(sum_at_l2(old, operand), global, "{operand:x} added to {old:x} in global memory");
            assert_eq!(combine(AtomicOp::AddF64, 8, old, operand, 0), shared, "{operand:x} added to {old:x} in shared memory");
        }
    }
}
