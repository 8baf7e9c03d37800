// Exercise: one output.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE x TILE outputs; blockIdx.x counts tiles of columns,
//          blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more.

constexpr unsigned TILE = 16;

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    const unsigned row = blockIdx.y * TILE + threadIdx.x / TILE;
    const unsigned column = blockIdx.x * TILE + threadIdx.x % TILE;
    if (row >= m || column >= n) {
        return;
    }
    float sum = 0.0f;
#ifdef SOLUTION
    for (unsigned i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
#else
    // Add the k products of row `row` of `a` with column `column` of `b`.
#endif
    c[row * n + column] = sum;
}
