// What all kernels of 06-matmul-half share: numbers of 16 bits, and where they are in shared memory.
#pragma once

// A number of 16 bits with the exponent of an f32 and 8 binary digits.
struct bf16 {
    unsigned short bits;
};

// ANCHOR: tile
// Rows and columns of the outputs of a block, and columns of A, and rows of B, that are in shared memory at a time.
constexpr unsigned ROWS = 128;
constexpr unsigned COLUMNS = 256;
constexpr unsigned DEPTH = 64;
// A row of 64 numbers has 128 bytes: all 32 banks once, and eight chunks of 16 bytes. The tile of A is one such box, with
// a row for each row of A. The tile of B is four of them side by side, with 64 columns each and a row for each row of B.
constexpr unsigned BOX = 64;
constexpr unsigned ROW_BYTES = BOX * sizeof(bf16);
constexpr unsigned BOX_BYTES = DEPTH * ROW_BYTES;
constexpr unsigned BOXES = COLUMNS / BOX;
constexpr unsigned A_BYTES = ROWS * ROW_BYTES;
constexpr unsigned STAGE_BYTES = 49152;
static_assert(DEPTH == BOX && STAGE_BYTES == A_BYTES + BOXES * BOX_BYTES);
// ANCHOR_END: tile

// ANCHOR: swizzled
// Where a chunk of 16 bytes is in a box. Eight rows of a column of chunks are in eight different places of a row, so they
// are in different banks. TMA's SWIZZLE_128B is the same pattern.
__device__ inline unsigned swizzled(unsigned row, unsigned chunk)
{
    return row * ROW_BYTES + (chunk ^ row % 8) * 16;
}
// ANCHOR_END: swizzled

// ANCHOR: pair
// Rounds two numbers. The first is in the lower half, where the lower address is.
__device__ inline unsigned pair(float first, float second)
{
    unsigned two;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(second), "f"(first));
    return two;
}
// ANCHOR_END: pair
