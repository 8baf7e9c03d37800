//! A matrix of floats.

/// A matrix of floats, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Rows, at least one.
    pub rows: usize,
    /// Columns, at least one.
    pub columns: usize,
    /// `rows * columns` values.
    pub values: Vec<f32>,
}
