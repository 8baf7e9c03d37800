// Exercise: a swizzle.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of 8 warps for each tile of SIDE x SIDE outputs; blockIdx.x counts tiles of columns, blockIdx.y of rows. A
//          lane has a row of the tile, and a warp has four columns. A block has SHARED_FLOATS * 4 bytes of dynamic
//          shared memory, which is just enough for the two tiles.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. Tiles are filled up with zeros.

constexpr unsigned SIDE = 32;
// Numbers of a chunk of 16 bytes, which one load brings.
constexpr unsigned CHUNK = 4;
constexpr unsigned WARPS = SIDE / CHUNK;
constexpr unsigned SHARED_FLOATS = 2 * SIDE * SIDE;

extern __shared__ __align__(16) float s_memory[];

// Where the tile of `a` has the number of this row and column, both below SIDE. The four numbers of a chunk stay
// neighbors, because the kernel loads a chunk at a time.
__device__ unsigned place(unsigned row, unsigned column)
{
#ifdef SOLUTION
    const unsigned chunk = column / CHUNK, within = column % CHUNK;
    return row * SIDE + (chunk ^ row % 8) * CHUNK + within;
#else
    return row * SIDE + column;
#endif
}

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    float* const s_a = s_memory;
    float* const s_b = s_memory + SIDE * SIDE;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    float sums[CHUNK] = {};
    for (unsigned slab = 0; slab < k; slab += SIDE) {
        // A warp stores four rows of each tile, a row at a time.
        for (unsigned i = warp; i < SIDE; i += WARPS) {
            const bool has_a = first_row + i < m && slab + lane < k, has_b = slab + i < k && first_column + lane < n;
            s_a[place(i, lane)] = has_a ? a[(first_row + i) * k + slab + lane] : 0.0f;
            s_b[i * SIDE + lane] = has_b ? b[(slab + i) * n + first_column + lane] : 0.0f;
        }
        // All threads have stored the tiles before any thread reads them.
        __syncthreads();
        for (unsigned i = 0; i < SIDE; i += CHUNK) {
            // The 32 lanes read the same chunk of 32 rows of `a`, and all of them the same numbers of `b`.
            const float4 of_a = *reinterpret_cast<const float4*>(&s_a[place(lane, i)]);
            const float factors[CHUNK] = {of_a.x, of_a.y, of_a.z, of_a.w};
#pragma unroll
            for (unsigned j = 0; j < CHUNK; ++j) {
                const float4 of_b = *reinterpret_cast<const float4*>(&s_b[(i + j) * SIDE + warp * CHUNK]);
                sums[0] += factors[j] * of_b.x;
                sums[1] += factors[j] * of_b.y;
                sums[2] += factors[j] * of_b.z;
                sums[3] += factors[j] * of_b.w;
            }
        }
        // All threads have read the tiles before any thread overwrites them with the next ones.
        __syncthreads();
    }
    const unsigned row = first_row + lane;
#pragma unroll
    for (unsigned j = 0; j < CHUNK; ++j) {
        const unsigned column = first_column + warp * CHUNK + j;
        if (row < m && column < n) {
            c[row * n + column] = sums[j];
        }
    }
}
