//! The kernels: CUDA C, the PTX made from it, and typed names for both.
//!
//! A crate of data. It knows what is in `kernels/cuda` and `kernels/ptx`; how a kernel is launched is the chapters' business,
//! because the launch is what their reader came to see.
//!
//! # Layout
//!
//! - One module per `.cu` file: its [`Source`], its [`Kernel`]s, and the constants that the host must know of it. Files with what
//!   only some GPUs have are modules within that of their chapter.
//!
//! `cargo ptx`, a program of `kernels/toolkit`, makes the PTX again after a change of the CUDA C.

/// One `.cu` file, and the PTX made from it.
#[derive(Debug)]
pub struct Source {
    /// The file's name without its extension, for example `01-conv-naive`.
    pub stem: &'static str,
    /// The CUDA C text.
    pub cuda: &'static str,
    /// What it includes.
    pub headers: &'static [Header],
    /// The stored PTX; empty when it has not been made yet.
    pub ptx: &'static str,
    /// The lowest virtual architecture that the kernels need, and that the stored PTX is made for.
    pub architecture: &'static str,
    /// Constants of the `.cu` that the host must know, by the name that they have there. A test compares the values.
    pub constants: &'static [(&'static str, u32)],
}

impl Source {
    /// Path of the CUDA C file from the root of the repository; `.file` in the PTX says the same on every machine. A stem with
    /// `../../` names a file elsewhere in the repository.
    pub fn path(&self) -> String {
        match self.stem.strip_prefix("../../") {
            Some(elsewhere) => format!("{elsewhere}.cu"),
            None => format!("kernels/cuda/{}.cu", self.stem),
        }
    }

    /// Path of the stored PTX from the root of the repository.
    pub fn ptx_path(&self) -> String {
        format!("kernels/ptx/{}.ptx", self.stem)
    }
}

/// A file that sources include, for what several of them need.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// The file's name in `kernels/cuda`.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

impl Header {
    /// Path from the root of the repository.
    pub fn path(&self) -> String {
        format!("kernels/cuda/{}", self.name)
    }
}

/// One kernel, by its name and the file that it stands in.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The file.
    pub source: &'static Source,
    /// The `extern "C"` name.
    pub name: &'static str,
}

/// Describes a `.cu` file by its stem: `source!("stem", architecture, [CONSTANT, …])`, and after these the names of its headers.
macro_rules! source {
    ($stem:literal, $architecture:literal, [$($constant:ident),*] $(, $header:literal)*) => {
        $crate::Source {
            stem: $stem,
            cuda: include_str!(concat!("../cuda/", $stem, ".cu")),
            ptx: include_str!(concat!(env!("OUT_DIR"), "/", $stem, ".ptx")),
            headers: &[$($crate::Header { name: $header, text: include_str!(concat!("../cuda/", $header)) }),*],
            architecture: $architecture,
            constants: &[$((stringify!($constant), $constant)),*],
        }
    };
}

/// Every source, in the order of the chapters.
pub fn sources() -> &'static [&'static Source] {
    static SOURCES: [&Source; 15] = [
        &ceilings::SOURCE,
        &ceilings::SOURCE_DP4A,
        &conv_naive::SOURCE,
        &conv_shared::SOURCE,
        &unroll::SOURCE,
        &unroll::tensor::SOURCE,
        &unroll::fft::SOURCE,
        &correlation::SOURCE,
        &correlation::dp4a::SOURCE,
        &correlation::tensor::SOURCE,
        &window_sums::SOURCE,
        &window_sums::tiles::SOURCE,
        &matmul::SOURCE,
        &matmul::asynchronous::SOURCE,
        &matmul::tensor::SOURCE,
    ];
    &SOURCES
}

/// The text of a source or a header, by its path from the root of the repository.
pub fn text(path: &str) -> Option<&'static str> {
    let header = |source: &Source| source.headers.iter().find(|header| header.path() == path).map(|header| header.text);
    sources().iter().find_map(|source| if source.path() == path { Some(source.cuda) } else { header(source) })
}

