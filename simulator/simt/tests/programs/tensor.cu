// Products of small matrices on tensor cores. Every kernel is one warp: D (m x n) = A (m x k) B (k x n) + C (m x n), all row by row.
// The fragments of `mma` are gathered by the formulas of the PTX ISA, shape by shape, and not by a common rule.
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;
typedef unsigned int word;

__device__ word pack(half low, half high) { return __half_as_ushort(low) | (word)__half_as_ushort(high) << 16; }

extern "C" __global__ void mma_f16(const half* a, const half* b, const float* c, float* d)
{
    int group = threadIdx.x >> 2, member = threadIdx.x % 4;
    half x[8], y[4];
    for (int i = 0; i < 8; ++i) {
        int row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
        int column = member * 2 + (i & 1) + (i < 4 ? 0 : 8);
        x[i] = a[row * 16 + column];
    }
    for (int i = 0; i < 4; ++i)
        y[i] = b[(member * 2 + (i & 1) + (i < 2 ? 0 : 8)) * 8 + group];
    float z[4];
    for (int i = 0; i < 4; ++i)
        z[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
        : "r"(pack(x[0], x[1])), "r"(pack(x[2], x[3])), "r"(pack(x[4], x[5])), "r"(pack(x[6], x[7])), "r"(pack(y[0], y[1])), "r"(pack(y[2], y[3])));
    for (int i = 0; i < 4; ++i)
        d[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = z[i];
}

// m16n8k8, C and D of f16.
extern "C" __global__ void mma_f16_small(const half* a, const half* b, const half* c, half* d)
{
    int group = threadIdx.x >> 2, member = threadIdx.x % 4;
    half x[4], y[2], z[4];
    for (int i = 0; i < 4; ++i)
        x[i] = a[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    for (int i = 0; i < 2; ++i)
        y[i] = b[(member * 2 + i) * 8 + group];
    for (int i = 0; i < 4; ++i)
        z[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    word low, high;
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
        : "=r"(low), "=r"(high)
        : "r"(pack(x[0], x[1])), "r"(pack(x[2], x[3])), "r"(pack(y[0], y[1])), "r"(pack(z[0], z[1])), "r"(pack(z[2], z[3])));
    half result[4] = {__ushort_as_half(low), __ushort_as_half(low >> 16), __ushort_as_half(high), __ushort_as_half(high >> 16)};
    for (int i = 0; i < 4; ++i)
        d[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = result[i];
}

// m16n8k8 of bf16.
extern "C" __global__ void mma_bf16(const unsigned short* a, const unsigned short* b, const float* c, float* d)
{
    int group = threadIdx.x >> 2, member = threadIdx.x % 4;
    word x[2] = {}, y = 0;
    float z[4];
    for (int i = 0; i < 4; ++i)
        x[i / 2] |= (word)a[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] << i % 2 * 16;
    for (int i = 0; i < 2; ++i)
        y |= (word)b[(member * 2 + i) * 8 + group] << i * 16;
    for (int i = 0; i < 4; ++i)
        z[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(y));
    for (int i = 0; i < 4; ++i)
        d[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = z[i];
}

// m16n8k8 of tf32; the bits of the operands that tf32 lacks are not cleared.
extern "C" __global__ void mma_tf32(const float* a, const float* b, const float* c, float* d)
{
    int group = threadIdx.x >> 2, member = threadIdx.x % 4;
    word x[4], y[2];
    float z[4];
    for (int i = 0; i < 4; ++i)
        x[i] = __float_as_uint(a[(i % 2 == 0 ? group : group + 8) * 8 + member + (i < 2 ? 0 : 4)]);
    for (int i = 0; i < 2; ++i)
        y[i] = __float_as_uint(b[(member + 4 * i) * 8 + group]);
    for (int i = 0; i < 4; ++i)
        z[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; ++i)
        d[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = z[i];
}

// m16n8k32, A of s8 and B of u8. The first result wraps round, the second one saturates.
extern "C" __global__ void mma_s8(const signed char* a, const unsigned char* b, const int* c, int* wrapped, int* saturated)
{
    int group = threadIdx.x >> 2, member = threadIdx.x % 4;
    word x[4] = {}, y[2] = {};
    int z[4], d[4];
    for (int i = 0; i < 16; ++i) {
        int row = i < 4 || (8 <= i && i < 12) ? group : group + 8;
        int column = member * 4 + (i & 3) + (i < 8 ? 0 : 16);
        x[i / 4] |= (word)(unsigned char)a[row * 32 + column] << i % 4 * 8;
    }
    for (int i = 0; i < 8; ++i)
        y[i / 4] |= (word)b[(member * 4 + (i & 3) + (i < 4 ? 0 : 16)) * 8 + group] << i % 4 * 8;
    for (int i = 0; i < 4; ++i)
        d[i] = z[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(z[0]), "+r"(z[1]), "+r"(z[2]), "+r"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; ++i) {
        wrapped[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = z[i];
        saturated[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = d[i];
    }
}

// m8n8k4 of f64.
extern "C" __global__ void mma_f64(const double* a, const double* b, const double* c, double* d)
{
    int group = threadIdx.x >> 2, member = threadIdx.x % 4;
    double z[2] = {c[group * 8 + member * 2], c[group * 8 + member * 2 + 1]};
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(z[0]), "+d"(z[1])
        : "d"(a[group * 4 + member]), "d"(b[member * 8 + group]));
    d[group * 8 + member * 2] = z[0];
    d[group * 8 + member * 2 + 1] = z[1];
}

template <typename Layout>
constexpr bool by_rows = false;
template <>
constexpr bool by_rows<wmma::row_major> = true;

// One product by `mma.h`, with the strides of matrices that lie in larger ones; A and D go through shared memory.
template <int M, int N, int K, typename In, typename Sum, typename LayoutA, typename LayoutB>
__device__ void product(const In* a, const In* b, const Sum* c, Sum* d, wmma::layout_t of_sums, int extra)
{
    constexpr bool a_by_rows = by_rows<LayoutA>, b_by_rows = by_rows<LayoutB>;
    __shared__ In s_a[M * K];
    __shared__ Sum s_d[M * N];
    int lda = (a_by_rows ? K : M) + extra, ldb = (b_by_rows ? N : K) + extra;
    for (int i = threadIdx.x; i < M * K; i += 32)
        s_a[i] = a[i / (a_by_rows ? K : M) * lda + i % (a_by_rows ? K : M)];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, M, N, K, In, LayoutA> x;
    wmma::fragment<wmma::matrix_b, M, N, K, In, LayoutB> y;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> z;
    wmma::load_matrix_sync(x, s_a, a_by_rows ? K : M);
    wmma::load_matrix_sync(y, b, ldb);
    wmma::load_matrix_sync(z, c, of_sums == wmma::mem_row_major ? N : M, of_sums);
    wmma::mma_sync(z, x, y, z);
    // Whatever lane holds an element, it is doubled once. Those of f16 stay as they are.
    if constexpr (sizeof(Sum) >= 4)
        for (int i = 0; i < z.num_elements; ++i)
            z.x[i] = z.x[i] + z.x[i];
    wmma::store_matrix_sync(s_d, z, of_sums == wmma::mem_row_major ? N : M, of_sums);
    __syncwarp();
    for (int i = threadIdx.x; i < M * N; i += 32)
        d[i] = s_d[i];
}

#define PRODUCT(name, M, N, K, In, Sum, LayoutA, LayoutB, of_sums)                                                  \
    extern "C" __global__ void name(const In* a, const In* b, const Sum* c, Sum* d, int extra)                      \
    {                                                                                                               \
        product<M, N, K, In, Sum, wmma::LayoutA, wmma::LayoutB>(a, b, c, d, wmma::of_sums, extra);                  \
    }

PRODUCT(wmma_f16, 16, 16, 16, half, float, row_major, col_major, mem_row_major)
PRODUCT(wmma_f16_columns, 16, 16, 16, half, half, col_major, row_major, mem_col_major)
PRODUCT(wmma_f16_tall, 32, 8, 16, half, float, row_major, row_major, mem_row_major)
PRODUCT(wmma_f16_wide, 8, 32, 16, half, half, row_major, col_major, mem_row_major)
PRODUCT(wmma_bf16, 16, 16, 16, __nv_bfloat16, float, col_major, col_major, mem_row_major)
PRODUCT(wmma_s8, 16, 16, 16, signed char, int, row_major, col_major, mem_col_major)
PRODUCT(wmma_u8_tall, 32, 8, 16, unsigned char, int, col_major, row_major, mem_row_major)
PRODUCT(wmma_s8_wide, 8, 32, 16, signed char, int, row_major, col_major, mem_row_major)
PRODUCT(wmma_f64, 8, 8, 4, double, double, row_major, col_major, mem_row_major)

// m16n16k8 of tf32, through generic pointers.
extern "C" __global__ void wmma_tf32(const float* a, const float* b, const float* c, float* d)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> z;
    wmma::load_matrix_sync(x, a, 8);
    wmma::load_matrix_sync(y, b, 16);
    wmma::load_matrix_sync(z, c, 16, wmma::mem_row_major);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(d, z, 16, wmma::mem_row_major);
}

// A product of 16 rows and 16 columns with k any multiple of 16: tiles in shared memory, rows padded by 8 halves, `ldmatrix` and `mma`.
extern "C" __global__ void tile_product(const half* a, const half* b, float* d, int k)
{
    constexpr int PITCH = 24;
    __shared__ __align__(16) half s_a[16 * PITCH];
    __shared__ __align__(16) half s_b[16 * PITCH];
    int lane = threadIdx.x;
    float sums[2][4] = {};
    for (int start = 0; start < k; start += 16) {
        __syncwarp();
        for (int i = lane; i < 256; i += 32) {
            s_a[i / 16 * PITCH + i % 16] = a[i / 16 * k + start + i % 16];
            s_b[i / 16 * PITCH + i % 16] = b[(start + i / 16) * 16 + i % 16];
        }
        __syncwarp();
        word x[4], y[4];
        unsigned row_a = __cvta_generic_to_shared(&s_a[lane % 16 * PITCH + lane / 16 * 8]);
        unsigned row_b = __cvta_generic_to_shared(&s_b[lane % 16 * PITCH + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(row_a) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3]) : "r"(row_b) : "memory");
        for (int half_tile = 0; half_tile < 2; ++half_tile)
            asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+f"(sums[half_tile][0]), "+f"(sums[half_tile][1]), "+f"(sums[half_tile][2]), "+f"(sums[half_tile][3])
                : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * half_tile]), "r"(y[2 * half_tile + 1]));
    }
    for (int half_tile = 0; half_tile < 2; ++half_tile)
        for (int i = 0; i < 4; ++i)
            d[(lane / 4 + i / 2 * 8) * 16 + half_tile * 8 + lane % 4 * 2 + i % 2] = sums[half_tile][i];
}

// Four 8 x 8 matrices of 16 bits, one below the other with `pitch` elements from row to row: what each lane gets with one, with two and
// with four matrices, by rows and by columns.
extern "C" __global__ void load_matrices(const unsigned short* input, word* output, int pitch)
{
    extern __shared__ __align__(16) unsigned short s_rows[];
    int lane = threadIdx.x;
    for (int i = lane; i < 32 * pitch; i += 32)
        s_rows[i] = input[i];
    __syncwarp();
    unsigned row = __cvta_generic_to_shared(s_rows + lane * pitch);
    word one, two[2], four[4], columns[4], moved;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(one) : "r"(row) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(two[0]), "=r"(two[1]) : "r"(row) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(four[0]), "=r"(four[1]), "=r"(four[2]), "=r"(four[3]) : "r"(row) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(columns[0]), "=r"(columns[1]), "=r"(columns[2]), "=r"(columns[3]) : "r"(row) : "memory");
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(one));
    word all[] = {one, two[0], two[1], four[0], four[1], four[2], four[3], columns[0], columns[1], columns[2], columns[3], moved};
    for (int i = 0; i < 12; ++i)
        output[i * 32 + lane] = all[i];
}

// Only half of the warp.
extern "C" __global__ void half_a_warp(word* output)
{
    word moved = threadIdx.x;
    if (threadIdx.x < 16)
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(moved));
    output[threadIdx.x] = moved;
}
