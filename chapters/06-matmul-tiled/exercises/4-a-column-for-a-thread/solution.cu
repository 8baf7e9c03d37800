// Exercise: a column for a thread.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row after row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE_ROWS x TILE outputs, as many as it takes; blockIdx.x
//          counts tiles of columns, blockIdx.y of rows.
// Sizes:   m, n, k >= 1, no multiples of anything; no matrix has 2^32 numbers or more. Tiles are filled up with zeros.

constexpr unsigned TILE = 16;
// Rows of a block's outputs, a multiple of TILE. The launch takes the number from this line.
#ifdef SOLUTION
constexpr unsigned TILE_ROWS = 64;
#else
constexpr unsigned TILE_ROWS = 16;
#endif
// Outputs of a thread: in one column, TILE rows apart.
constexpr unsigned OUTPUTS = TILE_ROWS / TILE;

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    __shared__ float s_a[TILE_ROWS][TILE];
    __shared__ float s_b[TILE][TILE];
    const unsigned y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const unsigned first_row = blockIdx.y * TILE_ROWS, column = blockIdx.x * TILE + x;
#ifdef SOLUTION
    float sum[OUTPUTS] = {};
#else
    float sum = 0.0f;
#endif
    for (unsigned slab = 0; slab < k; slab += TILE) {
        for (unsigned r = y; r < TILE_ROWS; r += TILE) {
            s_a[r][x] = first_row + r < m && slab + x < k ? a[(first_row + r) * k + slab + x] : 0.0f;
        }
        s_b[y][x] = column < n && slab + y < k ? b[(slab + y) * n + column] : 0.0f;
        // The tiles are written, by all threads, before any thread reads them.
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < TILE; ++i) {
#ifdef SOLUTION
            const float of_b = s_b[i][x];
#pragma unroll
            for (unsigned j = 0; j < OUTPUTS; ++j) {
                sum[j] += s_a[y + j * TILE][i] * of_b;
            }
#else
            sum += s_a[y][i] * s_b[i][x];
#endif
        }
        // The tiles are read, by all threads, before any thread writes the next ones in their place.
        __syncthreads();
    }
#ifdef SOLUTION
#pragma unroll
    for (unsigned j = 0; j < OUTPUTS; ++j) {
        const unsigned row = first_row + y + j * TILE;
        if (row < m && column < n) {
            c[row * n + column] = sum[j];
        }
    }
#else
    if (first_row + y < m && column < n) {
        c[(first_row + y) * n + column] = sum;
    }
#endif
}
