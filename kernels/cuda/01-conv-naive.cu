// 01-conv-naive: convolution exactly as the formula says, one multiply-add after another, straight from global memory.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Written like this, the sum is a correlation. A convolution goes through the filter backwards, so it is the same sum with
// the filter reversed. The host decides which of the two it wants.
//
// Since the last stage: this is the first one.
// Launch:  one-dimensional grid and blocks, any block size; `naive` needs one thread for each output, `naive_strided` one
//          thread for every RUN outputs.
// Work:    per output, `taps` multiply-adds and 8 * taps bytes of loads (one sample and one filter value each). Only 4
//          bytes must be written and about 4 must be read: every byte is loaded again `taps` times.
// Sizes:   outputs >= 1, taps >= 1, `outputs + taps - 1` samples in `signal`, at most 2^31 of them.

// Neighboring outputs of one thread of `naive_strided`. A sector, the smallest piece of memory that ever moves, holds 8
// floats. So this is the shortest run for which every lane of a warp reads from a different sector.
constexpr unsigned RUN = 8;

// ANCHOR: naive
// Neighboring threads compute neighboring outputs. So in every iteration of the loop a warp reads 32 neighboring samples,
// which are in four or five sectors, and all its lanes read the same filter value.
extern "C" __global__ void naive(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                 unsigned taps, float* __restrict__ output)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    const float* window = signal + i;
    float sum = 0.0f;
    for (unsigned j = 0; j < taps; ++j) {
        sum += window[j] * filter[j];
    }
    output[i] = sum;
}
// ANCHOR_END: naive

// ANCHOR: naive_strided
// The natural division of labor on a CPU: each thread takes a run of neighboring outputs. Now neighboring lanes read
// samples that are RUN apart, each from a different sector, and a warp moves eight times as many bytes as it uses.
// There are also RUN times fewer threads to hide the latency of memory.
extern "C" __global__ void naive_strided(const float* __restrict__ signal, const float* __restrict__ filter,
                                         unsigned outputs, unsigned taps, float* __restrict__ output)
{
    const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * RUN;
    const unsigned end = min(first + RUN, outputs);
    for (unsigned i = first; i < end; ++i) {
        const float* window = signal + i;
        float sum = 0.0f;
        for (unsigned j = 0; j < taps; ++j) {
            sum += window[j] * filter[j];
        }
        output[i] = sum;
    }
}
// ANCHOR_END: naive_strided
