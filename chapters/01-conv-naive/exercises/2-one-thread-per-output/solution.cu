// Exercise: one thread per output.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of 256 threads, as many as it takes to have a thread for each output.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
#ifdef SOLUTION
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    float sum = 0.0f;
    for (unsigned j = 0; j < taps; ++j) {
        sum += signal[i + j] * filter[j];
    }
    output[i] = sum;
#else
    // Which output is this thread's? Is there one? Then add up and store.
#endif
}
