// Exchanges between threads at a barrier or inside a warp: counts, matches, reductions.

// Per thread: how many of the block voted yes, whether all and whether any did.
extern "C" __global__ void barrier_polls(const int* input, int limit, int* output)
{
    int i = threadIdx.x;
    int yes = input[i] < limit;
    output[3 * i] = __syncthreads_count(yes);
    output[3 * i + 1] = __syncthreads_and(yes);
    output[3 * i + 2] = __syncthreads_or(!yes);
}

// Per lane: the lanes with the same value; the mask if all of the lane's half have it, and whether they do; sums and extremes.
extern "C" __global__ void warp_polls(const int* input, int* output)
{
    int lane = threadIdx.x;
    int value = input[lane];
    unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    int agree;
    output[lane] = __match_any_sync(~0u, value);
    output[32 + lane] = __match_all_sync(half, value / 8, &agree);
    output[64 + lane] = agree;
    output[96 + lane] = __reduce_add_sync(half, value);
    output[128 + lane] = __reduce_max_sync(~0u, value - 20);
    output[160 + lane] = __reduce_xor_sync(~0u, (unsigned)value);
}
