// 06-matmul-tiled-hopper: the product of two matrices on Hopper's tensor cores, which four warps use together.
//
//     c[row][column] = sum over i < k of tf32(a[row][i]) * tf32(b[i][column]),   row < m, column < n
//
// Since 06-matmul-tiled-tensor: one instruction multiplies 64 x 8 by 8 x 256 numbers, and reads the larger factor straight
//          from shared memory. It runs in the background. TMA fills the tiles and rounds the numbers to tf32,
//          so no thread spends instructions on copies.
// Launch:  `wgmma` and `wgmma_ring`: blocks of CONSUMERS threads; gridDim.x is the number of tiles of COLUMNS columns,
//          gridDim.y is the number of tiles of ROWS rows. `wgmma_tf32`: blocks of THREADS, any number of them in gridDim.x.
//          STAGES stages of dynamic shared memory and BARRIER_BYTES for the barriers; `wgmma` has one stage.
//          The map of `a` has boxes of DEPTH columns and ROWS rows, the map of `b` boxes of BOX columns and DEPTH rows,
//          both of type TFLOAT32 with SWIZZLE_128B.
// Work:    per output, k multiply-adds on tensor cores. For every 8 columns of `a`, a thread loads 4 numbers of `b`, which
//          are enough for one instruction of its warpgroup.
// Sizes:   m, n, k >= 1. n and k have to be multiples of 4: a map's rows start at multiples of 16 bytes.

#include "hopper.cuh"
#include "06-matmul-tiled-hopper.cuh"

// Rows of the outputs of a block.
constexpr unsigned ROWS = 256;
// Pairs of tiles in shared memory: one is used and the others are on their way.
constexpr unsigned STAGES = 4;
constexpr unsigned A_BYTES = ROWS * ROW_BYTES;
constexpr unsigned STAGE_BYTES = 49152;
static_assert(STAGE_BYTES == A_BYTES + BOXES * BOX_BYTES);
// Two barriers for each stage.
constexpr unsigned BARRIER_BYTES = 64;
static_assert(BARRIER_BYTES == STAGES * 2 * 8);
// Threads of a block with a warpgroup that copies.
constexpr unsigned THREADS = 384;
static_assert(THREADS == CONSUMERS + 128);

extern __shared__ __align__(1024) char s_memory[];

// ANCHOR: start_tiles
// Starts to copy a stage: a tile of A, and the boxes of B with 32 columns each.
__device__ void start_tiles(unsigned s_stage, unsigned s_full, const TensorMap& a, const TensorMap& b, Place place, unsigned at)
{
    arrive_and_expect(s_full, STAGE_BYTES);
    start_box(s_stage, a, at, place.row, s_full);
    for (unsigned i = 0; i < BOXES; ++i) {
        start_box(s_stage + A_BYTES + i * BOX_BYTES, b, place.column + i * BOX, at, s_full);
    }
}
// ANCHOR_END: start_tiles

// ANCHOR: wgmma
extern "C" __global__ void __launch_bounds__(CONSUMERS, 1)
wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k, float* c)
{
    const unsigned s_stage = shared_address(s_memory), s_full = s_stage + STAGE_BYTES;
    const Place place = {blockIdx.y * ROWS, blockIdx.x * COLUMNS};
    if (threadIdx.x == 0) {
        init_barrier(s_full, 1);
        publish_barriers();
    }
    // The barrier is initialized before any thread waits for it.
    __syncthreads();

    const Position position = ::position();
    Fragments of_b;
    float sums[ROWS / 2] = {};
    unsigned parity = 0;
#pragma unroll 1
    for (unsigned at = 0; at < k; at += DEPTH) {
        if (threadIdx.x == 0) {
            start_tiles(s_stage, s_full, a, b, place, at);
        }
        wait_for(s_full, parity);
        multiply_tiles(sums, of_b, s_stage, position);
        wait_for_products<0>();
        parity ^= 1;
        // The tensor cores have read the tiles for both warpgroups before the next tiles overwrite them.
        __syncthreads();
    }
    store(sums, place.row + position.row, place.column + position.column, m, n, c);
}
// ANCHOR_END: wgmma

