// Convolutions that are wrong, each by one plain mistake. A test shows that verification rejects every one of them and says
// something that leads to the mistake. All take the arguments of `naive` in kernels/cuda/01-conv-naive.cu.
//
// None reads outside its inputs, and none writes further than a block past the output: they are wrong, but they end.

#define KERNEL extern "C" __global__ void
#define ARGUMENTS                                                                                                      \
    const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,               \
        float* __restrict__ output

__device__ unsigned thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ float sum(const float* window, const float* filter, unsigned taps)
{
    float sum = 0.0f;
#pragma unroll 1
    for (unsigned j = 0; j < taps; ++j) {
        sum += window[j] * filter[j];
    }
    return sum;
}

// Stores without asking whether the output exists.
KERNEL no_guard(ARGUMENTS)
{
    const unsigned i = thread();
    output[i] = i < outputs ? sum(signal + i, filter, taps) : 0.0f;
}

// Asks for less than it should.
KERNEL last_unwritten(ARGUMENTS)
{
    const unsigned i = thread();
    if (i + 1 < outputs) {
        output[i] = sum(signal + i, filter, taps);
    }
}

// Ends the loop one step early.
KERNEL one_tap_short(ARGUMENTS)
{
    const unsigned i = thread();
    if (i < outputs) {
        output[i] = sum(signal + i, filter, taps - 1);
    }
}

// Convolves where it should correlate.
KERNEL filter_reversed(ARGUMENTS)
{
    const unsigned i = thread();
    if (i < outputs) {
        float sum = 0.0f;
#pragma unroll 1
        for (unsigned j = 0; j < taps; ++j) {
            sum += signal[i + j] * filter[taps - 1 - j];
        }
        output[i] = sum;
    }
}

// Stores each output one place too low.
KERNEL shifted(ARGUMENTS)
{
    const unsigned i = thread();
    if (i < outputs && i > 0) {
        output[i - 1] = sum(signal + i, filter, taps);
    }
    if (i == outputs - 1) {
        output[i] = sum(signal + i, filter, taps);
    }
}

// Swaps two lanes of every pair.
KERNEL lanes_swapped(ARGUMENTS)
{
    const unsigned i = thread();
    if (i < outputs) {
        const unsigned other = (i ^ 1) < outputs ? i ^ 1 : i;
        output[other] = sum(signal + i, filter, taps);
    }
}

// Leaves out the last lane of every warp.
KERNEL lane_31_idle(ARGUMENTS)
{
    const unsigned i = thread();
    if (i < outputs && threadIdx.x % 32 != 31) {
        output[i] = sum(signal + i, filter, taps);
    }
}

// Starts with what the output held before.
KERNEL not_cleared(ARGUMENTS)
{
    const unsigned i = thread();
    if (i < outputs) {
        output[i] += sum(signal + i, filter, taps);
    }
}

// Divides zero by zero for one output in a thousand.
KERNEL sometimes_nan(ARGUMENTS)
{
    const unsigned i = thread();
    if (i < outputs) {
        const float all = sum(signal + i, filter, taps);
        output[i] = i % 1000 == 500 ? (all - all) / (all - all) : all;
    }
}

// Right, and to the left of the output as well.
KERNEL writes_before(ARGUMENTS)
{
    const unsigned i = thread();
    if (i < outputs) {
        output[i] = sum(signal + i, filter, taps);
    }
    if (i == 0) {
        output[-1] = 0.0f;
    }
}

// Right, at the price of the signal.
KERNEL spoils_input(float* signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
                    float* __restrict__ output)
{
    const unsigned i = thread();
    if (i < outputs) {
        output[i] = sum(signal + i, filter, taps);
    }
    if (i == 0) {
        signal[0] = 0.0f;
    }
}
