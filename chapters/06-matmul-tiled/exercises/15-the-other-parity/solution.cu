// Exercise: the other parity.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of TILE * TILE threads for each tile of TILE x TILE outputs; blockIdx.x counts tiles of columns,
//          blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. Tiles are filled up with zeros.

constexpr unsigned TILE = 16;
// Pairs of tiles: one is used while the other is copied.
constexpr unsigned BUFFERS = 2;

__device__ unsigned address_of(const void* s_pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(s_pointer));
}

// Starts to copy a float to shared memory, or to write a zero if there is nothing to copy.
__device__ void start_copy(float* s_to, const float* from, bool is_there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 ::"r"(address_of(s_to)), "l"(from), "r"(is_there ? 4 : 0) : "memory");
}

// Prepares an mbarrier, of which each phase ends with this many arrivals.
__device__ void prepare(unsigned long long* s_barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(s_barrier)), "r"(arrivals) : "memory");
}

// Arrives now.
__device__ void arrive(unsigned long long* s_barrier)
{
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(address_of(s_barrier)) : "memory");
}

// Arrives as soon as all copies that this thread has started are there. The thread itself goes on.
__device__ void arrive_after_copies(unsigned long long* s_barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(s_barrier)) : "memory");
}

// Waits until the barrier's phase of this parity has ended: 0 for its first, third, … phase, 1 for the others. Before the first
// phase has ended, the answer for 1 is yes at once.
__device__ void wait_for_phase(unsigned long long* s_barrier, unsigned parity)
{
    unsigned has_ended = 0;
    while (has_ended == 0) {
        asm volatile("{ .reg .pred ended; mbarrier.test_wait.parity.shared.b64 ended, [%1], %2; selp.u32 %0, 1, 0, ended; }"
                     : "=r"(has_ended)
                     : "r"(address_of(s_barrier)), "r"(parity)
                     : "memory");
    }
}

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    __shared__ float s_a[BUFFERS][TILE][TILE];
    __shared__ float s_b[BUFFERS][TILE][TILE];
    // Two for each buffer. A phase of the first ends when all threads' copies into the buffer are there, and a phase of
    // the second when all threads have read it.
    __shared__ unsigned long long s_full[BUFFERS], s_empty[BUFFERS];
    if (threadIdx.x < BUFFERS) {
        prepare(&s_full[threadIdx.x], TILE * TILE);
        prepare(&s_empty[threadIdx.x], TILE * TILE);
    }
    // The barriers are prepared before any thread arrives at them.
    __syncthreads();
    const unsigned y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const unsigned row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    // Starts the copies of pair number `step` of tiles, as soon as the buffer is free. Beyond the end of the sum they are zeros,
    // which nobody uses.
    const auto copy = [&](unsigned step) {
        const unsigned slab = step * TILE, buffer = step % BUFFERS, round = step / BUFFERS;
#ifdef SOLUTION
        // In round 0 the buffer is free, and nobody has said so. From round 1 on, all threads have to have read the pair of
        // the round before.
        wait_for_phase(&s_empty[buffer], (round + 1) % 2);
#else
        wait_for_phase(&s_empty[buffer], round % 2);
#endif
        const bool has_a = row < m && slab + x < k, has_b = column < n && slab + y < k;
        start_copy(&s_a[buffer][y][x], has_a ? a + row * k + slab + x : a, has_a);
        start_copy(&s_b[buffer][y][x], has_b ? b + (slab + y) * n + column : b, has_b);
        arrive_after_copies(&s_full[buffer]);
    };
    float sum = 0.0f;
    copy(0);
    for (unsigned step = 0; step * TILE < k; ++step) {
        const unsigned used = step % BUFFERS, round = step / BUFFERS;
        copy(step + 1);
        wait_for_phase(&s_full[used], round % 2);
        for (unsigned i = 0; i < TILE; ++i) {
            sum += s_a[used][y][i] * s_b[used][i][x];
        }
        // This thread has read the current tiles.
        arrive(&s_empty[used]);
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}
