// Exercise: your first kernel.
//
// Launch:  blocks of 256 threads, as many as it takes to have a thread for each output.

extern "C" __global__ void convolve(const float* signal, const float* filter, unsigned outputs, unsigned taps,
                                    float* output)
{
    // The number of this thread, which is the number of its output.
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < outputs) {
#ifdef SOLUTION
        output[i] = signal[i] * filter[0];
#else
        // Your line goes here.
#endif
    }
}
