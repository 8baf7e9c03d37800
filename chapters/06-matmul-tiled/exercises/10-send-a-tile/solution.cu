// Exercise: send a tile.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE x TILE outputs; blockIdx.x counts tiles of columns,
//          blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. n is a multiple of 4, because TMA copies whole vectors of 16 bytes.

constexpr unsigned TILE = 16;

// Lets TMA see what this thread has written to shared memory.
__device__ void show_to_tma()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Starts to copy from shared to global memory. Both begin at a multiple of 16 bytes, and `bytes` is a multiple of 16.
__device__ void start_store(float* to, const float* s_from, unsigned bytes)
{
    const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(s_from));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}

// Waits until TMA has read all that this thread told it to send.
__device__ void wait_for_stores()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    __shared__ __align__(16) float s_c[TILE][TILE];
    const unsigned y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    if (row < m && column < n) {
        for (unsigned i = 0; i < k; ++i) {
            sum += a[row * k + i] * b[i * n + column];
        }
    }
    s_c[y][x] = sum;
#ifdef SOLUTION
    show_to_tma();
#endif
    // All threads have written their sums before any of them is sent.
    __syncthreads();
    // The first thread of each row sends it.
    if (x == 0 && row < m) {
        start_store(c + row * n + column, s_c[y], min(TILE, n - column) * 4);
        wait_for_stores();
    }
}
