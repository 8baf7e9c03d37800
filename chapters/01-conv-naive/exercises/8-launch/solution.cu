// Exercise: a launch.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  yours. The kernel is right, and works with blocks of any size.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned taps,
                                    unsigned outputs, float* __restrict__ output)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    float sum = 0.0f;
    for (unsigned j = 0; j < taps; ++j) {
        sum += signal[i + j] * filter[j];
    }
    output[i] = sum;
}

// This runs on the host. The three arrays are in the memory of the GPU.
void launch(const float* signal, const float* filter, float* output, unsigned outputs, unsigned taps)
{
#ifdef SOLUTION
    const unsigned threads = 256;
    const unsigned blocks = (outputs + threads - 1) / threads;
    convolve<<<blocks, threads>>>(signal, filter, taps, outputs, output);
#else
    // One block has 256 threads. How many blocks do the outputs need, and what does the kernel want to know?
    convolve<<<1, 256>>>(signal, filter, taps, outputs, output);
#endif
}
