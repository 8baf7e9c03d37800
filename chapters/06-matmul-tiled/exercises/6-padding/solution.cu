// Exercise: padding against bank conflicts.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE x TILE outputs; blockIdx.x counts tiles of columns,
//          blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. Tiles are filled up with zeros.

constexpr unsigned TILE = 16;
// Words from one row of the transposed tile to the next.
#ifdef SOLUTION
constexpr unsigned PITCH = TILE + 2;
#else
constexpr unsigned PITCH = TILE;
#endif

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    // Row i of this tile is column i of the tile of `a`.
    __shared__ float s_a[TILE][PITCH];
    __shared__ float s_b[TILE][TILE];
    const unsigned y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (unsigned slab = 0; slab < k; slab += TILE) {
        s_a[x][y] = row < m && slab + x < k ? a[row * k + slab + x] : 0.0f;
        s_b[y][x] = column < n && slab + y < k ? b[(slab + y) * n + column] : 0.0f;
        // All threads have written the tiles before any thread reads them.
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i) {
            sum += s_a[i][y] * s_b[i][x];
        }
        // All threads have read the tiles before any thread overwrites them with the next ones.
        __syncthreads();
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}
