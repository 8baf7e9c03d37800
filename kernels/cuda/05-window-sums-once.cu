// 05-window-sums-once: window sums of any width in one launch, by prefix sums that stay on the chip.
//
// Since `prefix_rows` and `differences`: a block subtracts the prefix sums of its tile while they are in shared memory.
//          It stores only those that blocks after it need. The tiles are larger, and a warp looks back.
// Launch:  a block of ONCE_THREADS threads for each tile of each row, in one dimension, with shared memory for a `Tile`.
// Work:    per pixel, 4 bytes read and 8 written; from each tile that another one follows, twice 4 bytes for each
//          pixel of a window and a few more are written and read.
// Sizes:   as for `05-window-sums.cu`. `state` has to be zero before each launch: one word, then three for each tile of
//          each row. Prefix sums may wrap around; the difference of two of them is right when its true value fits.

#include "05-window-sums.cuh"
#include "05-window-sums-scan.cuh"

// Threads of a block, neighboring pixels in a vector, vectors of a thread, and pixels of a tile.
constexpr int ONCE_THREADS = 512;
constexpr int ONCE_WARPS = ONCE_THREADS / WARP;
constexpr int VECTOR = 4;
constexpr int CHUNKS = 4;
constexpr int ONCE_TILE = 8192;
static_assert(ONCE_TILE == ONCE_THREADS * VECTOR * CHUNKS);
// Blocks of a multiprocessor, for which the compiler leaves enough registers.
constexpr int ONCE_BLOCKS = 2;

// ANCHOR: release
// "Release" and "acquire" order other accesses too: who acquires a word that a thread has released sees what the
// thread's block stored before its last barrier.
__device__ inline void release(unsigned long long* word)
{
    asm volatile("st.release.gpu.global.u64 [%0], 1;" : : "l"(word) : "memory");
}

__device__ inline void wait_for_release(const unsigned long long* word)
{
    unsigned long long is_released;
    do {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(is_released) : "l"(word) : "memory");
    } while (is_released == 0);
}
// ANCHOR_END: release

// ANCHOR: warp_look_back
// `look_back` by all lanes of a warp, each with a tile of its own: 32 at a time.
__device__ unsigned warp_look_back(unsigned long long* tiles, int tile, unsigned own)
{
    const int lane = threadIdx.x % WARP;
    if (lane == 0) {
        publish(tiles + tile, tile == 0 ? PREFIX : AGGREGATE, own);
    }
    unsigned before = 0;
    int last = tile - 1;
    while (last >= 0) {
        // Lanes that are before the row's first tile see a prefix of zero.
        const unsigned long long both =
            last >= lane ? published(tiles + last - lane) : static_cast<unsigned long long>(PREFIX) << 32;
        const unsigned kind = both >> 32;
        const unsigned prefixes = __ballot_sync(~0u, kind == PREFIX);
        // A prefix has everything before it, so only the lanes up to the nearest one count.
        const unsigned wanted = prefixes == 0 ? ~0u : prefixes ^ (prefixes - 1);
        if ((__ballot_sync(~0u, kind == NOTHING) & wanted) != 0) {
            continue;
        }
        const unsigned sum_to = warp_sum_to(wanted >> lane & 1 ? static_cast<unsigned>(both) : 0);
        before += __shfl_sync(~0u, sum_to, WARP - 1);
        last = prefixes == 0 ? last - WARP : -1;
    }
    if (lane == 0 && tile > 0) {
        publish(tiles + tile, PREFIX, before + own);
    }
    return before;
}
// ANCHOR_END: warp_look_back

// The prefix sums of a tile, without what comes before the tile.
struct Tile {
    unsigned pixels[ONCE_TILE], squares[ONCE_TILE];
};

// Loads VECTOR pixels of a row from `x` on: zeros beyond its end. Where rows begin at multiples of a vector, so do these.
__device__ inline void load_run(unsigned (&run)[VECTOR], const int* __restrict__ row, int x, int width)
{
    if (width % VECTOR == 0 && x < width) {
        const int4 four = *reinterpret_cast<const int4*>(row + x);
        run[0] = four.x;
        run[1] = four.y;
        run[2] = four.z;
        run[3] = four.w;
    } else {
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            run[i] = x + i < width ? row[x + i] : 0;
        }
    }
}

