//! The rows of the table, by family: name, spelling, class, for an approximate function its accuracy, sources, destination, and the
//! meaning of one lane.
//!
//! A family is a macro that puts its rows behind those it is given and hands all to the next one.

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
