// Exercise: sums in registers.
//
//     sums[x, y] = I[x-k, y] + … + I[x+k, y],   squares[x, y] = I[x-k, y]² + … + I[x+k, y]²,   window = 2k + 1
//
// Launch:  two-dimensional grid with a row of blocks for each row of the image; 256 threads with one pixel each.
// Sizes:   any image, any odd window that is no wider. Beyond its ends, a row continues with its outermost pixels.
// Outputs: a report numbers all sums first, and then all squares.

__device__ inline int clamped(int x, int width)
{
    return min(max(x, 0), width - 1);
}

extern "C" __global__ void window_sums(const int* image, int width, int window, float* sums, float* squares)
{
    const int x = blockIdx.x * 256 + threadIdx.x;
    const int row = blockIdx.y * width;
    if (x >= width) {
        return;
    }
#ifdef SOLUTION
    float sum = 0.0f;
    float square = 0.0f;
#else
    sums[row + x] = 0.0f;
    squares[row + x] = 0.0f;
#endif
    for (int j = -(window / 2); j <= window / 2; ++j) {
        const float pixel = static_cast<float>(image[row + clamped(x + j, width)]);
#ifdef SOLUTION
        sum += pixel;
        square += pixel * pixel;
#else
        sums[row + x] += pixel;
        squares[row + x] += pixel * pixel;
#endif
    }
#ifdef SOLUTION
    sums[row + x] = sum;
    squares[row + x] = square;
#endif
}