/// Every kernel, in the order of the chapters.
pub fn all() -> &'static [Kernel] {
    &[
        ceilings::FMA_CHAINS,
        ceilings::FILL_NOISE,
        ceilings::COPY_VECTORS,
        ceilings::DP4A_CHAINS,
        conv_naive::NAIVE,
        conv_naive::NAIVE_STRIDED,
        conv_shared::SHARED,
        conv_shared::SHARED_WIDE,
        conv_shared::SHARED_MISSING_BARRIER,
        unroll::SHARED,
        unroll::UNROLL_4,
        unroll::UNROLL_8,
        unroll::UNROLL_16,
        unroll::WIDE_UNROLL,
        unroll::REGISTER_TILE,
        unroll::ADD_SLICES,
        unroll::CONSTANT_FILTER,
        unroll::LONG,
        unroll::tensor::TENSOR_TF32X3,
        unroll::tensor::TENSOR_F16X3,
        unroll::tensor::MAGNITUDES,
        unroll::fft::GATHER,
        unroll::fft::MULTIPLY,
        unroll::fft::COLLECT,
        correlation::GLOBAL,
        correlation::CONSTANT,
        correlation::SHARED,
        correlation::SHARED_MULTIPLY_24,
        correlation::UNROLL_4,
        correlation::UNROLL_4_MULTIPLY_24,
        correlation::SUMS,
        correlation::SUMS_MULTIPLY_24,
        correlation::dp4a::FILL_WORDS,
        correlation::dp4a::DP4A,
        correlation::dp4a::DP4A_TILE,
        correlation::dp4a::ROW_SUMS,
        correlation::dp4a::COLUMN_SUMS,
        correlation::dp4a::PRODUCTS,
        correlation::tensor::FILL_BANDS,
        correlation::tensor::TENSOR,
        window_sums::FUSED_GLOBAL,
        window_sums::SUM_ONLY,
        window_sums::SQUARES_ONLY,
        window_sums::SPLIT_GLOBAL,
        window_sums::SHARED_SLICES,
        window_sums::MULTIPLY,
        window_sums::REGISTERS,
        window_sums::tiles::SHARED_TILE,
        window_sums::tiles::SLIDING,
        window_sums::tiles::VECTORS,
        window_sums::tiles::ROW_SCAN,
        window_sums::tiles::TILE_SCAN,
        matmul::NAIVE,
        matmul::TILED,
        matmul::REGISTER_TILE_1D,
        matmul::REGISTER_TILE,
        matmul::VECTOR,
        matmul::WARP_TILE,
        matmul::ADD_SLICES,
        matmul::asynchronous::DOUBLE_BUFFERED,
        matmul::asynchronous::DOUBLE_BUFFERED_ANY,
        matmul::asynchronous::SMALL_TILE,
        matmul::asynchronous::SMALL_TILE_ANY,
        matmul::tensor::TENSOR_TF32,
        matmul::tensor::TENSOR_TF32_ANY,
    ]
}

/// The kernels that measure what a device can do at best.
pub mod ceilings {
    use crate::{Kernel, Source};

    /// `kernels/cuda/ceilings.cu`
    pub static SOURCE: Source = source!("ceilings", "compute_50", [CHAINS, STEPS]);
    /// Chains of multiply-adds, [`CHAINS`] times [`STEPS`] per thread and round.
    pub const FMA_CHAINS: Kernel = Kernel { source: &SOURCE, name: "fma_chains" };
    /// Noise for the copy to move.
    pub const FILL_NOISE: Kernel = Kernel { source: &SOURCE, name: "fill_noise" };
    /// A copy in vectors of four floats.
    pub const COPY_VECTORS: Kernel = Kernel { source: &SOURCE, name: "copy_vectors" };
    /// `kernels/cuda/ceilings-dp4a.cu`
    pub static SOURCE_DP4A: Source = source!("ceilings-dp4a", "compute_61", [CHAINS, STEPS]);
    /// Chains of multiply-adds of bytes, four times [`CHAINS`] times [`STEPS`] per thread and round.
    pub const DP4A_CHAINS: Kernel = Kernel { source: &SOURCE_DP4A, name: "dp4a_chains" };
    /// Independent chains per thread.
    pub const CHAINS: u32 = 8;
    /// Additions to each chain per round.
    pub const STEPS: u32 = 32;
}

