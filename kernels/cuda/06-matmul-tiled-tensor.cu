// 06-matmul-tiled-tensor: the product of two matrices on tensor cores, with factors of 11 binary digits and f32 sums.
//
//     c[row][column] = sum over i < k of tf32(a[row][i]) * tf32(b[i][column]),   row < m, column < n
//
// Since 06-matmul-tiled-async: a warp multiplies 16 x 8 by 8 x 8 numbers with one instruction. The tile of `a` need not
//          be transposed, because `ldmatrix` distributes a square of it over the lanes as the instruction needs it.
// Launch:  blocks of THREADS; gridDim.x is the number of tiles of COLUMNS columns, gridDim.y is the number of tiles of
//          ROWS rows, and blockIdx.z counts slices of `slice` columns of `a`. With several slices the results are
//          partial sums, and those of slice z start z m n numbers after `c`, for `add_slices` of 06-matmul-tiled.
//          SHARED_BYTES bytes of dynamic shared memory.
// Work:    per output, k multiply-adds on tensor cores. For every 8 columns of `a`, a warp loads 64 x 8 numbers of `a`
//          and 8 x 64 of `b`, which are enough for 32 instructions.
// Sizes:   m, n, k, slice >= 1. `tensor_tf32` copies vectors: k, n and slice have to be multiples of 4.
//          `tensor_tf32_any` takes all sizes.

#include "06-matmul-tiled.cuh"

// Rows and columns of the outputs of a block and of a warp.
constexpr unsigned ROWS = 128;
constexpr unsigned COLUMNS = 256;
constexpr unsigned WARP_ROWS = 64;
constexpr unsigned WARP_COLUMNS = 64;
constexpr unsigned WARPS_ACROSS = COLUMNS / WARP_COLUMNS;
constexpr unsigned THREADS = 256;
static_assert(THREADS == ROWS / WARP_ROWS * WARPS_ACROSS * 32);
// Columns of `a` and rows of `b` that are in shared memory at a time, and that one instruction takes.
constexpr unsigned DEPTH = 32;
constexpr unsigned STEP = 8;
// Pairs of tiles in shared memory: one is used and the others are on their way.
constexpr unsigned BUFFERS = 3;
// Instructions that cover the outputs of a warp, down and across: each has 16 rows and 8 columns.
constexpr unsigned DOWN = WARP_ROWS / 16;
constexpr unsigned ACROSS = WARP_COLUMNS / 8;
// Blocks are numbered along rows of TILES_WIDE tiles, row by row. So blocks that run at the same time share tiles of
// both `a` and `b`, and request fewer different numbers from L2.
constexpr unsigned TILES_WIDE = 8;
// Floats of a vector.
constexpr unsigned VECTOR = 4;
// Lengths of the rows of the tiles, in floats. The padding of 4 floats shifts each row of `a` by 4 banks, so the 8
// vectors that `ldmatrix` loads at a time are in 32 banks. The padding of 8 floats does the same for the 4 rows x 2
// vectors of `b` that 8 lanes load.
constexpr unsigned A_PITCH = DEPTH + 4;
constexpr unsigned B_PITCH = COLUMNS + 8;
constexpr unsigned BUFFER = ROWS * A_PITCH + DEPTH * B_PITCH;
// Dynamic shared memory of a block.
constexpr unsigned SHARED_BYTES = 156672;
static_assert(SHARED_BYTES == BUFFERS * BUFFER * sizeof(float));
// Distance in rows between the vectors that a thread copies, in `a` and in `b`.
constexpr unsigned A_STEP = THREADS / (DEPTH / VECTOR);
constexpr unsigned B_STEP = THREADS / (COLUMNS / VECTOR);
static_assert(ROWS % A_STEP == 0 && DEPTH % B_STEP == 0, "each thread copies as many vectors as any other");

// ANCHOR: rounded
// A tensor core reads 11 binary digits of a factor and cuts off the rest. Adding half of the last digit first turns
// this into rounding to the nearest number, with ties away from zero. `cvt.rna.tf32` does the same, but compiles to
// three instructions on this chip, where this is one. Infinity stays infinity. The NaNs that computations produce stay
// NaNs (0x7fc00000, 0xffc00000, and 0x7fffffff, for which the addition wraps around and the maximum picks the old
// value). Other NaNs may become infinity, or, from 0xfffff000 on, zero.
__device__ unsigned rounded(float value)
{
    const int bits = __float_as_int(value);
    return max(static_cast<int>(static_cast<unsigned>(bits) + 0x1000), bits);
}
// ANCHOR_END: rounded

// ANCHOR: multiply_add
// sums += A B, with 16 x 8 values of A and 8 x 8 of B, distributed over the lanes of a warp.
__device__ void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// ANCHOR_END: multiply_add

// ANCHOR: load_matrix
// Loads 16 x 8 floats. Each lane passes the address of one of the 32 vectors. The instruction moves pairs of 16-bit
// values; here a pair is a float.
__device__ void load_matrix(float (&a)[4], unsigned s_vector)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a[0]), "=f"(a[1]), "=f"(a[2]), "=f"(a[3])
                 : "r"(s_vector)
                 : "memory");
}
// ANCHOR_END: load_matrix

