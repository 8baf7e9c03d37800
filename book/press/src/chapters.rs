//! The list of chapters, and a way to call generic code on any one of them.

use anyhow::{Result, bail};
use common::Chapter;
use kernels::Source;

use crate::directive;
use crate::drawing::trace::Arrays;

/// Every chapter's name with its kernels, in order.
pub fn chapters() -> [(&'static str, &'static [&'static Source]); 6] {
    [
        (conv_naive::CHAPTER.name, conv_naive::CHAPTER.sources),
        (conv_shared::CHAPTER.name, conv_shared::CHAPTER.sources),
        (unroll::CHAPTER.name, unroll::CHAPTER.sources),
        (correlation_sm_aware::CHAPTER.name, correlation_sm_aware::CHAPTER.sources),
        (window_sums::CHAPTER.name, window_sums::CHAPTER.sources),
        (matmul_tiled::CHAPTER.name, matmul_tiled::CHAPTER.sources),
    ]
}

/// Generic code that runs on a chapter of any workload.
pub trait Visitor {
    /// What it returns.
    type Output;
    /// Runs on this chapter.
    fn visit<W: Arrays>(self, chapter: &'static Chapter<W>) -> Result<Self::Output>;
}

/// Runs a visitor on the chapter of that name.
pub fn visit<V: Visitor>(name: &str, visitor: V) -> Result<V::Output> {
    check(name)?;
    match name {
        name if name == conv_naive::CHAPTER.name => visitor.visit(&conv_naive::CHAPTER),
        name if name == conv_shared::CHAPTER.name => visitor.visit(&conv_shared::CHAPTER),
        name if name == unroll::CHAPTER.name => visitor.visit(&unroll::CHAPTER),
        name if name == correlation_sm_aware::CHAPTER.name => visitor.visit(&correlation_sm_aware::CHAPTER),
        name if name == window_sums::CHAPTER.name => visitor.visit(&window_sums::CHAPTER),
        name if name == matmul_tiled::CHAPTER.name => visitor.visit(&matmul_tiled::CHAPTER),
        name => bail!("`visit` does not know chapter {name}; add it there"),
    }
}

/// Checks that there is a chapter of that name.
pub fn check(name: &str) -> Result<()> {
    directive::check("chapter", name, chapters().map(|(known, _)| known))
}
