//! Lowers the LLVM IR that clang makes of CUDA C to PTX.
//!
//! In the browser there is clang's front end, which optimizes, but no back end for NVIDIA's GPUs. This crate is that back end. PTX has
//! as many registers as a program wants, so it has neither to allocate them nor to schedule; what is left is to choose instructions.
//! It needs nothing but the standard library.
//!
//! ```
//! let ir = "define ptx_kernel void @k(ptr %out) {\n  store i32 7, ptr %out, align 4\n  ret void\n}";
//! let ptx = lower::lower(ir, &lower::Options::default())?;
//! assert!(ptx.contains("st.global.b32"));
//! # Ok::<(), lower::Error>(())
//! ```
//!
//! It lowers what clang emits for kernels. Everything else is refused with the line of the IR and the line of CUDA C. There is no
//! code that is wrong without saying so, and no text that makes it panic.
//!
//! # Compared with LLVM's own back end
//!
//! The measure is the NVPTX back end of LLVM 22. The tests compile the same CUDA C with it and run both on the simulator: kernels of the
//! chapters, solutions of the exercises, and generated programs must compute the same bits, and the first two must make the same accesses
//! to memory. This is what still differs, and why.
//!
//! | where | difference | reason |
//! |---|---|---|
//! | loads | a few more | LLVM's back end looks for redundant loads once more (GVN), also along one way into a loop |
//! | structures passed by value to a function that was not inlined | read back from local memory before the call | the same |
//! | such structures inside the function | read where they were passed, which takes fewer accesses to local memory | LLVM copies them |
//! | rounding | a product that the same pass finds twice is used twice, and may fuse elsewhere: 2 of 1,560 generated kernels | the same |
//! | addresses in loops | multiplied in each iteration, where LLVM advances a pointer | no strength reduction of loops |
//! | divisions by constants of 64 bits | a division, not multiplications | rare in kernels |
//! | `.loc` | says where inlined code was called from | clang leaves it out at this level of debug information |
//! | shared arrays | declared in the only kernel that uses them | a kernel has to pay for its own arrays only |
//!
//! PTX instructions: between 0.73 and 1.19 times as many as LLVM's back end makes of the same IR.
//!
//! Refused by name: calls through pointers, arrays in local memory whose size is not constant, intrinsics without an instruction
//! (`llvm.sin` and its like, tensor operations other than inline PTX), divisions and variable shifts of more than 64 bits, copies of more than
//! 4096 bytes, variable arguments.
//!
//! # What the front end has to do
//!
//! A clang without the back end knows nothing of NVIDIA's GPUs when it optimizes. It inlines less, and what is not inlined passes structures
//! through local memory. `-mllvm -inline-threshold=2475` makes it inline as much as a clang with the back end.
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
//! - `dead`, `coalesce`: remove unused instructions, and copies.
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

/// Makes PTX of the text of a module of LLVM IR.
///
/// # Errors
///
/// The module has something that is not supported, or is malformed.
pub fn lower(ir: &str, options: &Options) -> Result<String, Error> {
    let mut module = parse::module(ir)?;
    module::emit(&mut module, options)
}