// Starts to copy a vector of which only the first `numbers` numbers exist; the others become zeros. Without VECTORS,
// copies one number at a time.
template <bool VECTORS>
__device__ void start_vector(unsigned s_to, const float* from, int numbers)
{
    if (VECTORS) {
        start_copy<16>(s_to, from, 0 < numbers);
    } else {
#pragma unroll
        for (int i = 0; i < static_cast<int>(VECTOR); ++i) {
            start_copy<4>(s_to + 4 * i, from + i, i < numbers);
        }
    }
}

// ANCHOR: multiply
template <bool VECTORS>
__device__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k,
                         unsigned slice, float* __restrict__ c)
{
    extern __shared__ __align__(16) float s_tiles[];
    const unsigned s_first = static_cast<unsigned>(__cvta_generic_to_shared(s_tiles));
    // The tile of this block: its rows of tiles start `left` tiles from the left, and are `wide` tiles wide.
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x, whole = TILES_WIDE * gridDim.y;
    const unsigned left = block / whole * TILES_WIDE, wide = min(TILES_WIDE, gridDim.x - left);
    const unsigned first_row = block % whole / wide * ROWS, first_column = (left + block % whole % wide) * COLUMNS;
    const unsigned begin = blockIdx.z * slice, length = min(slice, k - begin);

    // This thread copies one vector in every A_STEP-th row of `a`, and one in every B_STEP-th row of `b`.
    const unsigned a_row = threadIdx.x / (DEPTH / VECTOR), a_at = threadIdx.x % (DEPTH / VECTOR) * VECTOR;
    const unsigned b_row = threadIdx.x / (COLUMNS / VECTOR), b_at = threadIdx.x % (COLUMNS / VECTOR) * VECTOR;
    const float* from_a = a + static_cast<size_t>(first_row + a_row) * k + begin + a_at;
    const float* from_b = b + static_cast<size_t>(begin + b_row) * n + first_column + b_at;
    const unsigned to_a = s_first + (a_row * A_PITCH + a_at) * sizeof(float);
    const unsigned to_b = s_first + (ROWS * A_PITCH + b_row * B_PITCH + b_at) * sizeof(float);
    // Signed, because they are negative beyond the end.
    const int rows_left = static_cast<int>(m - first_row - a_row), columns_left = static_cast<int>(n - first_column - b_at);
    constexpr unsigned OF_A = ROWS / A_STEP, VECTORS_OF_BOTH = OF_A + DEPTH / B_STEP;
    const auto copy_half = [&](unsigned half, unsigned buffer, unsigned depth, bool is_there) {
        const unsigned to = buffer * BUFFER * sizeof(float);
        const int rows = is_there ? rows_left : 0, columns = is_there ? columns_left : 0;
#pragma unroll
        for (unsigned i = half * VECTORS_OF_BOTH / 2; i < (half + 1) * VECTORS_OF_BOTH / 2; ++i) {
            if (i < OF_A) {
                const unsigned row = i * A_STEP;
                start_vector<VECTORS>(to_a + to + row * A_PITCH * sizeof(float), from_a + static_cast<size_t>(row) * k,
                                      static_cast<int>(row) < rows ? static_cast<int>(depth - a_at) : 0);
            } else {
                const unsigned row = (i - OF_A) * B_STEP;
                start_vector<VECTORS>(to_b + to + row * B_PITCH * sizeof(float), from_b + static_cast<size_t>(row) * n,
                                      b_row + row < depth ? columns : 0);
            }
        }
        if (half == 1) {
            from_a += depth;
            from_b += static_cast<size_t>(depth) * n;
            end_group();
        }
    };

    // Where the instruction has column g, a lane has column 4 g + part for instruction `part`. So it loads its numbers
    // for four instructions at once.
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, member = lane % 4;
    const unsigned warp_row = warp / WARPS_ACROSS * WARP_ROWS, warp_column = warp % WARPS_ACROSS * WARP_COLUMNS;
    const unsigned at_a = s_first + ((warp_row + lane % 16) * A_PITCH + lane / 16 * VECTOR) * sizeof(float);
    const float* const at_b = s_tiles + ROWS * A_PITCH + member * B_PITCH + warp_column + group * VECTOR;
    float of_a[2][DOWN][4];
    float4 of_b[2][2][ACROSS / VECTOR];
    const auto load = [&](unsigned slot, unsigned buffer, unsigned step) {
        const unsigned tile_of_a = at_a + buffer * BUFFER * sizeof(float);
        const float* const tile_of_b = at_b + buffer * BUFFER;
#pragma unroll
        for (unsigned i = 0; i < DOWN; ++i) {
            load_matrix(of_a[slot][i], tile_of_a + (i * 16 * A_PITCH + step * STEP) * sizeof(float));
        }
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
#pragma unroll
            for (unsigned j = 0; j < ACROSS / VECTOR; ++j) {
                const float* from = tile_of_b + (step * STEP + 4 * half) * B_PITCH + j * 32;
                of_b[slot][half][j] = *reinterpret_cast<const float4*>(from);
            }
        }
    };

    // The first tiles take the remainder, so that all others are full.
    const unsigned slabs = (length + DEPTH - 1) / DEPTH;
