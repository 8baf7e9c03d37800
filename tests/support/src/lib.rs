//! What the tests of several packages share: the chapters run their binaries with it, and the press reads the commands of its pages.
//!
//! # Layout
//!
//! - `binary`: starts a chapter's binary and reads what it prints.
//! - `commands`: the commands that the book and the README tell a reader to type.
//! - `reader`: types those commands.
//! - `exercises`: checks a chapter's exercises.
//!
//! A chapter's test file declares its [`Binary`] and invokes [`chapter_tests!`] for the tests that every chapter has.

use std::path::Path;

pub mod binary;
pub mod commands;
pub mod exercises;
pub mod reader;

pub use binary::Binary;

/// The root of the repository.
pub fn root() -> &'static Path {
    let is_root = |folder: &&Path| folder.join("book/src").is_dir();
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(is_root).expect("this package is in the repository")
}

/// Declares the tests that every chapter has. Takes a constant of type [`Binary`].
#[macro_export]
macro_rules! chapter_tests {
    ($binary:expr) => {
        #[test]
        fn a_reader_can_type_what_the_pages_show() {
            $crate::reader::types_what_the_pages_show(&$binary);
        }

        #[test]
        fn there_are_three_exercises_or_more() {
            $crate::exercises::are_three_or_more(&$binary);
        }

        #[test]
        fn a_starter_is_the_solution_without_its_marked_parts() {
            $crate::exercises::starters_are_solutions_without_marked_parts(&$binary);
        }

        #[test]
        fn every_starter_compiles_and_fails_with_the_promised_message() {
            $crate::exercises::starters_fail_as_promised(&$binary);
        }

        #[test]
        fn every_solution_passes() {
            $crate::exercises::solutions_pass(&$binary);
        }

        #[test]
        fn every_solution_passes_on_a_gpu() {
            $crate::exercises::solutions_pass_on_a_gpu(&$binary);
        }

        #[test]
        fn every_typical_mistake_is_named() {
            $crate::exercises::mistakes_are_named(&$binary);
        }

        #[test]
        fn predictions_accept_the_right_numbers_and_explain_wrong_ones() {
            $crate::exercises::predictions_are_judged(&$binary);
        }
    };
}
