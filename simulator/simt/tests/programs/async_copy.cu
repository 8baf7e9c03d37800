// Copies from global to shared memory that the threads do not wait for, right and wrong.
#include <cuda_pipeline.h>

constexpr int TILE = 64;

__device__ void copy4(float* s_to, const float* from)
{
    unsigned to = __cvta_generic_to_shared(s_to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(from) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory"); }

// Sums each tile's neighbors; the next tile comes while this one is used. TILE threads, `tiles` tiles per block.
extern "C" __global__ void pipelined(const float* input, float* output, int tiles)
{
    __shared__ float s_tile[2][TILE];
    int i = threadIdx.x;
    copy4(&s_tile[0][i], input + i);
    commit();
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles)
            copy4(&s_tile[(tile + 1) % 2][i], input + (tile + 1) * TILE + i);
        commit();
        wait<1>();
        __syncthreads(); // the tile's arrival before its reads by others
        output[tile * TILE + i] = s_tile[tile % 2][i] + s_tile[tile % 2][(i + 1) % TILE];
        __syncthreads(); // the reads before the next copy into this half
    }
}

// As `pipelined`, but waits for one group too few: what it reads may not have arrived.
extern "C" __global__ void waits_for_the_wrong_group(const float* input, float* output, int tiles)
{
    __shared__ float s_tile[2][TILE];
    int i = threadIdx.x;
    copy4(&s_tile[0][i], input + i);
    commit();
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles)
            copy4(&s_tile[(tile + 1) % 2][i], input + (tile + 1) * TILE + i);
        commit();
        wait<2>();
        __syncthreads();
        output[tile * TILE + i] = s_tile[tile % 2][i] + s_tile[tile % 2][(i + 1) % TILE];
        __syncthreads();
    }
}

// Never waits; a barrier is not enough.
extern "C" __global__ void does_not_wait(const float* input, float* output)
{
    __shared__ float s_tile[TILE];
    int i = threadIdx.x;
    copy4(&s_tile[i], input + i);
    commit();
    __syncthreads();
    output[i] = s_tile[TILE - 1 - i];
}

// Writes where the copy is to write.
extern "C" __global__ void overwrites(const float* input, float* output)
{
    __shared__ float s_tile[TILE];
    int i = threadIdx.x;
    copy4(&s_tile[i], input + i);
    s_tile[i] = 1.0f;
    asm volatile("cp.async.wait_all;" ::: "memory");
    output[i] = s_tile[i];
}

// Adds where the copy is to write.
extern "C" __global__ void adds(const float* input, float* output)
{
    __shared__ int s_count[TILE];
    int i = threadIdx.x;
    copy4((float*)&s_count[i], input + i);
    atomicAdd(&s_count[0], 1);
    asm volatile("cp.async.wait_all;" ::: "memory");
    output[i] = s_count[i];
}

// Copies of 4, 8 and 16 bytes, of fewer bytes than they fill, with every spelling of the hints; by the pipeline's own functions too.
// 32 threads, 16 floats each.
extern "C" __global__ void widths(const float* input, float* output, int whole)
{
    __shared__ __align__(16) float s_rows[32 * 16];
    int i = threadIdx.x;
    const float* from = input + i * 16;
    unsigned to = __cvta_generic_to_shared(s_rows + i * 16);
    int bytes = i < whole ? 16 : i % 4 * 4;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(from) : "memory");
    asm volatile("cp.async.ca.shared.global.L2::128B [%0+4], [%1+4], 4;" :: "r"(to), "l"(from) : "memory");
    asm volatile("cp.async.ca.shared.global [%0+8], [%1+8], 8;" :: "r"(to), "l"(from) : "memory");
    asm volatile("cp.async.cg.shared.global [%0+16], [%1+16], 16, %2;" :: "r"(to), "l"(from), "r"(bytes) : "memory");
    asm volatile("{ .reg .pred %%p; setp.ge.s32 %%p, %2, %3; cp.async.cg.shared.global.L2::256B [%0+32], [%1+32], 16, %%p; }"
        :: "r"(to), "l"(from), "r"(i), "r"(whole) : "memory");
    __pipeline_memcpy_async(s_rows + i * 16 + 12, from + 12, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int j = 0; j < 16; ++j)
        output[i * 16 + j] = s_rows[i * 16 + j];
}

// Each lane reads `bytes` bytes at `input`, of the 16 that it fills.
extern "C" __global__ void part(const float* input, float* output, int bytes)
{
    __shared__ __align__(16) float s_row[4];
    unsigned to = __cvta_generic_to_shared(s_row);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(input), "r"(bytes) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int j = 0; j < 4; ++j)
        output[j] = s_row[j];
}
