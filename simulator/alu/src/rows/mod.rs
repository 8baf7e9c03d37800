//! The rows of the instruction table, by family. [`super::row`] says what a row is and what becomes of it.

pub mod approximations;
pub mod bits;
pub mod comparisons;
pub mod conversions;
pub mod double;
pub mod halves;
pub mod integers;
pub mod moves;
pub mod single;
