// ceilings: the most that a device can do, so that a time can be given as a percentage of it.
//
// `fma_chains` measures the rate of f32 multiply-adds, `copy_vectors` the bandwidth of device memory. `fill_noise` makes the data for the
// copy: a chip moves and computes zeros faster than data, because fewer of its wires change.
//
// Launch:  one-dimensional grid and blocks, any block size; enough blocks to fill every multiprocessor.
// Work:    fma_chains: rounds * CHAINS * STEPS multiply-adds per thread and one store of 4 bytes;
//          copy_vectors: 16 bytes read and 16 written per vector, no arithmetic;
//          fill_noise: 4 bytes written per element.
// Sizes:   fma_chains: one float of `result` per thread; copy_vectors, fill_noise: any number of elements, in any grid.

// Independent sums per thread. About four cycles pass before a multiply-add can use the result of the previous one. Eight that do
// not wait for each other keep the pipe full even with few warps.
constexpr unsigned CHAINS = 8;
// Multiply-adds of each chain per iteration: the counter and the branch become a hundredth of the work.
constexpr unsigned STEPS = 32;

extern "C" __global__ void fma_chains(unsigned rounds, float factor, float addend, float* __restrict__ result)
{
    float chain[CHAINS];
    for (unsigned c = 0; c < CHAINS; ++c) {
        chain[c] = static_cast<float>(threadIdx.x + c);
    }
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
#pragma unroll
            for (unsigned c = 0; c < CHAINS; ++c) {
                chain[c] = fmaf(chain[c], factor, addend);
            }
        }
    }
    // Use every chain, or the compiler would remove the arithmetic.
    float sum = 0.0f;
    for (unsigned c = 0; c < CHAINS; ++c) {
        sum += chain[c];
    }
    result[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A hash of the index (the finalizer of MurmurHash3): every bit of it looks random.
extern "C" __global__ void fill_noise(unsigned* __restrict__ target, unsigned long long count)
{
    const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        unsigned hash = static_cast<unsigned>(i);
        hash = (hash ^ hash >> 16) * 0x85ebca6bu;
        hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
        target[i] = hash ^ hash >> 16;
    }
}

extern "C" __global__ void copy_vectors(const float4* __restrict__ source, unsigned long long vectors,
                                        float4* __restrict__ target)
{
    const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors;
         i += threads) {
        target[i] = source[i];
    }
}
