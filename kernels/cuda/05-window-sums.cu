// 05-window-sums: for each pixel, the sum and the sum of squares over a horizontal window around it, one place per thread.
//
//     sums[x, y] = I[x-k, y] + … + I[x+k, y],   squares[x, y] = I[x-k, y]² + … + I[x+k, y]²,   window = 2k + 1
//
// Since the last chapter: hardly any arithmetic, so that the memory decides.
// Launch:  two-dimensional grid with a row of blocks for each row of the image. BLOCK threads, but `shared_slices` any number, with
//          2 * pitch floats of dynamic shared memory per thread.
// Work:    per place 2 * window additions and window multiplications. 4 bytes to read and 8 to write once, and read and written far more often
//          by those kernels that keep their sums in global memory.
// Sizes:   any image, any odd window that is no wider. Columns `begin` to `end` have places, the others are left alone. Pixels before and
//          behind a row are those of its edge. window * pixel² stays below 2^32, so that integers of 32 bits are wide enough.

#include "05-window-sums.cuh"

// ANCHOR: fused_global
// The original's first version. Both accumulators stay in global memory, where each term is added to them, and `pow` squares. The original
// writes `pow(x, 2)`, of a float and an int. What that is depends on the compiler: this is the function in single precision.
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
// Half of `fused_global`: what does the sum take by itself?
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
// The other half.
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
// One loop after the other. The arithmetic and the accumulators are those of `fused_global`.
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
// Each thread has slices of shared memory to itself: it copies its window there and adds up within the first place of each slice. No
// other thread looks at a slice, so there is nothing to wait for. `pitch` is how far the slices are apart, in words: `window` in the
// original, which is odd, so that the lanes' first words lie in different banks.
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
// `fused_global` with a product in place of `powf`.
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
// The accumulators in registers, and integers, which round nothing until the end. `__restrict__` promises that no array is
// written through another's pointer.
extern "C" __global__ void registers(const int* __restrict__ image, Shape shape, float* __restrict__ sums, float* __restrict__ squares)
{
    const int x = shape.begin + blockIdx.x * BLOCK + threadIdx.x;
    const int row = blockIdx.y * shape.width;
    const int k = shape.window / 2;
    if (x < shape.end) {
        int sum = 0;
        unsigned square = 0;
        for (int j = -k; j <= k; ++j) {
            const int pixel = image[row + clamped(x + j, shape.width)];
            // A square may be as large as an unsigned.
            const unsigned factor = pixel;
            sum += pixel;
            square += factor * factor;
        }
        sums[row + x] = static_cast<float>(sum);
        squares[row + x] = static_cast<float>(square);
    }
}
// ANCHOR_END: registers
