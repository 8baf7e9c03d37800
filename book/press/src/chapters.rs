//! The list of chapters, and a way to call a generic function with any one of them.

use anyhow::Result;
use kernels::Source;

use crate::directive;

/// Passes the crates of all chapters, in order, to a macro.
macro_rules! each_chapter {
    ($macro:ident $($arguments:tt)*) => {
        $macro! { conv_naive conv_shared unroll correlation_sm_aware window_sums histogram matmul_tiled matmul_half; $($arguments)* }
    };
}

/// Evaluates `chapter => expression`, a result, for the chapter of a name. Chapters differ in type, by their workload.
macro_rules! with_chapter {
    ($name:expr, $chapter:ident => $result:expr) => {
        crate::chapters::each_chapter!(with_chapter @ $name, $chapter => $result)
    };
    ($($known:ident)*; @ $name:expr, $chapter:ident => $result:expr) => {
        match $name {
            $(name if name == $known::CHAPTER.name => {
                let $chapter = &$known::CHAPTER;
                $result
            })*
            name => Err(crate::chapters::check(name).expect_err("a name of the list is found above")),
        }
    };
}

pub(crate) use {each_chapter, with_chapter};

macro_rules! names_and_kernels {
    ($($chapter:ident)*;) => {
        vec![$(($chapter::CHAPTER.name, $chapter::CHAPTER.sources)),*]
    };
}

/// Returns every chapter's name with its kernels, in order.
pub fn chapters() -> Vec<(&'static str, &'static [&'static Source])> {
    each_chapter!(names_and_kernels)
}

/// Checks that there is a chapter of that name.
pub fn check(name: &str) -> Result<()> {
    directive::check("chapter", name, chapters().into_iter().map(|(known, _)| known))
}
