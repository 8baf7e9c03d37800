//! Kernels of the experiments in the book's pages, in `book/lab/slides`, and of exercises in host code. No chapter and no record knows them.

use crate::Source;

/// Declares an experiment's file, with its lowest architecture and its kernels.
macro_rules! slide {
    ($name:literal, $architecture:literal, $kernels:tt) => { slide!("book/lab/slides/", $name, $architecture, $kernels) };
    ($folder:literal, $name:literal, $architecture:literal, [$($kernel:literal),*]) => {
        Source {
            path: concat!($folder, $name, ".cu"),
            ptx_path: concat!($folder, $name, ".ptx"),
            cuda: include_str!(concat!("../../", $folder, $name, ".cu")),
            headers: &[],
            // Empty in a new experiment, until `cargo ptx` makes it.
            ptx: include_str!(concat!("../../", $folder, $name, ".ptx")),
            architecture: $architecture,
            kernels: &[$($kernel),*],
            constants: &[],
            arrays: &[],
        }
    };
}

static SLIDES: [Source; 9] = [
    slide!("barriers", "compute_52", ["tiled"]),
    slide!("bytes", "compute_52", ["bytes", "words"]),
    slide!("divergence", "compute_52", ["branch"]),
    slide!("occupancy", "compute_52", ["run_1", "run_2", "run_4", "run_8", "run_16"]),
    slide!("shuffle", "compute_52", ["down", "exchange"]),
    slide!("stride", "compute_52", ["strided"]),
    slide!("tile", "compute_52", ["product"]),
    slide!("tree", "compute_52", ["halves", "neighbors"]),
    slide!("window", "compute_52", ["column_sums"]),
];

/// The kernel of the exercises on streams.
static STREAMS: Source = slide!("simulator/streams/src/", "smooth", "compute_52", ["smooth"]);

/// Returns every source that `cargo ptx` compiles: the chapters', the experiments', and the exercises'.
pub fn stored() -> impl Iterator<Item = &'static Source> {
    crate::sources().iter().copied().chain(sources()).chain([&STREAMS])
}

/// Returns the source of each experiment.
pub fn sources() -> impl Iterator<Item = &'static Source> {
    SLIDES.iter()
}

/// Returns the source of an experiment.
pub fn named(name: &str) -> Option<&'static Source> {
    SLIDES.iter().find(|source| source.path == format!("book/lab/slides/{name}.cu"))
}
