// 05-window-sums-tiles: the same sums from tiles of a row in shared memory, which all threads of a block use.
//
// Since `registers`: each pixel is fetched once per block and not once per window. Then: a window's sum follows from its neighbour's.
// Launch:  two-dimensional grid with a row of blocks for each row of the image. With `from` = begin / WARP * WARP, a row has
//            shared_tile: blocks of BLOCK places from `begin` on, one per thread;
//            sliding:     blocks of RUN_THREADS * RUN places from `begin` on;
//            vector:      blocks of RUN_THREADS * VECTOR places from `from` on;
//            row_scan:    one block of ROW_THREADS;
//            tile_scan:   blocks of (TILE - window - 3) / WARP * WARP places from `from` on, and TILE_THREADS threads.
// Work:    4 bytes to read and 8 to write per place; all else comes from a cache or from shared memory. Per place, `shared_tile` adds `window`
//          pixels, `sliding` and `vector` a part of that, the scans a few.
// Sizes:   as for `05-window-sums.cu`; `tile_scan` wants 32 places per block at least, so a window of TILE - WARP - 3 at most.

#include "05-window-sums.cuh"

constexpr int WARP = 32;
// Words in a vector.
constexpr int VECTOR = 4;
// Pixels of the window that `shared_tile`, `sliding` and `vector` look at in one turn: their tiles do not grow with the window.
constexpr int PART = 256;
// Threads of a block of `sliding` and `vector`. Small blocks wait for each other less: while one loads, another adds.
constexpr int RUN_THREADS = 64;
// Neighbouring places of a thread of `sliding`. The number is odd, so that the runs of a warp begin in 32 different banks.
constexpr int RUN = 9;
// Threads of a block of `row_scan`.
constexpr int ROW_THREADS = 256;
// Threads of a block of `tile_scan`, pixels of each, and of all.
constexpr int TILE_THREADS = 128;
constexpr int TILE_RUN = 8;
constexpr int TILE = 1024;
static_assert(TILE == TILE_THREADS * TILE_RUN);

// ANCHOR: sums
// Integers, so that sums are exact in any order, and a pixel that was added can be taken away again. They may wrap round on the way: in the
// end the sum fits an int, and the squares an unsigned.
struct Sums {
    unsigned pixels, squares;
};

__device__ inline void add(Sums& sums, unsigned pixel)
{
    sums.pixels += pixel;
    sums.squares += pixel * pixel;
}

// Moves a window by one pixel: a² - b² = (a - b)(a + b).
__device__ inline void slide(Sums& sums, unsigned entering, unsigned leaving)
{
    const unsigned difference = entering - leaving;
    sums.pixels += difference;
    sums.squares += difference * (entering + leaving);
}
// ANCHOR_END: sums

__device__ inline Sums operator+(const Sums& a, const Sums& b)
{
    return {a.pixels + b.pixels, a.squares + b.squares};
}

__device__ inline Sums operator-(const Sums& a, const Sums& b)
{
    return {a.pixels - b.pixels, a.squares - b.squares};
}

__device__ inline float sum_of(const Sums& sums)
{
    return static_cast<float>(static_cast<int>(sums.pixels));
}

__device__ inline float squares_of(const Sums& sums)
{
    return static_cast<float>(sums.squares);
}

// ANCHOR: load_tile
// `count` pixels of a row from `left` on, by all THREADS of the block. The number is a constant so that the compiler unrolls the loop: a
// thread then has several loads under way at a time.
template <int THREADS>
__device__ void load_tile(int* s_tile, const int* __restrict__ row, int left, int count, int width)
{
    for (int k = threadIdx.x; k < count; k += THREADS) {
        s_tile[k] = row[clamped(left + k, width)];
    }
}
// ANCHOR_END: load_tile

