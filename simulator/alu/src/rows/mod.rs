//! The rows of the instruction table, by family. [`super::table`] says what a row is and what becomes of it.

mod approximations;
mod bits;
mod comparisons;
mod conversions;
mod double;
mod halves;
mod integers;
mod moves;
mod single;

pub(crate) use approximations::approximations;
pub(crate) use bits::bits;
pub(crate) use comparisons::comparisons;
pub(crate) use conversions::conversions;
pub(crate) use double::double;
pub(crate) use halves::halves;
pub(crate) use integers::integers;
pub(crate) use moves::moves;
pub(crate) use single::single;
