// What the scans of whole rows share: how blocks tell each other their sums, and the scan of a warp.
#pragma once

#include "05-window-sums.cuh"


constexpr int WARP = 32;

// What the high half of a tile's word says about its low half.
constexpr unsigned NOTHING = 0;
constexpr unsigned AGGREGATE = 1;
constexpr unsigned PREFIX = 2;

// ANCHOR: publish
// One word of 64 bits holds a sum and what kind of sum it is, so nobody ever sees one without the other. "Relaxed"
// accesses of the whole GPU go to L2, where all blocks see them.
__device__ inline void publish(unsigned long long* word, unsigned kind, unsigned sum)
{
    const unsigned long long both = static_cast<unsigned long long>(kind) << 32 | sum;
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(word), "l"(both) : "memory");
}

__device__ inline unsigned long long published(const unsigned long long* word)
{
    unsigned long long both;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(word) : "memory");
    return both;
}
// ANCHOR_END: publish

// ANCHOR: warp_sum_to
// For each lane, the sum of its own value and those of all lanes before it.
__device__ inline unsigned warp_sum_to(unsigned sum)
{
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const unsigned before = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance) {
            sum += before;
        }
    }
    return sum;
}
// ANCHOR_END: warp_sum_to
