// ceilings-dp4a: the rate of multiply-adds of bytes, four at a time.
//
// A file of its own, because the instruction came with compute capability 6.1 and `ceilings.cu` runs on everything.
//
// Launch:  one-dimensional grid and blocks, any block size; enough blocks to fill every multiprocessor.
// Work:    rounds * CHAINS * STEPS times four multiply-adds per thread and one store of 4 bytes.
// Sizes:   one word of `result` per thread.

// Independent sums per thread, so that none waits for the one before.
constexpr unsigned CHAINS = 8;
// Additions to each chain per turn of the loop.
constexpr unsigned STEPS = 32;

// NVRTC 12.0 declares `__dp4a` and does not define it.
__device__ unsigned dp4a(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

extern "C" __global__ void dp4a_chains(unsigned rounds, unsigned pixels, unsigned* __restrict__ result)
{
    unsigned chain[CHAINS];
    for (unsigned c = 0; c < CHAINS; ++c) {
        chain[c] = threadIdx.x + c;
    }
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
#pragma unroll
            for (unsigned c = 0; c < CHAINS; ++c) {
                // The sum is a factor, too: its bits change from step to step, and the compiler cannot see the end.
                chain[c] = dp4a(chain[c], pixels, chain[c]);
            }
        }
    }
    // Without a use of every chain the compiler would take the arithmetic away.
    unsigned sum = 0;
    for (unsigned c = 0; c < CHAINS; ++c) {
        sum += chain[c];
    }
    result[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