#pragma unroll
    for (unsigned i = 0; i < 2 * (BUFFERS - 1); ++i) {
        copy_half(i % 2, i / 2, i < 2 ? length - (slabs - 1) * DEPTH : DEPTH, i / 2 < slabs);
    }
    wait_for_groups<BUFFERS - 2>();
    // All threads have copied the first tiles before any thread reads them.
    __syncthreads();
    load(0, 0, 0);
    float sums[DOWN][ACROSS][4] = {};
    unsigned used = 0, filled = BUFFERS - 1;
    constexpr unsigned STEPS = DEPTH / STEP;
#pragma unroll 1
    for (unsigned slab = 0; slab < slabs; ++slab) {
        const unsigned next = used + 1 == BUFFERS ? 0 : used + 1;
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
            // After the first step, whose loads are needed sooner, and in two halves.
            if (step == 1 || step == 2) {
                copy_half(step - 1, filled, DEPTH, slab + BUFFERS - 1 < slabs);
            }
            // Load one step ahead, so the numbers have time to arrive.
            if (step + 1 < STEPS) {
                load((step + 1) % 2, used, step + 1);
            } else {
                wait_for_groups<BUFFERS - 2>();
                // All threads have copied the next tiles before any thread reads them, and all have read the current
                // tiles before any thread overwrites them.
                __syncthreads();
                load((step + 1) % 2, next, 0);
            }
            unsigned a_part[DOWN][4], b_part[ACROSS][2];
#pragma unroll
            for (unsigned i = 0; i < DOWN; ++i) {
#pragma unroll
                for (unsigned j = 0; j < 4; ++j) {
                    a_part[i][j] = rounded(of_a[step % 2][i][j]);
                }
            }
#pragma unroll
            for (unsigned j = 0; j < ACROSS; j += VECTOR) {
#pragma unroll
                for (unsigned half = 0; half < 2; ++half) {
                    const float4 four = of_b[step % 2][half][j / VECTOR];
                    b_part[j][half] = rounded(four.x), b_part[j + 1][half] = rounded(four.y);
                    b_part[j + 2][half] = rounded(four.z), b_part[j + 3][half] = rounded(four.w);
                }
            }
// ANCHOR: instructions
            // Back and forth: the four registers of `a` stay the same along a row of instructions, and the two of `b`
            // stay the same where one row ends and the next begins.
#pragma unroll
            for (unsigned i = 0; i < DOWN; ++i) {
#pragma unroll
                for (unsigned across = 0; across < ACROSS; ++across) {
                    const unsigned j = i % 2 == 0 ? across : ACROSS - 1 - across;
                    multiply_add(sums[i][j], a_part[i], b_part[j]);
                }
            }
// ANCHOR_END: instructions
        }
        filled = used;
        used = next;
    }

    // In each instruction, a lane has columns 2 t and 2 t + 1, where t is `member`, of rows `group` and `group + 8`.
    // With four instructions, these are 8 neighboring columns of the output.
    c += static_cast<size_t>(blockIdx.z) * m * n;
#pragma unroll
    for (unsigned i = 0; i < 2 * DOWN; ++i) {
        const unsigned row = first_row + warp_row + i * 8 + group;
#pragma unroll
        for (unsigned j = 0; j < 2 * ACROSS; j += VECTOR) {
            const unsigned column = first_column + warp_column + j / 8 * 32 + member * 8 + j % 8;
            const unsigned part = j / 8 * VECTOR, of_lane = i % 2 * 2 + j / VECTOR % 2;
            const float four[VECTOR] = {sums[i / 2][part][of_lane], sums[i / 2][part + 1][of_lane],
                                        sums[i / 2][part + 2][of_lane], sums[i / 2][part + 3][of_lane]};
            float* const to = c + static_cast<size_t>(row) * n + column;
            if (VECTORS) {
                if (row < m && column < n) {
                    *reinterpret_cast<float4*>(to) = make_float4(four[0], four[1], four[2], four[3]);
                }
            } else {
#pragma unroll
                for (unsigned e = 0; e < VECTOR; ++e) {
                    if (row < m && column + e < n) {
                        to[e] = four[e];
                    }
                }
            }
        }
    }
}
// ANCHOR_END: multiply

// ANCHOR: tensor_tf32
extern "C" __global__ void __launch_bounds__(THREADS)
tensor_tf32(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k, unsigned slice,
            float* __restrict__ c)
{
    multiply<true>(a, b, m, n, k, slice, c);
}

// The same for sizes where not all rows start at a multiple of 16 bytes.
extern "C" __global__ void __launch_bounds__(THREADS)
tensor_tf32_any(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k,
                unsigned slice, float* __restrict__ c)
{
    multiply<false>(a, b, m, n, k, slice, c);
}
// ANCHOR_END: tensor_tf32
