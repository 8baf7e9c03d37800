// Bulk copies to and from shared memory, right and wrong: what is wrong is a flag.
using u32 = unsigned int;
using u64 = unsigned long long;

constexpr int TILE = 64; // elements of a tile, and threads
constexpr u32 TILE_BYTES = TILE * sizeof(float);

// What a kernel does right.
constexpr int WRITER_FENCES = 1, STARTER_FENCES = 2, COMMITS = 4, WAITS = 8, OVERWRITES = 16, MEETS = 32;

__device__ u32 shared_address(const void* pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ void init(u64* barrier, u32 count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(count) : "memory");
}

__device__ void arrive(u64* barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(barrier)) : "memory");
}

__device__ void wait(u64* barrier, u32 parity)
{
    asm volatile("{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra WAIT;\n}"
                 :: "r"(shared_address(barrier)), "r"(parity) : "memory");
}

__device__ void load_tile(float* s_to, const float* from, u64* barrier, u32 expected)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(barrier)), "r"(expected) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(shared_address(s_to)), "l"(from), "r"(TILE_BYTES), "r"(shared_address(barrier)) : "memory");
}

// Turns a tile around in shared memory and stores it with a bulk copy.
extern "C" __global__ void turned(const float* in, float* out, int does)
{
    __shared__ alignas(128) float s_tile[TILE];
    int i = threadIdx.x;
    s_tile[TILE - 1 - i] = in[i];
    if (does & WRITER_FENCES) fence_proxy();
    __syncthreads();
    if (i == 0) {
        if (does & STARTER_FENCES) fence_proxy();
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     :: "l"(out), "r"(shared_address(s_tile)), "r"(TILE_BYTES) : "memory"); // the store
        if (does & COMMITS) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        if (does & WAITS) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    if (does & MEETS) __syncthreads();
    if (does & OVERWRITES) s_tile[i] = -1.0f; // the next tile
}

// Loads tiles in two stages, and adds each element to its neighbor. A tile that was loaded is stored again without a fence, because only the
// async proxy wrote it. `full_step` and `first_empty` are 1 if the parities are right, `excess` is 0 if the expected bytes are.
extern "C" __global__ void stages(const float* in, float* out, float* again, int tiles, int full_step, int first_empty, int excess)
{
    __shared__ alignas(128) float s_tiles[2][TILE];
    __shared__ u64 full[2], empty[2];
    int i = threadIdx.x;
    if (i == 0) {
        for (int stage = 0; stage < 2; ++stage) {
            init(&full[stage], 1);
            init(&empty[stage], TILE);
        }
        fence_proxy();
    }
    __syncthreads();
    if (i >= TILE) {
        if (i == TILE) {
            for (int tile = 0; tile < tiles; ++tile) {
                wait(&empty[tile % 2], (tile / 2 + first_empty) % 2); // until the stage is free
                load_tile(s_tiles[tile % 2], in + tile * TILE, &full[tile % 2], TILE_BYTES + excess);
            }
        }
        return;
    }
    for (int tile = 0; tile < tiles; ++tile) {
        wait(&full[tile % 2], tile / 2 * full_step % 2); // until the tile is there
        out[tile * TILE + i] = s_tiles[tile % 2][i] + s_tiles[tile % 2][(i + 1) % TILE];
        if (again && i == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                         :: "l"(again + tile * TILE), "r"(shared_address(s_tiles[tile % 2])), "r"(TILE_BYTES) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        arrive(&empty[tile % 2]);
    }
}

// Loads one tile after the other into the same place. `step` is 1 if the parity is right.
extern "C" __global__ void reused(const float* in, float* out, int tiles, int step)
{
    __shared__ alignas(128) float s_tile[TILE];
    __shared__ u64 full;
    int i = threadIdx.x;
    if (i == 0) init(&full, 1);
    __syncthreads();
    for (int tile = 0; tile < tiles; ++tile) {
        if (i == 0) load_tile(s_tile, in + tile * TILE, &full, TILE_BYTES);
        wait(&full, tile * step % 2); // until the next tile is there
        out[tile * TILE + i] = s_tile[TILE - 1 - i];
        __syncthreads();
    }
}

// Adds tiles of all blocks into one, element by element.
extern "C" __global__ void summed(const int* in, int* out)
{
    __shared__ alignas(128) int s_tile[TILE];
    s_tile[threadIdx.x] = in[blockIdx.x * TILE + threadIdx.x];
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;"
                     :: "l"(out), "r"(shared_address(s_tile)), "r"(TILE_BYTES) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// A copy, a wait, and an access to the same bytes of global memory.
enum First { A_STORE, A_REDUCTION, A_LOAD };
enum Wait { NO_WAIT, FOR_READS, FOR_ALL };
enum Second { LOADS, STORES, REDUCES, STORES_ELSEWHERE, LOADS_ITSELF, STORES_ITSELF, ADDS_ITSELF, LOADS_ELSEWHERE, ANOTHER_LOADS };

__device__ void store_tile(int* to, const int* s_from)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(shared_address(s_from)), "r"(TILE_BYTES) : "memory");
}

__device__ void reduce_tile(int* to, const int* s_from)
{
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;"
                 :: "l"(to), "r"(shared_address(s_from)), "r"(TILE_BYTES) : "memory");
}

__device__ void load_ints(int* s_to, const int* from, u64* barrier)
{
    load_tile(reinterpret_cast<float*>(s_to), reinterpret_cast<const float*>(from), barrier, TILE_BYTES);
}

extern "C" __global__ void in_flight(const int* in, int* out, int first, int wait_for, int second)
{
    __shared__ alignas(128) int s_tile[TILE], s_other[TILE], s_landed[TILE], s_again[TILE];
    __shared__ u64 full[2];
    int i = threadIdx.x;
    s_tile[i] = in[i];
    s_other[i] = 3 * in[i];
    if (i == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
    }
    fence_proxy();
    __syncthreads();
    if (i == 0) {
        if (first == A_STORE) store_tile(out, s_tile); // first
        if (first == A_REDUCTION) reduce_tile(out, s_tile); // first
        if (first == A_LOAD) load_ints(s_landed, out, &full[0]); // first
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        if (wait_for == FOR_READS) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        if (wait_for == FOR_ALL && first != A_LOAD) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        if (wait_for == FOR_ALL && first == A_LOAD) wait(&full[0], 0);
    }
    __syncthreads();
    if (i == 0) {
        if (second == LOADS) load_ints(s_again, out, &full[1]); // second
        if (second == STORES) store_tile(out, s_other); // second
        if (second == REDUCES) reduce_tile(out, s_other); // second
        if (second == STORES_ELSEWHERE) store_tile(out + TILE, s_other); // second
        if (second == LOADS_ITSELF) s_again[0] = out[0]; // second
        if (second == STORES_ITSELF) out[TILE - 1] = 7; // second
        if (second == ADDS_ITSELF) atomicAdd(&out[1], 7); // second
        if (second == LOADS_ELSEWHERE) s_again[0] = out[TILE]; // second
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        if (second == LOADS) wait(&full[1], 0);
        if (first == A_LOAD && wait_for != FOR_ALL) wait(&full[0], 0);
    }
    if (i == 32 && second == ANOTHER_LOADS) s_other[0] = out[0]; // second
}
