// Exercise: around the ring.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of ROWS * COLUMNS threads for each tile of ROWS x COLUMNS outputs; blockIdx.x counts tiles of columns,
//          blockIdx.y of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. n is a multiple of 4, because TMA copies whole vectors of 16 bytes.

constexpr unsigned ROWS = 4;
constexpr unsigned COLUMNS = 64;
// Rows of b in a stage.
constexpr unsigned DEPTH = 8;
// Stages of the ring: one is used while the others are filled.
constexpr unsigned STAGES = 2;

__device__ unsigned address_of(const void* s_pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(s_pointer));
}

// Prepares an mbarrier, of which each phase ends when one thread has arrived and all announced bytes are there.
__device__ void prepare(unsigned long long* s_barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(s_barrier)) : "memory");
}

// Shows other blocks of a cluster the mbarriers that this thread has prepared. For a single block, `__syncthreads()` is enough.
__device__ void publish_barriers()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and announces how many bytes will come in this phase.
__device__ void arrive_and_expect(unsigned long long* s_barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(s_barrier)), "r"(bytes) : "memory");
}

// Starts to copy to shared memory. Both addresses and `bytes` are multiples of 16. The mbarrier counts the bytes that come.
__device__ void start_copy(float* s_to, const float* from, unsigned bytes, unsigned long long* s_barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(address_of(s_to)), "l"(from), "r"(bytes), "r"(address_of(s_barrier)) : "memory");
}

// Waits until the mbarrier's phase of this parity has ended: 0 for its first, third, … phase, 1 for the others.
__device__ void wait_for_phase(unsigned long long* s_barrier, unsigned parity)
{
    unsigned has_ended = 0;
    while (has_ended == 0) {
        asm volatile("{ .reg .pred ended; mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2; selp.u32 %0, 1, 0, ended; }"
                     : "=r"(has_ended)
                     : "r"(address_of(s_barrier)), "r"(parity)
                     : "memory");
    }
}

extern "C" __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n,
                                    unsigned k, float* __restrict__ c)
{
    __shared__ __align__(16) float s_b[STAGES][DEPTH][COLUMNS];
    // One for each stage: a phase ends when the rows of b are there.
    __shared__ unsigned long long s_full[STAGES];
    const unsigned x = threadIdx.x % COLUMNS, first = blockIdx.x * COLUMNS;
    const unsigned row = blockIdx.y * ROWS + threadIdx.x / COLUMNS, column = first + x;
    const unsigned row_bytes = min(COLUMNS, n - first) * 4;
    // Starts to fill a stage with the rows of b from this one on, if there are any.
    const auto fill = [&](unsigned stage, unsigned from) {
        const unsigned rows = min(DEPTH, k - min(k, from));
        if (rows > 0) {
            arrive_and_expect(&s_full[stage], rows * row_bytes);
        }
        for (unsigned i = 0; i < rows; ++i) {
            start_copy(s_b[stage][i], b + (from + i) * n + first, row_bytes, &s_full[stage]);
        }
    };
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            prepare(&s_full[stage]);
        }
        publish_barriers();
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            fill(stage, stage * DEPTH);
        }
    }
    // The mbarriers are prepared before any thread waits for them.
    __syncthreads();
    float sum = 0.0f;
    unsigned stage = 0, parity = 0;
    for (unsigned from = 0; from < k; from += DEPTH) {
        wait_for_phase(&s_full[stage], parity);
        if (row < m && column < n) {
            for (unsigned i = 0; i < min(DEPTH, k - from); ++i) {
                sum += a[row * k + from + i] * s_b[stage][i][x];
            }
        }
        // All threads have read the stage before it is filled again.
        __syncthreads();
        if (threadIdx.x == 0) {
            fill(stage, from + STAGES * DEPTH);
        }
        if (++stage == STAGES) {
            stage = 0;
#ifdef SOLUTION
            // The next round waits for the next phase of each mbarrier.
            parity ^= 1;
#endif
        }
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}
