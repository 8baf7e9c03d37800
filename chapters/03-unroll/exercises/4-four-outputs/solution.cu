// Exercise: four outputs of a thread.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of THREADS threads with RUN neighboring outputs each, as many as it takes.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

constexpr unsigned THREADS = 64;
// Neighboring outputs of a thread.
constexpr unsigned RUN = 4;
// Outputs of a block.
constexpr unsigned OUTPUTS = 256;
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
        // Output r of the thread needs window[r] to window[r + steps - 1].
        const float* window = s_signal + threadIdx.x * RUN;
#ifdef SOLUTION
        float a = window[0], b = window[1], c = window[2];
#endif
#pragma unroll 1
        for (unsigned k = 0; k < steps; ++k) {
            const float weight = s_filter[k];
#ifdef SOLUTION
            const float d = window[k + 3];
            sum[0] += a * weight;
            sum[1] += b * weight;
            sum[2] += c * weight;
            sum[3] += d * weight;
            a = b, b = c, c = d;
#else
            sum[0] += window[k] * weight;
            sum[1] += window[k + 1] * weight;
            sum[2] += window[k + 2] * weight;
            sum[3] += window[k + 3] * weight;
#endif
        }
        // The tile is read, by all threads, before any thread writes the next one in its place.
        __syncthreads();
    }
    for (unsigned r = 0; r < RUN; ++r) {
        const unsigned i = first + threadIdx.x * RUN + r;
        if (i < outputs) {
            output[i] = sum[r];
        }
    }
}
