// Exercise: add the slices.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of SLICES * COLUMNS threads for each COLUMNS neighboring outputs of a row; blockIdx.x is the row, blockIdx.y
//          counts runs of columns. A thread has a column and a slice of its sum, so a warp has eight columns and four slices.
// Sizes:   m, n, k >= 1, k <= 100,000; no matrix has 2^32 numbers or more. k may be smaller than SLICES.

constexpr unsigned COLUMNS = 8;
constexpr unsigned SLICES = 32;

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    // The sum of each column over each slice.
    __shared__ float s_partial[SLICES][COLUMNS];
    const unsigned slice = threadIdx.x / COLUMNS, x = threadIdx.x % COLUMNS;
    const unsigned row = blockIdx.x, column = blockIdx.y * COLUMNS + x;
#ifdef SOLUTION
    // Slices of equal length, but for the last ones: they end where the sum ends, and may have no terms.
    const unsigned length = (k + SLICES - 1) / SLICES;
    const unsigned first = slice * length;
    const unsigned end = min(k, first + length);
#else
    // Which terms belong to this slice? Here, each slice has all of them.
    const unsigned first = 0;
    const unsigned end = k;
#endif
    float sum = 0.0f;
    if (column < n) {
        for (unsigned i = first; i < end; ++i) {
            sum += a[row * k + i] * b[i * n + column];
        }
    }
    s_partial[slice][x] = sum;
#ifdef SOLUTION
    // All threads have stored their partial sums before any thread reads them.
    __syncthreads();
    if (slice == 0 && column < n) {
        float total = 0.0f;
        for (unsigned i = 0; i < SLICES; ++i) {
            total += s_partial[i][x];
        }
        c[row * n + column] = total;
    }
#else
    // Add up the partial sums of all slices, always in the same order.
    if (slice == 0 && column < n) {
        c[row * n + column] = s_partial[0][x];
    }
#endif
}
