//! The kernels: CUDA C, the PTX made from it, and typed names for both.
//!
//! This is a crate of data. It knows what is in `kernels/cuda` and `kernels/ptx`. How a kernel is launched is up to the chapters,
//! because the launch is what their reader came to see.
//!
//! # Layout
//!
//! - One module per chapter, and [`ceilings`] for the kernels that measure the device. Each `.cu` file is declared once, with
//!   `source!`, in the module of its chapter. [`slides`] has the kernels of experiments in pages.
//!
//! # Adding a kernel
//!
//! Write it in the `.cu`, add one line to the `kernels` of its `source!`, and run `cargo ptx` (a program of `common/compilers`), which
//! makes the PTX again. The tests compare every declaration with the CUDA C and with the PTX.

/// One `.cu` file, what it declares, and the PTX made from it. Two sources are the same when their paths are.
#[derive(Debug)]
pub struct Source {
    /// Path of the CUDA C file from the root of the repository. `.file` in the PTX says the same on every machine.
    pub path: &'static str,
    /// Path of the stored PTX from the root of the repository.
    pub ptx_path: &'static str,
    /// The CUDA C text.
    pub cuda: &'static str,
    /// The files that it includes.
    pub headers: &'static [Header],
    /// The stored PTX; empty when it has not been made yet.
    pub ptx: &'static str,
    /// The lowest virtual architecture that the kernels need, and that the stored PTX is made for. With a letter at its end (`compute_90a`), it
    /// is the only one that has what they need.
    pub architecture: &'static str,
    /// The `extern "C"` names of its kernels.
    pub kernels: &'static [&'static str],
    /// Constants of the `.cu` that the host must know, by their name there.
    pub constants: &'static [(&'static str, u32)],
    /// Arrays in constant memory that the host fills, by their name in the `.cu`.
    pub arrays: &'static [&'static str],
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Source {}

impl std::hash::Hash for Source {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.path.hash(state);
    }
}

/// A file that several sources include.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The name by which sources include it.
    pub name: &'static str,
    /// Path from the root of the repository.
    pub path: &'static str,
    /// The text.
    pub text: &'static str,
}

/// One kernel: its name and the file that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The file.
    pub source: &'static Source,
    /// The `extern "C"` name.
    pub name: &'static str,
}

/// Declares one file of `kernels/cuda`, and everything in it that Rust names:
///
/// ```text
/// source! {
///     "02-conv-shared", "compute_50", ["some-header.cuh"];   the file, its lowest architecture, the files that it includes
///
///     kernels {
///         SHARED = "shared": "A tile in shared memory.",     pub const SHARED: Kernel, with its documentation
///     }
///     constants {
///         BLOCK = 256: "Outputs of a block.",                pub const BLOCK: u32
///     }
///     arrays {
///         FILTER = "c_filter": "The filter.",                pub const FILTER: &str
///     }
/// }
/// ```
///
/// Besides these constants it defines `pub static SOURCE`, which lists them all. `constants` and `arrays` may be left out. All of it is in a
/// module if its name, with its documentation, comes first: `mod tensor: "03-unroll-tensor", …`.
macro_rules! source {
    ($(#[$doc:meta])* mod $module:ident: $($declaration:tt)*) => {
        $(#[$doc])*
        pub mod $module { source! { $($declaration)* } }
    };
    (
        $stem:literal, $architecture:literal, [$($header:literal),*];
        kernels { $($kernel:ident = $kernel_name:literal: $kernel_doc:literal,)* }
        $(constants { $($constant:ident = $value:literal: $constant_doc:literal,)* })?
        $(arrays { $($array:ident = $array_name:literal: $array_doc:literal,)* })?
    ) => {
        #[doc = concat!("`kernels/cuda/", $stem, ".cu`")]
        pub static SOURCE: $crate::Source = $crate::Source {
            path: concat!("kernels/cuda/", $stem, ".cu"),
            ptx_path: concat!("kernels/ptx/", $stem, ".ptx"),
            cuda: include_str!(concat!("../cuda/", $stem, ".cu")),
            headers: &[$($crate::Header {
                name: $header,
                path: concat!("kernels/cuda/", $header),
                text: include_str!(concat!("../cuda/", $header)),
            }),*],
            ptx: include_str!(concat!(env!("OUT_DIR"), "/", $stem, ".ptx")),
            architecture: $architecture,
            kernels: &[$($kernel_name),*],
            constants: &[$($((stringify!($constant), $value)),*)?],
            arrays: &[$($($array_name),*)?],
        };
        $(#[doc = $kernel_doc] pub const $kernel: $crate::Kernel = $crate::Kernel { source: &SOURCE, name: $kernel_name };)*
        $($(#[doc = $constant_doc] pub const $constant: u32 = $value;)*)?
        $($(#[doc = $array_doc] pub const $array: &str = $array_name;)*)?
    };
}

// After the macro that they use.
pub mod ceilings;
pub mod conv_naive;
pub mod conv_shared;
pub mod correlation;
pub mod histogram;
pub mod matmul;
pub mod matmul_half;
pub mod slides;
pub mod unroll;
pub mod window_sums;

/// Returns every source, in the order of the chapters.
pub fn sources() -> &'static [&'static Source] {
    static SOURCES: [&Source; 28] = [
        &ceilings::SOURCE,
        &ceilings::dp4a::SOURCE,
        &conv_naive::SOURCE,
        &conv_shared::SOURCE,
        &conv_shared::reduction::SOURCE,
        &unroll::SOURCE,
        &unroll::tensor::SOURCE,
        &unroll::fft::SOURCE,
        &unroll::partitioned::SOURCE,
        &correlation::SOURCE,
        &correlation::dp4a::SOURCE,
        &correlation::tensor::SOURCE,
        &correlation::hopper::SOURCE,
        &correlation::roles::SOURCE,
        &correlation::fft::SOURCE,
        &window_sums::SOURCE,
        &window_sums::tiles::SOURCE,
        &window_sums::scan::SOURCE,
        &histogram::SOURCE,
        &matmul::SOURCE,
        &matmul::asynchronous::SOURCE,
        &matmul::tensor::SOURCE,
        &matmul::hopper::SOURCE,
        &matmul::sizes::SOURCE,
        &matmul::split::SOURCE,
        &matmul_half::SOURCE,
        &matmul_half::hopper::SOURCE,
        &matmul_half::eighths::SOURCE,
    ];
    &SOURCES
}

/// Returns every kernel, in the order of the sources.
pub fn all() -> impl Iterator<Item = Kernel> {
    sources().iter().flat_map(|source| source.kernels.iter().map(|name| Kernel { source, name }))
}

/// Returns the text of a source or header, by its repository path.
pub fn text(path: &str) -> Option<&'static str> {
    let header = |source: &Source| source.headers.iter().find(|header| header.path == path).map(|header| header.text);
    sources().iter().find_map(|source| if source.path == path { Some(source.cuda) } else { header(source) })
}
