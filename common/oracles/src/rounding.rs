//! How far an f32 sum may lie from the exact one: what the tolerances of several workloads have in common.

/// Depth of the deepest reduction trees (over 32768 products) within the tolerance.
pub const TREE_DEPTH: f64 = 16.0;

/// Largest relative change when a number is rounded to the nearest f32.
pub const UNIT_ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;

/// Returns the part of a tolerance that covers results flushed to zero.
pub fn flushed(terms: usize) -> f64 {
    terms as f64 * f64::from(f32::MIN_POSITIVE)
}

/// Largest integer up to which f32 represents all integers.
pub const EXACT_IN_F32: f64 = (1 << 24) as f64;

/// Returns the square root of the sum of squares.
pub(crate) fn norm(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}
