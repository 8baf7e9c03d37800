// Exercise: the last block.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of 256 threads, as many as it takes to have a thread for each output.

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef SOLUTION
    if (i >= outputs) {
        return;
    }
#endif
    float sum = 0.0f;
#ifdef SOLUTION
    for (unsigned j = 0; j < taps; ++j) {
#else
    for (unsigned j = 0; j <= taps; ++j) {
#endif
        sum += signal[i + j] * filter[j];
    }
    output[i] = sum;
}
