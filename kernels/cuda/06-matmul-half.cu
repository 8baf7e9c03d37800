// 06-matmul-half: the product of two matrices of bf16 numbers on tensor cores, with f32 sums.
//
//     c[row][column] = bf16(sum over i < k of a[row][i] * b[i][column]),   row < m, column < n
//
// Since 06-matmul-tiled-async: a warp multiplies 16 x 16 by 16 x 8 numbers with one instruction. `ldmatrix` distributes
//          squares of 8 x 8 numbers over the lanes, and transposes those of `b`. The chunks of a row are permuted instead
//          of padding the rows, so no two lanes of a request meet in a bank, and a tile has no unused bytes.
// Launch:  blocks of THREADS; gridDim.x is the number of tiles of COLUMNS columns, gridDim.y is the number of tiles of
//          ROWS rows. SHARED_BYTES bytes of dynamic shared memory.
// Work:    per output, k multiply-adds on tensor cores. For every 16 columns of `a`, a warp loads 64 x 16 numbers of `a`
//          and 16 x 64 of `b`, which are enough for 32 instructions.
// Sizes:   m, n, k >= 1; n and k have to be multiples of 8, so that rows start at multiples of 16 bytes.

#include "06-matmul-tiled.cuh"
#include "06-matmul-half.cuh"

// Outputs of a warp.
constexpr unsigned WARP_ROWS = 64;
constexpr unsigned WARP_COLUMNS = 64;
constexpr unsigned THREADS = 256;
constexpr unsigned WARPS_ACROSS = COLUMNS / WARP_COLUMNS;
static_assert(THREADS == ROWS / WARP_ROWS * WARPS_ACROSS * 32 && WARP_COLUMNS == BOX);
// Columns of `a` and rows of `b` that one instruction takes, and instructions that cover the outputs of a warp.
constexpr unsigned STEP = 16;
constexpr unsigned DOWN = WARP_ROWS / 16;
constexpr unsigned ACROSS = WARP_COLUMNS / 8;
// Pairs of tiles in shared memory: one is used and the others are on their way.
constexpr unsigned BUFFERS = 3;
constexpr unsigned SHARED_BYTES = 147456;
static_assert(SHARED_BYTES == BUFFERS * STAGE_BYTES);
// Numbers of a chunk of 16 bytes, and chunks of a row of a box.
constexpr unsigned CHUNK = 8;
constexpr unsigned CHUNKS = BOX / CHUNK;

// ANCHOR: multiply_add
// sums += A B, with 16 x 16 numbers of A and 16 x 8 of B, distributed over the lanes of a warp.
__device__ void multiply_add(float (&sums)[4], const unsigned (&a)[4], unsigned b_upper, unsigned b_lower)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_upper), "r"(b_lower));
}
// ANCHOR_END: multiply_add

// ANCHOR: load_squares
// Loads four squares of 8 x 8 numbers. Lane i passes the address of row i % 8 of square i / 8. Lane i gets numbers
// 2 (i % 4) and the next one of row i / 4 of each square.
__device__ void load_squares(unsigned (&squares)[4], unsigned s_row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(squares[0]), "=r"(squares[1]), "=r"(squares[2]), "=r"(squares[3])
                 : "r"(s_row)
                 : "memory");
}

// The same, with columns in the place of rows: lane i gets the numbers of column i / 4.
__device__ void load_transposed_squares(unsigned (&squares)[4], unsigned s_row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(squares[0]), "=r"(squares[1]), "=r"(squares[2]), "=r"(squares[3])
                 : "r"(s_row)
                 : "memory");
}
// ANCHOR_END: load_squares

