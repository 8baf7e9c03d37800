// Exercise: slices of the filter inside a block.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of THREADS threads for OUTPUTS outputs each, as many as it takes. Thread t has output t % OUTPUTS and
//          slice t / OUTPUTS of the filter.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples.

constexpr unsigned THREADS = 256;
// Outputs of a block.
constexpr unsigned OUTPUTS = 8;
// Slices of the filter: each has a thread for each output.
constexpr unsigned SLICES = 32;
static_assert(OUTPUTS * SLICES == THREADS, "a thread for each output and slice");

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    __shared__ float s_sums[SLICES][OUTPUTS];

    const unsigned mine = threadIdx.x % OUTPUTS;
    const unsigned slice = threadIdx.x / OUTPUTS;
    const unsigned i = blockIdx.x * OUTPUTS + mine;
#ifdef SOLUTION
    // Rounded up, so that no tap is left. The last slices may have fewer taps, or none.
    const unsigned length = (taps + SLICES - 1) / SLICES;
    const unsigned begin = slice * length;
    const unsigned end = min(begin + length, taps);
#else
    // Each thread adds up all taps. Let it add up only the taps of its slice.
    const unsigned begin = 0;
    const unsigned end = taps;
#endif
    float sum = 0.0f;
    // A thread past the last output has nothing to add up.
    if (i < outputs) {
        for (unsigned j = begin; j < end; ++j) {
            sum += signal[i + j] * filter[j];
        }
    }
#ifdef SOLUTION
    s_sums[slice][mine] = sum;
    // The sums of all slices are written before any thread reads one.
    __syncthreads();
    if (slice == 0 && i < outputs) {
        float total = 0.0f;
        for (unsigned s = 0; s < SLICES; ++s) {
            total += s_sums[s][mine];
        }
        output[i] = total;
    }
#else
    // Put the sum into s_sums, and let the threads of slice 0 add up the sums of all slices.
    if (slice == 0 && i < outputs) {
        output[i] = sum;
    }
#endif
}