// ANCHOR: shared_tile
// One place per thread, and the pixels of all windows of the block in shared memory. A window wider than PART is added up part by part.
extern "C" __global__ void __launch_bounds__(BLOCK)
shared_tile(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    __shared__ int s_tile[BLOCK + PART - 1];
    const int row = blockIdx.y * shape.width;
    const int first = shape.begin + blockIdx.x * BLOCK;
    Sums window = {};
    for (int part = 0; part < shape.window; part += PART) {
        const int count = min(PART, shape.window - part);
        load_tile<BLOCK>(s_tile, image + row, first - shape.window / 2 + part, BLOCK + count - 1, shape.width);
        // The tile is written, by all threads, before any thread reads it.
        __syncthreads();
        for (int k = 0; k < count; ++k) {
            add(window, s_tile[threadIdx.x + k]);
        }
        // The tile is read, by all threads, before any thread writes the next one in its place.
        __syncthreads();
    }
    const int x = first + threadIdx.x;
    if (x < shape.end) {
        sums[row + x] = sum_of(window);
        squares[row + x] = squares_of(window);
    }
}
// ANCHOR_END: shared_tile

// ANCHOR: slide_run
// Adds to each place of a run the sums over `count` pixels of its window. `window` has those of the first place; each further one's are
// those of the last, moved by a pixel.
template <int LENGTH>
__device__ void slide_run(Sums (&run)[LENGTH], Sums window, const int* s_run, int count)
{
    run[0] = run[0] + window;
#pragma unroll
    for (int r = 1; r < LENGTH; ++r) {
        slide(window, s_run[r + count - 1], s_run[r - 1]);
        run[r] = run[r] + window;
    }
}
// ANCHOR_END: slide_run

// ANCHOR: sliding
// A thread has RUN neighbouring places, whose windows share all but a few pixels. Its results go by way of shared memory, so that
// neighbouring threads store neighbouring places.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
sliding(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    constexpr int PLACES = RUN_THREADS * RUN;
    // The tile at first, and in the end the results.
    __shared__ int s_words[2 * PLACES];
    static_assert(PLACES + PART - 1 <= 2 * PLACES);
    const int row = blockIdx.y * shape.width;
    const int first = shape.begin + blockIdx.x * PLACES;
    Sums run[RUN] = {};
    for (int part = 0; part < shape.window; part += PART) {
        const int count = min(PART, shape.window - part);
        load_tile<RUN_THREADS>(s_words, image + row, first - shape.window / 2 + part, PLACES + count - 1, shape.width);
        // The tile is written, by all threads, before any thread reads it.
        __syncthreads();
        const int* s_run = s_words + threadIdx.x * RUN;
        Sums window = {};
        for (int k = 0; k < count; ++k) {
            add(window, s_run[k]);
        }
        slide_run(run, window, s_run, count);
        // The tile is read, by all threads, before any thread writes the next one, or its results, in its place.
        __syncthreads();
    }
    float* s_sums = reinterpret_cast<float*>(s_words);
    float* s_squares = s_sums + PLACES;
#pragma unroll
    for (int r = 0; r < RUN; ++r) {
        s_sums[threadIdx.x * RUN + r] = sum_of(run[r]);
        s_squares[threadIdx.x * RUN + r] = squares_of(run[r]);
    }
    // The results are written, by all threads, before any thread reads those of others.
    __syncthreads();
    for (int k = threadIdx.x; k < PLACES && first + k < shape.end; k += RUN_THREADS) {
        sums[row + first + k] = s_sums[k];
        squares[row + first + k] = s_squares[k];
    }
}
// ANCHOR_END: sliding

// ANCHOR: store_vector
// Four places from `x` on in one store, where they lie so that it can be, and all four have sums.
__device__ inline void store_vector(float* __restrict__ row, int x, const Shape& shape, const float (&results)[VECTOR])
{
    const bool aligned = reinterpret_cast<size_t>(row + x) % sizeof(float4) == 0;
    if (aligned && x >= shape.begin && x + VECTOR <= shape.end) {
        *reinterpret_cast<float4*>(row + x) = make_float4(results[0], results[1], results[2], results[3]);
    } else {
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            if (x + i >= shape.begin && x + i < shape.end) {
                row[x + i] = results[i];
            }
        }
    }
}
// ANCHOR_END: store_vector

