// Tiles of 128 x 256 outputs by one warp that copies and two warpgroups that multiply, whatever the numbers are.
//
// `Factors` says what they are: DEPTH numbers have the 128 bytes of a row of a box; `start_products` starts the instructions
// of a stage, and `box_of_b` finds a box of B in its matrix. `Finish` makes outputs of sums: `begin` is called before the
// products of a tile, `end` after them, and for two neighboring columns it returns a pair of bf16.
#pragma once

#include "06-matmul-half-hopper.cuh"

// Threads that multiply: two warpgroups of 128 threads, each with 64 of the rows.
constexpr unsigned CONSUMERS = 256;
static_assert(CONSUMERS / 128 * 64 == ROWS);
// Threads of a block with a warpgroup that copies.
constexpr unsigned THREADS = 384;
static_assert(THREADS == CONSUMERS + 128);
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

extern __shared__ __align__(1024) char s_memory[];

// ANCHOR: multiply_tile
// Multiplies the tiles of a ring, and tells `release` when a stage is no longer needed.
template <class Factors, class Release>
__device__ void multiply_tile(float (&sums)[COLUMNS / 2], unsigned s_full, Ring<STAGES>& ring, unsigned slabs, unsigned group,
                              Release release)
{
    const unsigned s_first = shared_address(s_memory);
#pragma unroll 1
    for (unsigned slab = 0; slab < slabs; ++slab) {
        wait_for(s_full + 8 * ring.stage, ring.parity);
        Factors::start_products(sums, s_first + ring.stage * STAGE_BYTES, group, slab == 0);
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

// A number for each column of a tile, for each warpgroup.
constexpr unsigned COLUMN_BYTES = 2048;
static_assert(COLUMN_BYTES == CONSUMERS / 128 * COLUMNS * sizeof(float));

// ANCHOR: of_columns
// Numbers that belong to the columns of C. A thread loads two of a tile before the products, so they arrive meanwhile, and
// writes them to shared memory after the products, for all threads of its warpgroup.
struct OfColumns {
    const float* numbers;
    unsigned n;
    float two[2];

    __device__ unsigned s_numbers() const
    {
        return shared_address(s_memory) + STAGES * STAGE_BYTES + OUTPUT_BYTES + BARRIER_BYTES + threadIdx.x / 128 * COLUMNS * 4;
    }

    __device__ void begin(Place place)
    {
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) {
            const unsigned column = place.column + threadIdx.x % 128 * 2 + i;
            two[i] = column < n ? numbers[column] : 0;
        }
    }

    // A barrier of the warpgroup comes before the numbers are read.
    __device__ void end()
    {
        write(s_numbers() + threadIdx.x % 128 * 8, __float_as_uint(two[0]));
        write(s_numbers() + threadIdx.x % 128 * 8 + 4, __float_as_uint(two[1]));
    }

    // The numbers of a column, which is even, and of the next one.
    __device__ float2 of(unsigned column) const
    {
        return read_two(s_numbers() + column * 4);
    }
};
// ANCHOR_END: of_columns

// ANCHOR: store_tile
// Stores the 64 x 256 outputs of a warpgroup. It writes them to shared memory box by box, and TMA stores a box while the
// next one is written.
template <class Finish>
__device__ void store_tile(const float (&sums)[COLUMNS / 2], unsigned s_output, unsigned group, const TensorMap& c, Place place,
                           const Finish& finish)
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
                write(s_pair, finish(sums[sum], sums[sum + 1], half, box * BOX + i * 8 + lane % 4 * 2));
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
template <unsigned BLOCKS, class Factors, class Finish>
__device__ void multiply_tiles(const TensorMap& a, const TensorMap& b, const TensorMap& c, unsigned m, unsigned n, unsigned k,
                               Finish finish)
{
    constexpr unsigned DEPTH = Factors::DEPTH;
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
        wait_for_cluster();
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
// ANCHOR: start_shared_tiles
                    // All bytes of the stage count for this block's barrier, whoever copies them.
                    arrive_and_expect(full, STAGE_BYTES);
                    start_box(s_stage, a, slab * DEPTH, place.row, full);
                    for (unsigned i = rank; i < BOXES; i += BLOCKS) {
                        const unsigned s_box = s_stage + A_BYTES + i * BOX_BYTES;
                        const Place from = Factors::box_of_b(slab * DEPTH, place.column + i * BOX);
                        if (BLOCKS == 1) {
                            start_box(s_box, b, from.column, from.row, full);
                        } else {
                            start_box_in((1 << BLOCKS) - 1, s_box, b, from.column, from.row, full);
                        }
                    }
// ANCHOR_END: start_shared_tiles
                    ring.advance();
                }
            }
        }
    } else {
        take_registers<232>();
#pragma unroll 1
        for (unsigned tile = first; tile < tiles; tile += next) {
            const Place place = place_of_this(tile);
            finish.begin({place.row + group * 64, place.column});
            float sums[COLUMNS / 2];
            multiply_tile<Factors>(sums, s_full, ring, slabs, group, [&](unsigned stage) {
                const unsigned thread = threadIdx.x % 128;
                if (BLOCKS == 1) {
                    if (thread == 0) {
                        arrive(s_empty + 8 * stage);
                    }
                } else if (thread < BLOCKS) {
                    arrive_in(s_empty + 8 * stage, thread);
                }
            });
            finish.end();
            store_tile(sums, s_output, group, c, place, finish);
        }
        // The shared memory exists until all stores have read it.
        if (threadIdx.x % 128 == 0) {
            wait_for_reads<0>();
        }
    }
    // No block ends while others may still arrive at its barriers or copy to its memory.
    if (BLOCKS > 1) {
        wait_for_cluster();
    }
}
// ANCHOR_END: multiply_tiles
