// Exercise: one group too few.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE x TILE outputs; blockIdx.x counts tiles of columns,
//          blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. Tiles are filled up with zeros.

constexpr unsigned TILE = 16;
// Pairs of tiles: one is used while the others are copied.
constexpr unsigned BUFFERS = 3;

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
    // Starts the copies of pair number `step` of tiles, if the sum has so many, and ends their group.
    const auto copy = [&](unsigned step) {
        const unsigned slab = step * TILE, buffer = step % BUFFERS;
        if (slab < k) {
            const bool has_a = row < m && slab + x < k, has_b = column < n && slab + y < k;
            start_copy(&s_a[buffer][y][x], has_a ? a + row * k + slab + x : a, has_a);
            start_copy(&s_b[buffer][y][x], has_b ? b + (slab + y) * n + column : b, has_b);
#ifdef SOLUTION
        }
        // Also a pair that does not exist has a group, without copies. So the latest groups always belong to the next pairs.
        end_group();
#else
            end_group();
        }
#endif
    };
    for (unsigned step = 0; step < BUFFERS - 1; ++step) {
        copy(step);
    }
    float sum = 0.0f;
    for (unsigned step = 0; step * TILE < k; ++step) {
        const unsigned used = step % BUFFERS;
        // The groups of the next pairs may still be on their way; that of the current pair may not.
        wait_for_groups<BUFFERS - 2>();
        // All threads have their copies of the current tiles before any thread reads them, and all have read the tiles of the
        // step before. The next copies go to that buffer.
        __syncthreads();
        copy(step + BUFFERS - 1);
        for (unsigned i = 0; i < TILE; ++i) {
            sum += s_a[used][y][i] * s_b[used][i][x];
        }
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}
