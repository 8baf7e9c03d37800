// 06-matmul-half-fp8: the product of two matrices of 8-bit floats on Hopper's tensor cores, with a scale for each row of one
// and each column of the other.
//
//     c[row][column] = bf16(rows[row] * columns[column] * sum over i < k of a[row][i] * b[column][i]),   row < m, column < n
//
// Since 06-matmul-half-hopper: a number has 8 bits (e4m3: sign, 4 bits of exponent, 3 bits after the leading one), so a stage
//          holds twice as many and an instruction multiplies twice as many. Both factors have to be stored with the numbers
//          that are added up side by side, so `b` is the transpose of B.
// Launch:  blocks of THREADS, any number of clusters of PAIR blocks in gridDim.x. STAGES stages of dynamic shared memory,
//          OUTPUT_BYTES, BARRIER_BYTES, and COLUMN_BYTES. The maps of `a` and `b` have boxes of 128 columns, and ROWS and BOX
//          rows, of type UINT8, and that of `c` boxes of BOX columns and 64 rows of type BFLOAT16, all with SWIZZLE_128B.
// Work:    per output, k multiply-adds on tensor cores.
// Sizes:   m, n, k >= 1. k has to be a multiple of 16 and n of 8: a map's rows start at multiples of 16 bytes.

#include "hopper.cuh"
#include "06-matmul-half.cuh"
#include "06-matmul-half-hopper.cuh"
#include "06-matmul-half-tiles.cuh"

// ANCHOR: multiply_add
// Starts sums = A B, or sums += A B: A has 64 rows of 32 numbers, and the 256 columns of B have 32 numbers each.
#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)

__device__ void multiply_add_fp8(float (&sums)[128], unsigned long long left, unsigned long long right, bool adds)
{
    asm volatile("{ .reg .pred add; setp.ne.u32 add, %130, 0; wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, add, 1, 1; }"
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48),
                   SUMS_16(64), SUMS_16(80), SUMS_16(96), SUMS_16(112)
                 : "l"(left), "l"(right), "r"(static_cast<unsigned>(adds)));
}

#undef SUMS_4
#undef SUMS_16
// ANCHOR_END: multiply_add

// ANCHOR: factors
// e4m3 numbers, with the transpose of B.
struct E4m3 {
    static constexpr unsigned DEPTH = ROW_BYTES;
    static constexpr unsigned STEP = 32;

    __device__ static void start_products(float (&sums)[COLUMNS / 2], unsigned s_stage, unsigned group, bool is_first)
    {
        begin_products();
#pragma unroll
        for (unsigned step = 0; step < DEPTH / STEP; ++step) {
            multiply_add_fp8(sums, describe_rows(s_stage + group * 64 * ROW_BYTES + step * STEP),
                             describe_rows(s_stage + A_BYTES + step * STEP), !is_first || step > 0);
        }
        end_products();
    }

    __device__ static Place box_of_b(unsigned at, unsigned column)
    {
        return {column, at};
    }
};
// ANCHOR_END: factors

// ANCHOR: scaled
// Sums times the scales of their row and column.
struct Scaled {
    OfColumns columns;
    const float* rows;
    unsigned m;
    float two_rows[2];

    __device__ void begin(Place place)
    {
        columns.begin(place);
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            const unsigned row = place.row + threadIdx.x % 128 / 32 * 16 + half * 8 + threadIdx.x % 32 / 4;
            two_rows[half] = row < m ? rows[row] : 0;
        }
    }

    __device__ void end()
    {
        columns.end();
    }

    __device__ unsigned operator()(float first, float second, unsigned half, unsigned column) const
    {
        const float2 scale = columns.of(column);
        return pair(first * two_rows[half] * scale.x, second * two_rows[half] * scale.y);
    }
};
// ANCHOR_END: scaled

// ANCHOR: fp8
extern "C" __global__ void __attribute__((cluster_dims(PAIR, 1, 1))) __launch_bounds__(THREADS, 1)
fp8(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c, unsigned m,
    unsigned n, unsigned k, const float* rows, const float* columns)
{
    multiply_tiles<PAIR, E4m3>(a, b, c, m, n, k, Scaled{OfColumns{columns, n}, rows, m});
}
// ANCHOR_END: fp8
