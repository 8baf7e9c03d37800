// Hopper's tensor cores for bytes, besides what is in `hopper.cuh`. The four warps of a warpgroup execute these functions
// together.
#pragma once

// ANCHOR: describe
// Describes a matrix in shared memory: each of its rows is a row of K = 32 bytes, in two halves of 16. Eight rows make a
// group. The eight first halves lie one after the other, and so do the eight second halves. `half_step` is the way from the
// first halves to the second ones and `group_step` the way to the next group, both in bytes. They may be anything that is
// divisible by 16, so rows may overlap.
__device__ inline unsigned long long describe(const void* s_matrix, int half_step, int group_step)
{
    const unsigned long long address = __cvta_generic_to_shared(s_matrix);
    return address / 16 | static_cast<unsigned long long>(half_step / 16) << 16
         | static_cast<unsigned long long>(group_step / 16) << 32;
}
// ANCHOR_END: describe

// Shared memory that this thread has written is there for the tensor cores after the next barrier.
__device__ inline void publish_to_tensor_cores()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// `sums` += `bands` x `pixels`, both described by `describe`: 64 rows of 32 bytes times the transpose of some rows of 32
// bytes. The thread has two sums for each of these rows.
#define SUMS_4(i) "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)

__device__ inline void multiply(int (&sums)[8], unsigned long long bands, unsigned long long pixels)
{
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, add; }"
                 : SUMS_4(0), SUMS_4(4)
                 : "l"(bands), "l"(pixels));
}

__device__ inline void multiply(int (&sums)[16], unsigned long long bands, unsigned long long pixels)
{
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, add; }"
                 : SUMS_16(0)
                 : "l"(bands), "l"(pixels));
}

__device__ inline void multiply(int (&sums)[32], unsigned long long bands, unsigned long long pixels)
{
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, add; }"
                 : SUMS_16(0), SUMS_16(16)
                 : "l"(bands), "l"(pixels));
}

__device__ inline void multiply(int (&sums)[64], unsigned long long bands, unsigned long long pixels)
{
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, add; }"
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
                 : "l"(bands), "l"(pixels));
}

#undef SUMS_4
#undef SUMS_16
