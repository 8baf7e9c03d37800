//! Rows of moves and selections.

use crate::float::flush32;
use crate::row::{Entry, rows};

#[rustfmt::skip]
pub const ROWS: &[&[Entry]] = &[rows! {
    // Variables, special registers and numbers are registers to the executor, so a move is always between two of them.
    "mov.{b32,u32,s32,f32,b16,u16,s16}" Move (a: u32) -> u32 { a }
    "mov.{b64,u64,s64,f64}" Move (a: u64) -> u64 { a }
    "mov.pred" Predicate (a: bool) -> bool { a }
    "mov.b32 from 2 x b16" Move (low: u16, high: u16) -> u32 { u32::from(low) | u32::from(high) << 16 }
    "mov.b64 from 2 x b32" Move (low: u32, high: u32) -> u64 { u64::from(low) | u64::from(high) << 32 }
    "mov.b64 from 4 x b16" Move (a: u16, b: u16, c: u16, d: u16) -> u64 { u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48 }
    "mov.b32 to 2 x b16" Move (a: u32, shift: u32) -> u16 { (a >> (shift & 31)) as u16 }
    "mov.b64 to 4 x b16" Move (a: u64, shift: u32) -> u16 { (a >> (shift & 63)) as u16 }
    "mov.b64 to 2 x b32" Move (a: u64, shift: u32) -> u32 { (a >> (shift & 63)) as u32 }
    "selp.{b32,u32,s32,f32,b16,u16,s16}" Move (a: u32, b: u32, p: bool) -> u32 { if p { a } else { b } }
    "selp.{b64,u64,s64,f64}" Move (a: u64, b: u64, p: bool) -> u64 { if p { a } else { b } }
    "slct.{b32,u32,s32,f32}.s32" Move (a: u32, b: u32, c: i32) -> u32 { if c >= 0 { a } else { b } }
    "slct.{b32,u32,s32,f32}.f32" Move (a: u32, b: u32, c: f32) -> u32 { if c >= 0.0 { a } else { b } }
    "slct.ftz.{b32,u32,s32,f32}.f32" Move (a: u32, b: u32, c: f32) -> u32 { if flush32(c) >= 0.0 { a } else { b } }
    "slct.{b16,u16,s16}.s32" Move (a: u16, b: u16, c: i32) -> u16 { if c >= 0 { a } else { b } }
    "slct.{b16,u16,s16}.f32" Move (a: u16, b: u16, c: f32) -> u16 { if c >= 0.0 { a } else { b } }
    "slct.ftz.{b16,u16,s16}.f32" Move (a: u16, b: u16, c: f32) -> u16 { if flush32(c) >= 0.0 { a } else { b } }
    "slct.{b64,u64,s64,f64}.s32" Move (a: u64, b: u64, c: i32) -> u64 { if c >= 0 { a } else { b } }
    "slct.{b64,u64,s64,f64}.f32" Move (a: u64, b: u64, c: f32) -> u64 { if c >= 0.0 { a } else { b } }
    "slct.ftz.{b64,u64,s64,f64}.f32" Move (a: u64, b: u64, c: f32) -> u64 { if flush32(c) >= 0.0 { a } else { b } }
}];
