// Exercise: pass it down the warp.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of BLOCK threads, with a warp for each output.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

// Threads of a block.
constexpr unsigned BLOCK = 256;
// Lanes of a warp.
constexpr unsigned WARP = 32;

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    const unsigned i = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
    const unsigned lane = threadIdx.x % WARP;
    // All lanes of a warp have the same output, so they leave together or not at all.
    if (i >= outputs) {
        return;
    }
    // Each lane adds up every 32nd product.
    float sum = 0.0f;
    for (unsigned j = lane; j < taps; j += WARP) {
        sum += signal[i + j] * filter[j];
    }
#ifdef SOLUTION
    for (unsigned half = WARP / 2; half > 0; half /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, half);
    }
#else
    // Add up the sums of the 32 lanes, without shared memory. Lane 0 needs the result.
#endif
    if (lane == 0) {
        output[i] = sum;
    }
}
