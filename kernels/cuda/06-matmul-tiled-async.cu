// 06-matmul-tiled-async: the product of two matrices, with asynchronous copies to shared memory.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n
//
// Since 06-matmul-tiled: asynchronous copies from global to shared memory need no registers on the way. So two further
//          pairs of tiles are on their way while one is used, and the registers hold twice as many outputs. The first
//          numbers of the next tiles are loaded from shared memory before the last numbers of the current tiles are
//          used.
// Launch:  blockIdx.x counts tiles of columns, blockIdx.y tiles of rows, and blockIdx.z slices of `slice` columns of
//          `a`. With several slices the results are partial sums, and those of slice z start z m n numbers after `c`,
//          for `add_slices`. double_buffered*: LARGE_ROWS x LARGE_COLUMNS outputs, LARGE_THREADS threads. small_tile*:
//          SMALL_ROWS x SMALL_COLUMNS outputs, SMALL_THREADS threads.
// Work:    per output, k multiply-adds. Bytes that a thread loads from shared memory for each: 0.75 in
//          `double_buffered`, 1 in `small_tile`.
// Sizes:   m, n, k >= 1, slice >= 1. n has to be a multiple of 4, except for the kernels with `_any`.

#include "06-matmul-tiled.cuh"

// The tiles of a block, and its threads.
constexpr unsigned LARGE_ROWS = 128;
constexpr unsigned LARGE_COLUMNS = 256;
constexpr unsigned LARGE_THREADS = 256;
constexpr unsigned SMALL_ROWS = 64;
constexpr unsigned SMALL_COLUMNS = 64;
constexpr unsigned SMALL_THREADS = 64;
// Pairs of tiles in shared memory: one is used and the others are on their way.
constexpr unsigned BUFFERS = 3;
// Floats of a vector.
constexpr unsigned VECTOR = 4;
// The lanes of a warp are arranged in LANES_DOWN rows of LANES_ACROSS.
constexpr unsigned LANES_DOWN = 4;
constexpr unsigned LANES_ACROSS = 8;

