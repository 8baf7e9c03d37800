// 05-window-sums-tiles: the same sums from tiles of a row in shared memory, which all threads of a block use.
//
// Since `registers`: each pixel is loaded once per block, not once per window. Later kernels compute a window's sum
//          from its neighbor's.
// Launch:  two-dimensional grid with a row of blocks for each row of the image. With `from` = begin / WARP * WARP, a
//          row has
//            shared_tile: blocks of BLOCK outputs, starting at `begin`, one output per thread;
//            sliding:     blocks of RUN_THREADS * RUN outputs, starting at `begin`;
//            vector:      blocks of RUN_THREADS * VECTOR outputs, starting at `from`;
//            row_scan:    one block of ROW_THREADS threads;
//            tile_scan:   blocks of (TILE - window - 3) / WARP * WARP outputs, starting at `from`, with TILE_THREADS
//            threads.
// Work:    per output, 4 bytes read and 8 written; everything else comes from a cache or from shared memory. Per
//          output, `shared_tile` adds `window` pixels, `sliding` and `vector` add a fraction of that, and the scans add
//          a few.
// Sizes:   as for `05-window-sums.cu`. `tile_scan` needs at least 32 outputs per block, so a window of at most TILE -
//          WARP - 3.

#include "05-window-sums.cuh"

constexpr int WARP = 32;
// Words in a vector.
constexpr int VECTOR = 4;
// Window pixels that `shared_tile`, `sliding` and `vector` handle per iteration, so that their tiles do not grow with
// the window.
constexpr int PART = 256;
// Threads of a block of `sliding` and `vector`. With small blocks, one block adds while another one loads.
constexpr int RUN_THREADS = 64;
// Neighboring outputs of a thread of `sliding`. The number is odd, so the runs of a warp begin in 32 different banks.
constexpr int RUN = 9;
// Threads of a block of `row_scan`.
constexpr int ROW_THREADS = 256;
// Threads of a block of `tile_scan`, pixels of each thread, and pixels of the block.
constexpr int TILE_THREADS = 128;
constexpr int TILE_RUN = 8;
constexpr int TILE = 1024;
static_assert(TILE == TILE_THREADS * TILE_RUN);

// ANCHOR: sums
// Integers: sums are exact in any order, and a pixel that was added can be subtracted again. Intermediate values may
//           wrap around. The final
// sum fits in an int, and the final sum of squares in an unsigned.
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
// Loads `count` pixels of a row, starting at `left`, with all THREADS of the block. THREADS is a constant so that the
// compiler unrolls the loop, and a thread has several loads in flight.
template <int THREADS>
__device__ void load_tile(int* s_tile, const int* __restrict__ row, int left, int count, int width)
{
    for (int k = threadIdx.x; k < count; k += THREADS) {
        s_tile[k] = row[clamped(left + k, width)];
    }
}
// ANCHOR_END: load_tile

// ANCHOR: shared_tile
// One output per thread, and the pixels of all windows of the block in shared memory. A window wider than PART is added
// up in pieces.
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
        // All threads have written the tile before any thread reads it.
        __syncthreads();
        for (int k = 0; k < count; ++k) {
            add(window, s_tile[threadIdx.x + k]);
        }
        // All threads have read the tile before any thread overwrites it with the next one.
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
// Adds to each output of a run the sums over `count` pixels of its window. `window` has the sums for the first output.
// The sums for each further output are those of the previous one, moved by a pixel.
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
// A thread has RUN neighboring outputs, whose windows share all but a few pixels. Its results go through shared memory,
// so that neighboring threads store neighboring outputs.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
sliding(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    constexpr int PLACES = RUN_THREADS * RUN;
    // First the tile, in the end the results.
    __shared__ int s_words[2 * PLACES];
    static_assert(PLACES + PART - 1 <= 2 * PLACES);
    const int row = blockIdx.y * shape.width;
    const int first = shape.begin + blockIdx.x * PLACES;
    Sums run[RUN] = {};
    for (int part = 0; part < shape.window; part += PART) {
        const int count = min(PART, shape.window - part);
        load_tile<RUN_THREADS>(s_words, image + row, first - shape.window / 2 + part, PLACES + count - 1, shape.width);
        // All threads have written the tile before any thread reads it.
        __syncthreads();
        const int* s_run = s_words + threadIdx.x * RUN;
        Sums window = {};
        for (int k = 0; k < count; ++k) {
            add(window, s_run[k]);
        }
        slide_run(run, window, s_run, count);
        // All threads have read the tile before any thread overwrites it with the next one or with its results.
        __syncthreads();
    }
    float* s_sums = reinterpret_cast<float*>(s_words);
    float* s_squares = s_sums + PLACES;
#pragma unroll
    for (int r = 0; r < RUN; ++r) {
        s_sums[threadIdx.x * RUN + r] = sum_of(run[r]);
        s_squares[threadIdx.x * RUN + r] = squares_of(run[r]);
    }
    // All threads have written their results before any thread reads those of others.
    __syncthreads();
    for (int k = threadIdx.x; k < PLACES && first + k < shape.end; k += RUN_THREADS) {
        sums[row + first + k] = s_sums[k];
        squares[row + first + k] = s_squares[k];
    }
}
// ANCHOR_END: sliding

