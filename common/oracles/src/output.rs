//! An output as a stage left it: the values, and what shows that one was never written or that a store missed.
//!
//! Before a stage runs, the output holds a NaN that no arithmetic produces. So an output that a kernel forgot cannot pass for one that it
//! computed, and a stage cannot pass with the results of the stage before it.

/// Bits of the NaN that marks unwritten memory: a quiet NaN with a payload that arithmetic does not produce. CUDA's own NaN is
/// `0x7fffffff`, and that of x86 is `0xffc00000`.
pub const POISON: u32 = 0x7fc0_dead;

/// The memory that a stage left on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Downloaded {
    /// The output.
    pub values: Vec<f32>,
    /// Its writes outside the output, if any.
    pub breach: Option<Breach>,
}

/// A store outside an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    /// How many elements of both guard bands changed.
    pub elements: usize,
    /// The changed element that is nearest to the output: -1 is the last one before it, 1 is the first one after it.
    pub nearest: i64,
}

impl Breach {
    /// Looks for changes in the bands before and after an output.
    pub fn find(before: &[f32], after: &[f32]) -> Option<Self> {
        let written = |value: &f32| value.to_bits() != POISON;
        let elements = before.iter().chain(after).filter(|value| written(value)).count();
        let past_end = after.iter().position(written).map(|distance| distance as i64 + 1);
        let before_start = before.iter().rev().position(written).map(|distance| -(distance as i64) - 1);
        past_end.or(before_start).map(|nearest| Self { elements, nearest })
    }
}

/// Returns `len` unwritten values.
pub fn poison(len: usize) -> Vec<f32> {
    vec![f32::from_bits(POISON); len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breach_is_found_on_either_side() {
        let clean = poison(4);
        let mut dirty = poison(4);
        dirty[1] = 0.0;
        dirty[2] = f32::NAN;
        assert_eq!(Breach::find(&clean, &clean), None);
        assert_eq!(Breach::find(&clean, &dirty), Some(Breach { elements: 2, nearest: 2 }));
        assert_eq!(Breach::find(&dirty, &clean), Some(Breach { elements: 2, nearest: -2 }));
    }
}
