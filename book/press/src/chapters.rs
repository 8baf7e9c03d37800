//! The list of chapters, and a way to call generic code on any one of them.

use anyhow::Result;
use kernels::Source;
use run::Chapter;

use crate::directive;
use crate::drawing::trace::Arrays;

/// Generic code that runs on a chapter of any workload.
pub trait Visitor {
    /// What it returns.
    type Output;
    /// Runs on this chapter.
    fn visit<W: Arrays>(self, chapter: &'static Chapter<W>) -> Result<Self::Output>;
}

/// Makes the functions that need every chapter by its crate.
macro_rules! chapters {
    ($($chapter:ident),*) => {
        /// Every chapter's name with its kernels, in order.
        pub fn chapters() -> Vec<(&'static str, &'static [&'static Source])> {
            vec![$(($chapter::CHAPTER.name, $chapter::CHAPTER.sources)),*]
        }

        /// Runs a visitor on the chapter of that name.
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Result<V::Output> {
            $(if name == $chapter::CHAPTER.name {
                return visitor.visit(&$chapter::CHAPTER);
            })*
            Err(check(name).expect_err("a name of the list is found above"))
        }
    };
}

chapters!(conv_naive, conv_shared, unroll, correlation_sm_aware, window_sums, histogram, matmul_tiled);

/// Checks that there is a chapter of that name.
pub fn check(name: &str) -> Result<()> {
    directive::check("chapter", name, chapters().into_iter().map(|(known, _)| known))
}
