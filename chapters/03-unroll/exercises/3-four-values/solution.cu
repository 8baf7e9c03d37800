// Exercise: four filter values in one load.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of BLOCK threads, as many as it takes to have a thread for each output.
// Sizes:   outputs >= 1, taps >= 1; outputs + taps - 1 samples. The last tile is filled up with zeros.

// Outputs of a block, and its threads.
constexpr unsigned BLOCK = 256;
// Taps of a tile.
constexpr unsigned TILE = 256;

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    __shared__ float s_signal[BLOCK + TILE - 1];
#ifdef SOLUTION
    __shared__ __align__(16) float s_filter[TILE];
#else
    __shared__ float s_filter[TILE];
#endif

    const unsigned samples = outputs + taps - 1;
    const unsigned first = blockIdx.x * BLOCK;
    float sum = 0.0f;
    for (unsigned tile = 0; tile < taps; tile += TILE) {
        const unsigned j = tile + threadIdx.x;
        s_filter[threadIdx.x] = j < taps ? filter[j] : 0.0f;
        for (unsigned k = threadIdx.x; k < BLOCK + TILE - 1; k += BLOCK) {
            const unsigned i = first + tile + k;
            s_signal[k] = i < samples ? signal[i] : 0.0f;
        }
        // All threads have written the tile before any thread reads it.
        __syncthreads();
        const float* window = s_signal + threadIdx.x;
#pragma unroll 1
        for (unsigned k = 0; k < TILE; k += 4) {
#ifdef SOLUTION
            const float4 weight = *reinterpret_cast<const float4*>(s_filter + k);
            sum += window[k] * weight.x;
            sum += window[k + 1] * weight.y;
            sum += window[k + 2] * weight.z;
            sum += window[k + 3] * weight.w;
#else
            sum += window[k] * s_filter[k];
            sum += window[k + 1] * s_filter[k + 1];
            sum += window[k + 2] * s_filter[k + 2];
            sum += window[k + 3] * s_filter[k + 3];
#endif
        }
        // All threads have read the tile before any thread overwrites it.
        __syncthreads();
    }
    if (first + threadIdx.x < outputs) {
        output[first + threadIdx.x] = sum;
    }
}
