//! Reads PTX: text to syntax tree, and answers to the questions that other programs ask about it. Code that needs something from
//! PTX asks here instead of searching the text.
//!
//! - [`parse`]: text to a [`Module`](ast::Module) of functions, statements and instructions, each with its span in the text.
//! - [`is_ptx`]: whether a text is PTX at all.
//! - [`ast`]: the tree; its parts answer questions about themselves:
//!   - [`Module::kernels`](ast::Module::kernels), [`Module::kernel`](ast::Module::kernel): the kernels, with names and parameters;
//!   - [`Module::uses`](ast::Module::uses): the variables and device functions that a kernel uses;
//!   - [`Function::instructions`](ast::Function::instructions), [`Function::register_type`](ast::Function::register_type);
//!   - [`Instruction::barrier`](ast::Instruction::barrier), [`Instruction::reads`](ast::Instruction::reads),
//!     [`Instruction::writes`](ast::Instruction::writes): what an instruction does.
//! - [`edit`], [`to_line_end`]: the text with parts removed or replaced.
//! - [`canonical`](fn@canonical): a text of a kernel that stays the same when its machine code does.
//! - [`register_counts`]: the comments that state registers per thread.

pub mod ast;
mod canonical;
mod edit;
mod expression;
mod lexer;
mod literal;
mod operand;
mod parser;
mod reader;
pub mod register_counts;
mod uses;

pub use canonical::canonical;
pub use edit::{edit, to_line_end};
pub use lexer::is_ptx;
pub use parser::parse;
pub use reader::Barrier;
pub use uses::Uses;
