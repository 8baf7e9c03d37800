// 06-matmul-half-hopper: the product of two matrices of bf16 numbers on Hopper's tensor cores, which four warps use together.
//
//     c[row][column] = bf16(sum over i < k of a[row][i] * b[i][column]),   row < m, column < n
//
// Since 06-matmul-half: one instruction multiplies 64 x 16 by 16 x 256 numbers, and reads both factors from shared memory.
//          It runs in the background. TMA fills the tiles, swizzled.
// Launch:  `wgmma` and `ring`: blocks of CONSUMERS threads, `producer`: of THREADS; gridDim.x is the number of tiles of
//          COLUMNS columns, gridDim.y is the number of tiles of ROWS rows. `stores`: blocks of THREADS, any number of
//          them in gridDim.x. `multicast`: the same, in clusters of PAIR blocks.
//          STAGES stages of dynamic shared memory, BARRIER_BYTES for the barriers, and for `stores` and `multicast`
//          OUTPUT_BYTES in between; `wgmma` has one stage. `small`: blocks of SMALL_THREADS, SMALL_BYTES, and gridDim.x is
//          the number of tiles of SMALL_ROWS x SMALL_COLUMNS. `slices`: the same with tiles of SMALL_ROWS x SLICE_COLUMNS,
//          SLICE_BYTES, and PAIR blocks for each tile, which are a cluster.
//          The map of `a` has boxes of BOX columns and ROWS rows, that of `b` boxes of BOX columns and DEPTH rows, and that
//          of `c` boxes of BOX columns and 64 rows (`small`, `slices`: that of `a` as well), all of type BFLOAT16 with SWIZZLE_128B.
// Work:    per output, k multiply-adds on tensor cores.
// Sizes:   m, n, k >= 1. n and k have to be multiples of 8: a map's rows start at multiples of 16 bytes.

#include "06-matmul-half-hopper.cuh"

// Threads that multiply: two warpgroups of 128 threads, each with 64 of the rows.
constexpr unsigned CONSUMERS = 256;
static_assert(CONSUMERS / 128 * 64 == ROWS);
// Threads of a block with a warpgroup that copies.
constexpr unsigned THREADS = 384;
static_assert(THREADS == CONSUMERS + 128);
// Rows of B that one instruction takes.
constexpr unsigned STEP = 16;
// Pairs of tiles in shared memory: one is used and the others are on their way.
constexpr unsigned STAGES = 4;
// Two barriers for each stage.
constexpr unsigned BARRIER_BYTES = 64;
static_assert(BARRIER_BYTES == STAGES * 2 * 8);
// Boxes of outputs that each warpgroup has in shared memory: one is stored and one is written.
constexpr unsigned SLOTS = 2;
constexpr unsigned OUTPUT_BYTES = 32768;
static_assert(OUTPUT_BYTES == CONSUMERS / 128 * SLOTS * BOX_BYTES);
// Blocks that share tiles of B, or the sums of a tile.
constexpr unsigned PAIR = 2;
// Smaller tiles, for products that do not have a large one for every multiprocessor: 64 rows for one warpgroup, and a warp
// that copies.
constexpr unsigned SMALL_ROWS = 64;
constexpr unsigned SMALL_COLUMNS = 128;
constexpr unsigned SMALL_STAGES = 8;
constexpr unsigned SLICE_COLUMNS = 64;
constexpr unsigned SLICE_STAGES = 12;
constexpr unsigned SMALL_THREADS = 160;
constexpr unsigned SMALL_BYTES = 196736;
static_assert(SMALL_BYTES == SMALL_STAGES * ((SMALL_ROWS + SMALL_COLUMNS) * ROW_BYTES + 16));
constexpr unsigned SLICE_BYTES = 196800;
static_assert(SLICE_BYTES == SLICE_STAGES * ((SMALL_ROWS + SLICE_COLUMNS) * ROW_BYTES + 16));

extern __shared__ __align__(1024) char s_memory[];

// ANCHOR: start_tiles
// Starts to copy a stage: a tile of A, and the boxes of B with 64 columns each.
__device__ void start_tiles(unsigned s_stage, unsigned s_full, const TensorMap& a, const TensorMap& b, Place place, unsigned at)
{
    arrive_and_expect(s_full, STAGE_BYTES);
    start_box(s_stage, a, at, place.row, s_full);
    for (unsigned i = 0; i < BOXES; ++i) {
        start_box(s_stage + A_BYTES + i * BOX_BYTES, b, place.column + i * BOX, at, s_full);
    }
}
// ANCHOR_END: start_tiles