// ANCHOR: store_vector
// Stores four outputs, starting at `x`: with one instruction if they are aligned and all four exist.
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
// Runs of four outputs, which can be stored as vectors. The first window of a run begins at a multiple of four in the
// tile, so it can be read as vectors.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
vector(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    constexpr int PLACES = RUN_THREADS * VECTOR;
    __shared__ int4 s_vectors[(PLACES + PART) / VECTOR];
    int* s_tile = reinterpret_cast<int*>(s_vectors);
    const int row = blockIdx.y * shape.width;
    // Blocks begin at multiples of WARP. Where rows do so, too, vectors are aligned.
    const int first = shape.begin / WARP * WARP + blockIdx.x * PLACES;
    Sums run[VECTOR] = {};
    for (int part = 0; part < shape.window; part += PART) {
        const int count = min(PART, shape.window - part);
        load_tile<RUN_THREADS>(s_tile, image + row, first - shape.window / 2 + part, PLACES + count - 1, shape.width);
        // All threads have written the tile before any thread reads it.
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
        // All threads have read the tile before any thread overwrites it with the next one.
        __syncthreads();
    }
    const int x = first + threadIdx.x * VECTOR;
    store_vector(sums + row, x, shape, {sum_of(run[0]), sum_of(run[1]), sum_of(run[2]), sum_of(run[3])});
    store_vector(squares + row, x, shape, {squares_of(run[0]), squares_of(run[1]), squares_of(run[2]), squares_of(run[3])});
}
// ANCHOR_END: vector

// ANCHOR: warp_scan
// For each lane, the sum of its own `sums` and those of all lanes before it. After the step with distance d, the sum
// covers 2 d lanes.
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
// For each thread, the sum of the `sums` of all threads before it. `total` is the sum over all threads of the block. No
// thread may still be reading `s_totals`: a second scan needs another array, or a barrier in between.
template <int WARPS>
__device__ Sums block_scan(const Sums& sums, Sums (&s_totals)[WARPS], Sums& total)
{
    const int warp = threadIdx.x / WARP;
    const Sums up_to_own = warp_scan(sums);
    if (threadIdx.x % WARP == WARP - 1) {
        s_totals[warp] = up_to_own;
    }
    // All warps have written their totals before any thread reads those of others.
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
// Windows of any width. From one output to the next, the sum changes by the pixel that enters minus the pixel that
// leaves. So every sum is the first one plus a prefix sum of these changes. A block goes along a whole row. It finds
// the pixels that leave in a cache, because it read them when they entered.
extern "C" __global__ void __launch_bounds__(ROW_THREADS)
row_scan(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    __shared__ Sums s_totals[2][ROW_THREADS / WARP];
    const int row = blockIdx.y * shape.width;
    const int half = shape.window / 2;
    const int from = shape.begin / WARP * WARP;
    const auto pixel = [&](int x) { return image[row + clamped(x, shape.width)]; };

    // The window of the pixel before the first output.
    Sums part = {};
    for (int k = threadIdx.x; k < shape.window; k += ROW_THREADS) {
        add(part, pixel(from - 1 - half + k));
    }
    Sums window;
    block_scan(part, s_totals[1], window);
    int set = 0;
    for (int first = from; first < shape.end; first += ROW_THREADS * VECTOR) {
        const int x = first + threadIdx.x * VECTOR;
        Sums change = {};
        Sums run[VECTOR];
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            slide(change, pixel(x + i + half), pixel(x + i - half - 1));
            run[i] = change;
        }
        // Two sets of totals alternate: while some threads read those of this iteration, others may already write those
        // of the next. No thread is two iterations ahead, because each iteration has a barrier.
        Sums total;
        const Sums before = window + block_scan(change, s_totals[set], total);
        set ^= 1;
        window = window + total;
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            run[i] = before + run[i];
        }
        store_vector(sums + row, x, shape, {sum_of(run[0]), sum_of(run[1]), sum_of(run[2]), sum_of(run[3])});
        store_vector(squares + row, x, shape,
                     {squares_of(run[0]), squares_of(run[1]), squares_of(run[2]), squares_of(run[3])});
    }
}
// ANCHOR_END: row_scan

// ANCHOR: tile_scan
// Loads TILE_RUN pixels, starting at `x`, which is a multiple of four pixels after the image's first pixel: as vectors,
// or one by one at the ends of the row.
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

// Each pixel is loaded once and added once. A window's sum is the difference of two prefix sums of the tile, however
// wide the window.
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
tile_scan(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    __shared__ uint4 s_pixels[TILE / VECTOR], s_squares[TILE / VECTOR];
    __shared__ Sums s_totals[TILE_THREADS / WARP];
    const int row = blockIdx.y * shape.width;
    const int places = (TILE - shape.window - (VECTOR - 1)) / WARP * WARP;
    const int first = shape.begin / WARP * WARP + blockIdx.x * places;
    // The tile begins at the pixel before the first window, or up to three pixels earlier, so that vectors are aligned.
    // The index can be negative; as an unsigned it wraps around at a multiple of four.
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
    // All threads have written their prefix sums before any thread reads those of others.
    __syncthreads();
    const unsigned* s_pixels_to = reinterpret_cast<const unsigned*>(s_pixels) + skipped;
    const unsigned* s_squares_to = reinterpret_cast<const unsigned*>(s_squares) + skipped;
#pragma unroll 4
    for (int k = threadIdx.x; k < places; k += TILE_THREADS) {
        const int x = first + k;
        if (x >= shape.begin && x < shape.end) {
            const Sums window = {s_pixels_to[k + shape.window] - s_pixels_to[k],
                                 s_squares_to[k + shape.window] - s_squares_to[k]};
            sums[row + x] = sum_of(window);
            squares[row + x] = squares_of(window);
        }
    }
}
// ANCHOR_END: tile_scan
