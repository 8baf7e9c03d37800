// 05-histogram: how often does each gray level occur in an image?
//
//     histogram[level] = number of pixels with image[i] = level,   0 <= level < LEVELS
//
// Since the window sums: no thread has an output of its own. Many threads add to few counters.
// Launch:  `global` has a thread for each pixel, in blocks of THREADS; `per_block` and `per_warp` have a block of
//          THREADS threads for each CHUNK pixels; `deliver` has one block of LEVELS threads.
// Work:    per pixel, 4 bytes read and one counter incremented. `counts` has to be zero before.
// Sizes:   any number of pixels below 2^31. Pixels are gray levels from 0 to LEVELS - 1.

// Gray levels, and counters of a histogram.
constexpr int LEVELS = 256;
// Threads of a block.
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
// Pixels of a block of the kernels that count in shared memory. The more there are, the fewer additions to global memory.
constexpr int CHUNK = 16384;

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

// ANCHOR: deliver
// The counts as the numbers that this chapter's tables check.
extern "C" __global__ void __launch_bounds__(LEVELS) deliver(const unsigned* __restrict__ counts,
    float* __restrict__ histogram)
{
    histogram[threadIdx.x] = static_cast<float>(counts[threadIdx.x]);
}
// ANCHOR_END: deliver
