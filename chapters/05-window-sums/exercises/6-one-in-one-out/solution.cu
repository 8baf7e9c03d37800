// Exercise: one in, one out.
//
//     sums[x, y] = I[x-k, y] + … + I[x+k, y],   squares[x, y] = I[x-k, y]² + … + I[x+k, y]²,   window = 2k + 1
//
// Launch:  two-dimensional grid with a row of blocks for each row of the image; THREADS threads with RUN neighboring
//          pixels each.
// Sizes:   any image, any odd window up to WIDEST that is no wider than the image. Beyond its ends, a row continues
//          with its outermost pixels.
// Outputs: a report numbers all sums first, and then all squares.

constexpr int THREADS = 64;
constexpr int RUN = 9;
constexpr int PLACES = THREADS * RUN;
constexpr int WIDEST = 63;

__device__ inline int clamped(int x, int width)
{
    return min(max(x, 0), width - 1);
}

extern "C" __global__ void window_sums(const int* __restrict__ image, int width, int window, float* __restrict__ sums,
                                       float* __restrict__ squares)
{
    __shared__ int s_tile[PLACES + WIDEST];
    const int row = blockIdx.y * width;
    const int first = blockIdx.x * PLACES;
    for (int k = threadIdx.x; k < PLACES + window; k += THREADS) {
        s_tile[k] = image[row + clamped(first - window / 2 + k, width)];
    }
    // All threads have written the tile before any thread reads it.
    __syncthreads();

    // The window of output r of this thread's run begins at s_run[r].
    const int* s_run = s_tile + threadIdx.x * RUN;
    int sum = 0;
    int square = 0;
    for (int k = 0; k < window; ++k) {
        sum += s_run[k];
        square += s_run[k] * s_run[k];
    }
    for (int r = 0; r < RUN; ++r) {
        const int x = first + threadIdx.x * RUN + r;
        if (x < width) {
            sums[row + x] = static_cast<float>(sum);
            squares[row + x] = static_cast<float>(square);
        }
#ifdef SOLUTION
        const int entering = s_run[r + window];
        const int leaving = s_run[r];
        sum += entering - leaving;
        square += entering * entering - leaving * leaving;
#else
        // Here `sum` and `square` belong to the window that begins at s_run[r]. Make them those of the next window.
#endif
    }
}
