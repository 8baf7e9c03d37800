// Kernels whose executed lines and branches `coverage.rs` counts by hand. Each statement with an effect has a line of its own.

// Adds to a counter if the value is large. Two places inline it.
__device__ __forceinline__ void note_large(int* counter, int value)
{
    if (value >= 4)
        atomicAdd(counter, value);
}

extern "C" __global__ void walk(const int* counts, int* output, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < counts[i]; k++)
        sum += output[k];
    if (i % 2 == 0)
        atomicAdd(output + n, sum);
    else
        atomicMax(output + n, sum);
    if (n < 0)
        output[0] = sum;
    note_large(output + n + 1, counts[i]);
    note_large(output + n + 2, counts[n - 1 - i]);
}

// The warps agree at the first branch, and disagree at the second one.
extern "C" __global__ void diverge(int* output)
{
    if (threadIdx.x >= 32)
        atomicAdd(output, 1);
    if (threadIdx.x % 32 < 10)
        atomicAdd(output + 1, 1);
}

// A branch by a table.
extern "C" __global__ void choose(int* output, int which)
{
    switch ((threadIdx.x + which) % 8) {
    case 0: atomicAdd(output, 1); break;
    case 1: atomicMax(output + 1, 2); break;
    case 2: atomicMin(output + 2, 3); break;
    case 3: atomicXor(output + 3, 4); break;
    case 4: atomicAnd(output + 4, 5); break;
    case 5: atomicOr(output + 5, 6); break;
    }
}

// An instruction with a guard, as compilers make of small statements for a GPU.
extern "C" __global__ void guard(int* output, int limit)
{
    asm volatile("{ .reg .pred %%p; setp.lt.s32 %%p, %1, %2;\n @%%p red.global.add.s32 [%0], 1; }" ::"l"(output), "r"((int)threadIdx.x), "r"(limit));
}

// Fails after its first warp.
extern "C" __global__ void fail(int* output)
{
    atomicAdd(output, 1);
    if (threadIdx.x >= 32)
        __trap();
    atomicAdd(output + 1, 1);
}

extern "C" __global__ void never_launched(int* output)
{
    if (threadIdx.x < 7)
        atomicAdd(output, 1);
}