/// Chapter 01: convolution straight from global memory.
pub mod conv_naive {
    use crate::{Kernel, Source};

    /// `kernels/cuda/01-conv-naive.cu`
    pub static SOURCE: Source = source!("01-conv-naive", "compute_50", [RUN]);
    /// One thread per output.
    pub const NAIVE: Kernel = Kernel { source: &SOURCE, name: "naive" };
    /// One thread per [`RUN`] neighbouring outputs.
    pub const NAIVE_STRIDED: Kernel = Kernel { source: &SOURCE, name: "naive_strided" };
    /// Neighbouring outputs of one thread of [`NAIVE_STRIDED`].
    pub const RUN: u32 = 8;
}

/// Chapter 02: convolution with tiles in shared memory.
pub mod conv_shared {
    use crate::{Kernel, Source};

    /// `kernels/cuda/02-conv-shared.cu`
    pub static SOURCE: Source = source!("02-conv-shared", "compute_50", [BLOCK, TILE, WIDE_TILE]);
    /// Tiles of [`TILE`] taps.
    pub const SHARED: Kernel = Kernel { source: &SOURCE, name: "shared" };
    /// Tiles of [`WIDE_TILE`] taps.
    pub const SHARED_WIDE: Kernel = Kernel { source: &SOURCE, name: "shared_wide" };
    /// [`SHARED`] without the barrier between using a tile and overwriting it. Wrong.
    pub const SHARED_MISSING_BARRIER: Kernel = Kernel { source: &SOURCE, name: "shared_missing_barrier" };
    /// Threads per block, one for each output.
    pub const BLOCK: u32 = 256;
    /// Taps of a tile of [`SHARED`].
    pub const TILE: u32 = 256;
    /// Taps of a tile of [`SHARED_WIDE`].
    pub const WIDE_TILE: u32 = 1024;
}

/// Chapter 03: convolution unrolled, then held in registers.
pub mod unroll {
    use crate::{Kernel, Source};

    /// `kernels/cuda/03-unroll.cu`
    pub static SOURCE: Source = source!(
        "03-unroll",
        "compute_50",
        [BLOCK, TILE, WIDE_TILE, RUN_THREADS, RUN, RUN_TILE, LONG_RUN, LONG_TILE, SLOTS, CONSTANT_TAPS]
    );
    /// One multiply-add per turn of the inner loop, as chapter 02 ends.
    pub const SHARED: Kernel = Kernel { source: &SOURCE, name: "shared" };
    /// Four per turn.
    pub const UNROLL_4: Kernel = Kernel { source: &SOURCE, name: "unroll_4" };
    /// Eight per turn.
    pub const UNROLL_8: Kernel = Kernel { source: &SOURCE, name: "unroll_8" };
    /// Sixteen per turn.
    pub const UNROLL_16: Kernel = Kernel { source: &SOURCE, name: "unroll_16" };
    /// Sixteen per turn, and tiles of [`WIDE_TILE`] taps.
    pub const WIDE_UNROLL: Kernel = Kernel { source: &SOURCE, name: "wide_unroll" };
    /// [`RUN`] outputs per thread.
    pub const REGISTER_TILE: Kernel = Kernel { source: &SOURCE, name: "register_tile" };
    /// Adds up the partial sums of slices of the filter.
    pub const ADD_SLICES: Kernel = Kernel { source: &SOURCE, name: "add_slices" };
    /// [`REGISTER_TILE`] with the filter in [`C_FILTER`].
    pub const CONSTANT_FILTER: Kernel = Kernel { source: &SOURCE, name: "constant_filter" };
    /// [`CONSTANT_FILTER`] with [`LONG_RUN`] outputs per thread.
    pub const LONG: Kernel = Kernel { source: &SOURCE, name: "long_run" };
    /// The array in constant memory where some kernels look for up to [`CONSTANT_TAPS`] taps, with zeros behind them up to a
    /// multiple of [`SLOTS`].
    pub const C_FILTER: &str = "c_filter";
    /// Outputs of a block that has a thread for each.
    pub const BLOCK: u32 = 256;
    /// Taps of its tile.
    pub const TILE: u32 = 256;
    /// Taps of a tile of [`WIDE_UNROLL`].
    pub const WIDE_TILE: u32 = 1024;
    /// Threads of a block whose threads have runs of outputs.
    pub const RUN_THREADS: u32 = 64;
    /// Neighbouring outputs of a thread.
    pub const RUN: u32 = 16;
    /// Taps of a tile.
    pub const RUN_TILE: u32 = 1024;
    /// Neighbouring outputs of a thread of [`LONG`].
    pub const LONG_RUN: u32 = 28;
    /// Taps of a tile of [`LONG`].
    pub const LONG_TILE: u32 = 2048;
    /// Steps of the inner loop of a run that become one turn; slices of the filter have a multiple of it.
    pub const SLOTS: u32 = 32;
    /// Filter values that [`C_FILTER`] has room for.
    pub const CONSTANT_TAPS: u32 = 16384;