// Spreads a vector over four registers.
__device__ void spread(float* to, float4 four)
{
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// Whether the results should stay in the cache, because `add_slices` soon reads them.
enum class Results { KEEP, PASS_BY };

// ANCHOR: multiply
// DOWN x ACROSS warps, each of LANES_DOWN x LANES_ACROSS lanes, each of ROWS x COLUMNS outputs. DEPTH columns of `a`
// and rows of `b` are one pair of tiles.
template <unsigned DOWN, unsigned ACROSS, unsigned ROWS, unsigned COLUMNS, unsigned DEPTH, bool VECTORS, Results RESULTS>
__device__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k,
                         unsigned slice, float* __restrict__ c)
{
    constexpr unsigned THREADS = DOWN * ACROSS * 32;
    constexpr unsigned BLOCK_ROWS = DOWN * LANES_DOWN * ROWS, BLOCK_COLUMNS = ACROSS * LANES_ACROSS * COLUMNS;
    // The tile of `a` is transposed, one number at a time. The padding of 4 floats shifts each row by 4 banks: the 8
    // columns x 4 rows that a warp writes are in 32 banks (with a DEPTH of 16, the 16 x 2 are in 16).
    constexpr unsigned PITCH = BLOCK_ROWS + 4;
    constexpr unsigned WIDTH = VECTORS ? VECTOR : 1;
    constexpr unsigned A_STEP = THREADS / DEPTH, B_ACROSS = BLOCK_COLUMNS / WIDTH, B_STEP = THREADS / B_ACROSS;
    constexpr bool IS_LARGE = BLOCK_ROWS == LARGE_ROWS && BLOCK_COLUMNS == LARGE_COLUMNS && THREADS == LARGE_THREADS;
    constexpr bool IS_SMALL = BLOCK_ROWS == SMALL_ROWS && BLOCK_COLUMNS == SMALL_COLUMNS && THREADS == SMALL_THREADS;
    static_assert(IS_LARGE || IS_SMALL, "the host knows these two tiles");
    static_assert(BLOCK_ROWS % A_STEP == 0 && DEPTH % B_STEP == 0, "each thread copies as many numbers as any other");
    __shared__ float4 s_a[BUFFERS][DEPTH * PITCH / VECTOR];
    __shared__ float4 s_b[BUFFERS][DEPTH * BLOCK_COLUMNS / VECTOR];

    // This thread copies one number in every A_STEP-th row of `a`, and one vector in every B_STEP-th row of `b`.
    const unsigned first_row = blockIdx.y * BLOCK_ROWS, first_column = blockIdx.x * BLOCK_COLUMNS;
    const unsigned begin = blockIdx.z * slice, length = min(slice, k - begin);
    const unsigned a_row = threadIdx.x / DEPTH, a_at = threadIdx.x % DEPTH;
    const unsigned b_row = threadIdx.x / B_ACROSS, b_at = threadIdx.x % B_ACROSS * WIDTH;
    const float* from_a = a + static_cast<size_t>(first_row + a_row) * k + begin + a_at;
    const float* from_b = b + static_cast<size_t>(begin + b_row) * n + first_column + b_at;
    const int rows_left = static_cast<int>(m - first_row - a_row);
    const bool has_column = first_column + b_at < n;
    const unsigned to_a = static_cast<unsigned>(__cvta_generic_to_shared(s_a)) + (a_at * PITCH + a_row) * sizeof(float);
    const unsigned to_b =
        static_cast<unsigned>(__cvta_generic_to_shared(s_b)) + (b_row * BLOCK_COLUMNS + b_at) * sizeof(float);
// ANCHOR: start
    const auto copy = [&](unsigned buffer, unsigned depth, bool is_there) {
        const int rows = is_there && a_at < depth ? rows_left : 0;
#pragma unroll
        for (unsigned i = 0; i < BLOCK_ROWS; i += A_STEP) {
            start_copy<4>(to_a + buffer * sizeof(s_a[0]) + i * sizeof(float), from_a + static_cast<size_t>(i) * k,
                          static_cast<int>(i) < rows);
        }
        const bool is_column = is_there && has_column;
#pragma unroll
        for (unsigned i = 0; i < DEPTH; i += B_STEP) {
            start_copy<4 * WIDTH>(to_b + buffer * sizeof(s_b[0]) + i * BLOCK_COLUMNS * sizeof(float),
                                  from_b + static_cast<size_t>(i) * n, is_column && b_row + i < depth);
        }
        from_a += depth;
        from_b += static_cast<size_t>(depth) * n;
        end_group();
    };
// ANCHOR_END: start

    // Lanes 2 i and 2 i + 1 are below each other. Shared memory serves 16 lanes in one wavefront if both lanes of every
    // such pair load the same vector, as they do from `b`, or if lanes that are two apart do, as they do from `a`.
    // Otherwise it serves 8.
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned home_row = warp / ACROSS * LANES_DOWN * ROWS + (lane % 2 + lane / 16 * 2) * VECTOR;
    const unsigned home_column = warp % ACROSS * LANES_ACROSS * COLUMNS + lane / 2 % LANES_ACROSS * VECTOR;
    const float4* const at_a = s_a[0] + home_row / VECTOR;
    const float4* const at_b = s_b[0] + home_column / VECTOR;
    float of_a[2][ROWS], of_b[2][COLUMNS];
    const auto load = [&](unsigned slot, unsigned buffer, unsigned i) {
        const float4* const tile_of_a = at_a + buffer * (DEPTH * PITCH / VECTOR);
        const float4* const tile_of_b = at_b + buffer * (DEPTH * BLOCK_COLUMNS / VECTOR);
#pragma unroll
        for (unsigned j = 0; j < ROWS; j += VECTOR) {
            spread(of_a[slot] + j, tile_of_a[(i * PITCH + j * LANES_DOWN) / VECTOR]);
        }
#pragma unroll
        for (unsigned j = 0; j < COLUMNS; j += VECTOR) {
            spread(of_b[slot] + j, tile_of_b[(i * BLOCK_COLUMNS + j * LANES_ACROSS) / VECTOR]);
        }
    };

    // The first tiles take the remainder, so that all others are full.
    const unsigned slabs = (length + DEPTH - 1) / DEPTH;
    copy(0, length - (slabs - 1) * DEPTH, true);
#pragma unroll
    for (unsigned i = 1; i < BUFFERS - 1; ++i) {
        copy(i, DEPTH, i < slabs);
    }
    wait_for_groups<BUFFERS - 2>();
    // All threads have copied the first tiles before any thread reads them.
    __syncthreads();
    load(0, 0, 0);
    float sum[ROWS][COLUMNS] = {};
    unsigned used = 0, filled = BUFFERS - 1;
#pragma unroll 1
// ANCHOR: steps
    for (unsigned slab = 0; slab < slabs; ++slab) {
        const unsigned next = used + 1 == BUFFERS ? 0 : used + 1;
        copy(filled, DEPTH, slab + BUFFERS - 1 < slabs);
#pragma unroll
        for (unsigned i = 0; i < DEPTH; ++i) {
            // Load one step ahead, so the numbers have time to arrive.
            if (i + 1 < DEPTH) {
                load((i + 1) % 2, used, i + 1);
            } else {
                wait_for_groups<BUFFERS - 2>();
                // All threads have copied the next tiles before any thread reads them, and all have read the current
                // tiles before any thread overwrites them.
                __syncthreads();
                load((i + 1) % 2, next, 0);
            }
// ANCHOR_END: steps
            // Down one column and up the next: one of the two factors is always the same as before, and need not be
            // read from its register again.
#pragma unroll
            for (unsigned column = 0; column < COLUMNS; ++column) {
#pragma unroll
                for (unsigned j = 0; j < ROWS; ++j) {
                    const unsigned row = column % 2 == 0 ? j : ROWS - 1 - j;
                    sum[row][column] += of_a[i % 2][row] * of_b[i % 2][column];
                }
            }
        }
        filled = used;
        used = next;
    }

    // One by one: to store four at a time, the compiler would put four neighbors into consecutive registers, whose
    // banks conflict with those of the factors.
    c += static_cast<size_t>(blockIdx.z) * m * n;
#pragma unroll
    for (unsigned i = 0; i < ROWS; ++i) {
        const unsigned row = first_row + home_row + i / VECTOR * VECTOR * LANES_DOWN + i % VECTOR;
#pragma unroll
        for (unsigned j = 0; j < COLUMNS; ++j) {
            const unsigned column = first_column + home_column + j / VECTOR * VECTOR * LANES_ACROSS + j % VECTOR;
            if (row < m && column < n) {
                float* const to = c + static_cast<size_t>(row) * n + column;
                if (RESULTS == Results::PASS_BY) {
                    __stcs(to, sum[i][j]);
                } else {
                    *to = sum[i][j];
                }
            }
        }
    }
}
// ANCHOR_END: multiply