// ANCHOR: scan_tile
// Fills `s_tile` with the prefix sums of the pixels from `first` on, and returns their sums in `own`. A warp scans
// CHUNKS chunks of 128 pixels, one after the other: so its loads are neighbors, and few warps have to be added up.
__device__ void scan_tile(const int* __restrict__ row, int width, int first, Tile& s_tile, unsigned (&own)[2])
{
    __shared__ unsigned s_warps[2][ONCE_WARPS];
    constexpr int CHUNK = WARP * VECTOR;
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int begin = warp * CHUNKS * CHUNK + lane * VECTOR;
    unsigned pixels[CHUNKS][VECTOR], squares[CHUNKS][VECTOR];
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        load_run(pixels[c], row, first + begin + c * CHUNK, width);
    }
    unsigned pixels_before = 0, squares_before = 0;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        unsigned pixel = 0, square = 0;
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            square += pixels[c][i] * pixels[c][i];
            pixel += pixels[c][i];
            pixels[c][i] = pixel;
            squares[c][i] = square;
        }
        pixels_before += warp_sum_to(pixel) - pixel;
        squares_before += warp_sum_to(square) - square;
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            pixels[c][i] += pixels_before;
            squares[c][i] += squares_before;
        }
        // The next chunk of this warp starts from the sums at the end of this one.
        pixels_before = __shfl_sync(~0u, pixels[c][VECTOR - 1], WARP - 1);
        squares_before = __shfl_sync(~0u, squares[c][VECTOR - 1], WARP - 1);
    }
    if (lane == WARP - 1) {
        s_warps[0][warp] = pixels_before;
        s_warps[1][warp] = squares_before;
    }
    // All warps have written their sums before any thread reads them.
    __syncthreads();
    unsigned before[2] = {};
#pragma unroll
    for (int w = 0; w < ONCE_WARPS; ++w) {
        for (int sum = 0; sum < 2; ++sum) {
            before[sum] += w < warp ? s_warps[sum][w] : 0;
            own[sum] += s_warps[sum][w];
        }
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const unsigned(&p)[VECTOR] = pixels[c], (&s)[VECTOR] = squares[c];
        *reinterpret_cast<uint4*>(s_tile.pixels + begin + c * CHUNK) =
            make_uint4(before[0] + p[0], before[0] + p[1], before[0] + p[2], before[0] + p[3]);
        *reinterpret_cast<uint4*>(s_tile.squares + begin + c * CHUNK) =
            make_uint4(before[1] + s[0], before[1] + s[1], before[1] + s[2], before[1] + s[3]);
    }
}
// ANCHOR_END: scan_tile

// ANCHOR: store_differences
struct Sums {
    unsigned pixels, squares;
};

// Adds an outermost pixel for each column that a row does not have.
__device__ inline void add_missing(Sums& window, unsigned missing, unsigned outermost)
{
    window.pixels += missing * outermost;
    window.squares += missing * outermost * outermost;
}

// Stores the outputs of a row from `begin` to `end`. `sums_to` returns the prefix sums up to a pixel.
template <class SumsTo>
__device__ void store_differences(const int* __restrict__ row, const Shape& shape, int begin, int end, SumsTo sums_to,
                                  float* __restrict__ sums, float* __restrict__ squares)
{
#pragma unroll 4
    for (int x = begin / WARP * WARP + threadIdx.x; x < end; x += ONCE_THREADS) {
        if (x < begin) {
            continue;
        }
        const int k = shape.window / 2, before = x - k - 1, last = min(x + k, shape.width - 1);
        Sums window = sums_to(last);
        if (before >= 0) {
            const Sums outside = sums_to(before);
            window.pixels -= outside.pixels;
            window.squares -= outside.squares;
        } else {
            add_missing(window, -1 - before, row[0]);
        }
        if (x + k > last) {
            add_missing(window, x + k - last, row[last]);
        }
        sums[x] = static_cast<float>(static_cast<int>(window.pixels));
        squares[x] = static_cast<float>(window.squares);
    }
}
// ANCHOR_END: store_differences