    /// Convolution on tensor cores, from compute capability 8.0 on.
    pub mod tensor {
        use crate::{Kernel, Source};

        /// `kernels/cuda/03-unroll-tensor.cu`
        pub static SOURCE: Source =
            source!("03-unroll-tensor", "compute_80", [COLUMNS, ROWS, THREADS, PITCH, HALF_PITCH, MARGIN, MAXIMA, MAXIMA_THREADS]);
        /// Factors in two parts of tf32, products in three.
        pub const TENSOR_TF32X3: Kernel = Kernel { source: &SOURCE, name: "tensor_tf32x3" };
        /// The same with f16.
        pub const TENSOR_F16X3: Kernel = Kernel { source: &SOURCE, name: "tensor_f16x3" };
        /// The largest magnitudes of signal and filter, [`MAXIMA`] numbers for each.
        pub const MAGNITUDES: Kernel = Kernel { source: &SOURCE, name: "magnitudes" };
        /// Outputs of a row.
        pub const COLUMNS: u32 = 64;
        /// Rows of a block.
        pub const ROWS: u32 = 64;
        /// Threads of a block of the tensor kernels.
        pub const THREADS: u32 = 128;
        /// Floats of a row in shared memory.
        pub const PITCH: u32 = 68;
        /// The same of f16.
        pub const HALF_PITCH: u32 = 72;
        /// Zeros before the filter.
        pub const MARGIN: u32 = 64;
        /// Blocks of [`MAGNITUDES`], and numbers that it leaves of the signal, and of the filter.
        pub const MAXIMA: u32 = 128;
        /// Threads of a block of [`MAGNITUDES`].
        pub const MAXIMA_THREADS: u32 = 256;
    }

    /// What stands around the transforms of cuFFT.
    pub mod fft {
        use crate::{Kernel, Source};

        /// `kernels/cuda/03-unroll-fft.cu`
        pub static SOURCE: Source = source!("03-unroll-fft", "compute_50", []);
        /// Cuts the signal into blocks, behind the filter.
        pub const GATHER: Kernel = Kernel { source: &SOURCE, name: "gather" };
        /// Multiplies spectra.
        pub const MULTIPLY: Kernel = Kernel { source: &SOURCE, name: "multiply" };
        /// Takes the outputs from the blocks.
        pub const COLLECT: Kernel = Kernel { source: &SOURCE, name: "collect" };
    }
}

/// Chapter 04: template matching, one multiplication per pixel and then four.
pub mod correlation {
    use crate::{Kernel, Source};