// ANCHOR: start_products
// Starts the instructions of a stage. The first ones of a tile overwrite the sums.
__device__ void start_products(float (&sums)[COLUMNS / 2], unsigned s_stage, unsigned group, bool is_first)
{
    begin_products();
#pragma unroll
    for (unsigned step = 0; step < DEPTH / STEP; ++step) {
        const unsigned s_rows = s_stage + group * 64 * ROW_BYTES + step * STEP * sizeof(bf16);
        const unsigned s_columns = s_stage + A_BYTES + step * STEP * ROW_BYTES;
        multiply_add(sums, describe_rows(s_rows), describe_columns(s_columns), !is_first || step > 0);
    }
    end_products();
}
// ANCHOR_END: start_products

// ANCHOR: wgmma
extern "C" __global__ void __launch_bounds__(CONSUMERS, 1)
wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k, bf16* c)
{
    const unsigned s_stage = shared_address(s_memory), s_full = s_stage + STAGE_BYTES;
    const unsigned group = threadIdx.x / 128;
    const Place place = {blockIdx.y * ROWS, blockIdx.x * COLUMNS};
    if (threadIdx.x == 0) {
        init_barrier(s_full, 1);
        publish_barriers();
    }
    // The barrier is initialized before any thread waits for it.
    __syncthreads();

    float sums[COLUMNS / 2];
    unsigned parity = 0;
#pragma unroll 1
    for (unsigned at = 0; at < k; at += DEPTH) {
        if (threadIdx.x == 0) {
            start_tiles(s_stage, s_full, a, b, place, at);
        }
        wait_for(s_full, parity);
        start_products(sums, s_stage, group, at == 0);
        wait_for_products<0>();
        parity ^= 1;
        // The tensor cores have read the tiles for both warpgroups before the next tiles overwrite them.
        __syncthreads();
    }
    store_sums(sums, {place.row + group * 64, place.column}, m, n, c);
}
// ANCHOR_END: wgmma

// ANCHOR: ring
extern "C" __global__ void __launch_bounds__(CONSUMERS, 1)
ring(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k, bf16* c)
{
    const unsigned s_first = shared_address(s_memory), s_full = s_first + STAGES * STAGE_BYTES;
    const unsigned group = threadIdx.x / 128;
    const Place place = {blockIdx.y * ROWS, blockIdx.x * COLUMNS};
    const unsigned slabs = (k + DEPTH - 1) / DEPTH;
    const auto start_slab = [&](unsigned slab) {
        const unsigned stage = slab % STAGES;
        start_tiles(s_first + stage * STAGE_BYTES, s_full + 8 * stage, a, b, place, slab * DEPTH);
    };
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            init_barrier(s_full + 8 * stage, 1);
        }
        publish_barriers();
        for (unsigned slab = 0; slab < min(STAGES, slabs); ++slab) {
            start_slab(slab);
        }
    }
    // The barriers are initialized before any thread waits for them.
    __syncthreads();

    float sums[COLUMNS / 2];
#pragma unroll 1
    for (unsigned slab = 0; slab < slabs; ++slab) {
        wait_for(s_full + 8 * (slab % STAGES), slab / STAGES % 2);
        start_products(sums, s_first + slab % STAGES * STAGE_BYTES, group, slab == 0);
        // The products of this slab may still run, but those of the previous one have ended.
        wait_for_products<1>();
        // Both warpgroups' products of the previous slab have ended before its tiles are overwritten.
        __syncthreads();
        if (threadIdx.x == 0 && slab > 0 && slab - 1 + STAGES < slabs) {
            start_slab(slab - 1 + STAGES);
        }
    }
    wait_for_products<0>();
    store_sums(sums, {place.row + group * 64, place.column}, m, n, c);
}
// ANCHOR_END: ring

