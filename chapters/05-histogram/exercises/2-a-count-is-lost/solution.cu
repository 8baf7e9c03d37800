// Exercise: a count is lost.
//
//     histogram[level] = number of pixels with image[i] = level,   0 <= level < 256
//
// Launch:  one block of THREADS threads, one for each level.
// Sizes:   any image with at least one pixel.

constexpr int THREADS = 256;

extern "C" __global__ void count_levels(const int* __restrict__ image, int pixels, float* __restrict__ histogram)
{
    __shared__ unsigned s_counts[THREADS];
    s_counts[threadIdx.x] = 0;
#ifdef SOLUTION
    // All counters are zero before any thread adds to one.
    __syncthreads();
#endif
    for (int k = threadIdx.x; k < pixels; k += THREADS) {
        const int level = image[k];
#ifdef SOLUTION
        atomicAdd(&s_counts[level], 1u);
#else
        s_counts[level] += 1;
#endif
    }
    // All threads have counted before any thread reads a counter.
    __syncthreads();
    histogram[threadIdx.x] = static_cast<float>(s_counts[threadIdx.x]);
}
