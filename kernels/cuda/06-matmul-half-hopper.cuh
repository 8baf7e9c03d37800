// What the kernels of 06-matmul-half for Hopper share: instructions beyond those of hopper.cuh, and the ring.
#pragma once

#include "hopper.cuh"
#include "06-matmul-half.cuh"

// ANCHOR: describe
// An address in a descriptor: 14 bits, in units of 16 bytes. In a cluster, further bits of an address say which block it is in.
__device__ inline unsigned long long address_bits(unsigned s_box)
{
    return s_box >> 4 & 0x3fff;
}

// Describes 64 rows of a box in which the numbers of a row are added up, such as the rows of A. Eight rows are 1024 bytes.
__device__ inline unsigned long long describe_rows(unsigned s_box)
{
    constexpr unsigned long long EIGHT_ROWS = 1024, SWIZZLE_128B = 1;
    // Distances are in units of 16 bytes as well. The field at bit 16 is not used here.
    return address_bits(s_box) | 1ull << 16 | EIGHT_ROWS >> 4 << 32 | SWIZZLE_128B << 62;
}

// Describes boxes in which the numbers of a column are added up, such as the columns of B: 64 columns to a box.
__device__ inline unsigned long long describe_columns(unsigned s_box)
{
    constexpr unsigned long long EIGHT_ROWS = 1024, SWIZZLE_128B = 1;
    return address_bits(s_box) | static_cast<unsigned long long>(BOX_BYTES) >> 4 << 16 | EIGHT_ROWS >> 4 << 32 | SWIZZLE_128B << 62;
}
// ANCHOR_END: describe

// ANCHOR: multiply_add
// Starts sums = A B, or sums += A B, for a warpgroup. A has 64 rows of 16 numbers and B 16 rows of 256, 128 or 64; both are in
// shared memory as the descriptors say. Of a thread's sums, 4 i to 4 i + 3 are in the columns 8 i to 8 i + 7.
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)

__device__ inline void multiply_add(float (&sums)[128], unsigned long long left, unsigned long long right, bool adds)
{
    asm volatile("{ .reg .pred add; setp.ne.u32 add, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, add, 1, 1, 0, 1; }"
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48),
                   SUMS_16(64), SUMS_16(80), SUMS_16(96), SUMS_16(112)
                 : "l"(left), "l"(right), "r"(static_cast<unsigned>(adds)));
}

__device__ inline void multiply_add(float (&sums)[64], unsigned long long left, unsigned long long right, bool adds)
{
    asm volatile("{ .reg .pred add; setp.ne.u32 add, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, add, 1, 1, 0, 1; }"
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
                 : "l"(left), "l"(right), "r"(static_cast<unsigned>(adds)));
}

__device__ inline void multiply_add(float (&sums)[32], unsigned long long left, unsigned long long right, bool adds)
{
    asm volatile("{ .reg .pred add; setp.ne.u32 add, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, add, 1, 1, 0, 1; }"
                 : SUMS_16(0), SUMS_16(16)
                 : "l"(left), "l"(right), "r"(static_cast<unsigned>(adds)));
}

#undef SUMS_4
#undef SUMS_16
// ANCHOR_END: multiply_add

// ANCHOR: stores
// Lets TMA see what this thread has written to shared memory.
__device__ inline void show_to_tma()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Writes two numbers to shared memory.
__device__ inline void write(unsigned s_pair, unsigned two)
{
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(s_pair), "r"(two) : "memory");
}

// Starts to store a box from shared memory to a matrix. What lies beyond the matrix is left out.
__device__ inline void store_box(const TensorMap& map, unsigned column, unsigned row, unsigned s_from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(&map), "r"(column), "r"(row), "r"(s_from)
                 : "memory");
}

// Ends a group of stores.
__device__ inline void end_stores()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until this thread's stores have read their shared memory, except for the latest LEFT groups.
template <unsigned LEFT>
__device__ inline void wait_for_reads()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

// Waits until all 128 threads of a warpgroup are here. Barrier 0 is that of `__syncthreads`.
__device__ inline void sync_group(unsigned group)
{
    asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
}
// ANCHOR_END: stores

// ANCHOR: cluster
// Writes a number to the shared memory of a block of the cluster, at an address of `in_block`.
__device__ inline void write_in_cluster(unsigned s_there, float value)
{
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(s_there), "f"(value) : "memory");
}

// Reads a number from this block's shared memory.
__device__ inline float read(unsigned s_number)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(s_number) : "memory");
    return value;
}

// Reads two neighbors.
__device__ inline float2 read_two(unsigned s_numbers)
{
    float2 two;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(two.x), "=f"(two.y) : "r"(s_numbers) : "memory");
    return two;
}

// Arrives at the barrier of a block of the cluster.
__device__ inline void arrive_in(unsigned s_barrier, unsigned rank)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(in_block(s_barrier, rank)) : "memory");
}

// Starts to copy a box to the same place in several blocks of the cluster: bit i of `blocks` is for block i. The bytes
// count for the barrier that has this address in each of them.
__device__ inline void start_box_in(unsigned short blocks, unsigned s_to, const TensorMap& map, unsigned column, unsigned row,
                                    unsigned s_barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(s_to), "l"(&map), "r"(column), "r"(row), "r"(s_barrier), "h"(blocks)
                 : "memory");
}
// ANCHOR_END: cluster

// ANCHOR: place
// Row and column of the first output of a tile.
struct Place {
    unsigned row, column;
};

// Blocks take tiles of C from bands of TILES_DOWN tiles, column by column, so blocks that run at the same time share tiles
// of both A and B, which L2 then has.
constexpr unsigned TILES_DOWN = 8;

// Finds a tile by its number. C has `down` times `across` tiles, each with `rows` rows.
__device__ inline Place place_of(unsigned tile, unsigned down, unsigned across, unsigned rows)
{
    const unsigned band = tile / (TILES_DOWN * across), within = tile % (TILES_DOWN * across);
    const unsigned height = min(TILES_DOWN, down - band * TILES_DOWN);
    return {(band * TILES_DOWN + within % height) * rows, within / height * COLUMNS};
}
// ANCHOR_END: place

// ANCHOR: store_sums
// Stores the sums of a warpgroup, whose first output has this place. A thread has two neighboring columns of every eight.
// n is a multiple of 8: of two neighbors, both exist or neither.
template <unsigned SUMS>
__device__ inline void store_sums(const float (&sums)[SUMS], Place place, unsigned m, unsigned n, bf16* c)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        const unsigned row = place.row + warp * 16 + half * 8 + lane / 4;
#pragma unroll
        for (unsigned i = 0; i < SUMS / 4; ++i) {
            const unsigned column = place.column + i * 8 + lane % 4 * 2;
            if (row < m && column < n) {
                const unsigned two = pair(sums[i * 4 + half * 2], sums[i * 4 + half * 2 + 1]);
                *reinterpret_cast<unsigned*>(c + static_cast<size_t>(row) * n + column) = two;
            }
        }
    }
}
// ANCHOR_END: store_sums
