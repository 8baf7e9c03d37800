// Exercise: a tree of sums.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  a block of BLOCK threads for each output.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

// Threads of a block.
constexpr unsigned BLOCK = 256;

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    __shared__ float s_sums[BLOCK];

    const unsigned i = blockIdx.x;
    // Each thread adds up every 256th product.
    float sum = 0.0f;
    for (unsigned j = threadIdx.x; j < taps; j += BLOCK) {
        sum += signal[i + j] * filter[j];
    }
    s_sums[threadIdx.x] = sum;
#ifdef SOLUTION
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        // All sums of the previous round are written before any thread reads one.
        __syncthreads();
        if (threadIdx.x < half) {
            s_sums[threadIdx.x] += s_sums[threadIdx.x + half];
        }
    }
#else
    // Add up the 256 sums: in each round, half of the threads add the sum of another thread to their own.
#endif
    if (threadIdx.x == 0) {
        output[i] = s_sums[0];
    }
}
