// 06-matmul-tiled-hopper: the product of two matrices on Hopper's tensor cores, which four warps use together.
//
//     c[row][column] = sum over i < k of tf32(a[row][i]) * tf32(b[i][column]),   row < m, column < n
//
// Since 06-matmul-tiled-tensor: one instruction multiplies 64 x 8 by 8 x 256 numbers, and reads the larger factor straight
//          from shared memory. It runs in the background. TMA fills the tiles and rounds the numbers to tf32,
//          so no thread spends instructions on copies. Ring, producer and persistent blocks are those of 06-matmul-half.
// Launch:  blocks of THREADS, any number of them in gridDim.x.
//          STAGES stages of dynamic shared memory and BARRIER_BYTES for the barriers.
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

// Starts to copy a stage: a tile of A, and the boxes of B with 32 columns each.
__device__ void start_tiles(unsigned s_stage, unsigned s_full, const TensorMap& a, const TensorMap& b, Place place, unsigned at)
{
    arrive_and_expect(s_full, STAGE_BYTES);
    start_box(s_stage, a, at, place.row, s_full);
    for (unsigned i = 0; i < BOXES; ++i) {
        start_box(s_stage + A_BYTES + i * BOX_BYTES, b, place.column + i * BOX, at, s_full);
    }
}

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
    } else {
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
    }
}
// ANCHOR_END: wgmma_tf32
