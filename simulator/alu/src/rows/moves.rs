//! Rows of moves and selections.

/// Adds the rows of this family to those so far and calls the next macro; see `table`.
#[rustfmt::skip]
macro_rules! moves {
    ($next:ident $($then:ident)* => $($rows:tt)*) => { $next! { $($then)* => $($rows)*

    // Moves. Variables, special registers and numbers are registers to the executor, so a move is always between two of them.
    Mov32 "mov.{b32,u32,s32,f32,b16,u16,s16}" Move (a: u32) -> u32 { a }
    Mov64 "mov.{b64,u64,s64,f64}" Move (a: u64) -> u64 { a }
    MovPred "mov.pred" Predicate (a: bool) -> bool { a }
    Pack32 "mov.b32 from 2 x b16" Move (low: u16, high: u16) -> u32 { u32::from(low) | u32::from(high) << 16 }
    Pack64 "mov.b64 from 2 x b32" Move (low: u32, high: u32) -> u64 { u64::from(low) | u64::from(high) << 32 }
    Pack64From16 "mov.b64 from 4 x b16" Move (a: u16, b: u16, c: u16, d: u16) -> u64 { u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48 }
    Unpack16 "mov.b32 to 2 x b16" Move (a: u32, shift: u32) -> u16 { (a >> (shift & 31)) as u16 }
    Unpack16From64 "mov.b64 to 4 x b16" Move (a: u64, shift: u32) -> u16 { (a >> (shift & 63)) as u16 }
    Unpack32 "mov.b64 to 2 x b32" Move (a: u64, shift: u32) -> u32 { (a >> (shift & 63)) as u32 }
    Selp32 "selp.{b32,u32,s32,f32,b16,u16,s16}" Move (a: u32, b: u32, p: bool) -> u32 { if p { a } else { b } }
    Selp64 "selp.{b64,u64,s64,f64}" Move (a: u64, b: u64, p: bool) -> u64 { if p { a } else { b } }
    Slct32 "slct.{b32,u32,s32,f32}.s32" Move (a: u32, b: u32, c: i32) -> u32 { if c >= 0 { a } else { b } }
    Slct32ByF32 "slct.{b32,u32,s32,f32}.f32" Move (a: u32, b: u32, c: f32) -> u32 { if c >= 0.0 { a } else { b } }
    Slct32ByFtzF32 "slct.ftz.{b32,u32,s32,f32}.f32" Move (a: u32, b: u32, c: f32) -> u32 { if float::flush32(c) >= 0.0 { a } else { b } }
    Slct16 "slct.{b16,u16,s16}.s32" Move (a: u16, b: u16, c: i32) -> u16 { if c >= 0 { a } else { b } }
    Slct16ByF32 "slct.{b16,u16,s16}.f32" Move (a: u16, b: u16, c: f32) -> u16 { if c >= 0.0 { a } else { b } }
    Slct16ByFtzF32 "slct.ftz.{b16,u16,s16}.f32" Move (a: u16, b: u16, c: f32) -> u16 { if float::flush32(c) >= 0.0 { a } else { b } }
    Slct64 "slct.{b64,u64,s64,f64}.s32" Move (a: u64, b: u64, c: i32) -> u64 { if c >= 0 { a } else { b } }
    Slct64ByF32 "slct.{b64,u64,s64,f64}.f32" Move (a: u64, b: u64, c: f32) -> u64 { if c >= 0.0 { a } else { b } }
    Slct64ByFtzF32 "slct.ftz.{b64,u64,s64,f64}.f32" Move (a: u64, b: u64, c: f32) -> u64 { if float::flush32(c) >= 0.0 { a } else { b } }

    } };
}

pub(crate) use moves;
