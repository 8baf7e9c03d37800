// 04-correlation-sm-aware-hopper: the products ΣIT on Hopper's tensor cores, and all the rest in the same kernel.
//
// Since `04-correlation-sm-aware-tensor.cu`: `wgmma` reads both matrices from shared memory, where a descriptor says how they
//          lie. So the image needs no fragments in registers. Its tile is the matrix, as it is: each 16 bytes are the start of
//          a row of it, and the rows overlap. The template's bands are the other matrix. The block sums ΣI and ΣI² from the
//          same tile, which takes two kernels less and no memory.
// Launch:  two-dimensional grid, WIDE outputs per block in x, and in y what the kernel's name says.
// Work:    per output and template pixel of 52 x 52, 80 / 52 * 56 / 52 = 1.66 multiply-adds on tensor cores.
// Sizes:   any image; templates of up to MOST_COLUMNS columns and as many rows as shared memory has space for.

#include "04-correlation.cuh"
#include "04-correlation-windows.cuh"
#include "hopper.cuh"
#include "04-correlation-wgmma.cuh"

// A piece of the template has as many columns as the bands in shared memory have space for. The host limits its rows.
constexpr int PIECE_COLUMNS = 64;
// Neighboring outputs that start in the same 16 bytes of the image.
constexpr int SHIFTS = UNIT;
// Bytes of a group of eight rows of a matrix, and of the bands of one template row.
constexpr int GROUP_BYTES = 8 * UNIT;
constexpr int BAND_BYTES = SHIFTS * UNIT;
// Words of a template row with SHIFTS zeros before it and zeros after it, up to the last byte of any band.
constexpr int PADDED_WORDS = 25;
static_assert(PADDED_WORDS * 4 > SHIFTS + PIECE_COLUMNS + SHIFTS - 1);
// Threads that execute `wgmma` together.
constexpr int WARPGROUP = 128;

// ANCHOR: pieces
// How the template is cut, and what follows. The host computes it once.
struct Pieces {
    // Of the template that a piece has at most.
    int columns, rows;
    // Of UNIT bytes in a band.
    int units;
    // Rows of the tile that the outputs below each other multiply with a piece: even, because `wgmma` takes two at a time.
    int steps;
    // Of the tile.
    int pitch, tile_rows;
};
// ANCHOR_END: pieces

// Bands from one unit to the next, in rows of the template: the piece between two times DOWN - 1 rows of zeros.
__device__ inline int band_rows(const Pieces& pieces)
{
    return pieces.steps + DOWN - 1;
}

// ANCHOR: fill_bands
// Fills the bands of a piece of the template. Band (row, shift) is the template's row with `shift` zeros before it. Byte
// `16 * unit + i` of it is at [unit][row][shift][i].
__device__ inline void fill_bands(unsigned char* s_bands, unsigned* s_padded, const unsigned char* __restrict__ template_pixels,
                                  const Shape& shape, const Pieces& pieces, int first_column, int first_row)
{
    const int columns = min(pieces.columns, shape.template_width - first_column);
    const int rows = min(pieces.rows, shape.template_height - first_row);
#pragma unroll 4
    for (int at = threadIdx.x; at < rows * PADDED_WORDS; at += blockDim.x) {
        const unsigned char* row = template_pixels + (first_row + at / PADDED_WORDS) * shape.template_width + first_column;
        unsigned word = 0;
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) {
            const int column = at % PADDED_WORDS * 4 + byte - SHIFTS;
            if (column >= 0 && column < columns) {
                word |= static_cast<unsigned>(row[column]) << 8 * byte;
            }
        }
        s_padded[at] = word;
    }
    // All threads have written the padded rows before any thread reads them, and all warps have multiplied the last piece
    // before any thread overwrites its bands.
    __syncthreads();
    for (int at = threadIdx.x; at < band_rows(pieces) * SHIFTS; at += blockDim.x) {
        uint4* s_band = reinterpret_cast<uint4*>(s_bands) + at;
        const int row = at / SHIFTS - (DOWN - 1), start = SHIFTS - at % SHIFTS;
        const bool zeros = row < 0 || row >= rows;
        const unsigned* s_words = s_padded + (zeros ? 0 : row * PADDED_WORDS + start / 4);
        unsigned last = *s_words;
        for (int unit = 0; unit < pieces.units; ++unit) {
            uint4 words = {};
            if (!zeros) {
                const unsigned shift = start % 4 * 8;
                const uint4 next = {s_words[1], s_words[2], s_words[3], s_words[4]};
                words = {__funnelshift_r(last, next.x, shift), __funnelshift_r(next.x, next.y, shift),
                         __funnelshift_r(next.y, next.z, shift), __funnelshift_r(next.z, next.w, shift)};
                last = next.w;
                s_words += 4;
            }
            *s_band = words;
            s_band += band_rows(pieces) * SHIFTS;
        }
    }
}
// ANCHOR_END: fill_bands

