// Exercise: every size.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row after row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE x TILE outputs, as many as it takes; blockIdx.x counts
//          tiles of columns, blockIdx.y of rows.
// Sizes:   m, n, k >= 1, no multiples of anything; no matrix has 2^32 numbers or more.

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
        s_a[y][x] = row < m && slab + x < k ? a[row * k + slab + x] : 0.0f;
        s_b[y][x] = column < n && slab + y < k ? b[(slab + y) * n + column] : 0.0f;
#else
        s_a[y][x] = a[row * k + slab + x];
        s_b[y][x] = b[(slab + y) * n + column];
#endif
        // The tiles are written, by all threads, before any thread reads them.
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i) {
            sum += s_a[y][i] * s_b[i][x];
        }
        // The tiles are read, by all threads, before any thread writes the next ones in their place.
        __syncthreads();
    }
#ifdef SOLUTION
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
#else
    c[row * n + column] = sum;
#endif
}
