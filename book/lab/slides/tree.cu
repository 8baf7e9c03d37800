// Of the experiment `tree`: a block adds up its values in shared memory, and stops after some rounds. Both kernels halve
// the number of sums in each round. They differ in which threads add.
//
// Launch:  one block of at most BLOCK threads, a thread for each value; the number of threads is a power of two.
// Sizes:   2^rounds is at most the number of threads.

constexpr unsigned BLOCK = 256;

// The first half of the threads that have a sum add the sums of the second half.
extern "C" __global__ void halves(const float* values, unsigned rounds, float* held)
{
    __shared__ float s_sums[BLOCK];
    const unsigned t = threadIdx.x;
    s_sums[t] = values[t];
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned h = blockDim.x >> (round + 1);
        // All sums of the previous round are written before any thread reads one.
        __syncthreads();
        if (t < h) {
            s_sums[t] += s_sums[t + h];
        }
    }
    held[t] = s_sums[t];
}

// Every second thread that has a sum adds that of the next one.
extern "C" __global__ void neighbors(const float* values, unsigned rounds, float* held)
{
    __shared__ float s_sums[BLOCK];
    const unsigned t = threadIdx.x;
    s_sums[t] = values[t];
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned h = 1u << round;
        // All sums of the previous round are written before any thread reads one.
        __syncthreads();
        if (t % (2 * h) == 0) {
            s_sums[t] += s_sums[t + h];
        }
    }
    held[t] = s_sums[t];
}
