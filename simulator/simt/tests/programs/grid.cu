// Blocks that wait for one another, as they may in a cooperative launch.

// The memory that the driver gives the grid to synchronize in, as cooperative groups ask for it: its size, and a counter of arrivals.
__device__ unsigned* grid_barrier()
{
    unsigned high, low;
    asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
    unsigned long long workspace = (unsigned long long)high << 32 | low;
    return workspace == 0 ? nullptr : (unsigned*)(workspace + 4);
}

// Returns when `rounds` times all blocks of the grid have arrived.
__device__ void arrive_and_wait(unsigned* arrived, unsigned rounds)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned*)arrived < rounds * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}

// Every round, each block passes its numbers on to the next block and adds one.
extern "C" __global__ void rotate(unsigned* from, unsigned* to, unsigned rounds)
{
    unsigned* arrived = grid_barrier();
    unsigned count = gridDim.x * blockDim.x, own = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned round = 1; round <= rounds; ++round) {
        to[(own + blockDim.x) % count] = from[own] + 1;
        arrive_and_wait(arrived, round);
        unsigned* next = from;
        from = to;
        to = next;
    }
}

// Whether the grid has memory to synchronize in.
extern "C" __global__ void has_barrier(unsigned* yes)
{
    *yes = grid_barrier() != nullptr;
}

// The last block leaves before the barrier.
extern "C" __global__ void one_leaves(unsigned* passed)
{
    if (blockIdx.x == gridDim.x - 1) {
        return;
    }
    arrive_and_wait(grid_barrier(), 1);
    passed[blockIdx.x] = 1;
}

// Each block waits for a flag of the block after it; the last one computes for a long time before it sets its own.
extern "C" __global__ void chain(unsigned* flags, unsigned long_time)
{
    unsigned block = blockIdx.x, last = gridDim.x - 1, value = 1;
    if (block == last) {
        for (unsigned i = 0; i < long_time; ++i) {
            value = value * 1664525u + 1013904223u;
        }
        value |= 1;
    } else {
        while (atomicCAS(&flags[block + 1], 0, 0) == 0) {
        }
    }
    atomicExch(&flags[block], value);
}
