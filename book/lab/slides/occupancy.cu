// Of the experiment `occupancy`: a convolution with a run of neighboring outputs for each thread. A longer run loads
// less and needs more registers.
//
// Launch:  blocks of one dimension, one thread for every run.
// Sizes:   outputs a multiple of the threads and the run, taps a multiple of the longest run.

template<unsigned RUN>
__device__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned taps,
                         float* __restrict__ output)
{
    const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * RUN;
    float sums[RUN] = {};
    // The samples that the next RUN taps need: those at the start are known from the taps before.
    float window[2 * RUN];
    for (unsigned k = 0; k < RUN; ++k) {
        window[k] = signal[first + k];
    }
#pragma unroll 1
    for (unsigned tap = 0; tap < taps; tap += RUN) {
        for (unsigned k = 0; k < RUN; ++k) {
            window[RUN + k] = signal[first + tap + RUN + k];
        }
        for (unsigned j = 0; j < RUN; ++j) {
            const float value = filter[tap + j];
            for (unsigned run = 0; run < RUN; ++run) {
                sums[run] += window[run + j] * value;
            }
        }
        for (unsigned k = 0; k < RUN; ++k) {
            window[k] = window[RUN + k];
        }
    }
    for (unsigned run = 0; run < RUN; ++run) {
        output[first + run] = sums[run];
    }
}

extern "C" __global__ void run_1(const float* __restrict__ signal, const float* __restrict__ filter, unsigned taps,
                                 float* __restrict__ output)
{
    convolve<1>(signal, filter, taps, output);
}

extern "C" __global__ void run_2(const float* __restrict__ signal, const float* __restrict__ filter, unsigned taps,
                                 float* __restrict__ output)
{
    convolve<2>(signal, filter, taps, output);
}

extern "C" __global__ void run_4(const float* __restrict__ signal, const float* __restrict__ filter, unsigned taps,
                                 float* __restrict__ output)
{
    convolve<4>(signal, filter, taps, output);
}

extern "C" __global__ void run_8(const float* __restrict__ signal, const float* __restrict__ filter, unsigned taps,
                                 float* __restrict__ output)
{
    convolve<8>(signal, filter, taps, output);
}

extern "C" __global__ void run_16(const float* __restrict__ signal, const float* __restrict__ filter, unsigned taps,
                                  float* __restrict__ output)
{
    convolve<16>(signal, filter, taps, output);
}
