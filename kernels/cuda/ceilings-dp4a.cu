// ceilings-dp4a: the rate of byte multiply-adds, four at a time.
//
// This has a file of its own because the instruction came with compute capability 6.1, while `ceilings.cu` runs on everything.
//
// Launch:  one-dimensional grid and blocks, any block size; enough blocks to fill every multiprocessor.
// Work:    4 * rounds * CHAINS * STEPS multiply-adds per thread and one store of 4 bytes.
// Sizes:   one word of `result` per thread.

// Independent sums per thread, so that none waits for the previous instruction.
constexpr unsigned CHAINS = 8;
// Instructions of each chain per iteration.
constexpr unsigned STEPS = 32;

// NVRTC 12.0 declares `__dp4a` but does not define it.
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
                // The sum is also a factor: its bits change with every step, and the compiler cannot predict the result.
                chain[c] = dp4a(chain[c], pixels, chain[c]);
            }
        }
    }
    // Use every chain, or the compiler would remove the arithmetic.
    unsigned sum = 0;
    for (unsigned c = 0; c < CHAINS; ++c) {
        sum += chain[c];
    }
    result[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
