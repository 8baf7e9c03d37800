//! Classes of instructions, for counting.

/// The class of an instruction, which decides how it counts in `Counters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Moves, selections, and sign changes, which cost nothing in the instruction that uses the result.
    Move,
    /// Comparisons and logic on predicates.
    Predicate,
    /// Integer multiplications and multiply-adds.
    IntMad,
    /// Other integer and logic operations.
    Int,
    /// Dot products of bytes.
    Dp4a,
    /// f32 multiply-adds.
    F32Fma,
    /// Other f32 additions, subtractions, multiplications, comparisons of magnitude.
    F32,
    /// f64 arithmetic.
    F64,
    /// Arithmetic of f16 and bf16.
    Half,
    /// Arithmetic of pairs of f16 or bf16: two results.
    HalfPair,
    /// Conversions between types.
    Convert,
    /// Division, square root and similar.
    Special,
}

impl Class {
    /// Returns the counter of `Counters` that it adds to; moves and predicates add to none.
    pub fn counter(self) -> Option<&'static str> {
        Some(match self {
            Self::Move | Self::Predicate => return None,
            Self::IntMad => "int_mad",
            Self::Int => "int_other",
            Self::Dp4a => "dp4a",
            Self::F32Fma => "f32_fma",
            Self::F32 => "f32_other",
            Self::F64 => "f64_ops",
            Self::Half => "f16_ops",
            Self::HalfPair => "f16_ops, two each",
            Self::Convert => "conversions",
            Self::Special => "special",
        })
    }
}