    /// `kernels/cuda/04-correlation-sm-aware.cu`
    pub static SOURCE: Source =
        source!("04-correlation-sm-aware", "compute_50", [BLOCK_X, BLOCK_Y, UNROLL, MOST_TEMPLATE_PIXELS], "04-correlation.cuh");
    /// The image and the template in global memory.
    pub const GLOBAL: Kernel = Kernel { source: &SOURCE, name: "global" };
    /// The template in constant memory.
    pub const CONSTANT: Kernel = Kernel { source: &SOURCE, name: "constant" };
    /// A tile of the image in shared memory.
    pub const SHARED: Kernel = Kernel { source: &SOURCE, name: "shared" };
    /// The same with multiplications of 24 bits.
    pub const SHARED_MULTIPLY_24: Kernel = Kernel { source: &SOURCE, name: "shared_multiply_24" };
    /// Four template pixels per turn of the loop.
    pub const UNROLL_4: Kernel = Kernel { source: &SOURCE, name: "unroll_4" };
    /// The same with multiplications of 24 bits.
    pub const UNROLL_4_MULTIPLY_24: Kernel = Kernel { source: &SOURCE, name: "unroll_4_multiply_24" };
    /// The same, which also stores the sums.
    pub const SUMS: Kernel = Kernel { source: &SOURCE, name: "sums" };
    /// The same with multiplications of 24 bits.
    pub const SUMS_MULTIPLY_24: Kernel = Kernel { source: &SOURCE, name: "sums_multiply_24" };
    /// The template's place in constant memory, as bytes.
    pub const TEMPLATE: &str = "c_template";
    /// Threads of a block in a row.
    pub const BLOCK_X: u32 = 32;
    /// Rows of threads of a block.
    pub const BLOCK_Y: u32 = 8;
    /// Template pixels per turn of the loop of [`UNROLL_4`].
    pub const UNROLL: u32 = 4;
    /// Bytes of [`TEMPLATE`].
    pub const MOST_TEMPLATE_PIXELS: u32 = 65536;

    /// Four pixels per instruction, from compute capability 6.1 on.
    pub mod dp4a {
        use crate::correlation::{BLOCK_X, BLOCK_Y};
        use crate::{Kernel, Source};

        /// `kernels/cuda/04-correlation-sm-aware-dp4a.cu`
        pub static SOURCE: Source = source!(
            "04-correlation-sm-aware-dp4a",
            "compute_61",
            [BLOCK_X, BLOCK_Y, VECTOR, MOST_WORDS, TALL, RUN],
            "04-correlation.cuh"
        );
        /// Arranges the template in words.
        pub const FILL_WORDS: Kernel = Kernel { source: &SOURCE, name: "fill_words" };
        /// One output per thread.
        pub const DP4A: Kernel = Kernel { source: &SOURCE, name: "dp4a" };
        /// [`VECTOR`] outputs per thread.
        pub const DP4A_TILE: Kernel = Kernel { source: &SOURCE, name: "dp4a_tile" };
        /// Sums of the windows of every row, [`VECTOR`] per thread.
        pub const ROW_SUMS: Kernel = Kernel { source: &SOURCE, name: "row_sums" };
        /// Sums of the windows, from those of their rows; [`RUN`] outputs per thread.
        pub const COLUMN_SUMS: Kernel = Kernel { source: &SOURCE, name: "column_sums" };
        /// Products alone, [`VECTOR`] x [`TALL`] outputs per thread.
        pub const PRODUCTS: Kernel = Kernel { source: &SOURCE, name: "products" };
        /// The template's place in constant memory, as words.
        pub const WORDS: &str = "c_words";
        /// Pixels in a word.
        pub const VECTOR: u32 = 4;
        /// Words of [`WORDS`].
        pub const MOST_WORDS: u32 = 16384;
        /// Outputs of each thread of [`PRODUCTS`], one below the other.
        pub const TALL: u32 = 8;
        /// Outputs of each thread of [`COLUMN_SUMS`], one below the other.
        pub const RUN: u32 = 32;
    }

    /// Products of matrices on tensor cores, from compute capability 8.0 on.
    pub mod tensor {
        use crate::correlation::{BLOCK_X, BLOCK_Y};
        use crate::{Kernel, Source};

        /// `kernels/cuda/04-correlation-sm-aware-tensor.cu`
        pub static SOURCE: Source = source!(
            "04-correlation-sm-aware-tensor",
            "compute_80",
            [BLOCK_X, BLOCK_Y, CHUNK, BAND_WORDS, WIDE, TALL],
            "04-correlation.cuh"
        );
        /// Arranges the template in bands.
        pub const FILL_BANDS: Kernel = Kernel { source: &SOURCE, name: "fill_bands" };
        /// Products of matrices.
        pub const TENSOR: Kernel = Kernel { source: &SOURCE, name: "tensor" };
        /// Columns of the template in a band.
        pub const CHUNK: u32 = 56;
        /// Words of a band.
        pub const BAND_WORDS: u32 = 72;
        /// Columns of outputs of a block of [`TENSOR`].
        pub const WIDE: u32 = 128;
        /// Rows of outputs of a block of [`TENSOR`].
        pub const TALL: u32 = 128;
    }
}

