// 05-window-sums: for each pixel, the sum and the sum of squares over a horizontal window around it, one pixel per thread.
//
//     sums[x, y] = I[x-k, y] + … + I[x+k, y],   squares[x, y] = I[x-k, y]² + … + I[x+k, y]²,   window = 2k + 1
//
// Since the last chapter: hardly any arithmetic, so memory is the bottleneck.
// Launch:  two-dimensional grid with a row of blocks for each row of the image. Blocks have BLOCK threads; in
//          `shared_slices` any number, with 2 * pitch floats of dynamic shared memory per thread.
// Work:    per output, 2 * window additions and window multiplications. At least 4 bytes must be read and 8 written.
//          The kernels that keep their sums in global memory read and write them again for every term.
// Sizes:   any image, and any odd window that is not wider. Columns `begin` to `end - 1` have outputs; the kernels do
//          not touch the others. Beyond its ends, a row continues with its outermost pixels. window * pixel² is below
//          2^32, so 32-bit integers are wide enough.

#include "05-window-sums.cuh"

// ANCHOR: fused_global
// The original's first version. Both accumulators stay in global memory, where each term is added to them, and `pow`
// computes the squares. The original calls `pow(x, 2)` with a float and an int. What this means depends on the
// compiler; here it is the function in single precision.
extern "C" __global__ void fused_global(const int* image, Shape shape, float* sums, float* squares)
{
    const int x = shape.begin + blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.y * shape.width;
    const int k = shape.window / 2;
    if (x < shape.end) {
        sums[row + x] = 0.0f;
        squares[row + x] = 0.0f;
        for (int j = -k; j <= k; ++j) {
            sums[row + x] += static_cast<float>(image[row + clamped(x + j, shape.width)]);
            squares[row + x] += powf(static_cast<float>(image[row + clamped(x + j, shape.width)]), 2.0f);
        }
    }
}
// ANCHOR_END: fused_global

// ANCHOR: sum_only
// Half of `fused_global`: how long does the sum take by itself?
extern "C" __global__ void sum_only(const int* image, Shape shape, float* sums)
{
    const int x = shape.begin + blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.y * shape.width;
    const int k = shape.window / 2;
    if (x < shape.end) {
        sums[row + x] = 0.0f;
        for (int j = -k; j <= k; ++j) {
            sums[row + x] += static_cast<float>(image[row + clamped(x + j, shape.width)]);
        }
    }
}
// ANCHOR_END: sum_only

// ANCHOR: squares_only
// The other half: only the sum of squares.
extern "C" __global__ void squares_only(const int* image, Shape shape, float* squares)
{
    const int x = shape.begin + blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.y * shape.width;
    const int k = shape.window / 2;
    if (x < shape.end) {
        squares[row + x] = 0.0f;
        for (int j = -k; j <= k; ++j) {
            squares[row + x] += powf(static_cast<float>(image[row + clamped(x + j, shape.width)]), 2.0f);
        }
    }
}
// ANCHOR_END: squares_only

// ANCHOR: split_global
// One loop for the sum, then one for the squares. The arithmetic and the accumulators are those of `fused_global`.
extern "C" __global__ void split_global(const int* image, Shape shape, float* sums, float* squares)
{
    const int x = shape.begin + blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.y * shape.width;
    const int k = shape.window / 2;
    if (x < shape.end) {
        sums[row + x] = 0.0f;
        for (int j = -k; j <= k; ++j) {
            sums[row + x] += static_cast<float>(image[row + clamped(x + j, shape.width)]);
        }
        squares[row + x] = 0.0f;
        for (int j = -k; j <= k; ++j) {
            squares[row + x] += powf(static_cast<float>(image[row + clamped(x + j, shape.width)]), 2.0f);
        }
    }
}
// ANCHOR_END: split_global

// ANCHOR: shared_slices
// Each thread has two slices of shared memory to itself: it copies its window there and adds up in the first word of
// each slice. No other thread reads a slice, so no barrier is needed. `pitch` is the distance between slices in words.
// In the original it is `window`, which is odd, so the lanes' first words are in different banks.
extern "C" __global__ void shared_slices(const int* image, Shape shape, int pitch, float* sums, float* squares)
{
    extern __shared__ float s_slices[];
    const int x = shape.begin + blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * shape.width;
    const int k = shape.window / 2;
    float* s_sum = s_slices + threadIdx.x * pitch;
    float* s_square = s_slices + (blockDim.x + threadIdx.x) * pitch;
    if (x < shape.end) {
        for (int j = 0; j < shape.window; ++j) {
            s_sum[j] = static_cast<float>(image[row + clamped(x - k + j, shape.width)]);
        }
        s_square[0] = powf(s_sum[0], 2.0f);
        for (int j = 1; j < shape.window; ++j) {
            s_sum[0] += s_sum[j];
            s_square[0] += powf(s_sum[j], 2.0f);
        }
        sums[row + x] = s_sum[0];
        squares[row + x] = s_square[0];
    }
}
// ANCHOR_END: shared_slices

// ANCHOR: multiply
// `fused_global` with a multiplication instead of `powf`.
extern "C" __global__ void multiply(const int* image, Shape shape, float* sums, float* squares)
{
    const int x = shape.begin + blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.y * shape.width;
    const int k = shape.window / 2;
    if (x < shape.end) {
        sums[row + x] = 0.0f;
        squares[row + x] = 0.0f;
        for (int j = -k; j <= k; ++j) {
            const float pixel = static_cast<float>(image[row + clamped(x + j, shape.width)]);
            sums[row + x] += pixel;
            squares[row + x] += pixel * pixel;
        }
    }
}
// ANCHOR_END: multiply

// ANCHOR: registers
// The accumulators are in registers. They are integers, so nothing is rounded until the end. `__restrict__` promises
// that no array is written through a pointer to another.
extern "C" __global__ void registers(const int* __restrict__ image, Shape shape, float* __restrict__ sums,
                                     float* __restrict__ squares)
{
    const int x = shape.begin + blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.y * shape.width;
    const int k = shape.window / 2;
    if (x < shape.end) {
        int sum = 0;
        unsigned square = 0;
        for (int j = -k; j <= k; ++j) {
            const int pixel = image[row + clamped(x + j, shape.width)];
            // A square can need all 32 bits of an unsigned.
            const unsigned factor = pixel;
            sum += pixel;
            square += factor * factor;
        }
        sums[row + x] = static_cast<float>(sum);
        squares[row + x] = static_cast<float>(square);
    }
}
// ANCHOR_END: registers
