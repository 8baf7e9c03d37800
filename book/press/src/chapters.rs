//! The chapters, for what goes over all of them.

use anyhow::{Result, anyhow, bail};
use cli::stages;
use kernels::Source;

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

/// The stages that a command line of a chapter would run, in the order of the table.
///
/// # Errors
///
/// When no chapter is named like the program, or the chapter does not take these arguments.
pub fn accept(program: &str, arguments: &[&str]) -> Result<Vec<&'static str>> {
    let [naive, shared, unrolled, correlation, sums, matmul] = chapters().map(|(name, _)| name);
    let stages = match program {
        name if name == naive => stages(&conv_naive::CHAPTER, arguments),
        name if name == shared => stages(&conv_shared::CHAPTER, arguments),
        name if name == unrolled => stages(&unroll::CHAPTER, arguments),
        name if name == correlation => stages(&correlation_sm_aware::CHAPTER, arguments),
        name if name == sums => stages(&window_sums::CHAPTER, arguments),
        name if name == matmul => stages(&matmul_tiled::CHAPTER, arguments),
        name => bail!("no chapter is named {name}"),
    };
    stages.map_err(|problem| anyhow!("{program}: {problem}"))
}
