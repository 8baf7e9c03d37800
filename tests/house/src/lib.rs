//! Rules of the house: what keeps the repository easy to find one's way in, as tests.
//!
//! - `tidy`: one stem per chapter, what a file and a doc comment say first, how long they may be.
//! - `imports`: dependencies between packages, and between the files of a crate, run one way, and the simulator depends on nothing else.
//! - `variables`: every environment variable is in a table, and on a page.
//! - `versions`: what was written for a version of CUDA, PTX, cudarc or mdBook, as a checklist for the next.
//! - `repository`: the files and packages that both read.

#![cfg(test)]

mod imports;
mod repository;
mod tidy;
mod variables;
mod versions;
