// 05-histogram: how often does each gray level occur in an image?
//
//     histogram[level] = number of pixels with image[i] = level,   0 <= level < LEVELS
//
// Since the window sums: no thread has an output of its own. Many threads add to few counters.
// Launch:  `global` has a thread for each pixel, in blocks of THREADS; `per_block` and `per_warp` have a block of
//          THREADS threads for each CHUNK pixels; `wide`, `bytes` and `lanes` have any number of blocks of WIDE_THREADS
//          threads; `deliver` has one block of LEVELS threads.
// Work:    per pixel, 4 bytes read (`bytes` and `lanes`: 1) and one counter incremented. `counts` has to be zero before.
// Sizes:   any number of pixels below 2^31. Pixels are gray levels from 0 to LEVELS - 1. `wide`, `bytes` and `lanes`
//          need an image that begins at a multiple of 16 bytes.

// Gray levels, and counters of a histogram.
constexpr int LEVELS = 256;
// Threads of a block.
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
// Pixels of a block of `per_block` and `per_warp`. The more there are, the fewer additions to global memory.
constexpr int CHUNK = 16384;
// Threads of a block of `wide`, `bytes` and `lanes`, and vectors that each thread loads before it counts.
constexpr int WIDE_THREADS = 1024;
constexpr int LOADS = 4;

// ANCHOR: global
// Each thread adds 1 to the counter of its pixel. An atomic addition reads, adds and writes as one step, so that no
// increment is lost.
extern "C" __global__ void __launch_bounds__(THREADS) global(const int* __restrict__ image, int pixels, unsigned* counts)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) {
        atomicAdd(&counts[image[i]], 1u);
    }
}
// ANCHOR_END: global

// ANCHOR: per_block
// Each block counts its own pixels in shared memory, and adds its counts to those of the image once.
extern "C" __global__ void __launch_bounds__(THREADS) per_block(const int* __restrict__ image, int pixels, unsigned* counts)
{
    __shared__ unsigned s_counts[LEVELS];
    s_counts[threadIdx.x] = 0;
    // All counters are zero before any thread adds to one.
    __syncthreads();
    const int end = min(pixels - static_cast<int>(blockIdx.x) * CHUNK, CHUNK);
    const int* chunk = image + static_cast<size_t>(blockIdx.x) * CHUNK;
    for (int k = threadIdx.x; k < end; k += THREADS) {
        atomicAdd(&s_counts[chunk[k]], 1u);
    }
    // All threads have counted before any thread reads a counter.
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], s_counts[threadIdx.x]);
}
static_assert(LEVELS == THREADS);
// ANCHOR_END: per_block

// ANCHOR: per_warp
// Each warp has counters of its own, so warps do not wait for each other's additions.
extern "C" __global__ void __launch_bounds__(THREADS) per_warp(const int* __restrict__ image, int pixels, unsigned* counts)
{
    __shared__ unsigned s_counts[WARPS][LEVELS];
    for (int w = 0; w < WARPS; ++w) {
        s_counts[w][threadIdx.x] = 0;
    }
    // All counters are zero before any thread adds to one.
    __syncthreads();
    const int end = min(pixels - static_cast<int>(blockIdx.x) * CHUNK, CHUNK);
    const int* chunk = image + static_cast<size_t>(blockIdx.x) * CHUNK;
    unsigned* s_own = s_counts[threadIdx.x / 32];
    for (int k = threadIdx.x; k < end; k += THREADS) {
        atomicAdd(&s_own[chunk[k]], 1u);
    }
    // All threads have counted before any thread reads a counter.
    __syncthreads();
    unsigned count = 0;
    for (int w = 0; w < WARPS; ++w) {
        count += s_counts[w][threadIdx.x];
    }
    atomicAdd(&counts[threadIdx.x], count);
}
// ANCHOR_END: per_warp

// ANCHOR: count_wide
// Few blocks count the whole image, so few counts are merged. A thread loads vectors of 16 bytes, LOADS of them before
// it counts their pixels. Lanes that are COLUMNS apart share counters.
template <class Pixel, int COLUMNS>
__device__ void count_wide(const Pixel* __restrict__ image, int pixels, unsigned* counts)
{
    __shared__ unsigned s_counts[LEVELS * COLUMNS];
    for (int i = threadIdx.x; i < LEVELS * COLUMNS; i += WIDE_THREADS) {
        s_counts[i] = 0;
    }
    // All counters are zero before any thread adds to one.
    __syncthreads();
    unsigned* s_own = s_counts + threadIdx.x % COLUMNS;
    const auto count_word = [&](unsigned word) {
        constexpr int BITS = 8 * sizeof(Pixel);
#pragma unroll
        for (int bit = 0; bit < 32; bit += BITS) {
            atomicAdd(&s_own[(word >> bit & (LEVELS - 1)) * COLUMNS], 1u);
        }
    };
    const auto count_vector = [&](const uint4& vector) {
        count_word(vector.x);
        count_word(vector.y);
        count_word(vector.z);
        count_word(vector.w);
    };
    constexpr int PIXELS = sizeof(uint4) / sizeof(Pixel);
    const uint4* vectors = reinterpret_cast<const uint4*>(image);
    const int whole = pixels / PIXELS;
    const int stride = gridDim.x * WIDE_THREADS;
    const int first = blockIdx.x * WIDE_THREADS + threadIdx.x;
    int i = first;
    for (; i < whole - (LOADS - 1) * stride; i += LOADS * stride) {
        uint4 loaded[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            loaded[k] = vectors[i + k * stride];
        }
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            count_vector(loaded[k]);
        }
    }
    for (; i < whole; i += stride) {
        count_vector(vectors[i]);
    }
    // The last pixels do not fill a vector.
    if (first < pixels % PIXELS) {
        atomicAdd(&s_own[image[whole * PIXELS + first] * COLUMNS], 1u);
    }
    // All threads have counted before any thread reads a counter.
    __syncthreads();
    if (threadIdx.x < LEVELS) {
        unsigned count = 0;
        for (int k = 0; k < COLUMNS; ++k) {
            // Lanes begin at different columns, in different banks.
            count += s_counts[threadIdx.x * COLUMNS + (threadIdx.x + k) % COLUMNS];
        }
        atomicAdd(&counts[threadIdx.x], count);
    }
}
// ANCHOR_END: count_wide

// ANCHOR: wide
// One set of counters for a block, as in `per_block`.
extern "C" __global__ void __launch_bounds__(WIDE_THREADS) wide(const int* __restrict__ image, int pixels,
    unsigned* counts)
{
    count_wide<int, 1>(image, pixels, counts);
}

// The same for pixels of one byte. A vector has 16 of them.
extern "C" __global__ void __launch_bounds__(WIDE_THREADS) bytes(const unsigned char* __restrict__ image, int pixels,
    unsigned* counts)
{
    count_wide<unsigned char, 1>(image, pixels, counts);
}

// A column of counters for each lane. A column is a bank, so the additions of a warp never conflict.
extern "C" __global__ void __launch_bounds__(WIDE_THREADS) lanes(const unsigned char* __restrict__ image, int pixels,
    unsigned* counts)
{
    count_wide<unsigned char, 32>(image, pixels, counts);
}
// ANCHOR_END: wide

// ANCHOR: deliver
// The counts as the numbers that this chapter's tables check.
extern "C" __global__ void __launch_bounds__(LEVELS) deliver(const unsigned* __restrict__ counts,
    float* __restrict__ histogram)
{
    histogram[threadIdx.x] = static_cast<float>(counts[threadIdx.x]);
}
// ANCHOR_END: deliver
