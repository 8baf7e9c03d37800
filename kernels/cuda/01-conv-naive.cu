// 01-conv-naive: convolution as its formula says it, one multiply-add after the other, straight from global memory.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Written like this the sum is a correlation. A convolution runs through the filter backwards, so it is the same sum with
// the filter reversed, and the host decides which of the two it wants.
//
// Since the last stage: this is the first one.
// Launch:  one-dimensional grid and blocks, any block size; `naive` takes a thread for each output, `naive_strided` a
//          thread for every RUN outputs.
// Work:    per output `taps` multiply-adds and 8 * taps bytes of loads (a sample and a filter value for each), against
//          4 bytes that must be written and about 4 that must be read: a byte is asked for again `taps` times.
// Sizes:   outputs >= 1, taps >= 1, `outputs + taps - 1` samples in `signal`, at most 2^31 of them.

// Neighbouring outputs of one thread of `naive_strided`. A sector of memory, the least that is ever moved, holds 8 floats:
// this is the shortest run for which every lane of a warp reads from a sector of its own.
constexpr unsigned RUN = 8;

// ANCHOR: naive
// Neighbouring threads compute neighbouring outputs, so that in every step of the loop a warp reads 32 neighbouring samples,
// which lie in four or five sectors, and all its lanes read the same filter value.
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
// The division of labour that comes naturally on a CPU: each thread takes a run of neighbouring outputs. Now neighbouring
// lanes read RUN samples apart, each from another sector, and a warp moves eight times the bytes that it uses.
// It also has RUN times fewer threads to hide the waiting with.
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
