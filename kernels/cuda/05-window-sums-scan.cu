// 05-window-sums-scan: window sums as differences of prefix sums of whole rows, which blocks compute together.
//
// Since `tile_scan`: the prefix sums are those of a row, not of a tile, and they are stored. Any window of any width is
//          then two loads away.
// Launch:  `prefix_rows` has a block of SCAN_THREADS threads for each tile of each row, in one dimension; `differences`
//          has a row of blocks of BLOCK threads for each row of the image.
// Work:    per pixel, `prefix_rows` reads 4 bytes and writes 8. Per output, `differences` reads 16 and writes 8.
// Sizes:   as for `05-window-sums.cu`. `state` has to be zero before each launch of `prefix_rows`: one word, then two
//          for each tile of each row. Prefix sums may wrap around; the difference of two of them is right when its true
//          value fits.

#include "05-window-sums.cuh"
#include "05-window-sums-scan.cuh"

// Threads of a block of `prefix_rows`, neighboring pixels of each thread, and pixels of a tile.
constexpr int SCAN_THREADS = 256;
constexpr int SCAN_RUN = 4;
constexpr int SCAN_TILE = 1024;
static_assert(SCAN_TILE == SCAN_THREADS * SCAN_RUN);
constexpr int SCAN_WARPS = SCAN_THREADS / WARP;

// ANCHOR: look_back
// The sum of all tiles of the row before this one. `own` is the sum of this tile. A tile publishes its own sum at once,
// so that others do not wait for its prefix.
__device__ unsigned look_back(unsigned long long* tiles, int tile, unsigned own)
{
    publish(tiles + tile, tile == 0 ? PREFIX : AGGREGATE, own);
    unsigned before = 0;
    int other = tile - 1;
    while (other >= 0) {
        const unsigned long long both = published(tiles + other);
        const unsigned kind = both >> 32;
        if (kind == NOTHING) {
            continue;
        }
        before += static_cast<unsigned>(both);
        // A prefix has everything before it.
        other = kind == PREFIX ? -1 : other - 1;
    }
    if (tile > 0) {
        publish(tiles + tile, PREFIX, before + own);
    }
    return before;
}
// ANCHOR_END: look_back