/// Chapter 05: sums over a window, from accumulators in global memory to the speed of a copy.
pub mod window_sums {
    use crate::{Kernel, Source};

    /// `kernels/cuda/05-window-sums.cu`
    pub static SOURCE: Source = source!("05-window-sums", "compute_50", [BLOCK], "05-window-sums.cuh");
    /// Both accumulators in global memory, in one loop.
    pub const FUSED_GLOBAL: Kernel = Kernel { source: &SOURCE, name: "fused_global" };
    /// Half of it.
    pub const SUM_ONLY: Kernel = Kernel { source: &SOURCE, name: "sum_only" };
    /// The other half.
    pub const SQUARES_ONLY: Kernel = Kernel { source: &SOURCE, name: "squares_only" };
    /// One loop for each.
    pub const SPLIT_GLOBAL: Kernel = Kernel { source: &SOURCE, name: "split_global" };
    /// A slice of shared memory for each thread.
    pub const SHARED_SLICES: Kernel = Kernel { source: &SOURCE, name: "shared_slices" };
    /// [`FUSED_GLOBAL`] with a product in place of `pow`.
    pub const MULTIPLY: Kernel = Kernel { source: &SOURCE, name: "multiply" };
    /// The accumulators in registers.
    pub const REGISTERS: Kernel = Kernel { source: &SOURCE, name: "registers" };
    /// Threads of a block with one place each.
    pub const BLOCK: u32 = 256;

    /// Tiles of a row in shared memory.
    pub mod tiles {
        use super::BLOCK;
        use crate::{Kernel, Source};

        /// `kernels/cuda/05-window-sums-tiles.cu`
        pub static SOURCE: Source = source!(
            "05-window-sums-tiles",
            "compute_50",
            [BLOCK, WARP, VECTOR, PART, RUN_THREADS, RUN, ROW_THREADS, TILE_THREADS, TILE],
            "05-window-sums.cuh"
        );
        /// One place per thread.
        pub const SHARED_TILE: Kernel = Kernel { source: &SOURCE, name: "shared_tile" };
        /// [`RUN`] places per thread.
        pub const SLIDING: Kernel = Kernel { source: &SOURCE, name: "sliding" };
        /// [`VECTOR`] places per thread.
        pub const VECTORS: Kernel = Kernel { source: &SOURCE, name: "vector" };
        /// Prefix sums of changes along a row.
        pub const ROW_SCAN: Kernel = Kernel { source: &SOURCE, name: "row_scan" };
        /// Prefix sums of a tile.
        pub const TILE_SCAN: Kernel = Kernel { source: &SOURCE, name: "tile_scan" };
        /// Lanes of a warp; the first block of [`VECTORS`] and of [`TILE_SCAN`] begins at a multiple of it.
        pub const WARP: u32 = 32;
        /// Words of a vector.
        pub const VECTOR: u32 = 4;
        /// Pixels of a window that most kernels look at in one turn.
        pub const PART: u32 = 256;
        /// Threads of a block of [`SLIDING`] and [`VECTORS`].
        pub const RUN_THREADS: u32 = 64;
        /// Neighbouring places of a thread of [`SLIDING`].
        pub const RUN: u32 = 9;
        /// Threads of a block of [`ROW_SCAN`].
        pub const ROW_THREADS: u32 = 256;
        /// Threads of a block of [`TILE_SCAN`].
        pub const TILE_THREADS: u32 = 128;
        /// Pixels of a block of [`TILE_SCAN`].
        pub const TILE: u32 = 1024;
    }
}

/// Chapter 06: the product of two matrices, up to the vendor's library.
pub mod matmul {
    use crate::{Kernel, Source};

