//! IR text to a module, by recursive descent.
//!
//! - `cursor`: the tokens and the place among them, and the names of the function at hand.
//! - `types`: types.
//! - `values`: operands and constants.
//! - `metadata`: nodes of metadata.
//! - `words`: the words in front of types and after operands that promise something.
//! - `memory`: loads, stores, atomic operations, addresses.
//! - `calls`: calls and inline PTX.
//! - `instructions`: all other instructions.
//! - `items`: variables, functions, and the module.

mod calls;
mod cursor;
mod instructions;
mod items;
mod memory;
mod metadata;
mod types;
mod values;
mod words;

pub use items::module;
