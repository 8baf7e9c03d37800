// Exercise: slices of 16 words.
//
//     sums[x, y] = I[x-k, y] + … + I[x+k, y],   squares[x, y] = I[x-k, y]² + … + I[x+k, y]²,   window = 2k + 1
//
// Each thread has two slices of shared memory to itself: it writes its terms there, and adds them up in the first word
// of each slice. No other thread reads a slice, so no barrier is needed.
//
// Launch:  two-dimensional grid with a row of blocks for each row of the image; THREADS threads with one pixel each.
// Sizes:   any image, any odd window up to WIDEST that is no wider than the image. Beyond its ends, a row continues
//          with its outermost pixels.
// Outputs: a report numbers all sums first, and then all squares.

constexpr int THREADS = 128;
[[maybe_unused]] constexpr int WIDEST = 15;
#ifdef SOLUTION
// Words from one thread's slice to the next one's. An odd number has no factor in common with the 32 banks.
constexpr int PITCH = 17;
#else
// Words from one thread's slice to the next one's.
constexpr int PITCH = 16;
#endif

__device__ inline int clamped(int x, int width)
{
    return min(max(x, 0), width - 1);
}

extern "C" __global__ void window_sums(const int* __restrict__ image, int width, int window, float* __restrict__ sums,
                                       float* __restrict__ squares)
{
    __shared__ float s_sums[THREADS * PITCH];
    __shared__ float s_squares[THREADS * PITCH];
    const int x = blockIdx.x * THREADS + threadIdx.x;
    const int row = blockIdx.y * width;
    float* s_sum = s_sums + threadIdx.x * PITCH;
    float* s_square = s_squares + threadIdx.x * PITCH;
    if (x < width) {
        for (int j = 0; j < window; ++j) {
            const float pixel = static_cast<float>(image[row + clamped(x - window / 2 + j, width)]);
            s_sum[j] = pixel;
            s_square[j] = pixel * pixel;
        }
        for (int j = 1; j < window; ++j) {
            s_sum[0] += s_sum[j];
            s_square[0] += s_square[j];
        }
        sums[row + x] = s_sum[0];
        squares[row + x] = s_square[0];
    }
}
