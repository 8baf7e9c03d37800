// 06-matmul-half-hopper: the product of two matrices of bf16 numbers on Hopper's tensor cores, which four warps use together.
//
//     c[row][column] = bf16(sum over i < k of a[row][i] * b[i][column]),   row < m, column < n
//
// Since 06-matmul-half: one instruction multiplies 64 x 16 by 16 x 256 numbers, and reads both factors from shared memory.
//          It runs in the background. TMA fills the tiles, swizzled.
// Launch:  `wgmma` and `ring`: blocks of CONSUMERS threads, `producer`: of THREADS; gridDim.x is the number of tiles of
//          COLUMNS columns, gridDim.y is the number of tiles of ROWS rows. `stores`: blocks of THREADS, any number of
//          them in gridDim.x. `multicast`: the same, in clusters of PAIR blocks. `fused`: as `stores`, with COLUMN_BYTES
//          more after the barriers. `add_bias`: blocks of CONSUMERS threads, any number of them.
//          STAGES stages of dynamic shared memory, BARRIER_BYTES for the barriers, and for `stores` and `multicast`
//          OUTPUT_BYTES in between; `wgmma` has one stage. `small`: blocks of SMALL_THREADS, SMALL_BYTES, and gridDim.x is
//          the number of tiles of SMALL_ROWS x SMALL_COLUMNS. `slices`: the same with tiles of SMALL_ROWS x SLICE_COLUMNS,
//          SLICE_BYTES, and PAIR blocks for each tile, which are a cluster.
//          The map of `a` has boxes of BOX columns and ROWS rows, that of `b` boxes of BOX columns and DEPTH rows, and that
//          of `c` boxes of BOX columns and 64 rows (`small`, `slices`: that of `a` as well), all of type BFLOAT16 with SWIZZLE_128B.
// Work:    per output, k multiply-adds on tensor cores.
// Sizes:   m, n, k >= 1. n and k have to be multiples of 8: a map's rows start at multiples of 16 bytes.

#include "hopper.cuh"
#include "06-matmul-half.cuh"
#include "06-matmul-half-hopper.cuh"
#include "06-matmul-half-tiles.cuh"

// Rows of B that one instruction takes.
constexpr unsigned STEP = 16;
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

// bf16 numbers, with B as it is stored.
struct Bf16 {
    static constexpr unsigned DEPTH = ::DEPTH;

    __device__ static void start_products(float (&sums)[COLUMNS / 2], unsigned s_stage, unsigned group, bool is_first)
    {
        ::start_products(sums, s_stage, group, is_first);
    }

    __device__ static Place box_of_b(unsigned at, unsigned column)
    {
        return {at, column};
    }
};

// Outputs that are the sums.
struct Sums {
    __device__ void begin(Place) {}
    __device__ void end() {}

    __device__ unsigned operator()(float first, float second, unsigned, unsigned) const
    {
        return pair(first, second);
    }
};

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
        multiply_tile<Bf16>(sums, s_full, ring, slabs, group, [&](unsigned stage) {
            // All four warps of this group have waited for their products together: one of them speaks for all.
            if (threadIdx.x % 128 == 0) {
                arrive(s_empty + 8 * stage);
            }
        });
        store_sums(sums, {place.row + group * 64, place.column}, m, n, c);
    }
}
// ANCHOR_END: producer

// ANCHOR: stores
extern "C" __global__ void __launch_bounds__(THREADS, 1)
stores(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c, unsigned m,
       unsigned n, unsigned k)
{
    multiply_tiles<1, Bf16>(a, b, c, m, n, k, Sums());
}

extern "C" __global__ void __attribute__((cluster_dims(PAIR, 1, 1))) __launch_bounds__(THREADS, 1)
multicast(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
          unsigned m, unsigned n, unsigned k)
{
    multiply_tiles<PAIR, Bf16>(a, b, c, m, n, k, Sums());
}
// ANCHOR_END: stores

// ANCHOR: fused
// Sums plus a bias for each column, and 0 in the place of what is negative then.
struct Biased {
    OfColumns bias;

    __device__ void begin(Place place)
    {
        bias.begin(place);
    }

    __device__ void end()
    {
        bias.end();
    }

    __device__ unsigned operator()(float first, float second, unsigned, unsigned column) const
    {
        const float2 two = bias.of(column);
        return pair(fmaxf(first + two.x, 0), fmaxf(second + two.y, 0));
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
fused(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c, unsigned m,
      unsigned n, unsigned k, const float* bias)
{
    multiply_tiles<1, Bf16>(a, b, c, m, n, k, Biased{OfColumns{bias, n}});
}

// The same for outputs in memory. Each thread has two neighbors at a time.
extern "C" __global__ void __launch_bounds__(CONSUMERS)
add_bias(unsigned* c, unsigned m, unsigned n, const float* bias)
{
    const size_t pairs = static_cast<size_t>(m) * n / 2;
    for (size_t i = blockIdx.x * static_cast<size_t>(CONSUMERS) + threadIdx.x; i < pairs; i += gridDim.x * static_cast<size_t>(CONSUMERS)) {
        const unsigned two = c[i], column = i * 2 % n;
        const float first = __uint_as_float(two << 16), second = __uint_as_float(two & 0xffff0000);
        c[i] = pair(fmaxf(first + bias[column], 0), fmaxf(second + bias[column + 1], 0));
    }
}
// ANCHOR_END: fused

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
    wait_for_cluster();
    if (multiplies) {
#pragma unroll
        for (unsigned to = 0; to < SLICES; ++to) {
            if (to != rank) {
                const unsigned s_sums = in_block(s_first + (rank * PART * 128 + threadIdx.x) * sizeof(float), to);
#pragma unroll
                for (unsigned i = 0; i < PART; ++i) {
                    write_in_cluster(s_sums + i * 128 * sizeof(float), sums[to * PART + i]);
                }
            }
        }
    }
    // All sums have arrived.
    wait_for_cluster();
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

// ANCHOR: small_kernels
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
// ANCHOR_END: small_kernels
