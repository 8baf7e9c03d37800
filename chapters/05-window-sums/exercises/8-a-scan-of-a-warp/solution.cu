// Exercise: a scan of a warp.
//
//     sums[x, y] = I[x-k, y] + … + I[x+k, y],   squares[x, y] = I[x-k, y]² + … + I[x+k, y]²,   window = 2k + 1
//
// Launch:  two-dimensional grid with a row of blocks for each row of the image; THREADS threads, which load a pixel
//          each and compute PLACES outputs.
// Sizes:   any image, any odd window up to WIDEST that is no wider than the image. Beyond its ends, a row continues
//          with its outermost pixels.
// Outputs: a report numbers all sums first, and then all squares.

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int PLACES = 192;
constexpr int WIDEST = 63;
static_assert(PLACES + WIDEST < THREADS);

__device__ inline int clamped(int x, int width)
{
    return min(max(x, 0), width - 1);
}

// For each lane, the sum of its own value and those of all lanes before it in its warp.
__device__ inline int sum_up_to(int value)
{
    const int lane = threadIdx.x % 32;
#ifdef SOLUTION
    for (int distance = 1; distance < 32; distance *= 2) {
        const int before = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance) {
            value += before;
        }
    }
#else
    // Here each lane has its own value only.
#endif
    return value;
}

extern "C" __global__ void window_sums(const int* __restrict__ image, int width, int window, float* __restrict__ sums,
                                       float* __restrict__ squares)
{
    __shared__ int s_pixels_to[THREADS];
    __shared__ int s_squares_to[THREADS];
    __shared__ int s_warps[2][WARPS];
    const int row = blockIdx.y * width;
    const int first = blockIdx.x * PLACES;
    const int t = threadIdx.x;
    // The tile begins with the pixel before the first window.
    const int pixel = image[row + clamped(first - window / 2 - 1 + t, width)];
    int pixels_to = sum_up_to(pixel);
    int squares_to = sum_up_to(pixel * pixel);
    if (t % 32 == 31) {
        s_warps[0][t / 32] = pixels_to;
        s_warps[1][t / 32] = squares_to;
    }
    // All warps have written their sums before any thread reads them.
    __syncthreads();
    for (int w = 0; w < t / 32; ++w) {
        pixels_to += s_warps[0][w];
        squares_to += s_warps[1][w];
    }
    s_pixels_to[t] = pixels_to;
    s_squares_to[t] = squares_to;
    // All prefix sums are written before any thread reads them.
    __syncthreads();
    if (t < PLACES && first + t < width) {
        sums[row + first + t] = static_cast<float>(s_pixels_to[t + window] - s_pixels_to[t]);
        squares[row + first + t] = static_cast<float>(s_squares_to[t + window] - s_squares_to[t]);
    }
}
