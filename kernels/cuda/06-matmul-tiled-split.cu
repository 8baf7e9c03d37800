// 06-matmul-tiled-split: the product of two matrices on Hopper's tensor cores, as accurate as with f32 factors.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n
//
// Since 06-matmul-tiled-hopper: every factor is the sum of two numbers of 11 binary digits, high and low, and a remainder
//          that is too small to matter. The tensor cores multiply high by high, high by low and low by high. They cut off the digits that
//          do not fit into a sum, always toward zero, so sums of 128 terms are added up by ordinary additions, which round.
// Launch:  `split_off_low`: any grid of any blocks. Then `tensor_3xtf32`: blocks of THREADS, any number of them in gridDim.x, with
//          STAGES stages of dynamic shared memory and BARRIER_BYTES for the barriers.
//          The maps of `a` and `low` have boxes of DEPTH columns and ROWS rows and the type TFLOAT32, so that what
//          arrives is the high part of `a`. The map of `b` has boxes of BOX columns and DEPTH rows and the type FLOAT32.
//          All have SWIZZLE_128B.
// Work:    per output, 3 k multiply-adds on tensor cores and k / 128 additions. For every 8 columns of `a`, a thread loads
//          4 numbers of `b`, which are enough for three instructions of its warpgroup.
// Sizes:   m, n, k >= 1. n and k have to be multiples of 4: a map's rows start at multiples of 16 bytes. Factors have to be finite:
//          the low part of an infinite number is not a number.

#include "hopper.cuh"
#include "06-matmul-tiled-hopper.cuh"

// Rows of the outputs of a block. With 256 there would be no registers for a second set of sums.
constexpr unsigned ROWS = 128;
// Triples of tiles in shared memory: of A, of its low part, and of B.
constexpr unsigned STAGES = 4;
constexpr unsigned A_BYTES = ROWS * ROW_BYTES;
constexpr unsigned STAGE_BYTES = 49152;
static_assert(STAGE_BYTES == 2 * A_BYTES + BOXES * BOX_BYTES);
// Two barriers for each stage.
constexpr unsigned BARRIER_BYTES = 64;
static_assert(BARRIER_BYTES == STAGES * 2 * 8);
// Threads of a block: two warpgroups multiply, and one copies.
constexpr unsigned THREADS = 384;
static_assert(THREADS == CONSUMERS + 128);
// Slabs whose products the tensor cores add up by themselves.
constexpr unsigned SLABS = 4;

extern __shared__ __align__(1024) char s_memory[];

// ANCHOR: low_part
// The nearest number of 11 binary digits; of two equally near ones, the one that ends with 0. TMA rounds like
// this as well.
__device__ float high_part(float value)
{
    unsigned high;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(high) : "f"(value));
    return __uint_as_float(high);
}

// The rest, which is exact: it has the sign and at most 12 digits.
__device__ float low_part(float value)
{
    return value - high_part(value);
}

// The low parts of `count` vectors.
extern "C" __global__ void split_off_low(const float4* __restrict__ values, float4* __restrict__ low, size_t count)
{
    const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const float4 four = values[i];
        low[i] = make_float4(low_part(four.x), low_part(four.y), low_part(four.z), low_part(four.w));
    }
}
// ANCHOR_END: low_part

// Starts to copy a stage: a tile of A, one of its low part, and the boxes of B with 32 columns each.
__device__ void start_tiles(unsigned s_stage, unsigned s_full, const TensorMap& a, const TensorMap& low, const TensorMap& b,
                            Place place, unsigned at)
{
    arrive_and_expect(s_full, STAGE_BYTES);
    start_box(s_stage, a, at, place.row, s_full);
    start_box(s_stage + A_BYTES, low, at, place.row, s_full);
    for (unsigned i = 0; i < BOXES; ++i) {
        start_box(s_stage + 2 * A_BYTES + i * BOX_BYTES, b, place.column + i * BOX, at, s_full);
    }
}

// ANCHOR: multiply_tiles
// Numbers of B for all instructions of a stage, in two parts.
struct SplitFragments {
    unsigned high[DEPTH / STEP][4], low[DEPTH / STEP][4];
};

// Starts the instructions of a stage. Inlined, because a call would keep the sums in memory while the tensor cores add to them.
__device__ __forceinline__ void multiply_tiles(float (&sums)[ROWS / 2], SplitFragments& of_b, unsigned s_stage, const Position& position)
{
#pragma unroll
    for (unsigned step = 0; step < DEPTH / STEP; ++step) {
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            unsigned pair[2];
            load_pair(pair, s_stage + 2 * A_BYTES + position.at[half] + step * STEP * ROW_BYTES);
#pragma unroll
            for (unsigned i = 0; i < 2; ++i) {
                const float value = __uint_as_float(pair[i]);
                of_b.high[step][2 * half + i] = __float_as_uint(high_part(value));
                of_b.low[step][2 * half + i] = __float_as_uint(low_part(value));
            }
        }
    }
    begin_products();
#pragma unroll
    for (unsigned step = 0; step < DEPTH / STEP; ++step) {
        const unsigned long long high = describe(s_stage + step * STEP * sizeof(float));
        const unsigned long long low = describe(s_stage + A_BYTES + step * STEP * sizeof(float));
        multiply_add(sums, of_b.low[step], high);
        multiply_add(sums, of_b.high[step], low);
        multiply_add(sums, of_b.high[step], high);
    }
    end_products();
}
// ANCHOR_END: multiply_tiles

// ANCHOR: add_up
// Adds finished sums to the totals, and begins new ones.
__device__ __forceinline__ void add_up(float (&totals)[ROWS / 2], float (&sums)[ROWS / 2])
{
    wait_for_products<0>();
#pragma unroll
    for (unsigned i = 0; i < ROWS / 2; ++i) {
        // The compiler does not know that the tensor cores change the sum until the wait, so it must not read it earlier.
        asm volatile("" : "+f"(sums[i])::"memory");
        totals[i] += sums[i];
        sums[i] = 0;
    }
}
// ANCHOR_END: add_up

// ANCHOR: tensor_3xtf32
extern "C" __global__ void __launch_bounds__(THREADS, 1)
tensor_3xtf32(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap low, const __grid_constant__ TensorMap b,
              unsigned m, unsigned n, unsigned k, float* c)
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
                    start_tiles(s_first + ring.stage * STAGE_BYTES, s_full + 8 * ring.stage, a, low, b, place, slab * DEPTH);
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
            float totals[ROWS / 2] = {}, sums[ROWS / 2] = {};
            const auto multiply_slab = [&](unsigned slab, SplitFragments& of_b) __attribute__((always_inline)) {
                wait_for(s_full + 8 * ring.stage, ring.parity);
                multiply_tiles(sums, of_b, s_first + ring.stage * STAGE_BYTES, position);
                wait_for_products<1>();
                if (slab > 0) {
                    release(ring.previous());
                }
                ring.advance();
            };
            SplitFragments of_even, of_odd;
            unsigned slab = 0;
#pragma unroll 1
            for (; slab + 1 < slabs; slab += 2) {
                multiply_slab(slab, of_even);
                multiply_slab(slab + 1, of_odd);
                if ((slab + 2) % SLABS == 0) {
                    add_up(totals, sums);
                }
            }
            if (slab < slabs) {
                multiply_slab(slab, of_even);
            }
            add_up(totals, sums);
            release(ring.previous());
            const Place place = place_of<ROWS>(tile, down, across);
            store(totals, place.row + position.row, place.column + position.column, m, n, c);
        }
    }
}
// ANCHOR_END: tensor_3xtf32
