//! The expected value of one output.

use crate::output::POISON;
use crate::rounding::{EXACT_IN_F32, UNIT_ROUNDOFF};

/// The expected value of one output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// The result of the computation in f64.
    pub value: f64,
    /// How far a correct f32 result may lie from `value`.
    pub tolerance: f64,
}

impl Expected {
    /// Mark for an output that a stage must leave alone: it must still hold the poison from before the run.
    pub const UNTOUCHED: Self = Self { value: f64::NAN, tolerance: f64::NAN };

    /// Expects an integer that is rounded once to f32.
    pub(crate) fn rounded_once(integer: i64) -> Self {
        let value = integer as f64;
        Self { value, tolerance: if value.abs() <= EXACT_IN_F32 { 0.0 } else { UNIT_ROUNDOFF * value.abs() } }
    }

    /// Returns true if a value is right. `allowance` adds to the tolerance; a NaN is wrong.
    pub fn allows(&self, value: f32, allowance: f64) -> bool {
        within((f64::from(value) - self.value).abs(), self.tolerance + allowance)
    }

    /// Returns true if this is [`Expected::UNTOUCHED`].
    pub fn is_untouched(&self) -> bool {
        self.tolerance.is_nan()
    }

    /// Returns the output of a stage without rounding errors.
    pub fn nearest(&self) -> f32 {
        if self.is_untouched() { f32::from_bits(POISON) } else { self.value as f32 }
    }
}

/// Returns true if an error is within its tolerance; a NaN is not.
pub(crate) fn within(error: f64, tolerance: f64) -> bool {
    error <= tolerance
}
