//! Kernels of the experiments in the book's pages, in `book/lab/slides`. No chapter and no record knows them.

use crate::Source;

/// Declares an experiment's file, with its lowest architecture and its kernels.
macro_rules! slide {
    ($name:literal, $architecture:literal, [$($kernel:literal),*]) => {
        Source {
            path: concat!("book/lab/slides/", $name, ".cu"),
            ptx_path: concat!("book/lab/slides/", $name, ".ptx"),
            cuda: include_str!(concat!("../../book/lab/slides/", $name, ".cu")),
            headers: &[],
            // Empty in a new experiment, until `cargo ptx` makes it.
            ptx: include_str!(concat!("../../book/lab/slides/", $name, ".ptx")),
            architecture: $architecture,
            kernels: &[$($kernel),*],
            constants: &[],
            arrays: &[],
        }
    };
}

static SLIDES: [Source; 7] = [
    slide!("barriers", "compute_52", ["tiled"]),
    slide!("bytes", "compute_52", ["bytes", "words"]),
    slide!("divergence", "compute_52", ["branch"]),
    slide!("occupancy", "compute_52", ["run_1", "run_2", "run_4", "run_8", "run_16"]),
    slide!("stride", "compute_52", ["strided"]),
    slide!("tile", "compute_52", ["product"]),
    slide!("window", "compute_52", ["column_sums"]),
];

/// Returns the source of each experiment.
pub fn sources() -> impl Iterator<Item = &'static Source> {
    SLIDES.iter()
}

/// Returns the source of an experiment.
pub fn named(name: &str) -> Option<&'static Source> {
    SLIDES.iter().find(|source| source.path == format!("book/lab/slides/{name}.cu"))
}
