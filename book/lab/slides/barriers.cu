// Of the experiment `barriers`: a convolution whose samples come tile by tile through shared memory. Each barrier can
// be left out.
//
// Launch:  blocks of one dimension, one thread for every RUN outputs; shared memory for RUN * blockDim.x + tile - 1
//          samples and their padding.
// Sizes:   outputs >= 1, taps a multiple of the tile.

// Neighboring outputs of a thread. Lanes read shared memory RUN words apart, which are RUN wavefronts without padding.
constexpr unsigned RUN = 4;
// Padding comes after this many words: as many as there are banks.
constexpr unsigned BANKS = 32;

__device__ unsigned place(unsigned sample, unsigned padding)
{
    return sample + sample / BANKS * padding;
}

extern "C" __global__ void tiled(const float* signal, const float* filter, unsigned outputs, unsigned taps, unsigned tile,
                                 unsigned padding, unsigned barrier_after_loads, unsigned barrier_after_sums, float* output)
{
    extern __shared__ float s_signal[];
    const unsigned first = blockIdx.x * blockDim.x * RUN;
    const unsigned mine = threadIdx.x * RUN;
    float sums[RUN] = {};
#pragma unroll 1
    for (unsigned start = 0; start < taps; start += tile) {
#pragma unroll 1
        for (unsigned k = threadIdx.x; k < RUN * blockDim.x + tile - 1; k += blockDim.x) {
            const unsigned sample = first + start + k;
            s_signal[place(k, padding)] = sample < outputs + taps - 1 ? signal[sample] : 0.0f;
        }
        if (barrier_after_loads != 0) {
            // Every thread has stored its samples before any thread reads them.
            __syncthreads();
        }
#pragma unroll 1
        for (unsigned j = 0; j < tile; ++j) {
            for (unsigned run = 0; run < RUN; ++run) {
                sums[run] += s_signal[place(mine + j + run, padding)] * filter[start + j];
            }
        }
        if (barrier_after_sums != 0) {
            // Every thread has read the tile before any thread stores the next one over it.
            __syncthreads();
        }
    }
    for (unsigned run = 0; run < RUN; ++run) {
        if (first + mine + run < outputs) {
            output[first + mine + run] = sums[run];
        }
    }
}