// ANCHOR: double_buffered
extern "C" __global__ void __launch_bounds__(LARGE_THREADS)
double_buffered(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k,
                unsigned slice, float* __restrict__ c)
{
    multiply<4, 2, 8, 16, 8, true, Results::PASS_BY>(a, b, m, n, k, slice, c);
}

// The same for any n, where not all rows start at a multiple of 16 bytes.
extern "C" __global__ void __launch_bounds__(LARGE_THREADS)
double_buffered_any(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k,
                    unsigned slice, float* __restrict__ c)
{
    multiply<4, 2, 8, 16, 8, false, Results::KEEP>(a, b, m, n, k, slice, c);
}
// ANCHOR_END: double_buffered

// ANCHOR: small_tile
// More blocks, for products with too few large tiles to occupy all multiprocessors.
extern "C" __global__ void __launch_bounds__(SMALL_THREADS, 6)
small_tile(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k, unsigned slice,
           float* __restrict__ c)
{
    multiply<2, 1, 8, 8, 8, true, Results::KEEP>(a, b, m, n, k, slice, c);
}

// The same for any n, where not all rows start at a multiple of 16 bytes.
extern "C" __global__ void __launch_bounds__(SMALL_THREADS, 6)
small_tile_any(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k, unsigned slice,
               float* __restrict__ c)
{
    multiply<2, 1, 8, 8, 16, false, Results::KEEP>(a, b, m, n, k, slice, c);
}
// ANCHOR_END: small_tile
