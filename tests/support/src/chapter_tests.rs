//! The list of the tests that every chapter has.

/// Declares the tests that every chapter has. Takes a constant of type [`Binary`](crate::Binary).
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
            $crate::exercises::starters_fail_as_promised(&$binary, $crate::exercises::With::Nvrtc);
        }

        #[test]
        fn every_starter_compiles_and_fails_with_the_promised_message_with_clang_too() {
            $crate::exercises::starters_fail_as_promised(&$binary, $crate::exercises::With::Clang);
        }

        #[test]
        fn every_solution_passes() {
            $crate::exercises::solutions_pass(&$binary, $crate::exercises::With::Nvrtc);
        }

        #[test]
        fn every_solution_passes_with_clang_too() {
            $crate::exercises::solutions_pass(&$binary, $crate::exercises::With::Clang);
        }

        #[test]
        fn every_solution_passes_on_a_gpu() {
            $crate::exercises::solutions_pass_on_a_gpu(&$binary, $crate::exercises::With::Nvrtc);
        }

        #[test]
        fn every_solution_passes_on_a_gpu_with_clang_too() {
            $crate::exercises::solutions_pass_on_a_gpu(&$binary, $crate::exercises::With::Clang);
        }

        #[test]
        fn typical_mistakes_are_named() {
            $crate::exercises::walls_stand(&$binary, $crate::exercises::With::Nvrtc);
        }

        #[test]
        fn typical_mistakes_are_named_with_clang_too() {
            $crate::exercises::walls_stand(&$binary, $crate::exercises::With::Clang);
        }

        /// For whoever writes exercises: `cargo test -p … --test cli -- --ignored --nocapture slips`.
        #[test]
        #[ignore = "takes minutes"]
        fn slips_of_the_pen_are_found() {
            $crate::slips::slips_are_found(&$binary);
        }

        #[test]
        fn predictions_accept_the_right_numbers_and_explain_wrong_ones() {
            $crate::exercises::predictions_are_judged(&$binary);
        }
    };
}
