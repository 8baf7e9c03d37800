// Exercise: a tile in shared memory.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of BLOCK threads, as many as it takes to have a thread for each output.
// Sizes:   outputs >= 1, 1 <= taps <= TILE; outputs + taps - 1 samples.

// Outputs of a block, and its threads.
constexpr unsigned BLOCK = 256;
// The longest filter.
constexpr unsigned TILE = 256;

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    __shared__ float s_signal[BLOCK + TILE - 1];
    __shared__ float s_filter[TILE];

    const unsigned samples = outputs + taps - 1;
    // The first output of the block, which is also the first sample of its windows.
    const unsigned first = blockIdx.x * BLOCK;
#ifdef SOLUTION
    for (unsigned k = threadIdx.x; k < taps; k += BLOCK) {
        s_filter[k] = filter[k];
    }
    for (unsigned k = threadIdx.x; k < BLOCK + taps - 1; k += BLOCK) {
        s_signal[k] = first + k < samples ? signal[first + k] : 0.0f;
    }
#else
    // Copy the filter to s_filter, and the samples of the block's windows to s_signal.
#endif
    // All threads have written the tile before any thread reads it.
    __syncthreads();
    float sum = 0.0f;
    // One multiply-add per iteration. The next chapter does several.
#pragma unroll 1
    for (unsigned k = 0; k < taps; ++k) {
        sum += s_signal[threadIdx.x + k] * s_filter[k];
    }
    if (first + threadIdx.x < outputs) {
        output[first + threadIdx.x] = sum;
    }
}