// ANCHOR: prefix_rows
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
prefix_rows(const int* __restrict__ image, Shape shape, int rows, unsigned long long* state,
            unsigned* __restrict__ pixels_to, unsigned* __restrict__ squares_to)
{
    __shared__ unsigned s_ticket;
    __shared__ unsigned s_warps[2][SCAN_WARPS];
    __shared__ unsigned s_before[2];
    // Blocks start in any order. A ticket numbers them in the order in which they do start, so every tile that this one
    // waits for has begun.
    if (threadIdx.x == 0) {
        s_ticket = static_cast<unsigned>(atomicAdd(state, 1ull));
    }
    // The ticket is written before any thread reads it.
    __syncthreads();
    const int tiles = (shape.width + SCAN_TILE - 1) / SCAN_TILE;
    const int y = s_ticket / tiles;
    const int tile = s_ticket % tiles;
    const int x = tile * SCAN_TILE + threadIdx.x * SCAN_RUN;
    const size_t at = static_cast<size_t>(y) * shape.width + x;
    // Where rows begin at multiples of four pixels, so do runs, and a run is one vector.
    const bool is_vector = shape.width % SCAN_RUN == 0 && x < shape.width;

    unsigned run[SCAN_RUN] = {};
    if (is_vector) {
        const int4 four = *reinterpret_cast<const int4*>(image + at);
        run[0] = four.x;
        run[1] = four.y;
        run[2] = four.z;
        run[3] = four.w;
    } else {
#pragma unroll
        for (int i = 0; i < SCAN_RUN; ++i) {
            run[i] = x + i < shape.width ? image[at + i] : 0;
        }
    }
    // Prefix sums of the run, then of the sums of the warp's runs.
    unsigned squares[SCAN_RUN];
    squares[0] = run[0] * run[0];
#pragma unroll
    for (int i = 1; i < SCAN_RUN; ++i) {
        squares[i] = squares[i - 1] + run[i] * run[i];
        run[i] += run[i - 1];
    }
    const unsigned pixels_end = warp_sum_to(run[SCAN_RUN - 1]);
    const unsigned squares_end = warp_sum_to(squares[SCAN_RUN - 1]);
    const int warp = threadIdx.x / WARP;
    if (threadIdx.x % WARP == WARP - 1) {
        s_warps[0][warp] = pixels_end;
        s_warps[1][warp] = squares_end;
    }
    // All warps have written their sums before any thread reads them.
    __syncthreads();
    unsigned pixels_before = pixels_end - run[SCAN_RUN - 1];
    unsigned squares_before = squares_end - squares[SCAN_RUN - 1];
    unsigned own[2] = {};
#pragma unroll
    for (int w = 0; w < SCAN_WARPS; ++w) {
        if (w < warp) {
            pixels_before += s_warps[0][w];
            squares_before += s_warps[1][w];
        }
        own[0] += s_warps[0][w];
        own[1] += s_warps[1][w];
    }
    // One thread looks back for the pixels, and one of another warp for their squares.
    if (threadIdx.x % WARP == 0 && warp < 2) {
        unsigned long long* words = state + 1 + (static_cast<size_t>(warp) * rows + y) * tiles;
        s_before[warp] = look_back(words, tile, own[warp]);
    }
    // Both have found what comes before the tile before any thread reads it.
    __syncthreads();
    pixels_before += s_before[0];
    squares_before += s_before[1];
    if (is_vector) {
        *reinterpret_cast<uint4*>(pixels_to + at) =
            make_uint4(pixels_before + run[0], pixels_before + run[1], pixels_before + run[2], pixels_before + run[3]);
        *reinterpret_cast<uint4*>(squares_to + at) =
            make_uint4(squares_before + squares[0], squares_before + squares[1],
                       squares_before + squares[2], squares_before + squares[3]);
    } else {
#pragma unroll
        for (int i = 0; i < SCAN_RUN; ++i) {
            if (x + i < shape.width) {
                pixels_to[at + i] = pixels_before + run[i];
                squares_to[at + i] = squares_before + squares[i];
            }
        }
    }
}
// ANCHOR_END: prefix_rows

// ANCHOR: differences
// A window's sum is all pixels up to its last one, minus all pixels before its first one. Where the window reaches
// beyond the row, the outermost pixel counts once for each column that is missing.
extern "C" __global__ void __launch_bounds__(BLOCK)
differences(const int* __restrict__ image, Shape shape, const unsigned* __restrict__ pixels_to,
            const unsigned* __restrict__ squares_to, float* __restrict__ sums, float* __restrict__ squares)
{
    const int x = shape.begin + blockIdx.x * BLOCK + threadIdx.x;
    const int k = shape.window / 2;
    if (x < shape.end) {
        const size_t row = static_cast<size_t>(blockIdx.y) * shape.width;
        const int before = x - k - 1;
        const int last = clamped(x + k, shape.width);
        unsigned pixels = pixels_to[row + last];
        unsigned square = squares_to[row + last];
        if (before >= 0) {
            pixels -= pixels_to[row + before];
            square -= squares_to[row + before];
        } else {
            const unsigned missing = -1 - before;
            const unsigned first = image[row];
            pixels += missing * first;
            square += missing * first * first;
        }
        if (x + k >= shape.width) {
            const unsigned missing = x + k - last;
            const unsigned outermost = image[row + last];
            pixels += missing * outermost;
            square += missing * outermost * outermost;
        }
        sums[row + x] = static_cast<float>(static_cast<int>(pixels));
        squares[row + x] = static_cast<float>(square);
    }
}
// ANCHOR_END: differences
