// Of the experiment `shuffle`: a warp adds up a value of each lane in registers, and stops after some rounds.
//
// Launch:  one block of one warp.
// Sizes:   at most five rounds.

constexpr unsigned WARP = 32;
constexpr unsigned ALL = 0xffffffff;

// A lane adds the sum of the lane that is h further on. Past the end of the warp it gets its own.
extern "C" __global__ void down(const float* values, unsigned rounds, float* held)
{
    float sum = values[threadIdx.x];
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
        sum += __shfl_down_sync(ALL, sum, WARP >> (round + 1));
    }
    held[threadIdx.x] = sum;
}

// Two lanes whose numbers differ in one bit add each other's sums.
extern "C" __global__ void exchange(const float* values, unsigned rounds, float* held)
{
    float sum = values[threadIdx.x];
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
        sum += __shfl_xor_sync(ALL, sum, WARP >> (round + 1));
    }
    held[threadIdx.x] = sum;
}
