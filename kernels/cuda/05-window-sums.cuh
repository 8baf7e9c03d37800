// What all kernels of chapter 05 have in common: which places have sums, and what lies beyond the ends of a row.
#pragma once

// Threads of a block with one place each.
constexpr int BLOCK = 256;

// ANCHOR: shape
// What the host tells every kernel, by value.
struct Shape {
    int width;  // pixels of a row
    int window; // pixels of the window, an odd number
    int begin;  // first column that has sums
    int end;    // the column behind the last that has
};
// ANCHOR_END: shape

// Beyond its ends a row goes on with its outermost pixels.
__device__ inline int clamped(int x, int width)
{
    return min(max(x, 0), width - 1);
}