// ANCHOR: products
// WIDE x (DOWN * GROUPS * PARTS) outputs. Each of PARTS warpgroups has DOWN * GROUPS rows of them. SPLITS warpgroups share
// these: each multiplies some rows of the image.
//
// The row `shift + 16 * (DOWN - 1 - d)` of the bands' matrix yields outputs `shift` columns to the right and `d` rows down.
// The row `n` of the pixels' matrix has the pixels from column 16 * (n % 8) and row DOWN * (n / 8) of the tile.
template <int GROUPS, int PARTS, int SPLITS>
__device__ inline void correlate(const unsigned char* __restrict__ image, const unsigned char* __restrict__ template_pixels,
                                 const Shape& shape, const Pieces& pieces, float* __restrict__ output)
{
    extern __shared__ uint4 s_units[];
    unsigned char* s_tile = reinterpret_cast<unsigned char*>(s_units);
    unsigned char* s_bands = s_tile + pieces.tile_rows * pieces.pitch;
    unsigned* s_padded = reinterpret_cast<unsigned*>(s_bands + pieces.units * band_rows(pieces) * BAND_BYTES);
    const int left = blockIdx.x * WIDE, top = blockIdx.y * DOWN * GROUPS * PARTS;
    // The shuffle tells the compiler that this number is the same for the whole warp. `wgmma` must not be in a branch that
    // may diverge.
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);
    const int part = warpgroup / SPLITS, split = warpgroup % SPLITS;
    copy_tile(s_tile, pieces.pitch, image, shape, left + shape.corner_x, top + shape.corner_y, pieces.tile_rows);
    int sums[GROUPS * 4] = {};
    for (int first_column = 0; first_column < shape.template_width; first_column += pieces.columns) {
        for (int first_row = 0; first_row < shape.template_height; first_row += pieces.rows) {
            fill_bands(s_bands, s_padded, template_pixels, shape, pieces, first_column, first_row);
            wait_for_tile();
            publish_to_tensor_cores();
            // All threads have written the tile and the bands before the tensor cores read them.
            __syncthreads();
            const unsigned char* s_corner = s_tile + (part * GROUPS * DOWN + first_row) * pieces.pitch + first_column;
            const unsigned long long bands = describe(s_bands, BAND_BYTES, GROUP_BYTES);
            const unsigned long long pixels = describe(s_corner, pieces.pitch, DOWN * pieces.pitch);
            begin_products();
            for (int step = 2 * split; step < pieces.steps; step += 2 * SPLITS) {
                for (int unit = 0; unit < pieces.units; ++unit) {
                    multiply(sums, bands + (unit * band_rows(pieces) + step) * (BAND_BYTES / 16),
                             pixels + step * pieces.pitch / 16 + unit);
                }
            }
            end_products();
            wait_for_products<0>();
        }
    }
    // From here on the bands' memory has the sums of products, row by row, and then the warps' prefixes.
    int* s_products = reinterpret_cast<int*>(s_bands);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Columns with the same number mod 32 are in different lanes, so they are in different banks.
    const auto swizzled = [](int x) { return x ^ x / 32 * 8; };
#pragma unroll
    for (int turn = 0; turn < SPLITS; ++turn) {
        // All warps have multiplied before any thread overwrites the bands. Then one split after the other adds its sums.
        __syncthreads();
        if (split == turn) {
#pragma unroll
            for (int i = 0; i < GROUPS * 4; ++i) {
                const int x = (lane % 4 * 2 + i % 2) * SHIFTS + lane / 4 + i % 4 / 2 * 8;
                const int y = (part * GROUPS + i / 4) * DOWN + DOWN - 1 - warp % 4;
                int& s_sum = s_products[y * WIDE + swizzled(x)];
                s_sum = turn == 0 ? sums[i] : s_sum + sums[i];
            }
        }
    }
    // All sums are complete before any thread reads them.
    __syncthreads();
    constexpr int OWN_GROUPS = (GROUPS * PARTS + PARTS * SPLITS - 1) / (PARTS * SPLITS);
    if (warpgroup * OWN_GROUPS < GROUPS * PARTS) {
        uint2* s_prefixes = reinterpret_cast<uint2*>(s_products + GROUPS * PARTS * DOWN * WIDE)
                          + warp * LANE_COLUMNS * prefix_pitch(pieces.pitch);
        finish(s_tile, pieces.pitch, s_prefixes, warpgroup * OWN_GROUPS * DOWN + warp % 4, OWN_GROUPS, left, top, shape, output,
               [&](int k, int y) { return static_cast<unsigned>(s_products[y * WIDE + swizzled(k * 32 + lane)]); });
    }
}
// ANCHOR_END: products

// ANCHOR: kernels
// Threads of a block of `wgmma_128`, and of all others.
constexpr int TALL_THREADS = 256;
constexpr int THREADS = 512;

// The numbers are output rows of a block. For large images, the fewest bands per output:
extern "C" __global__ void __launch_bounds__(TALL_THREADS, 2)
wgmma_128(const unsigned char* __restrict__ image, const unsigned char* __restrict__ template_pixels, Shape shape,
          Pieces pieces, float* __restrict__ output)
{
    correlate<16, 2, 1>(image, template_pixels, shape, pieces, output);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
wgmma_64(const unsigned char* __restrict__ image, const unsigned char* __restrict__ template_pixels, Shape shape,
         Pieces pieces, float* __restrict__ output)
{
    correlate<8, 2, 2>(image, template_pixels, shape, pieces, output);
}

// For small images, the most blocks, with four warpgroups for the same outputs:
extern "C" __global__ void __launch_bounds__(THREADS, 2)
wgmma_16(const unsigned char* __restrict__ image, const unsigned char* __restrict__ template_pixels, Shape shape,
         Pieces pieces, float* __restrict__ output)
{
    correlate<4, 1, 4>(image, template_pixels, shape, pieces, output);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
wgmma_8(const unsigned char* __restrict__ image, const unsigned char* __restrict__ template_pixels, Shape shape,
        Pieces pieces, float* __restrict__ output)
{
    correlate<2, 1, 4>(image, template_pixels, shape, pieces, output);
}
// ANCHOR_END: kernels
