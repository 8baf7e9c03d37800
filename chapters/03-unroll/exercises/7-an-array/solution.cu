// Exercise: an array that is not in registers.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of THREADS threads with RUN neighboring outputs each, as many as it takes.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples. The last tile is filled up with zeros.

constexpr unsigned THREADS = 64;
// Neighboring outputs of a thread. An odd number: the page on banks says why.
constexpr unsigned RUN = 7;
// Outputs of a block.
constexpr unsigned OUTPUTS = 448;
static_assert(OUTPUTS == THREADS * RUN, "a block has the outputs of its threads");
// Taps of a tile.
constexpr unsigned TILE = 224;
static_assert(TILE % RUN == 0, "after a tile, the window is back at its first slot");

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    __shared__ float s_signal[OUTPUTS + TILE - 1];
    __shared__ float s_filter[TILE];

    const unsigned samples = outputs + taps - 1;
    const unsigned first = blockIdx.x * OUTPUTS;
    float sum[RUN] = {};
    for (unsigned tile = 0; tile < taps; tile += TILE) {
        for (unsigned k = threadIdx.x; k < TILE; k += THREADS) {
            s_filter[k] = tile + k < taps ? filter[tile + k] : 0.0f;
        }
        for (unsigned k = threadIdx.x; k < OUTPUTS + TILE - 1; k += THREADS) {
            const unsigned i = first + tile + k;
            s_signal[k] = i < samples ? signal[i] : 0.0f;
        }
        // All threads have written the tile before any thread reads it.
        __syncthreads();
        // Sample k of the thread is in slot k % RUN. The newest sample overwrites the one that no output needs any more.
        const float* run = s_signal + threadIdx.x * RUN;
        float window[RUN];
        for (unsigned r = 0; r + 1 < RUN; ++r) {
            window[r] = run[r];
        }
#ifdef SOLUTION
#pragma unroll 1
        for (unsigned begin = 0; begin < TILE; begin += RUN) {
#pragma unroll
            for (unsigned k = 0; k < RUN; ++k) {
                window[(k + RUN - 1) % RUN] = run[begin + k + RUN - 1];
                const float weight = s_filter[begin + k];
#pragma unroll
                for (unsigned r = 0; r < RUN; ++r) {
                    sum[r] += window[(k + r) % RUN] * weight;
                }
            }
        }
#else
#pragma unroll 1
        for (unsigned k = 0; k < TILE; ++k) {
            window[(k + RUN - 1) % RUN] = run[k + RUN - 1];
            const float weight = s_filter[k];
#pragma unroll
            for (unsigned r = 0; r < RUN; ++r) {
                sum[r] += window[(k + r) % RUN] * weight;
            }
        }
#endif
        // All threads have read the tile before any thread overwrites it.
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