// ANCHOR: wgmma_ring
extern "C" __global__ void __launch_bounds__(CONSUMERS, 1)
wgmma_ring(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k, float* c)
{
    const unsigned s_first = shared_address(s_memory), s_full = s_first + STAGES * STAGE_BYTES;
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

    const Position position = ::position();
    float sums[ROWS / 2] = {};
    const auto multiply_slab = [&](unsigned slab, Fragments& of_b) __attribute__((always_inline)) {
        wait_for(s_full + 8 * (slab % STAGES), slab / STAGES % 2);
        multiply_tiles(sums, of_b, s_first + slab % STAGES * STAGE_BYTES, position);
        // The products of this slab may still run, but those of the previous one have ended.
        wait_for_products<1>();
        // Both warpgroups' products of the previous slab have ended before its tiles are overwritten.
        __syncthreads();
        if (threadIdx.x == 0 && slab > 0 && slab - 1 + STAGES < slabs) {
            start_slab(slab - 1 + STAGES);
        }
    };
    // The tensor cores still read the numbers of the previous slab while those of the next one are loaded.
    Fragments of_even, of_odd;
    unsigned slab = 0;
#pragma unroll 1
    for (; slab + 1 < slabs; slab += 2) {
        multiply_slab(slab, of_even);
        multiply_slab(slab + 1, of_odd);
    }
    if (slab < slabs) {
        multiply_slab(slab, of_even);
    }
    wait_for_products<0>();
    store(sums, place.row + position.row, place.column + position.column, m, n, c);
}
// ANCHOR_END: wgmma_ring

// ANCHOR: wgmma_tf32
extern "C" __global__ void __launch_bounds__(THREADS, 1)
wgmma_tf32(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k, float* c)
{
    const unsigned s_first = shared_address(s_memory), s_full = s_first + STAGES * STAGE_BYTES, s_empty = s_full + 8 * STAGES;
    const unsigned slabs = (k + DEPTH - 1) / DEPTH, down = (m + ROWS - 1) / ROWS, across = (n + COLUMNS - 1) / COLUMNS;
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            init_barrier(s_full + 8 * stage, 1);
            init_barrier(s_empty + 8 * stage, CONSUMERS / 32);
        }
        publish_barriers();
    }
    // The barriers are initialized before any thread waits for them.
    __syncthreads();

    Ring<STAGES> ring;
    if (threadIdx.x >= CONSUMERS) {
// ANCHOR: producer
        keep_registers<24>();
        if (threadIdx.x == CONSUMERS) {
            for (unsigned tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
                const Place place = place_of<ROWS>(tile, down, across);
                for (unsigned slab = 0; slab < slabs; ++slab) {
                    wait_for(s_empty + 8 * ring.stage, ring.parity ^ 1);
                    start_tiles(s_first + ring.stage * STAGE_BYTES, s_full + 8 * ring.stage, a, b, place, slab * DEPTH);
                    ring.advance();
                }
            }
        }
// ANCHOR_END: producer
    } else {
// ANCHOR: consumer
        take_registers<240>();
        const Position position = ::position();
        // A warp no longer needs a stage when its products have ended.
        const auto release = [&](unsigned stage) {
            if (threadIdx.x % 32 == 0) {
                arrive(s_empty + 8 * stage);
            }
        };
#pragma unroll 1
        for (unsigned tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
            float sums[ROWS / 2] = {};
            const auto multiply_slab = [&](unsigned slab, Fragments& of_b) __attribute__((always_inline)) {
                wait_for(s_full + 8 * ring.stage, ring.parity);
                multiply_tiles(sums, of_b, s_first + ring.stage * STAGE_BYTES, position);
                wait_for_products<1>();
                if (slab > 0) {
                    release(ring.previous());
                }
                ring.advance();
            };
            Fragments of_even, of_odd;
            unsigned slab = 0;
#pragma unroll 1
            for (; slab + 1 < slabs; slab += 2) {
                multiply_slab(slab, of_even);
                multiply_slab(slab + 1, of_odd);
            }
            if (slab < slabs) {
                multiply_slab(slab, of_even);
            }
            wait_for_products<0>();
            release(ring.previous());
            const Place place = place_of<ROWS>(tile, down, across);
            store(sums, place.row + position.row, place.column + position.column, m, n, c);
        }
// ANCHOR_END: consumer
    }
}
// ANCHOR_END: wgmma_tf32
