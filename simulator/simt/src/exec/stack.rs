//! The stack of recursive functions: a frame in local memory for each call, and the registers of the callers.

use super::request::lanes_of;
use alu::registers::{LANES, Registers};
use ptx::finding::FindingKind;
use ptx::program::{FrameLayout, Program};

/// The most words that are saved for each lane. Without this limit, a kernel could use up the host's memory.
const MOST_SAVED: usize = 1 << 17;

/// The registers that recursive functions have saved, lane by lane: each word has a row.
pub type Saved = Vec<[u32; LANES]>;

/// Puts the lanes at the bottom of their stacks.
pub fn start(program: &Program, registers: &mut Registers, local: &mut Vec<[u32; LANES]>, saved: &mut Saved) {
    let Some(stack) = &program.stack else { return };
    registers.doubles_mut(stack.frame).fill(program.local_bytes.into());
    registers.words_mut(stack.saved).fill(0);
    local.truncate(words(program.local_bytes + stack.largest_frame()));
    local.resize(words(program.local_bytes + stack.largest_frame()), [0; LANES]);
    saved.clear();
}

/// Copies between a frame and a fixed place.
pub fn copy(
    program: &Program,
    registers: &Registers,
    local: &mut [[u32; LANES]],
    (in_frame, fixed, bytes, into_frame): (u32, u32, u32, bool),
    active: u32,
) {
    let Some(stack) = &program.stack else { return };
    let frames = registers.doubles(stack.frame);
    for lane in lanes_of(active) {
        let (frame, fixed) = (words(frames[lane] as u32 + in_frame), words(fixed));
        for word in 0..words(bytes) {
            let (from, to) = if into_frame { (fixed, frame) } else { (frame, fixed) };
            local[to + word][lane] = local[from + word][lane];
        }
    }
}

/// Saves the function's registers and moves on to the next frame. Fails if the stack of a thread that calls gets larger than its limit.
pub fn save(
    program: &Program,
    registers: &mut Registers,
    (local, saved): (&mut Vec<[u32; LANES]>, &mut Saved),
    (function, limit): (u32, u32),
    (active, calling): (u32, u32),
) -> Result<(), FindingKind> {
    let Some(stack) = &program.stack else { return Ok(()) };
    let layout = &stack.frames[function as usize];
    for lane in lanes_of(active) {
        let frame = registers.doubles(stack.frame)[lane] as u32 + layout.bytes;
        let mut at = registers.words(stack.saved)[lane] as usize;
        let end = at + saved_words(layout);
        let is_full = frame - program.local_bytes > limit || end > MOST_SAVED;
        if is_full && calling >> lane & 1 == 1 {
            return Err(FindingKind::StackOverflow { limit });
        }
        local.resize(local.len().max(words(frame + stack.largest_frame())), [0; LANES]);
        saved.resize(saved.len().max(end), [0; LANES]);
        let mut put = |word: u32| {
            saved[at][lane] = word;
            at += 1;
        };
        layout.words.iter().for_each(|register| put(registers.words(*register)[lane]));
        for register in &layout.doubles {
            let value = registers.doubles(*register)[lane];
            put(value as u32);
            put((value >> 32) as u32);
        }
        for predicates in layout.predicates.chunks(32) {
            put(predicates.iter().rev().fold(0, |bits, predicate| bits << 1 | (registers.predicate(*predicate) >> lane & 1)));
        }
        registers.doubles_mut(stack.frame)[lane] = frame.into();
        registers.words_mut(stack.saved)[lane] = end as u32;
    }
    Ok(())
}

/// Takes back what [`save`] saved.
pub fn restore(program: &Program, registers: &mut Registers, saved: &Saved, function: u32, active: u32) {
    let Some(stack) = &program.stack else { return };
    let layout = &stack.frames[function as usize];
    for lane in lanes_of(active) {
        let first = registers.words(stack.saved)[lane] as usize - saved_words(layout);
        let mut saved = saved[first..].iter().map(|word| word[lane]);
        let mut take = || saved.next().unwrap_or_default();
        layout.words.iter().for_each(|register| registers.words_mut(*register)[lane] = take());
        for register in &layout.doubles {
            registers.doubles_mut(*register)[lane] = u64::from(take()) | u64::from(take()) << 32;
        }
        for predicates in layout.predicates.chunks(32) {
            let bits = take();
            for (index, predicate) in predicates.iter().enumerate() {
                registers.set_predicate(*predicate, 1 << lane, (bits >> index & 1) << lane);
            }
        }
        registers.doubles_mut(stack.frame)[lane] -= u64::from(layout.bytes);
        registers.words_mut(stack.saved)[lane] = first as u32;
    }
}

/// Returns the number of words that a function saves.
fn saved_words(layout: &FrameLayout) -> usize {
    layout.words.len() + 2 * layout.doubles.len() + layout.predicates.len().div_ceil(32)
}

fn words(bytes: u32) -> usize {
    bytes.div_ceil(4) as usize
}
