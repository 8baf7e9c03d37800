// Barriers in shared memory and the bulk copies whose bytes they count, right and wrong.
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr int TILE = 128;      // elements of a tile
constexpr int STAGES = 2;      // tiles in shared memory
constexpr int CONSUMERS = 128; // threads behind the producing warp
constexpr u32 TILE_BYTES = TILE * sizeof(float);

__device__ u32 shared_address(const void* pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

__device__ void init(u64* barrier, u32 count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(count) : "memory");
}

__device__ u64 arrive(u64* barrier)
{
    u64 state;
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(barrier)) : "memory");
    return state;
}

__device__ void arrive_and_expect(u64* barrier, u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ void wait_state(u64* barrier, u64 state)
{
    asm volatile("{\n.reg .pred done;\nWAIT:\nmbarrier.test_wait.shared::cta.b64 done, [%0], %1;\n@!done bra WAIT;\n}"
                 :: "r"(shared_address(barrier)), "l"(state) : "memory");
}

__device__ void wait_parity(u64* barrier, u32 parity)
{
    asm volatile("{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra WAIT;\n}"
                 :: "r"(shared_address(barrier)), "r"(parity) : "memory");
}

__device__ void copy_bulk(float* s_to, const float* from, u32 bytes, u64* barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(shared_address(s_to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}

__device__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Turns a tile around, `rounds` times, with a barrier in memory between the writes and the reads, and a second one before the next writes.
extern "C" __global__ void turns(float* data, int rounds, int waits)
{
    __shared__ float s_tile[TILE];
    __shared__ u64 written, read;
    int i = threadIdx.x;
    if (i == 0) {
        init(&written, TILE);
        init(&read, TILE);
    }
    __syncthreads(); // the barriers before their use
    for (int round = 0; round < rounds; ++round) {
        s_tile[i] = data[i];
        u64 state = arrive(&written);
        if (waits)
            wait_state(&written, state);
        data[i] = s_tile[TILE - 1 - i] + 1;
        wait_state(&read, arrive(&read));
    }
}

// Sums each element and its neighbor. The first warp copies the tiles, STAGES of them ahead; the others use them. Where `waits` is 0
// it does not wait until a tile was used, and `excess` bytes are expected that nobody copies.
extern "C" __global__ void pipelined(const float* input, float* output, int tiles, int waits, u32 excess)
{
    __shared__ alignas(128) float s_tile[STAGES][TILE];
    __shared__ u64 full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            init(&full[stage], 1);
            init(&empty[stage], CONSUMERS);
        }
        fence_init();
    }
    __syncthreads(); // the barriers before their use
    if (threadIdx.x < 32) {
        for (int tile = 0; tile < tiles && threadIdx.x == 0; ++tile) {
            int stage = tile % STAGES;
            if (waits)
                wait_parity(&empty[stage], tile / STAGES % 2 ^ 1); // passes at first
            fence_proxy();
            arrive_and_expect(&full[stage], TILE_BYTES + excess);
            copy_bulk(s_tile[stage], input + tile * TILE, TILE_BYTES / 2, &full[stage]);
            copy_bulk(s_tile[stage] + TILE / 2, input + tile * TILE + TILE / 2, TILE_BYTES / 2, &full[stage]);
        }
    } else {
        int i = threadIdx.x - 32;
        for (int tile = 0; tile < tiles; ++tile) {
            int stage = tile % STAGES;
            wait_parity(&full[stage], tile / STAGES % 2);
            output[tile * TILE + i] = s_tile[stage][i] + s_tile[stage][(i + 1) % TILE];
            arrive(&empty[stage]);
        }
    }
}

// A barrier of the block is not enough to have a copy's bytes.
extern "C" __global__ void does_not_wait(const float* input, float* output)
{
    __shared__ alignas(128) float s_tile[TILE];
    __shared__ u64 full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        arrive_and_expect(&full, TILE_BYTES);
        copy_bulk(s_tile, input, TILE_BYTES, &full);
    }
    __syncthreads();
    output[threadIdx.x] = s_tile[threadIdx.x];
}

// Nothing says that the barrier is initialized before the second warp arrives at it.
extern "C" __global__ void initializes_late()
{
    __shared__ u64 barrier;
    if (threadIdx.x == 0)
        init(&barrier, 32);
    if (threadIdx.x >= 32)
        arrive(&barrier);
}

// What one thread can do wrong: `offset` and `bytes` of the copy, arrivals expected and made, whether the barrier is initialized.
extern "C" __global__ void one_thread(const float* input, int offset, u32 bytes, u32 expected, int arrivals, int initializes)
{
    __shared__ alignas(128) float s_tile[TILE];
    __shared__ u64 barrier;
    if (initializes)
        init(&barrier, expected);
    for (int i = 0; i < arrivals; ++i)
        arrive(&barrier);
    copy_bulk(s_tile + offset, input, bytes, &barrier);
}

// Half of the threads leave after the first phase; the others need not wait for them any more. A thread that takes no part watches.
extern "C" __global__ void drops(int* phases)
{
    __shared__ u64 barrier;
    u32 address = shared_address(&barrier);
    if (threadIdx.x == 0)
        init(&barrier, TILE);
    __syncthreads();
    if (threadIdx.x < TILE / 2) {
        asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" :: "r"(address) : "memory");
    } else {
        wait_state(&barrier, arrive(&barrier));
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 0;" :: "r"(address) : "memory");
        wait_state(&barrier, arrive(&barrier));
        phases[threadIdx.x - TILE / 2] = 2;
    }
}
