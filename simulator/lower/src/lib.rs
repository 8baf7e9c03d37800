//! Lowers the LLVM IR that clang makes of CUDA C to PTX.
//!
//! In the browser there is clang's front end, which optimizes, but no back end for NVIDIA's GPUs. This crate is that back end. PTX has
//! as many registers as a program wants, so it has neither to allocate them nor to schedule; what is left is to choose instructions.
//! It needs nothing but the standard library.
//!
//! It lowers what clang emits for kernels. Everything else is refused with the line of the IR and the line of CUDA C. There is no
//! code that is wrong without saying so, and no text that makes it panic.
//!
//! # Layout
//!
//! From the bottom to the top. A module imports only modules above it in this list.
//!
//! - `error`: [`Error`], why a module is refused and where.
//! - `lex`: IR text as tokens.
//! - `ir`: a module of LLVM IR.
//! - `layout`: sizes, alignments, and the scalars of a type.
//! - `parse`: tokens to a module.
//! - `debug`: lines of CUDA C.
//! - `cfg`, `uses`: the graph of a function's blocks; its definitions and uses.
//! - `address`: what an address is made of.
//! - `space`: the address space of each pointer.
//! - `alias`: whether two accesses may touch the same memory.
//! - `contract`: fuses products and sums.
//! - `vectorize`: joins neighboring accesses.
//! - `mir`: instructions of PTX with virtual registers.
//! - `select`: chooses them.
//! - `dead`, `coalesce`: removes what nobody needs, and copies.
//! - `data`, `emit`: variables and functions as text.
//! - `module`: the whole text.

#![forbid(unsafe_code)]

mod address;
mod alias;
mod cfg;
mod coalesce;
mod contract;
mod data;
mod dead;
mod debug;
mod emit;
mod error;
mod ir;
mod layout;
mod lex;
mod mir;
mod module;
mod parse;
mod select;
mod space;
mod uses;
mod vectorize;

pub use error::{Error, Place};
pub use module::Options;

/// The PTX of a module of LLVM IR in text form.
///
/// # Errors
///
/// The module has something that is not supported, or is malformed.
pub fn lower(ir: &str, options: &Options) -> Result<String, Error> {
    let mut module = parse::module(ir)?;
    module::emit(&mut module, options)
}