// ANCHOR: vector
// Runs of four places, which can be stored as vectors. Their first windows begin at multiples of four in the tile, and are read as vectors.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
vector(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    constexpr int PLACES = RUN_THREADS * VECTOR;
    __shared__ int4 s_vectors[(PLACES + PART) / VECTOR];
    int* s_tile = reinterpret_cast<int*>(s_vectors);
    const int row = blockIdx.y * shape.width;
    // Blocks begin at multiples of a warp's width: where rows do as well, vectors are aligned.
    const int first = shape.begin / WARP * WARP + blockIdx.x * PLACES;
    Sums run[VECTOR] = {};
    for (int part = 0; part < shape.window; part += PART) {
        const int count = min(PART, shape.window - part);
        load_tile<RUN_THREADS>(s_tile, image + row, first - shape.window / 2 + part, PLACES + count - 1, shape.width);
        // The tile is written, by all threads, before any thread reads it.
        __syncthreads();
        Sums window = {};
        for (int k = 0; k < count / VECTOR; ++k) {
            const int4 four = s_vectors[threadIdx.x + k];
            add(window, four.x);
            add(window, four.y);
            add(window, four.z);
            add(window, four.w);
        }
        const int* s_run = s_tile + threadIdx.x * VECTOR;
        for (int k = count / VECTOR * VECTOR; k < count; ++k) {
            add(window, s_run[k]);
        }
        slide_run(run, window, s_run, count);
        // The tile is read, by all threads, before any thread writes the next one in its place.
        __syncthreads();
    }
    const int x = first + threadIdx.x * VECTOR;
    store_vector(sums + row, x, shape, {sum_of(run[0]), sum_of(run[1]), sum_of(run[2]), sum_of(run[3])});
    store_vector(squares + row, x, shape, {squares_of(run[0]), squares_of(run[1]), squares_of(run[2]), squares_of(run[3])});
}
// ANCHOR_END: vector

// ANCHOR: warp_scan
// For each lane the sum of its own `sums` and of those of all lanes before it: after the step with distance d, of 2 d lanes.
__device__ inline Sums warp_scan(Sums sums)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const Sums before = {__shfl_up_sync(~0u, sums.pixels, distance), __shfl_up_sync(~0u, sums.squares, distance)};
        if (lane >= distance) {
            sums = sums + before;
        }
    }
    return sums;
}
// ANCHOR_END: warp_scan

// ANCHOR: block_scan
// For each thread the sum of all `sums` of the threads before it, and in `total` that of all threads of the block. `s_totals` must not be
// in use: a second scan needs another one, or a barrier between.
template <int WARPS>
__device__ Sums block_scan(const Sums& sums, Sums (&s_totals)[WARPS], Sums& total)
{
    const int warp = threadIdx.x / WARP;
    const Sums up_to_own = warp_scan(sums);
    if (threadIdx.x % WARP == WARP - 1) {
        s_totals[warp] = up_to_own;
    }
    // The totals are written, one by each warp, before any thread reads those of others.
    __syncthreads();
    Sums before = up_to_own - sums;
    total = {};
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
        if (w < warp) {
            before = before + s_totals[w];
        }
        total = total + s_totals[w];
    }
    return before;
}
// ANCHOR_END: block_scan

// ANCHOR: row_scan
// Windows of any width. From one place to the next a sum changes by the pixel that enters less the one that leaves, so that every sum is the
// first one and a prefix sum of these changes. A block goes along a whole row, and finds the pixels that leave in a cache: it read
// them as they entered.
extern "C" __global__ void __launch_bounds__(ROW_THREADS)
row_scan(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    __shared__ Sums s_totals[2][ROW_THREADS / WARP];
    const int row = blockIdx.y * shape.width;
    const int half = shape.window / 2;
    const int from = shape.begin / WARP * WARP;
    const auto pixel = [&](int x) { return image[row + clamped(x, shape.width)]; };

    // The window of the place before the first.
    Sums part = {};
    for (int k = threadIdx.x; k < shape.window; k += ROW_THREADS) {
        add(part, pixel(from - 1 - half + k));
    }
    Sums window;
    block_scan(part, s_totals[1], window);
    int turn = 0;
    for (int first = from; first < shape.end; first += ROW_THREADS * VECTOR) {
        const int x = first + threadIdx.x * VECTOR;
        Sums change = {};
        Sums run[VECTOR];
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            slide(change, pixel(x + i + half), pixel(x + i - half - 1));
            run[i] = change;
        }
        // Two sets of totals in turns: while some threads read this turn's, others may write the next one's. None is two turns ahead, since
        // there is a barrier in each.
        Sums total;
        const Sums before = window + block_scan(change, s_totals[turn], total);
        turn ^= 1;
        window = window + total;
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            run[i] = before + run[i];
        }
        store_vector(sums + row, x, shape, {sum_of(run[0]), sum_of(run[1]), sum_of(run[2]), sum_of(run[3])});
        store_vector(squares + row, x, shape, {squares_of(run[0]), squares_of(run[1]), squares_of(run[2]), squares_of(run[3])});
    }
}
// ANCHOR_END: row_scan

