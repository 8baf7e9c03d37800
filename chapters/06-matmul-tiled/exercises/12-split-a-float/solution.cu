// Exercise: split a float.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of one warp for each tile of 16 x 8 outputs; blockIdx.x counts tiles of columns, blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. All numbers are finite.

// The nearest number of eleven binary digits. It is still a float, and its last 13 digits are zeros.
__device__ float to_tf32(float value)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __uint_as_float(bits);
}

// sums += A B on a tensor core, with 16 x 8 numbers of A and 8 x 8 of B, spread over the lanes of the warp. The tensor
// core reads eleven digits of each factor, and cuts off the rest.
__device__ void multiply_add(float (&sums)[4], const float (&a)[4], const float (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
          "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
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
        // This lane's fragments, as f32 numbers of 24 digits.
        const float of_a[4] = {from_a(g, t), from_a(g + 8, t), from_a(g, t + 4), from_a(g + 8, t + 4)};
        const float of_b[2] = {from_b(t, g), from_b(t + 4, g)};
#ifdef SOLUTION
        float a_high[4], a_low[4], b_high[2], b_low[2];
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            a_high[i] = to_tf32(of_a[i]);
            a_low[i] = of_a[i] - a_high[i];
        }
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) {
            b_high[i] = to_tf32(of_b[i]);
            b_low[i] = of_b[i] - b_high[i];
        }
        // The two small products first, and then the large one.
        multiply_add(sums, a_high, b_low);
        multiply_add(sums, a_low, b_high);
        multiply_add(sums, a_high, b_high);
#else
        // One product of eleven digits. Split the factors into high and low parts, and multiply three times.
        const float a_high[4] = {to_tf32(of_a[0]), to_tf32(of_a[1]), to_tf32(of_a[2]), to_tf32(of_a[3])};
        const float b_high[2] = {to_tf32(of_b[0]), to_tf32(of_b[1])};
        multiply_add(sums, a_high, b_high);
#endif
    }
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = first_row + g + i / 2 * 8, column = first_column + 2 * t + i % 2;
        if (row < m && column < n) {
            c[row * n + column] = sums[i];
        }
    }
}
