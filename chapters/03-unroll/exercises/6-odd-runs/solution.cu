// Exercise: runs and banks.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of THREADS threads with RUN neighboring outputs each, as many blocks of OUTPUTS outputs as it takes.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

constexpr unsigned THREADS = 64;
#ifdef SOLUTION
// Neighboring outputs of a thread. An odd number: 32 lanes that many words apart use 32 different banks.
constexpr unsigned RUN = 7;
// Outputs of a block.
constexpr unsigned OUTPUTS = 448;
#else
// Neighboring outputs of a thread.
constexpr unsigned RUN = 8;
// Outputs of a block.
constexpr unsigned OUTPUTS = 512;
#endif
static_assert(OUTPUTS == THREADS * RUN, "a block has the outputs of its threads");
// Taps of a tile.
constexpr unsigned TILE = 256;

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    __shared__ float s_signal[OUTPUTS + TILE - 1];
    __shared__ float s_filter[TILE];

    const unsigned samples = outputs + taps - 1;
    const unsigned first = blockIdx.x * OUTPUTS;
    float sum[RUN] = {};
    for (unsigned tile = 0; tile < taps; tile += TILE) {
        // The last tile may be shorter.
        const unsigned steps = min(TILE, taps - tile);
        for (unsigned k = threadIdx.x; k < steps; k += THREADS) {
            s_filter[k] = filter[tile + k];
        }
        for (unsigned k = threadIdx.x; k < OUTPUTS + steps - 1; k += THREADS) {
            const unsigned i = first + tile + k;
            s_signal[k] = i < samples ? signal[i] : 0.0f;
        }
        // The tile is written, by all threads, before any thread reads it.
        __syncthreads();
        // Samples k to k + RUN - 1 of the thread are in `window`: each iteration loads one, and hands the others on.
        const float* run = s_signal + threadIdx.x * RUN;
        float window[RUN];
        for (unsigned r = 0; r + 1 < RUN; ++r) {
            window[r] = run[r];
        }
#pragma unroll 1
        for (unsigned k = 0; k < steps; ++k) {
            window[RUN - 1] = run[k + RUN - 1];
            const float weight = s_filter[k];
#pragma unroll
            for (unsigned r = 0; r < RUN; ++r) {
                sum[r] += window[r] * weight;
            }
#pragma unroll
            for (unsigned r = 0; r + 1 < RUN; ++r) {
                window[r] = window[r + 1];
            }
        }
        // The tile is read, by all threads, before any thread writes the next one in its place.
        __syncthreads();
    }
#pragma unroll
    for (unsigned r = 0; r < RUN; ++r) {
        const unsigned i = first + threadIdx.x * RUN + r;
        if (i < outputs) {
            output[i] = sum[r];
        }
    }
}
