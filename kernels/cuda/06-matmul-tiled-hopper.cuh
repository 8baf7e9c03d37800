// What the kernels of chapter 06 for Hopper share: where a block's numbers are, in shared memory and in registers.
//
// For numbers of 32 bits, the tensor cores of Hopper read a factor from shared memory only if the numbers that they add up
// lie side by side. Those of a row of `a` do; those of a column of `b` do not. The other factor may come from registers,
// though. So we compute the transpose of C, which is the transpose of B times the transpose of A: the left factor comes
// from registers, into which threads load columns of `b`, and the columns of the right factor are the rows of `a`.
#pragma once

#include "hopper.cuh"

// Columns of the outputs of a block.
constexpr unsigned COLUMNS = 128;
// Threads that multiply: two warpgroups of 128 threads, each with 64 of the columns.
constexpr unsigned CONSUMERS = 256;
static_assert(CONSUMERS / 128 * 64 == COLUMNS);
// Columns of A, and rows of B, in a stage, and that one instruction takes.
constexpr unsigned DEPTH = 32;
constexpr unsigned STEP = 8;
// Columns of a box of B. A row of a box has the 128 bytes that the tensor cores expect of a row, and so has a row of a tile of A.
constexpr unsigned BOX = 32;
constexpr unsigned ROW_BYTES = BOX * sizeof(float);
constexpr unsigned BOX_BYTES = DEPTH * ROW_BYTES;
static_assert(ROW_BYTES == 128 && DEPTH == BOX);
// Boxes of B in a stage.
constexpr unsigned BOXES = COLUMNS / BOX;

// ANCHOR: place
// Blocks take tiles of C from bands of TILES_DOWN tiles, column by column, so blocks that run at the same time share tiles
// of both A and B.
constexpr unsigned TILES_DOWN = 8;

// Row and column of the first output of a tile.
struct Place {
    unsigned row, column;
};

// Finds a tile by its number. C has `down` times `across` tiles, each with ROWS rows and WIDTH columns.
template <unsigned ROWS, unsigned WIDTH = COLUMNS>
__device__ inline Place place_of(unsigned tile, unsigned down, unsigned across)
{
    const unsigned band = tile / (TILES_DOWN * across), within = tile % (TILES_DOWN * across);
    const unsigned height = min(TILES_DOWN, down - band * TILES_DOWN);
    return {(band * TILES_DOWN + within % height) * ROWS, within / height * WIDTH};
}
// ANCHOR_END: place

// ANCHOR: position
// The numbers of a thread. In an instruction, a thread has two columns of the output, and in each the rows 2 `member` and
// 2 `member` + 1 of every eight. It loads the numbers of its columns in the rows `member` and `member` + 4 of B.
struct Position {
    // The first of its two columns, which are neighbors, and the first of its rows, both in the tile.
    unsigned column, row;
    // Bytes from the start of the tiles of B to its numbers in row `member`, and in row `member` + 4.
    unsigned at[2];
};

__device__ inline Position position()
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned group = lane / 4, member = lane % 4;
    // Two warps share a box of 32 columns, which are 8 chunks of 4. TMA has exchanged the chunks of row r:
    // chunk i is where chunk i ^ (r % 8) would be. The four rows that a warp loads at a time permute the chunks 0 to 3
    // among themselves, and 4 to 7. So half a warp takes one chunk of each kind, and loads from all 32 banks once.
    const unsigned chunk = warp % 2 * 2 + group / 4 + group / 2 % 2 * 4, word = group % 2 * 2;
    const auto bytes = [&](unsigned row) {
        return warp / 2 * BOX_BYTES + row * ROW_BYTES + (chunk ^ row) * 16 + word * 4;
    };
    return {warp / 2 * BOX + chunk * 4 + word, 2 * member, {bytes(member), bytes(member + 4)}};
}
// ANCHOR_END: position

// ANCHOR: load_pair
// Loads two neighbors. Unlike a plain load, it stays after the wait for its tile.
__device__ inline void load_pair(unsigned (&pair)[2], unsigned s_from)
{
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(pair[0]), "=r"(pair[1]) : "r"(s_from) : "memory");
}
// ANCHOR_END: load_pair

// ANCHOR: multiply_tiles
// Numbers of B for all instructions of a stage.
using Fragments = unsigned[DEPTH / STEP][2][2];

// Starts the instructions of a stage, whose tile of A has two rows for each sum of a thread. A description has the bits of MASK of an
// address. In a cluster these have to be the lowest 18, because those above may tell the block.
template <unsigned MASK = ~0u, unsigned SUMS>
__device__ __forceinline__ void multiply_tiles(float (&sums)[SUMS], Fragments& of_b, unsigned s_stage, const Position& position)
{
    constexpr unsigned A_BYTES = 2 * SUMS * ROW_BYTES;
#pragma unroll
    for (unsigned step = 0; step < DEPTH / STEP; ++step) {
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            load_pair(of_b[step][half], s_stage + A_BYTES + position.at[half] + step * STEP * ROW_BYTES);
        }
    }
    begin_products();
#pragma unroll
    for (unsigned step = 0; step < DEPTH / STEP; ++step) {
        const unsigned left[4] = {of_b[step][0][0], of_b[step][0][1], of_b[step][1][0], of_b[step][1][1]};
        multiply_add(sums, left, describe((s_stage & MASK) + step * STEP * sizeof(float)));
    }
    end_products();
}
// ANCHOR_END: multiply_tiles

// ANCHOR: store
// Stores the sums of a thread, whose first row and column these are. `n` is even: of two neighbors, both exist or neither.
template <unsigned SUMS>
__device__ inline void store(const float (&sums)[SUMS], unsigned row, unsigned column, unsigned m, unsigned n, float* c)
{
    if (column >= n) {
        return;
    }
#pragma unroll
    for (unsigned i = 0; i < SUMS / 2; ++i) {
        const unsigned at = row + i / 2 * 8 + i % 2, sum = i / 2 * 4 + i % 2;
        if (at < m) {
            // Four lanes have 8 neighboring columns of a row, a whole sector.
            *reinterpret_cast<float2*>(c + static_cast<size_t>(at) * n + column) = make_float2(sums[sum], sums[sum + 2]);
        }
    }
}
// ANCHOR_END: store
