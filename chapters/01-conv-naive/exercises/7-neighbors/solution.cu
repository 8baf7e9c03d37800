// Exercise: neighbors.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of 256 threads with RUN outputs each; as many as it takes.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

// Outputs of a thread.
constexpr unsigned RUN = 8;

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    for (unsigned run = 0; run < RUN; ++run) {
#ifdef SOLUTION
        const unsigned i = blockIdx.x * 256 * RUN + run * 256 + threadIdx.x;
#else
        const unsigned i = (blockIdx.x * 256 + threadIdx.x) * RUN + run;
#endif
        if (i < outputs) {
            float sum = 0.0f;
            for (unsigned j = 0; j < taps; ++j) {
                sum += signal[i + j] * filter[j];
            }
            output[i] = sum;
        }
    }
}
