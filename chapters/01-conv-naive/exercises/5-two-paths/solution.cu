// Exercise: two paths.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of 256 threads, as many as it takes to have a thread for each output.

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    float sum = 0.0f;
#ifdef SOLUTION
    for (unsigned j = 0; j < taps; ++j) {
        sum += signal[i + j] * filter[j];
    }
#else
    if (threadIdx.x % 2 == 0) {
        for (unsigned j = 0; j < taps; ++j) {
            sum += signal[i + j] * filter[j];
        }
    } else {
        for (unsigned j = taps; j > 0; --j) {
            sum += signal[i + j - 1] * filter[j - 1];
        }
    }
#endif
    output[i] = sum;
}
