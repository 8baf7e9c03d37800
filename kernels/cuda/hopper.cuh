// Hopper's own instructions, one short function for each: barriers, TMA, and the tensor cores of a warpgroup.
//
// Addresses in shared memory are 32-bit numbers, because these instructions take them as such.
#pragma once

// ANCHOR: map
// How a matrix lies in global memory, and which boxes of it are copied. The host makes it with cuTensorMapEncodeTiled, and
// a kernel takes it as a `__grid_constant__` parameter.
struct alignas(64) TensorMap {
    char bytes[128];
};
// ANCHOR_END: map

// The address of something in shared memory.
__device__ inline unsigned shared_address(const void* in_shared)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(in_shared));
}

// ANCHOR: barrier
// A barrier's phase ends when `arrivals` threads have arrived and all announced bytes have been copied. Then the next one begins.
__device__ inline void init_barrier(unsigned s_barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(s_barrier), "r"(arrivals) : "memory");
}

// Lets other blocks of a cluster see the barriers that this thread initialized.
__device__ inline void publish_barriers()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives at a barrier.
__device__ inline void arrive(unsigned s_barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(s_barrier) : "memory");
}

// Arrives, and announces how many bytes will be copied in this phase.
__device__ inline void arrive_and_expect(unsigned s_barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(s_barrier), "r"(bytes) : "memory");
}

// Waits until the phase with this parity has ended. Phases are counted from 0; the one before the first counts as ended.
__device__ inline void wait_for(unsigned s_barrier, unsigned parity)
{
    unsigned has_ended;
    do {
        asm volatile("{ .reg .pred ended; mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2; selp.u32 %0, 1, 0, ended; }"
                     : "=r"(has_ended)
                     : "r"(s_barrier), "r"(parity)
                     : "memory");
    } while (!has_ended);
}
// ANCHOR_END: barrier

// ANCHOR: ring
// The stages of a ring, one after another. All its barriers begin the next phase when it has gone around.
template <unsigned STAGES>
struct Ring {
    unsigned stage = 0, parity = 0;

    __device__ void advance()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }

    __device__ unsigned previous() const
    {
        return stage == 0 ? STAGES - 1 : stage - 1;
    }
};
// ANCHOR_END: ring

// ANCHOR: start_box
// Starts to copy a box of a matrix to shared memory. Its first number has this column and row; numbers beyond the matrix
// become zeros. The bytes of the whole box count for the barrier.
__device__ inline void start_box(unsigned s_to, const TensorMap& map, unsigned column, unsigned row, unsigned s_barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(s_to), "l"(&map), "r"(column), "r"(row), "r"(s_barrier)
                 : "memory");
}
// ANCHOR_END: start_box

// ANCHOR: cluster
// The blocks of a cluster, and which of them this one is.
__device__ inline unsigned blocks_in_cluster()
{
    unsigned blocks;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

__device__ inline unsigned rank_in_cluster()
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// Waits until all threads of all blocks of the cluster are here. Then each sees what the others stored before.
__device__ inline void wait_for_cluster()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The address of the same place in another block's shared memory.
__device__ inline unsigned in_block(unsigned s_place, unsigned rank)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(s_place), "r"(rank));
    return there;
}

// Loads four numbers from a block's shared memory.
__device__ inline void load_from_block(float4& four, unsigned s_from)
{
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
                 : "r"(s_from)
                 : "memory");
}
// ANCHOR_END: cluster

// Waits until this many threads of the block are here.
template <unsigned THREADS>
__device__ inline void wait_for_threads()
{
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
}

// ANCHOR: registers
// Returns registers until each thread has this many. All warps of a warpgroup execute it.
template <unsigned REGISTERS>
__device__ inline void keep_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// Takes registers that others returned, until each thread has this many.
template <unsigned REGISTERS>
__device__ inline void take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
// ANCHOR_END: registers

// ANCHOR: products
// Lets the tensor cores see the registers as they are now. It comes before the first `multiply_add` of a group.
__device__ inline void begin_products()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Ends a group of `multiply_add`.
__device__ inline void end_products()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits for all groups except the latest LEFT. Until then, nobody may touch their registers or the tiles that they read.
template <unsigned LEFT>
__device__ inline void wait_for_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}
// ANCHOR_END: products

// ANCHOR: describe
// Describes a tile of rows of 128 bytes in shared memory, in which TMA has permuted the 16-byte chunks of each
// row (CU_TENSOR_MAP_SWIZZLE_128B). The tile starts at a multiple of 1024 bytes: the pattern repeats every 8 rows.
__device__ inline unsigned long long describe(unsigned s_tile)
{
    constexpr unsigned long long EIGHT_ROWS = 1024, SWIZZLE_128B = 1;
    // Addresses are in units of 16 bytes. The field at bit 16 is not used for this pattern.
    return s_tile >> 4 | 1ull << 16 | EIGHT_ROWS >> 4 << 32 | SWIZZLE_128B << 62;
}
// ANCHOR_END: describe

// ANCHOR: multiply_add
// Starts sums += L R for a warpgroup. L has 64 rows of 8 numbers, which are in the registers of its threads. R has 8 numbers in each of
// its columns, which are in shared memory as `describe` says: two for each sum of a thread.
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)

__device__ inline void multiply_add(float (&sums)[32], const unsigned (&left)[4], unsigned long long right)
{
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "{%32, %33, %34, %35}, %36, add, 1, 1; }"
                 : SUMS_16(0), SUMS_16(16)
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));
}

__device__ inline void multiply_add(float (&sums)[64], const unsigned (&left)[4], unsigned long long right)
{
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "{%64, %65, %66, %67}, %68, add, 1, 1; }"
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));
}

__device__ inline void multiply_add(float (&sums)[96], const unsigned (&left)[4], unsigned long long right)
{
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n192k8.f32.tf32.tf32 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
                 "{%96, %97, %98, %99}, %100, add, 1, 1; }"
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48),
                   SUMS_16(64), SUMS_16(80)
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));
}

__device__ inline void multiply_add(float (&sums)[128], const unsigned (&left)[4], unsigned long long right)
{
    asm volatile("{ .reg .pred add; setp.eq.u32 add, 0, 0; wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "{%128, %129, %130, %131}, %132, add, 1, 1; }"
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48),
                   SUMS_16(64), SUMS_16(80), SUMS_16(96), SUMS_16(112)
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));
}

#undef SUMS_4
#undef SUMS_16
// ANCHOR_END: multiply_add
