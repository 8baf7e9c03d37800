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
#include "04-correlation-bands.cuh"

// Neighboring outputs that start in the same 16 bytes of the image.
constexpr int SHIFTS = UNIT;
// Bytes of a group of eight rows of a matrix, and of the bands of one template row.
constexpr int GROUP_BYTES = 8 * UNIT;
constexpr int BAND_BYTES = SHIFTS * UNIT;
// Threads that execute `wgmma` together.
constexpr int WARPGROUP = 128;

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
    unsigned* s_padded = reinterpret_cast<unsigned*>(s_bands + pieces.units * band_rows<DOWN>(pieces) * BAND_BYTES);
    const int left = blockIdx.x * WIDE, top = blockIdx.y * DOWN * GROUPS * PARTS;
    // The shuffle tells the compiler that this number is the same for the whole warp. `wgmma` must not be in a branch that
    // may diverge.
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / WARPGROUP, 0);
    const int part = warpgroup / SPLITS, split = warpgroup % SPLITS;
    copy_tile(s_tile, pieces.pitch, image, shape, left + shape.corner_x, top + shape.corner_y, pieces.tile_rows);
    int sums[GROUPS * 4] = {};
    for (int first_column = 0; first_column < shape.template_width; first_column += pieces.columns) {
        for (int first_row = 0; first_row < shape.template_height; first_row += pieces.rows) {
            pad_rows<SHIFTS>(s_padded, template_pixels, shape, pieces, first_column, first_row);
            // All threads have written the padded rows before any thread reads them, and all warps have multiplied the last
            // piece before any thread overwrites its bands.
            __syncthreads();
            fill_bands<SHIFTS, DOWN>(s_bands, s_padded, shape, pieces, first_row);
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
                    multiply(sums, bands + (unit * band_rows<DOWN>(pieces) + step) * (BAND_BYTES / 16),
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