// ANCHOR: one_pass
extern "C" __global__ void __launch_bounds__(ONCE_THREADS, ONCE_BLOCKS)
one_pass(const int* __restrict__ image, Shape shape, int rows, unsigned long long* state, unsigned* pixels_to,
         unsigned* squares_to, float* __restrict__ sums, float* __restrict__ squares)
{
    extern __shared__ uint4 s_units[];
    Tile& s_tile = *reinterpret_cast<Tile*>(s_units);
    __shared__ unsigned s_ticket;
    __shared__ unsigned s_before[2];
    if (threadIdx.x == 0) {
        s_ticket = static_cast<unsigned>(atomicAdd(state, 1ull));
    }
    // The ticket is written before any thread reads it.
    __syncthreads();
    const int width = shape.width, tiles = (width + ONCE_TILE - 1) / ONCE_TILE;
    const int y = s_ticket / tiles, tile = s_ticket % tiles;
    const int first = tile * ONCE_TILE, next = first + ONCE_TILE;
    const size_t at = static_cast<size_t>(y) * width;
    const int* row = image + at;
    unsigned own[2] = {};
    scan_tile(row, width, first, s_tile, own);

    const size_t of_kind = static_cast<size_t>(rows) * tiles;
    unsigned long long* words = state + 1 + static_cast<size_t>(y) * tiles;
    const int warp = threadIdx.x / WARP;
    // One warp looks back for the pixels, and another for their squares.
    if (warp < 2) {
        const unsigned before = warp_look_back(words + warp * of_kind, tile, own[warp]);
        if (threadIdx.x % WARP == 0) {
            s_before[warp] = before;
        }
    }
    // The tile, and what comes before it, are written before any thread reads them.
    __syncthreads();

    // A block has the outputs whose windows end in its tile, but starts at the multiple of a warp before them, where a
    // sector begins. So it needs up to `reach` prefix sums of tiles before its own.
    const int k = shape.window / 2;
    const int back = (k + WARP - 1) / WARP * WARP;
    const int reach = back + k + 1;
    unsigned long long* released = words + 2 * of_kind;
    if (next < width) {
        for (int i = max(0, ONCE_TILE - reach) + threadIdx.x; i < ONCE_TILE; i += ONCE_THREADS) {
            pixels_to[at + first + i] = s_before[0] + s_tile.pixels[i];
            squares_to[at + first + i] = s_before[1] + s_tile.squares[i];
        }
        // All threads have stored the end of the tile before one says so.
        __syncthreads();
        if (threadIdx.x == 0) {
            release(released + tile);
        }
    }
    const int from = max(shape.begin, tile == 0 ? 0 : first - back);
    const int to = next < width ? min(shape.end, next - back) : shape.end;
    // The first output whose window, with the pixel before it, is in this tile.
    const int inner = tile == 0 ? from : min(to, max(from, first + k + 1));
    // What comes before the tile is in both prefix sums, so the difference does not need it.
    const auto in_tile = [&](int j) { return Sums{s_tile.pixels[j - first], s_tile.squares[j - first]}; };
    store_differences(row, shape, inner, to, in_tile, sums + at, squares + at);
    if (tile == 0) {
        return;
    }
    for (int other = max(0, first - reach) / ONCE_TILE + threadIdx.x; other < tile; other += ONCE_THREADS) {
        wait_for_release(released + other);
    }
    // All those tiles are stored before any thread loads from one.
    __syncthreads();
    const auto in_row = [&](int j) {
        return j < first ? Sums{pixels_to[at + j], squares_to[at + j]}
                         : Sums{s_before[0] + s_tile.pixels[j - first], s_before[1] + s_tile.squares[j - first]};
    };
    store_differences(row, shape, from, inner, in_row, sums + at, squares + at);
}
// ANCHOR_END: one_pass