// ANCHOR: mma
extern "C" __global__ void __launch_bounds__(THREADS)
mma(const bf16* __restrict__ a, const bf16* __restrict__ b, unsigned m, unsigned n, unsigned k, bf16* __restrict__ c)
{
    extern __shared__ __align__(1024) char s_tiles[];
    const unsigned s_first = static_cast<unsigned>(__cvta_generic_to_shared(s_tiles));
    const unsigned first_row = blockIdx.y * ROWS, first_column = blockIdx.x * COLUMNS;

// ANCHOR: copy_tiles
    // Each thread copies a chunk of every 32nd row of a box.
    const unsigned copy_row = threadIdx.x / CHUNKS, copy_chunk = threadIdx.x % CHUNKS;
    constexpr unsigned COPY_STEP = THREADS / CHUNKS;
    const auto copy_tiles = [&](unsigned slab) {
        const unsigned s_to = s_first + slab % BUFFERS * STAGE_BYTES, at = slab * DEPTH;
#pragma unroll
        for (unsigned i = 0; i < ROWS; i += COPY_STEP) {
            const unsigned row = i + copy_row, column = at + copy_chunk * CHUNK;
            const bf16* from = a + static_cast<size_t>(first_row + row) * k + column;
            start_copy<16>(s_to + swizzled(row, copy_chunk), reinterpret_cast<const float*>(from), first_row + row < m && column < k);
        }
#pragma unroll
        for (unsigned box = 0; box < BOXES; ++box) {
#pragma unroll
            for (unsigned i = 0; i < DEPTH; i += COPY_STEP) {
                const unsigned row = i + copy_row, column = first_column + box * BOX + copy_chunk * CHUNK;
                const bf16* from = b + static_cast<size_t>(at + row) * n + column;
                start_copy<16>(s_to + A_BYTES + box * BOX_BYTES + swizzled(row, copy_chunk), reinterpret_cast<const float*>(from),
                               at + row < k && column < n);
            }
        }
    };
// ANCHOR_END: copy_tiles

// ANCHOR: load
    // A lane's row of a square, and which of four squares. Those of `a` are two above two; the first two of `b` are one above
    // the other, and so are the next two, to the right.
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned warp_row = warp / WARPS_ACROSS * WARP_ROWS, warp_box = warp % WARPS_ACROSS;
    unsigned of_a[2][DOWN][4], of_b[2][ACROSS / 2][4];
    const auto load = [&](unsigned slot, unsigned s_tile, unsigned step) {
#pragma unroll
        for (unsigned i = 0; i < DOWN; ++i) {
            load_squares(of_a[slot][i], s_tile + swizzled(warp_row + i * 16 + lane % 16, step * 2 + lane / 16));
        }
#pragma unroll
        for (unsigned j = 0; j < ACROSS / 2; ++j) {
            const unsigned s_box = s_tile + A_BYTES + warp_box * BOX_BYTES;
            load_transposed_squares(of_b[slot][j], s_box + swizzled(step * STEP + lane % 16, j * 2 + lane / 16));
        }
    };
// ANCHOR_END: load

    const unsigned slabs = (k + DEPTH - 1) / DEPTH;
#pragma unroll
    for (unsigned slab = 0; slab < BUFFERS - 1; ++slab) {
        if (slab < slabs) {
            copy_tiles(slab);
        }
        end_group();
    }
    float sums[DOWN][ACROSS][4] = {};
#pragma unroll 1
    for (unsigned slab = 0; slab < slabs; ++slab) {
        wait_for_groups<BUFFERS - 2>();
        // All threads have copied these tiles before any thread reads them, and all have read the previous tiles before any
        // thread overwrites them.
        __syncthreads();
        if (slab + BUFFERS - 1 < slabs) {
            copy_tiles(slab + BUFFERS - 1);
        }
        end_group();
        const unsigned s_tile = s_first + slab % BUFFERS * STAGE_BYTES;
        load(0, s_tile, 0);
#pragma unroll
        for (unsigned step = 0; step < DEPTH / STEP; ++step) {
            if (step + 1 < DEPTH / STEP) {
                load((step + 1) % 2, s_tile, step + 1);
            }
// ANCHOR: instructions
            // Back and forth, so that from one instruction to the next only one factor changes.
#pragma unroll
            for (unsigned i = 0; i < DOWN; ++i) {
#pragma unroll
                for (unsigned across = 0; across < ACROSS; ++across) {
                    const unsigned j = i % 2 == 0 ? across : ACROSS - 1 - across;
                    const unsigned (&of_two)[4] = of_b[step % 2][j / 2];
                    multiply_add(sums[i][j], of_a[step % 2][i], of_two[j % 2 * 2], of_two[j % 2 * 2 + 1]);
                }
            }
// ANCHOR_END: instructions
        }
    }

    // In each instruction, a lane has two neighboring columns of rows lane / 4 and lane / 4 + 8.
#pragma unroll
    for (unsigned i = 0; i < DOWN; ++i) {
#pragma unroll
        for (unsigned j = 0; j < ACROSS; ++j) {
            const unsigned column = first_column + warp_box * BOX + j * 8 + lane % 4 * 2;
#pragma unroll
            for (unsigned half = 0; half < 2; ++half) {
                const unsigned row = first_row + warp_row + i * 16 + half * 8 + lane / 4;
                if (row < m && column < n) {
                    const unsigned two = pair(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
                    *reinterpret_cast<unsigned*>(c + static_cast<size_t>(row) * n + column) = two;
                }
            }
        }
    }
}
// ANCHOR_END: mma
