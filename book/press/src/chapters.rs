//! The chapters, for what goes over all of them.

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