// ANCHOR: tile_scan
// TILE_RUN pixels from `x` on, a multiple of four pixels from the image's first: as vectors, but one by one at the ends of the row.
__device__ inline void load_run(int (&pixels)[TILE_RUN], const int* __restrict__ row, int x, int width)
{
    if (x >= 0 && x + TILE_RUN <= width) {
#pragma unroll
        for (int i = 0; i < TILE_RUN; i += VECTOR) {
            const int4 four = *reinterpret_cast<const int4*>(row + x + i);
            pixels[i] = four.x;
            pixels[i + 1] = four.y;
            pixels[i + 2] = four.z;
            pixels[i + 3] = four.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < TILE_RUN; ++i) {
            pixels[i] = row[clamped(x + i, width)];
        }
    }
}

// Each pixel is loaded once, added once, and looked at twice: a window's sum is the difference of two prefix sums of the tile, however wide
// the window.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
tile_scan(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    __shared__ uint4 s_pixels[TILE / VECTOR], s_squares[TILE / VECTOR];
    __shared__ Sums s_totals[TILE_THREADS / WARP];
    const int row = blockIdx.y * shape.width;
    const int places = (TILE - shape.window - (VECTOR - 1)) / WARP * WARP;
    const int first = shape.begin / WARP * WARP + blockIdx.x * places;
    // The tile begins at the pixel before the first window, or up to three before that, where a vector can be loaded. The position may be
    // negative, and unsigned numbers wrap round at a multiple of four.
    const int before = first - shape.window / 2 - 1;
    const int skipped = static_cast<unsigned>(row + before) % VECTOR;
    int pixels[TILE_RUN];
    load_run(pixels, image + row, before - skipped + static_cast<int>(threadIdx.x) * TILE_RUN, shape.width);

    Sums own = {};
#pragma unroll
    for (int i = 0; i < TILE_RUN; ++i) {
        add(own, pixels[i]);
    }
    Sums total;
    Sums prefix = block_scan(own, s_totals, total);
#pragma unroll
    for (int i = 0; i < TILE_RUN; i += VECTOR) {
        Sums four[VECTOR];
#pragma unroll
        for (int j = 0; j < VECTOR; ++j) {
            add(prefix, pixels[i + j]);
            four[j] = prefix;
        }
        const int at = (threadIdx.x * TILE_RUN + i) / VECTOR;
        s_pixels[at] = make_uint4(four[0].pixels, four[1].pixels, four[2].pixels, four[3].pixels);
        s_squares[at] = make_uint4(four[0].squares, four[1].squares, four[2].squares, four[3].squares);
    }
    // The prefix sums are written, by all threads, before any thread reads those of others.
    __syncthreads();
    const unsigned* s_pixels_to = reinterpret_cast<const unsigned*>(s_pixels) + skipped;
    const unsigned* s_squares_to = reinterpret_cast<const unsigned*>(s_squares) + skipped;
#pragma unroll 4
    for (int k = threadIdx.x; k < places; k += TILE_THREADS) {
        const int x = first + k;
        if (x >= shape.begin && x < shape.end) {
            const Sums window = {s_pixels_to[k + shape.window] - s_pixels_to[k], s_squares_to[k + shape.window] - s_squares_to[k]};
            sums[row + x] = sum_of(window);
            squares[row + x] = squares_of(window);
        }
    }
}
// ANCHOR_END: tile_scan