// ANCHOR: multiply_tile
// Multiplies the tiles of a ring, and tells `release` when a stage is no longer needed.
template <class Release>
__device__ void multiply_tile(float (&sums)[COLUMNS / 2], unsigned s_full, Ring<STAGES>& ring, unsigned slabs, unsigned group,
                              Release release)
{
    const unsigned s_first = shared_address(s_memory);
#pragma unroll 1
    for (unsigned slab = 0; slab < slabs; ++slab) {
        wait_for(s_full + 8 * ring.stage, ring.parity);
        start_products(sums, s_first + ring.stage * STAGE_BYTES, group, slab == 0);
        // The products of this slab may still run, but those of the previous one have ended.
        wait_for_products<1>();
        if (slab > 0) {
            release(ring.previous());
        }
        ring.advance();
    }
    wait_for_products<0>();
    release(ring.previous());
}
// ANCHOR_END: multiply_tile

// ANCHOR: producer
extern "C" __global__ void __launch_bounds__(THREADS, 1)
producer(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k, bf16* c)
{
    const unsigned s_first = shared_address(s_memory), s_full = s_first + STAGES * STAGE_BYTES, s_empty = s_full + 8 * STAGES;
    const unsigned group = threadIdx.x / 128, slabs = (k + DEPTH - 1) / DEPTH;
    const Place place = {blockIdx.y * ROWS, blockIdx.x * COLUMNS};
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            init_barrier(s_full + 8 * stage, 1);
            init_barrier(s_empty + 8 * stage, CONSUMERS / 128);
        }
        publish_barriers();
    }
    // The barriers are initialized before any thread waits for them.
    __syncthreads();

    Ring<STAGES> ring;
    if (threadIdx.x >= CONSUMERS) {
        keep_registers<40>();
        if (threadIdx.x == CONSUMERS) {
            for (unsigned slab = 0; slab < slabs; ++slab) {
                wait_for(s_empty + 8 * ring.stage, ring.parity ^ 1);
                start_tiles(s_first + ring.stage * STAGE_BYTES, s_full + 8 * ring.stage, a, b, place, slab * DEPTH);
                ring.advance();
            }
        }
    } else {
        take_registers<232>();
        float sums[COLUMNS / 2];
        multiply_tile(sums, s_full, ring, slabs, group, [&](unsigned stage) {
            // All four warps of this group have waited for their products together: one of them speaks for all.
            if (threadIdx.x % 128 == 0) {
                arrive(s_empty + 8 * stage);
            }
        });
        store_sums(sums, {place.row + group * 64, place.column}, m, n, c);
    }
}
// ANCHOR_END: producer

// ANCHOR: store_tile
// Stores the 64 x 256 outputs of a warpgroup. It writes them to shared memory box by box, and TMA stores a box while the
// next one is written.
__device__ void store_tile(const float (&sums)[COLUMNS / 2], unsigned s_output, unsigned group, const TensorMap& c, Place place)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    const bool stores = threadIdx.x % 128 == 0;
#pragma unroll
    for (unsigned box = 0; box < BOXES; ++box) {
        const unsigned s_box = s_output + (group * SLOTS + box % SLOTS) * BOX_BYTES;
        if (stores) {
            wait_for_reads<SLOTS - 1>();
        }
        // The last box that was here has been read before any thread writes.
        sync_group(group);
#pragma unroll
        for (unsigned i = 0; i < BOX / 8; ++i) {
#pragma unroll
            for (unsigned half = 0; half < 2; ++half) {
                const unsigned s_pair = s_box + swizzled(warp * 16 + half * 8 + lane / 4, i) + lane % 4 * sizeof(unsigned);
                const unsigned sum = box * BOX / 2 + i * 4 + half * 2;
                write(s_pair, pair(sums[sum], sums[sum + 1]));
            }
        }
        // All threads have written before the box is stored, and TMA sees what they wrote.
        show_to_tma();
        sync_group(group);
        if (stores) {
            store_box(c, place.column + box * BOX, place.row + group * 64, s_box);
            end_stores();
        }
    }
}
// ANCHOR_END: store_tile

