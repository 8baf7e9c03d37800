// Exercise: four at a time.
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
    __shared__ float s_signal[BLOCK + TILE - 1];
    __shared__ float s_filter[TILE];

    const unsigned samples = outputs + taps - 1;
    const unsigned first = blockIdx.x * BLOCK;
    float sum = 0.0f;
    for (unsigned tile = 0; tile < taps; tile += TILE) {
        // The last tile may be shorter.
        const unsigned steps = min(TILE, taps - tile);
        for (unsigned k = threadIdx.x; k < steps; k += BLOCK) {
            s_filter[k] = filter[tile + k];
        }
        for (unsigned k = threadIdx.x; k < BLOCK + steps - 1; k += BLOCK) {
            const unsigned i = first + tile + k;
            s_signal[k] = i < samples ? signal[i] : 0.0f;
        }
        // The tile is written, by all threads, before any thread reads it.
        __syncthreads();
        const float* window = s_signal + threadIdx.x;
#ifdef SOLUTION
        unsigned k = 0;
#pragma unroll 1
        for (; k + 4 <= steps; k += 4) {
            sum += window[k] * s_filter[k];
            sum += window[k + 1] * s_filter[k + 1];
            sum += window[k + 2] * s_filter[k + 2];
            sum += window[k + 3] * s_filter[k + 3];
        }
        // Up to three are left.
#pragma unroll 1
        for (; k < steps; ++k) {
            sum += window[k] * s_filter[k];
        }
#else
        // Add up window[k] * s_filter[k] for all k < steps, four in each iteration of a loop. Each loop has `#pragma unroll 1`
        // on the line before it.
#endif
        // The tile is read, by all threads, before any thread writes the next one in its place.
        __syncthreads();
    }
    if (first + threadIdx.x < outputs) {
        output[first + threadIdx.x] = sum;
    }
}
