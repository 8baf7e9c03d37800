// Exercise: wait half as often.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of BLOCK threads, as many as it takes to have a thread for each output.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

// Outputs of a block, and its threads.
constexpr unsigned BLOCK = 256;
// Taps of a tile.
constexpr unsigned TILE = 256;

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    // Two buffers of one tile each.
    __shared__ float s_signals[2][BLOCK + TILE - 1];
    __shared__ float s_filters[2][TILE];

    const unsigned samples = outputs + taps - 1;
    const unsigned first = blockIdx.x * BLOCK;
    float sum = 0.0f;
    for (unsigned tile = 0; tile < taps; tile += TILE) {
#ifdef SOLUTION
        const unsigned buffer = tile / TILE % 2;
#else
        const unsigned buffer = 0;
#endif
        float* s_signal = s_signals[buffer];
        float* s_filter = s_filters[buffer];
        const unsigned steps = min(TILE, taps - tile);
        for (unsigned k = threadIdx.x; k < steps; k += BLOCK) {
            s_filter[k] = filter[tile + k];
        }
        for (unsigned k = threadIdx.x; k < BLOCK + steps - 1; k += BLOCK) {
            const unsigned i = first + tile + k;
            s_signal[k] = i < samples ? signal[i] : 0.0f;
        }
        // All threads have written this tile before any thread reads it. And all threads have read the previous tile.
        __syncthreads();
        // One multiply-add per iteration. The next chapter does several.
#pragma unroll 1
        for (unsigned k = 0; k < steps; ++k) {
            sum += s_signal[threadIdx.x + k] * s_filter[k];
        }
#ifdef SOLUTION
        // No barrier: the next tile goes to the buffer of the previous one, and no thread reads that after the barrier
        // above.
#else
        // All threads have read the tile before any thread overwrites it with the next one.
        __syncthreads();
#endif
    }
    if (first + threadIdx.x < outputs) {
        output[first + threadIdx.x] = sum;
    }
}
