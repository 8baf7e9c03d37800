// 02-conv-shared-reduction: many threads add up one output together, for the case of few outputs and many taps.
//
// Since 02-conv-shared: a thread has a part of the taps of one output, and no output of its own. The parts are added up
//          at the end: in shared memory (`block_per_output`), in registers (`warp_per_output`), or in both
//          (`block_shuffle`).
// Launch:  one-dimensional grid; a block of BLOCK threads for each output (`block_per_output`), or for each BLOCK /
//          WARP outputs (`warp_per_output`), or a block of WIDE_BLOCK threads for each output (`block_shuffle`).
// Work:    per output, `taps` multiply-adds, 8 * taps bytes of loads from global memory as in `naive`, and one addition
//          for each thread.
// Sizes:   outputs >= 1, taps >= 1, `outputs + taps - 1` samples in `signal`, at most 2^31 of them. They need not be
//          multiples of anything.

// Threads of a block of `block_per_output` and `warp_per_output`.
constexpr unsigned BLOCK = 256;
// Threads of a block of `block_shuffle`: the most that a block can have.
constexpr unsigned WIDE_BLOCK = 1024;
// Lanes of a warp.
constexpr unsigned WARP = 32;

// ANCHOR: part
// Adds up every STEP-th product, from the one at `first` on. Threads that start next to each other load neighboring values.
template <unsigned STEP>
__device__ float part_of_output(const float* window, const float* filter, unsigned taps, unsigned first)
{
    float sum = 0.0f;
    for (unsigned j = first; j < taps; j += STEP) {
        sum += window[j] * filter[j];
    }
    return sum;
}
// ANCHOR_END: part

// ANCHOR: block_per_output
extern "C" __global__ void block_per_output(const float* __restrict__ signal, const float* __restrict__ filter,
                                            unsigned outputs, unsigned taps, float* __restrict__ output)
{
    __shared__ float s_sums[BLOCK];

    const unsigned i = blockIdx.x;
    s_sums[threadIdx.x] = part_of_output<BLOCK>(signal + i, filter, taps, threadIdx.x);
    // Each round adds the upper half of the sums to the lower half.
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        // All sums are written before any thread reads one that another thread wrote.
        __syncthreads();
        if (threadIdx.x < half) {
            s_sums[threadIdx.x] += s_sums[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        output[i] = s_sums[0];
    }
}
// ANCHOR_END: block_per_output

// ANCHOR: sum_of_warp
// Adds up the values of all lanes of a warp. Only lane 0 gets the whole sum. All lanes must call this together.
__device__ float sum_of_warp(float sum)
{
    for (unsigned half = WARP / 2; half > 0; half /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, half);
    }
    return sum;
}
// ANCHOR_END: sum_of_warp

// ANCHOR: warp_per_output
extern "C" __global__ void warp_per_output(const float* __restrict__ signal, const float* __restrict__ filter,
                                           unsigned outputs, unsigned taps, float* __restrict__ output)
{
    const unsigned i = (blockIdx.x * BLOCK + threadIdx.x) / WARP;
    const unsigned lane = threadIdx.x % WARP;
    // All lanes of a warp have the same output, so they leave together or not at all.
    if (i >= outputs) {
        return;
    }
    const float sum = sum_of_warp(part_of_output<WARP>(signal + i, filter, taps, lane));
    if (lane == 0) {
        output[i] = sum;
    }
}
// ANCHOR_END: warp_per_output

// ANCHOR: block_shuffle
extern "C" __global__ void block_shuffle(const float* __restrict__ signal, const float* __restrict__ filter,
                                         unsigned outputs, unsigned taps, float* __restrict__ output)
{
    static_assert(WIDE_BLOCK == WARP * WARP, "the first warp adds up one sum per lane");
    __shared__ float s_sums[WARP];

    const unsigned i = blockIdx.x;
    const unsigned lane = threadIdx.x % WARP;
    float sum = sum_of_warp(part_of_output<WIDE_BLOCK>(signal + i, filter, taps, threadIdx.x));
    if (lane == 0) {
        s_sums[threadIdx.x / WARP] = sum;
    }
    // The sums of all warps are written before the first warp reads them.
    __syncthreads();
    if (threadIdx.x < WARP) {
        sum = sum_of_warp(s_sums[lane]);
        if (lane == 0) {
            output[i] = sum;
        }
    }
}
// ANCHOR_END: block_shuffle
