// 06-matmul-tiled-sizes: the product of two matrices on Hopper's tensor cores, with tiles and slices for every size.
//
//     c[row][column] = sum over i < k of tf32(a[row][i]) * tf32(b[i][column]),   row < m, column < n
//
// Since 06-matmul-tiled-hopper: four tiles instead of one, because a tile of 256 x 128 leaves multiprocessors without work in
//          small products, and in the last round of large ones. The blocks of a cluster can share a tile: each adds up a slice
//          of the sums, and then they add the slices by reading each other's shared memory.
// Launch:  blocks of 2 COLUMNS threads that multiply, and 128 more of which one copies. With one slice, any number of blocks.
//          With several, a cluster for each tile, with a block for each slice of `slice` columns of `a`, a multiple of DEPTH;
//          tiles of more than 128 rows have one slice. STAGES stages of dynamic shared memory, each with ROWS + COLUMNS rows of
//          ROW_BYTES, and 16 bytes for the barriers of each.
//          The map of `a` has boxes of DEPTH columns and ROWS rows, the map of `b` boxes of BOX columns and DEPTH rows,
//          both of type TFLOAT32 with SWIZZLE_128B.
// Work:    per output, k multiply-adds on tensor cores. With S slices, a block also stores its sums in shared memory once,
//          and loads S numbers for each output that it adds up.
// Sizes:   m, n, k >= 1. n and k have to be multiples of 4: a map's rows start at multiples of 16 bytes.

#include "hopper.cuh"
#include "06-matmul-tiled-hopper.cuh"

extern __shared__ __align__(1024) char s_memory[];

// ANCHOR: tile
// Where a tile's numbers are in shared memory.
template <unsigned ROWS, unsigned WIDTH, unsigned STAGES>
struct Tile {
    static constexpr unsigned MULTIPLYING = 2 * WIDTH, THREADS = MULTIPLYING + 128;
    static constexpr unsigned A_BYTES = ROWS * ROW_BYTES, STAGE_BYTES = A_BYTES + WIDTH / BOX * BOX_BYTES;
    // Its sums take so many registers that the copying threads return theirs. Slices would need them again.
    static constexpr bool IS_LARGE = ROWS > 128;
    static_assert(ROWS * WIDTH * sizeof(float) <= STAGES * STAGE_BYTES, "the sums fit where the stages were");
};
// ANCHOR_END: tile

// ANCHOR: add_slices
// The byte of a sum in shared memory, if its column is the first of a vector's. The chunks of a row are permuted, so lanes that store
// sums of one column and of every other row are in different banks.
template <unsigned WIDTH>
__device__ inline unsigned byte_of_sum(unsigned row, unsigned column)
{
    return row * WIDTH * sizeof(float) + ((column / 4) ^ (row / 2 % 4)) * 16 + column % 4 * sizeof(float);
}

// Adds the slices of every block of the cluster, for a share of the tile's outputs. All threads of the block execute it.
template <unsigned ROWS, unsigned WIDTH, unsigned THREADS>
__device__ void add_slices(unsigned s_sums, Place place, unsigned m, unsigned n, float* c)
{
    // The sums of all blocks are in shared memory before any block reads them.
    wait_for_cluster();
    constexpr unsigned VECTORS = ROWS * WIDTH / 4, AT_ONCE = 4;
    const unsigned blocks = blocks_in_cluster(), step = blocks * THREADS;
#pragma unroll 1
    for (unsigned first = rank_in_cluster() * THREADS + threadIdx.x; first < VECTORS; first += step * AT_ONCE) {
        float4 totals[AT_ONCE] = {};
#pragma unroll 1
        for (unsigned block = 0; block < blocks; ++block) {
            const unsigned s_of_block = in_block(s_sums, block);
            float4 sums[AT_ONCE] = {};
#pragma unroll
            for (unsigned i = 0; i < AT_ONCE; ++i) {
                const unsigned vector = first + i * step;
                if (vector < VECTORS) {
                    load_from_block(sums[i], s_of_block + byte_of_sum<WIDTH>(vector / (WIDTH / 4), vector % (WIDTH / 4) * 4));
                }
            }
#pragma unroll
            for (unsigned i = 0; i < AT_ONCE; ++i) {
                totals[i].x += sums[i].x, totals[i].y += sums[i].y, totals[i].z += sums[i].z, totals[i].w += sums[i].w;
            }
        }
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; ++i) {
            const unsigned vector = first + i * step;
            const unsigned row = place.row + vector / (WIDTH / 4), column = place.column + vector % (WIDTH / 4) * 4;
            if (vector < VECTORS && row < m && column < n) {
                *reinterpret_cast<float4*>(c + static_cast<size_t>(row) * n + column) = totals[i];
            }
        }
    }
    // All blocks have read the sums before any block ends, and its shared memory with it.
    wait_for_cluster();
}
// ANCHOR_END: add_slices

