// Exercise: one word of padding.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of 1024 threads, 32 warps; a block for every 32 outputs.
// Sizes:   outputs >= 1, 1 <= taps <= 32; outputs + taps - 1 samples.

// Lanes of a warp, outputs of a block, and the longest filter.
constexpr unsigned WARP = 32;

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    // A row for each output, a column for each tap.
#ifdef SOLUTION
    __shared__ float s_products[WARP][WARP + 1];
#else
    __shared__ float s_products[WARP][WARP];
#endif

    const unsigned first = blockIdx.x * WARP;
    const unsigned row = threadIdx.x / WARP;
    const unsigned lane = threadIdx.x % WARP;
    // Each warp writes a row: its lanes multiply the samples of one output by the taps.
    const bool exists = first + row < outputs && lane < taps;
    s_products[row][lane] = exists ? signal[first + row + lane] * filter[lane] : 0.0f;
    // All rows are written before any lane reads one.
    __syncthreads();
    // The first warp adds up the rows: each of its lanes reads a row of its own.
    if (row == 0 && first + lane < outputs) {
        float sum = 0.0f;
        // One load per iteration. Unrolled, the compiler may load several neighboring products at once.
#pragma unroll 1
        for (unsigned k = 0; k < WARP; ++k) {
            sum += s_products[lane][k];
        }
        output[first + lane] = sum;
    }
}
