// Exercise: wait for the copies.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE x TILE outputs; blockIdx.x counts tiles of columns,
//          blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. Tiles are filled up with zeros.

constexpr unsigned TILE = 16;
// Pairs of tiles: one is used while the other is copied.
constexpr unsigned BUFFERS = 2;

// Starts to copy a float to shared memory, or to write a zero if there is nothing to copy.
__device__ void start_copy(float* s_to, const float* from, bool is_there)
{
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(s_to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(is_there ? 4 : 0) : "memory");
}

// Ends a group of copies.
__device__ void end_group()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits for this thread's copies, except for the latest LEFT groups.
template <unsigned LEFT>
__device__ void wait_for_groups()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    __shared__ float s_a[BUFFERS][TILE][TILE];
    __shared__ float s_b[BUFFERS][TILE][TILE];
    const unsigned y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    // Starts the copies of one pair of tiles, and ends their group. Beyond the last slab they are zeros, which nobody uses.
    const auto copy = [&](unsigned slab, unsigned buffer) {
        const bool has_a = row < m && slab + x < k, has_b = column < n && slab + y < k;
        start_copy(&s_a[buffer][y][x], has_a ? a + row * k + slab + x : a, has_a);
        start_copy(&s_b[buffer][y][x], has_b ? b + (slab + y) * n + column : b, has_b);
        end_group();
    };
    float sum = 0.0f;
    unsigned used = 0;
    copy(0, used);
    for (unsigned slab = 0; slab < k; slab += TILE) {
        copy(slab + TILE, 1 - used);
#ifdef SOLUTION
        // The group of the next tiles may still be on its way; that of the current tiles may not.
        wait_for_groups<1>();
#else
        wait_for_groups<2>();
#endif
        // All threads have their copies of the current tiles before any thread reads them.
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i) {
            sum += s_a[used][y][i] * s_b[used][i][x];
        }
#ifdef SOLUTION
        // All threads have read the current tiles before any thread copies the next but one in their place.
        __syncthreads();
#endif
        used = 1 - used;
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}