    /// `kernels/cuda/06-matmul-tiled.cu`
    pub static SOURCE: Source = source!("06-matmul-tiled", "compute_50", [TILE, COLUMN_TILE, BLOCK_ROWS, BLOCK_COLUMNS]);
    /// One thread per output.
    pub const NAIVE: Kernel = Kernel { source: &SOURCE, name: "naive" };
    /// Tiles of [`TILE`] x [`TILE`] in shared memory.
    pub const TILED: Kernel = Kernel { source: &SOURCE, name: "tiled" };
    /// A column of outputs per thread.
    pub const REGISTER_TILE_1D: Kernel = Kernel { source: &SOURCE, name: "register_tile_1d" };
    /// 8 x 8 outputs per thread.
    pub const REGISTER_TILE: Kernel = Kernel { source: &SOURCE, name: "register_tile" };
    /// The same with loads of four numbers.
    pub const VECTOR: Kernel = Kernel { source: &SOURCE, name: "vector" };
    /// The same with a rectangle of outputs for each warp.
    pub const WARP_TILE: Kernel = Kernel { source: &SOURCE, name: "warp_tile" };
    /// Adds the partial sums of slices.
    pub const ADD_SLICES: Kernel = Kernel { source: &SOURCE, name: "add_slices" };
    /// Rows and columns of the tiles of [`NAIVE`] and [`TILED`]; a thread for each output.
    pub const TILE: u32 = 16;
    /// Rows and columns of the outputs of a block of [`REGISTER_TILE_1D`].
    pub const COLUMN_TILE: u32 = 64;
    /// Threads of such a block.
    pub const COLUMN_THREADS: u32 = 512;
    /// Rows of a block of [`REGISTER_TILE`] and those after it.
    pub const BLOCK_ROWS: u32 = 128;
    /// Columns of such a block.
    pub const BLOCK_COLUMNS: u32 = 128;
    /// Threads of such a block.
    pub const THREADS: u32 = 256;

    /// Asynchronous copies, from compute capability 8.0 on.
    pub mod asynchronous {
        use crate::{Kernel, Source};

        /// `kernels/cuda/06-matmul-tiled-async.cu`
        pub static SOURCE: Source = source!("06-matmul-tiled-async", "compute_80", [], "06-matmul-tiled.cuh");
        /// 128 x 256 outputs per block; rows of B start at multiples of 16 bytes.
        pub const DOUBLE_BUFFERED: Kernel = Kernel { source: &SOURCE, name: "double_buffered" };
        /// The same for any size.
        pub const DOUBLE_BUFFERED_ANY: Kernel = Kernel { source: &SOURCE, name: "double_buffered_any" };
        /// 64 x 64 outputs per block; rows of B start at multiples of 16 bytes.
        pub const SMALL_TILE: Kernel = Kernel { source: &SOURCE, name: "small_tile" };
        /// The same for any size.
        pub const SMALL_TILE_ANY: Kernel = Kernel { source: &SOURCE, name: "small_tile_any" };
    }

    /// Tensor cores, from compute capability 8.0 on.
    pub mod tensor {
        use crate::{Kernel, Source};

        /// `kernels/cuda/06-matmul-tiled-tensor.cu`
        pub static SOURCE: Source =
            source!("06-matmul-tiled-tensor", "compute_80", [ROWS, COLUMNS, DEPTH, BUFFERS], "06-matmul-tiled.cuh");
        /// Factors of 11 binary digits; rows of all matrices start at multiples of 16 bytes.
        pub const TENSOR_TF32: Kernel = Kernel { source: &SOURCE, name: "tensor_tf32" };
        /// The same for any size.
        pub const TENSOR_TF32_ANY: Kernel = Kernel { source: &SOURCE, name: "tensor_tf32_any" };
        /// Rows of a block.
        pub const ROWS: u32 = 128;
        /// Columns of a block.
        pub const COLUMNS: u32 = 256;
        /// Columns of A in shared memory at a time.
        pub const DEPTH: u32 = 32;
        /// Pairs of tiles in shared memory.
        pub const BUFFERS: u32 = 3;
        /// Threads of a block.
        pub const THREADS: u32 = 256;
        /// Bytes of dynamic shared memory of a block.
        pub const SHARED_BYTES: u32 = BUFFERS * (ROWS * (DEPTH + 4) + DEPTH * (COLUMNS + 8)) * 4;
    }
}
