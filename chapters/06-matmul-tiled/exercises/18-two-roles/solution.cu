// Exercise: two roles.
//
//     c[row][column] = sum over i < k of a[row][i] * b[i][column],   row < m, column < n, all three row by row without gaps
//
// Launch:  a block of THREADS threads for each tile of ROWS x COLUMNS outputs; blockIdx.x counts tiles of columns, blockIdx.y
//          of rows.
// Sizes:   m, n, k >= 1; no matrix has 2^32 numbers or more. n is a multiple of 4, because TMA copies whole vectors of 16 bytes.

constexpr unsigned ROWS = 4;
constexpr unsigned COLUMNS = 64;
// Rows of b in a stage.
constexpr unsigned DEPTH = 8;
// Stages of the ring: one is used while the others are filled.
constexpr unsigned STAGES = 2;
// Threads that multiply, one for each output of the tile.
constexpr unsigned CONSUMERS = ROWS * COLUMNS;
// The threads of a block. Its last warp has no outputs.
constexpr unsigned THREADS = 288;

__device__ unsigned address_of(const void* s_pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(s_pointer));
}

// Prepares an mbarrier, of which each phase ends when so many threads have arrived and all announced bytes are there.
__device__ void prepare(unsigned long long* s_barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(s_barrier)), "r"(arrivals) : "memory");
}

// Shows other blocks of a cluster the mbarriers that this thread has prepared. For a single block, `__syncthreads()` is enough.
__device__ void publish_barriers()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives.
__device__ void arrive(unsigned long long* s_barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(s_barrier)) : "memory");
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

// Waits until the mbarrier's phase of this parity has ended: 0 for its first, third, … phase, 1 for the others. Before the first
// phase has ended, the answer for 1 is yes at once.
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

extern "C" __global__ void __launch_bounds__(THREADS)
multiply(const float* __restrict__ a, const float* __restrict__ b, unsigned m, unsigned n, unsigned k, float* __restrict__ c)
{
    __shared__ __align__(16) float s_b[STAGES][DEPTH][COLUMNS];
    // Two for each stage. A phase of the first ends when the rows of b are there, and a phase of the second when all consumers
    // have read them.
    __shared__ unsigned long long s_full[STAGES], s_empty[STAGES];
    const unsigned x = threadIdx.x % COLUMNS, first = blockIdx.x * COLUMNS;
    const unsigned row = blockIdx.y * ROWS + threadIdx.x / COLUMNS, column = first + x;
    const bool has_output = threadIdx.x < CONSUMERS && row < m && column < n;
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
    float sum = 0.0f;
    // Adds the products with the rows of a stage.
    const auto add_products = [&](unsigned stage, unsigned from) {
        if (has_output) {
            for (unsigned i = 0; i < min(DEPTH, k - from); ++i) {
                sum += a[row * k + from + i] * s_b[stage][i][x];
            }
        }
    };
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            prepare(&s_full[stage], 1);
            prepare(&s_empty[stage], CONSUMERS);
        }
        publish_barriers();
    }
    // The mbarriers are prepared before any thread uses them.
    __syncthreads();
#ifdef SOLUTION
    if (threadIdx.x == CONSUMERS) {
        for (unsigned slab = 0; slab * DEPTH < k; ++slab) {
            const unsigned stage = slab % STAGES, round = slab / STAGES;
            // In round 0 the stage is empty, and nobody has said so. From round 1 on, all consumers have read the round before.
            wait_for_phase(&s_empty[stage], (round + 1) % 2);
            fill(stage, slab * DEPTH);
        }
    } else if (threadIdx.x < CONSUMERS) {
        for (unsigned slab = 0; slab * DEPTH < k; ++slab) {
            const unsigned stage = slab % STAGES, round = slab / STAGES;
            wait_for_phase(&s_full[stage], round % 2);
            add_products(stage, slab * DEPTH);
            arrive(&s_empty[stage]);
        }
    }
#else
    if (threadIdx.x == 0) {
        for (unsigned slab = 0; slab < STAGES; ++slab) {
            fill(slab, slab * DEPTH);
        }
    }
    for (unsigned slab = 0; slab * DEPTH < k; ++slab) {
        const unsigned stage = slab % STAGES, round = slab / STAGES;
        wait_for_phase(&s_full[stage], round % 2);
        add_products(stage, slab * DEPTH);
        // All threads have read the stage before it is filled again.
        __syncthreads();
        if (threadIdx.x == 0) {
            fill(stage, (slab + STAGES) * DEPTH);
        }
    }
#endif
    if (has_output) {
        c[row * n + column] = sum;
    }
}
