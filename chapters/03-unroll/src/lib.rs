//! Chapter 03: convolution unrolled, then held in registers.

use common::cli::Chapter;
use common::report::Row;
use common::workload::Convolution;

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Convolution> = Chapter {
    name: "03-unroll",
    about: "convolution unrolled, then held in registers",
    sources: &[&kernels::unroll::SOURCE],
    stages: &[],
    mistakes: &[],
    lesson,
};

/// What the table shows, in words and from its own numbers.
fn lesson(_rows: &[Row]) -> Vec<String> {
    Vec::new()
}