// ANCHOR: multiply_tiles
// Computes the tiles of a block, or of one in a cluster of BLOCKS blocks, whose tiles are one below the other: they need the
// same columns of B, so each block copies a part of them for all.
template <unsigned BLOCKS>
__device__ void multiply_tiles(const TensorMap& a, const TensorMap& b, const TensorMap& c, unsigned m, unsigned n, unsigned k)
{
    const unsigned s_first = shared_address(s_memory), s_output = s_first + STAGES * STAGE_BYTES;
    const unsigned s_full = s_output + OUTPUT_BYTES, s_empty = s_full + 8 * STAGES;
    const unsigned rank = BLOCKS == 1 ? 0 : rank_in_cluster(), group = threadIdx.x / 128;
    constexpr unsigned HEIGHT = BLOCKS * ROWS;
    const unsigned slabs = (k + DEPTH - 1) / DEPTH, down = (m + HEIGHT - 1) / HEIGHT, across = (n + COLUMNS - 1) / COLUMNS;
    const unsigned first = blockIdx.x / BLOCKS, tiles = down * across, next = gridDim.x / BLOCKS;
    const auto place_of_this = [&](unsigned tile) {
        const Place place = place_of(tile, down, across, HEIGHT);
        return Place{place.row + rank * ROWS, place.column};
    };
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            init_barrier(s_full + 8 * stage, 1);
            init_barrier(s_empty + 8 * stage, BLOCKS * CONSUMERS / 128);
        }
        publish_barriers();
    }
    // The barriers are initialized before any thread of any block uses them.
    if (BLOCKS == 1) {
        __syncthreads();
    } else {
        sync_cluster();
    }

    Ring<STAGES> ring;
    if (threadIdx.x >= CONSUMERS) {
        keep_registers<40>();
        if (threadIdx.x == CONSUMERS) {
#pragma unroll 1
            for (unsigned tile = first; tile < tiles; tile += next) {
                const Place place = place_of_this(tile);
                for (unsigned slab = 0; slab < slabs; ++slab) {
                    const unsigned s_stage = s_first + ring.stage * STAGE_BYTES, full = s_full + 8 * ring.stage;
                    // With several blocks: the stage is no longer needed in any of them.
                    wait_for(s_empty + 8 * ring.stage, ring.parity ^ 1);
                    if (BLOCKS == 1) {
                        start_tiles(s_stage, full, a, b, place, slab * DEPTH);
                    } else {
// ANCHOR: start_shared_tiles
                        // All bytes of the stage count for this block's barrier, whoever copies them.
                        arrive_and_expect(full, STAGE_BYTES);
                        start_box(s_stage, a, slab * DEPTH, place.row, full);
                        for (unsigned i = rank; i < BOXES; i += BLOCKS) {
                            start_box_in((1 << BLOCKS) - 1, s_stage + A_BYTES + i * BOX_BYTES, b, place.column + i * BOX,
                                         slab * DEPTH, full);
                        }
// ANCHOR_END: start_shared_tiles
                    }
                    ring.advance();
                }
            }
        }
    } else {
        take_registers<232>();
#pragma unroll 1
        for (unsigned tile = first; tile < tiles; tile += next) {
            float sums[COLUMNS / 2];
            multiply_tile(sums, s_full, ring, slabs, group, [&](unsigned stage) {
                const unsigned thread = threadIdx.x % 128;
                if (BLOCKS == 1) {
                    if (thread == 0) {
                        arrive(s_empty + 8 * stage);
                    }
                } else if (thread < BLOCKS) {
                    arrive_in(s_empty + 8 * stage, thread);
                }
            });
            store_tile(sums, s_output, group, c, place_of_this(tile));
        }
        // The shared memory exists until all stores have read it.
        if (threadIdx.x % 128 == 0) {
            wait_for_reads<0>();
        }
    }
    // No block ends while others may still arrive at its barriers or copy to its memory.
    if (BLOCKS > 1) {
        sync_cluster();
    }
}
// ANCHOR_END: multiply_tiles

extern "C" __global__ void __launch_bounds__(THREADS, 1)
stores(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c, unsigned m,
       unsigned n, unsigned k)
{
    multiply_tiles<1>(a, b, c, m, n, k);
}

extern "C" __global__ void __attribute__((cluster_dims(PAIR, 1, 1))) __launch_bounds__(THREADS, 1)
multicast(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
          unsigned m, unsigned n, unsigned k)
{
    multiply_tiles<PAIR>(a, b, c, m, n, k);
}

