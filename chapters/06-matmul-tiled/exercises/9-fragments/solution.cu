// Exercise: fragments of a product on tensor cores.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of one warp for each tile of 16 x 8 outputs; blockIdx.x counts tiles of columns, blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more.

// sums += A B, with 16 x 8 numbers of A and 8 x 8 of B, as `mma.m16n8k8` spreads them over the lanes. The lanes
// exchange their numbers with shuffles and compute in floats, so that no rounding of factors hides a mistake; it is
// slow.
__device__ void multiply_add(float (&sums)[4], const float (&a)[4], const float (&b)[2])
{
    const unsigned group = threadIdx.x / 4, member = threadIdx.x % 4;
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
        const float upper = __shfl_sync(0xffffffff, a[i / 4 * 2], 4 * group + i % 4);
        const float lower = __shfl_sync(0xffffffff, a[i / 4 * 2 + 1], 4 * group + i % 4);
        const float left = __shfl_sync(0xffffffff, b[i / 4], 8 * member + i % 4);
        const float right = __shfl_sync(0xffffffff, b[i / 4], 8 * member + 4 + i % 4);
        sums[0] += upper * left;
        sums[1] += upper * right;
        sums[2] += lower * left;
        sums[3] += lower * right;
    }
}

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    const unsigned first_row = blockIdx.y * 16, first_column = blockIdx.x * 8;
    // This lane is 4 g + t.
    const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
    float sums[4] = {};
    for (unsigned slab = 0; slab < k; slab += 8) {
        // A number of this step's 16 x 8 numbers of `a`, and of its 8 x 8 numbers of `b`; zero beyond the edges.
        const auto from_a = [&](unsigned row, unsigned column) {
            return first_row + row < m && slab + column < k ? a[(first_row + row) * k + slab + column] : 0.0f;
        };
        const auto from_b = [&](unsigned row, unsigned column) {
            return slab + row < k && first_column + column < n ? b[(slab + row) * n + first_column + column] : 0.0f;
        };
#ifdef SOLUTION
        const float of_a[4] = {from_a(g, t), from_a(g + 8, t), from_a(g, t + 4), from_a(g + 8, t + 4)};
        const float of_b[2] = {from_b(t, g), from_b(t + 4, g)};
#else
        // This lane's four numbers of `a` and two of `b`, in the order of the table: from_a(row, column) and
        // from_b(row, column).
        const float of_a[4] = {};
        const float of_b[2] = {};
#endif
        multiply_add(sums, of_a, of_b);
    }
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = first_row + g + i / 2 * 8, column = first_column + 2 * t + i % 2;
        if (row < m && column < n) {
            c[row * n + column] = sums[i];
        }
    }
}
