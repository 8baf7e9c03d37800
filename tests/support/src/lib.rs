//! Code that the tests of several packages share: the chapters run their binaries with it, and the press reads the commands of its pages.
//!
//! # Layout
//!
//! - `binary`: starts a chapter's binary and reads what it prints.
//! - `commands`: the commands that the book and the README tell a reader to type.
//! - `reader`: types those commands.
//! - `exercises`: checks a chapter's exercises.
//! - `equivalence`: proves that two compiled kernels do the same.
//! - `slips`: makes mistakes in right answers, which the check must find.
//! - `chapter_tests`: the macro that lists the tests of every chapter.
//! - `repository`: where the repository is.
//!
//! A chapter's test file declares its [`Binary`] and invokes [`chapter_tests!`] for the tests that every chapter has.

pub mod binary;
mod chapter_tests;
pub mod commands;
mod equivalence;
pub mod exercises;
pub mod reader;
mod repository;
pub mod slips;

pub use binary::Binary;
pub use repository::root;