// ANCHOR: small
// Computes a tile of one warpgroup. In a cluster of SLICES blocks, each has a slice of the sums, and delivers a part of the
// columns.
template <unsigned COLUMNS, unsigned SLICES, unsigned STAGES>
__device__ void multiply_small(const TensorMap& a, const TensorMap& b, unsigned m, unsigned n, unsigned k, bf16* c)
{
    constexpr unsigned A_BYTES = SMALL_ROWS * ROW_BYTES, STAGE_BYTES = A_BYTES + COLUMNS * ROW_BYTES;
    const unsigned s_first = shared_address(s_memory), s_full = s_first + STAGES * STAGE_BYTES, s_empty = s_full + 8 * STAGES;
    const unsigned rank = SLICES == 1 ? 0 : rank_in_cluster(), slabs = (k + DEPTH - 1) / DEPTH;
    const unsigned first = slabs * rank / SLICES, end = slabs * (rank + 1) / SLICES;
    const unsigned tile = blockIdx.x / SLICES, down = (m + SMALL_ROWS - 1) / SMALL_ROWS;
    const Place place = {tile % down * SMALL_ROWS, tile / down * COLUMNS};
    const bool multiplies = threadIdx.x < 128;
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            init_barrier(s_full + 8 * stage, 1);
            init_barrier(s_empty + 8 * stage, 1);
        }
        publish_barriers();
    }
    // The barriers are initialized before any thread waits for them.
    __syncthreads();

    Ring<STAGES> ring;
    float sums[COLUMNS / 2] = {};
    if (threadIdx.x == 128) {
        for (unsigned slab = first; slab < end; ++slab) {
            const unsigned s_stage = s_first + ring.stage * STAGE_BYTES, full = s_full + 8 * ring.stage;
            wait_for(s_empty + 8 * ring.stage, ring.parity ^ 1);
            arrive_and_expect(full, STAGE_BYTES);
            start_box(s_stage, a, slab * DEPTH, place.row, full);
            for (unsigned i = 0; i < COLUMNS / BOX; ++i) {
                start_box(s_stage + A_BYTES + i * BOX_BYTES, b, place.column + i * BOX, slab * DEPTH, full);
            }
            ring.advance();
        }
    } else if (multiplies) {
#pragma unroll 1
        for (unsigned slab = first; slab < end; ++slab) {
            const unsigned s_stage = s_first + ring.stage * STAGE_BYTES;
            wait_for(s_full + 8 * ring.stage, ring.parity);
            begin_products();
#pragma unroll
            for (unsigned step = 0; step < DEPTH / STEP; ++step) {
                multiply_add(sums, describe_rows(s_stage + step * STEP * sizeof(bf16)),
                             describe_columns(s_stage + A_BYTES + step * STEP * ROW_BYTES), true);
            }
            end_products();
            wait_for_products<1>();
            if (slab > first && threadIdx.x == 0) {
                arrive(s_empty + 8 * ring.previous());
            }
            ring.advance();
        }
        wait_for_products<0>();
    }
    if (SLICES == 1) {
        if (multiplies) {
            store_sums(sums, place, m, n, c);
        }
        return;
    }

    // ANCHOR: exchange
    constexpr unsigned PART = COLUMNS / 2 / SLICES;
    // All blocks have used their tiles. Sums of the others may go there.
    sync_cluster();
    if (multiplies) {
#pragma unroll
        for (unsigned to = 0; to < SLICES; ++to) {
            if (to != rank) {
                const unsigned s_sums = address_in(s_first + (rank * PART * 128 + threadIdx.x) * sizeof(float), to);
#pragma unroll
                for (unsigned i = 0; i < PART; ++i) {
                    write_in_cluster(s_sums + i * 128 * sizeof(float), sums[to * PART + i]);
                }
            }
        }
    }
    // All sums have arrived.
    sync_cluster();
    if (multiplies) {
        float part[PART];
#pragma unroll
        for (unsigned i = 0; i < PART; ++i) {
            part[i] = 0;
#pragma unroll
            for (unsigned from = 0; from < SLICES; ++from) {
                if (from == rank) {
                    part[i] += sums[from * PART + i];
                } else {
                    part[i] += read(s_first + ((from * PART + i) * 128 + threadIdx.x) * sizeof(float));
                }
            }
        }
        store_sums(part, {place.row, place.column + rank * COLUMNS / SLICES}, m, n, c);
    }
    // ANCHOR_END: exchange
}
// ANCHOR_END: small

extern "C" __global__ void __launch_bounds__(SMALL_THREADS, 1)
small(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k, bf16* c)
{
    multiply_small<SMALL_COLUMNS, 1, SMALL_STAGES>(a, b, m, n, k, c);
}

extern "C" __global__ void __attribute__((cluster_dims(PAIR, 1, 1))) __launch_bounds__(SMALL_THREADS, 1)
slices(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k, bf16* c)
{
    multiply_small<SLICE_COLUMNS, PAIR, SLICE_STAGES>(a, b, m, n, k, c);
}
