//! Chapter 02: convolution with tiles in shared memory.

use common::cli::Chapter;
use common::report::Row;
use common::workload::Convolution;

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Convolution> = Chapter {
    name: "02-conv-shared",
    about: "convolution with tiles in shared memory",
    sources: &[&kernels::conv_shared::SOURCE],
    stages: &[conv_naive::NAIVE],
    mistakes: &[],
    lesson,
};

/// What the table shows, in words and from its own numbers.
fn lesson(_rows: &[Row]) -> Vec<String> {
    Vec::new()
}
