// Exercise: a tile for a block.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row after row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE x TILE outputs; blockIdx.x counts tiles of columns,
//          blockIdx.y of rows.
// Sizes:   m, n and k are multiples of TILE; no matrix has 2^32 numbers or more.

constexpr unsigned TILE = 16;

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    __shared__ float s_a[TILE][TILE];
    __shared__ float s_b[TILE][TILE];
    const unsigned y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (unsigned slab = 0; slab < k; slab += TILE) {
#ifdef SOLUTION
        s_a[y][x] = a[row * k + slab + x];
        s_b[y][x] = b[(slab + y) * n + column];
        // The tiles are written, by all threads, before any thread reads them.
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i) {
            sum += s_a[y][i] * s_b[i][x];
        }
        // The tiles are read, by all threads, before any thread writes the next ones in their place.
        __syncthreads();
#else
        // Columns `slab` to `slab + TILE - 1` of `a`, and rows of the same numbers of `b`: fetch one number of each,
        // and add TILE products.
#endif
    }
    c[row * n + column] = sum;
}
