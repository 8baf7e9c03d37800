// Exercise: counters of a block.
//
//     histogram[level] = number of pixels with image[i] = level,   0 <= level < 256
//
// Launch:  one block of THREADS threads, one for each level.
// Sizes:   any image with at least one pixel.

constexpr int THREADS = 256;

extern "C" __global__ void count_levels(const int* __restrict__ image, int pixels, float* __restrict__ histogram)
{
    __shared__ unsigned s_counts[THREADS];
#ifdef SOLUTION
    s_counts[threadIdx.x] = 0;
    // All counters are zero before any thread adds to one.
    __syncthreads();
    for (int k = threadIdx.x; k < pixels; k += THREADS) {
        atomicAdd(&s_counts[image[k]], 1u);
    }
    // All threads have counted before any thread reads a counter.
    __syncthreads();
    histogram[threadIdx.x] = static_cast<float>(s_counts[threadIdx.x]);
#else
    // Set the counters to zero, count, and store. Where do the threads have to wait for each other?
#endif
}
