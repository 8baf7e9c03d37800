//! PTX text as a syntax tree: what stands in the file, with line numbers, and no meaning yet.

pub mod ast;
mod canonical;
mod lexer;
mod parser;

pub use canonical::canonical;
pub use parser::parse;
