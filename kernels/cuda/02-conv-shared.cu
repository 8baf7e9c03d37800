// 02-conv-shared: the threads of a block copy what they all need into shared memory, once, and read it from there.
//
// Since 01-conv-naive: both operands of a multiply-add come from shared memory. Neighboring windows overlap in all samples but one,
//          and all threads use the same filter, so a block that works tile by tile copies little.
// Launch:  one-dimensional grid, BLOCK threads per block, one thread for each output.
// Work:    per output, `taps` multiply-adds and 8 * taps bytes of loads from shared memory. For the BLOCK * t multiply-adds of a
//          tile with t taps, a block loads BLOCK - 1 + t samples and t filter values from global memory: 0.047 bytes per
//          multiply-add in `shared` and 0.035 in `shared_wide`, instead of 8 in `naive`.
// Sizes:   outputs >= 1, taps >= 1, `outputs + taps - 1` samples in `signal`, at most 2^31 of them. They need not be multiples of anything.

// Outputs of a block, and threads of a block.
constexpr unsigned BLOCK = 256;
// Taps of a tile of `shared`: as many as the block has threads, so each thread copies one filter value and at most two samples.
constexpr unsigned TILE = 256;
// Taps of a tile of `shared_wide`: four times as many. The 9 KB that it needs still fit in the 16 KB of the first GPUs.
constexpr unsigned WIDE_TILE = 1024;

// ANCHOR: convolve
// The body of all kernels below. TAPS is the size of a tile. Without FINISH_TILE the result is wrong.
template <unsigned TAPS, bool FINISH_TILE = true>
__device__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                         unsigned taps, float* __restrict__ output)
{
    // ANCHOR: tile
    __shared__ float s_signal[BLOCK + TAPS - 1];
    __shared__ float s_filter[TAPS];
    // ANCHOR_END: tile

    const unsigned samples = outputs + taps - 1;
    const unsigned first = blockIdx.x * BLOCK;
    float sum = 0.0f;
    for (unsigned tile = 0; tile < taps; tile += TAPS) {
        // The last tile can be shorter.
        const unsigned steps = min(TAPS, taps - tile);
        // ANCHOR: copy
        for (unsigned k = threadIdx.x; k < steps; k += BLOCK) {
            s_filter[k] = filter[tile + k];
        }
        // BLOCK windows of `steps` samples, each one sample after the previous one. In the last block, some threads have no
        // output, and their windows contain samples that do not exist.
        for (unsigned k = threadIdx.x; k < BLOCK + steps - 1; k += BLOCK) {
            const unsigned i = first + tile + k;
            s_signal[k] = i < samples ? signal[i] : 0.0f;
        }
        // ANCHOR_END: copy
        // ANCHOR: use
        // All threads have written the tile before any thread reads it.
        __syncthreads();
        // ANCHOR: sum
        // Pointers that advance: for `window[k] * s_filter[k]`, a compiler may compute both addresses again in every iteration.
        const float* window = s_signal + threadIdx.x;
        const float* weight = s_filter;
        // One multiply-add per iteration, as written. Modern compilers do several: see the next chapter.
#pragma unroll 1
        for (unsigned k = 0; k < steps; ++k) {
            sum += *window++ * *weight++;
        }
        // ANCHOR_END: sum
        // ANCHOR_END: use
        // ANCHOR: finish
        if constexpr (FINISH_TILE) {
            // All threads have read the tile before any thread overwrites it with the next one.
            __syncthreads();
        }
        // ANCHOR_END: finish
    }
    // ANCHOR: store
    if (first + threadIdx.x < outputs) {
        output[first + threadIdx.x] = sum;
    }
    // ANCHOR_END: store
}
// ANCHOR_END: convolve

// ANCHOR: shared
extern "C" __global__ void shared(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                  unsigned taps, float* __restrict__ output)
{
    convolve<TILE>(signal, filter, outputs, taps, output);
}
// ANCHOR_END: shared

// ANCHOR: shared_wide
// The windows of neighboring tiles overlap by BLOCK - 1 samples, which are copied twice. With fewer and larger tiles, this
// happens less often.
extern "C" __global__ void shared_wide(const float* __restrict__ signal, const float* __restrict__ filter,
                                       unsigned outputs, unsigned taps, float* __restrict__ output)
{
    convolve<WIDE_TILE>(signal, filter, outputs, taps, output);
}
// ANCHOR_END: shared_wide

// ANCHOR: shared_missing_barrier
// Wrong, like the old tutorial: a warp that has finished a tile overwrites it with the next one while slower warps
// still read it.
extern "C" __global__ void shared_missing_barrier(const float* __restrict__ signal, const float* __restrict__ filter,
                                                  unsigned outputs, unsigned taps, float* __restrict__ output)
{
    convolve<TILE, false>(signal, filter, outputs, taps, output);
}
// ANCHOR_END: shared_missing_barrier