template <unsigned ROWS, unsigned WIDTH, unsigned STAGES>
__device__ __forceinline__ void multiply(const TensorMap& a, const TensorMap& b, unsigned m, unsigned n, unsigned k, unsigned slice, float* c)
{
    using T = Tile<ROWS, WIDTH, STAGES>;
    const unsigned s_first = shared_address(s_memory), s_full = s_first + STAGES * T::STAGE_BYTES, s_empty = s_full + 8 * STAGES;
    const unsigned slices = T::IS_LARGE ? 1 : blocks_in_cluster(), begin = T::IS_LARGE ? 0 : rank_in_cluster() * slice;
    const unsigned slabs = (min(slice, k - begin) + DEPTH - 1) / DEPTH;
    const unsigned down = (m + ROWS - 1) / ROWS, across = (n + WIDTH - 1) / WIDTH;
    Ring<STAGES> ring;
    const auto start_slab = [&](Place place, unsigned slab) {
        const unsigned s_stage = s_first + ring.stage * T::STAGE_BYTES, full = s_full + 8 * ring.stage, at = begin + slab * DEPTH;
        arrive_and_expect(full, T::STAGE_BYTES);
        start_box(s_stage, a, at, place.row, full);
        for (unsigned i = 0; i < WIDTH / BOX; ++i) {
            start_box(s_stage + T::A_BYTES + i * BOX_BYTES, b, place.column + i * BOX, at, full);
        }
        ring.advance();
    };
    // The copying thread fills the ring before the other threads know the barriers.
    const bool copies = threadIdx.x == T::MULTIPLYING;
    unsigned started = 0;
    if (copies) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            init_barrier(s_full + 8 * stage, 1);
            init_barrier(s_empty + 8 * stage, T::MULTIPLYING / 32);
        }
        publish_barriers();
        for (; started < min(STAGES, slabs); ++started) {
            start_slab(place_of<ROWS, WIDTH>(blockIdx.x / slices, down, across), started);
        }
    }
    // The barriers are initialized before any thread waits for them.
    __syncthreads();

    if (threadIdx.x >= T::MULTIPLYING) {
        if (T::IS_LARGE) {
            keep_registers<24>();
        }
        if (copies) {
            for (unsigned tile = blockIdx.x / slices; tile < down * across; tile += gridDim.x / slices) {
                for (; started < slabs; ++started) {
                    wait_for(s_empty + 8 * ring.stage, ring.parity ^ 1);
                    start_slab(place_of<ROWS, WIDTH>(tile, down, across), started);
                }
                started = 0;
            }
        }
    } else {
        if (T::IS_LARGE) {
            take_registers<240>();
        }
        const Position position = ::position();
        // A warp no longer needs a stage when its products have ended.
        const auto release = [&](unsigned stage) {
            if (threadIdx.x % 32 == 0) {
                arrive(s_empty + 8 * stage);
            }
        };
#pragma unroll 1
        for (unsigned tile = blockIdx.x / slices; tile < down * across; tile += gridDim.x / slices) {
            float sums[ROWS / 2] = {};
            const auto multiply_slab = [&](unsigned slab, Fragments& of_b) __attribute__((always_inline)) {
                wait_for(s_full + 8 * ring.stage, ring.parity);
                multiply_tiles<0x3ffff>(sums, of_b, s_first + ring.stage * T::STAGE_BYTES, position);
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
            const Place place = place_of<ROWS, WIDTH>(tile, down, across);
            if (slices == 1) {
                release(ring.previous());
                store(sums, place.row + position.row, place.column + position.column, m, n, c);
            } else {
                // Both warpgroups' products have ended before sums overwrite the tiles.
                wait_for_threads<T::MULTIPLYING>();
#pragma unroll
                for (unsigned i = 0; i < ROWS / 4; ++i) {
                    const unsigned row = position.row + i / 2 * 8 + i % 2, sum = i / 2 * 4 + i % 2;
                    *reinterpret_cast<float2*>(s_memory + byte_of_sum<WIDTH>(row, position.column)) =
                        make_float2(sums[sum], sums[sum + 2]);
                }
            }
        }
    }
    if (slices > 1) {
        __syncwarp();
        add_slices<ROWS, WIDTH, T::THREADS>(s_first, place_of<ROWS, WIDTH>(blockIdx.x / slices, down, across), m, n, c);
    }
}

// ANCHOR: kernels
extern "C" __global__ void __launch_bounds__(Tile<256, 128, 4>::THREADS, 1)
wgmma_256(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k,
          unsigned slice, float* c)
{
    multiply<256, 128, 4>(a, b, m, n, k, slice, c);
}

extern "C" __global__ void __launch_bounds__(Tile<192, 128, 5>::THREADS, 1)
wgmma_192(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k,
          unsigned slice, float* c)
{
    multiply<192, 128, 5>(a, b, m, n, k, slice, c);
}

extern "C" __global__ void __launch_bounds__(Tile<128, 128, 6>::THREADS, 1)
wgmma_128(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k,
          unsigned slice, float* c)
{
    multiply<128, 128, 6>(a, b, m, n, k, slice, c);
}

extern "C" __global__ void __launch_bounds__(Tile<64, 64, 6>::THREADS, 2)
wgmma_64(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, unsigned m, unsigned n, unsigned k,
         unsigned slice, float* c)
{
    multiply<64, 64, 6>(a, b, m, n, k, slice, c);
}
// ANCHOR_END: kernels
