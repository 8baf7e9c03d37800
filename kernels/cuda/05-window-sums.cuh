// What all kernels of chapter 05 share: which columns have outputs, and how a row continues beyond its ends.
#pragma once

// Threads of a block of the kernels with one output per thread.
constexpr int BLOCK = 256;

// ANCHOR: shape
// Passed to every kernel by value.
struct Shape {
    int width;  // pixels of a row
    int window; // pixels of the window, an odd number
    int begin;  // the first column that has an output
    int end;    // the column after the last one that has
};
// ANCHOR_END: shape

// Beyond its ends, a row continues with its outermost pixels.
__device__ inline int clamped(int x, int width)
{
    return min(max(x, 0), width - 1);
}
