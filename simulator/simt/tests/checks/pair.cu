// Two blocks of a cluster share tiles, as products of matrices on Hopper do, right and wrong: what is wrong is a flag.
using u32 = unsigned int;

struct __align__(64) TensorMap {
    char opaque[128];
};

constexpr u32 ROWS = 16, ROW_BYTES = 128; // of a tile of words
constexpr u32 TILE_BYTES = ROWS * ROW_BYTES, STAGES = 2;
constexpr u32 CLUSTER = 2;

// What a kernel does right.
constexpr u32 MEETS_FIRST = 1, COUNTS_BOTH = 2, TELLS_OTHER = 4, FENCES = 8, WAITS_FOR_READS = 16, WAITS_AT_END = 32, MEETS_LAST = 64,
              RELEASES_INIT = 128, WAITS_FOR_FREE = 256, EXPECTS_ALL = 512, NAMES_BLOCKS = 1024;

__device__ u32 shared_address(const void* pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

__device__ void wait(u32 barrier, u32 parity)
{
    asm volatile("{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra WAIT;\n}"
                 :: "r"(barrier), "r"(parity) : "memory");
}

__device__ u32 rank_in_cluster()
{
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ u32 there(u32 address, u32 rank)
{
    u32 mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

// Each block copies half of every tile to both. Its second warp adds up the columns, and TMA stores each row of sums.
extern "C" __global__ void shared_tiles(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out, u32 tiles, u32 does)
{
    __shared__ __align__(1024) u32 s_tiles[STAGES][TILE_BYTES / 4];
    __shared__ __align__(128) u32 s_sums[2][32];
    __shared__ unsigned long long s_barriers[2 * STAGES];
    const u32 rank = rank_in_cluster(), s_full = shared_address(s_barriers), s_empty = s_full + 8 * STAGES, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (u32 stage = 0; stage < STAGES; ++stage) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(s_full + 8 * stage) : "memory"); // the full one
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(s_empty + 8 * stage), "r"(does & COUNTS_BOTH ? CLUSTER : 1) : "memory");
        }
        if (does & RELEASES_INIT) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (does & MEETS_FIRST) asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    else __syncthreads();

    if (threadIdx.x < 32) {
        for (u32 tile = 0; lane == 0 && tile < tiles; ++tile) {
            const u32 stage = tile % STAGES, full = s_full + 8 * stage;
            if (does & WAITS_FOR_FREE) wait(s_empty + 8 * stage, tile / STAGES % 2 ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(full), "r"(does & EXPECTS_ALL ? TILE_BYTES : TILE_BYTES / 2) : "memory");
            const unsigned short blocks = does & NAMES_BLOCKS ? 3 : 6;
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                         :: "r"(shared_address(s_tiles[stage]) + rank * TILE_BYTES / 2), "l"(&in), "r"(0), "r"(tile * ROWS + rank * ROWS / 2), "r"(full), "h"(blocks) : "memory"); // the copy
        }
    } else {
        for (u32 tile = 0; tile < tiles; ++tile) {
            const u32 stage = tile % STAGES;
            wait(s_full + 8 * stage, tile / STAGES % 2);
            u32 sum = rank;
            for (u32 row = 0; row < ROWS; ++row) sum += s_tiles[stage][row * 32 + lane]; // the use
            __syncwarp();
            if (does & COUNTS_BOTH ? lane < CLUSTER && (does & TELLS_OTHER || lane == rank) : lane == rank)
                asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(there(s_empty + 8 * stage, lane)) : "memory"); // the arrival
            if (does & WAITS_FOR_READS && lane == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
            __syncwarp();
            const u32 s_row = shared_address(s_sums[tile % 2]) + lane % 8 * 16;
            asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(s_row), "r"(sum) : "memory"); // the sums
            if (does & FENCES) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncwarp();
            if (lane == 0) {
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                             :: "l"(&out), "r"(0), "r"(tile * CLUSTER + rank), "r"(shared_address(s_sums[tile % 2])) : "memory"); // the store
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            }
            __syncwarp();
        }
        if (does & WAITS_AT_END && lane == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    if (does & MEETS_LAST) asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Each block stores a row, a different one or the same.
extern "C" __global__ void stored_rows(const __grid_constant__ TensorMap out, u32 apart)
{
    __shared__ __align__(128) u32 s_row[32];
    s_row[threadIdx.x] = blockIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
                     :: "l"(&out), "r"(0), "r"(apart * blockIdx.x), "r"(shared_address(s_row)) : "memory");
}

// Each block stores its tile, and the last one adds up those of all. Those of the others may still be on their way, if only the last one waits for
// more than the read of its tile.
extern "C" __global__ void stored_tiles(const __grid_constant__ TensorMap out, const u32* stored, u32* count, u32* sums, u32 waits)
{
    __shared__ __align__(128) u32 s_tile[32];
    __shared__ bool s_is_last;
    s_tile[threadIdx.x] = blockIdx.x + threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                     :: "l"(&out), "r"(0), "r"(blockIdx.x), "r"(shared_address(s_tile)) : "memory"); // of this block
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        if (waits == 2 || (waits == 1 && blockIdx.x == gridDim.x - 1)) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        else asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        __threadfence();
        s_is_last = atomicAdd(count, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncwarp();
    if (!s_is_last) return;
    u32 sum = 0;
    for (u32 block = 0; block < gridDim.x; ++block) sum += stored[block * 32 + threadIdx.x]; // of all blocks
    sums[threadIdx.x] = sum;
}

// Each block copies the same words. The last one, with this number, overwrites them after all others are counted. The second warps of all blocks wait for their copies
// before, or only that of the last block, or none: then they may still be read.
extern "C" __global__ void last_overwrites(u32* words, u32* count, u32* sums, u32 waiting, u32 last)
{
    __shared__ __align__(128) u32 s_words[64];
    __shared__ unsigned long long s_barrier;
    const u32 barrier = shared_address(&s_barrier), lane = threadIdx.x % 32;
    const bool is_last = blockIdx.x == last, waits = waiting == 2 || (waiting == 1 && is_last);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" :: "r"(barrier) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(shared_address(s_words)), "l"(words), "r"(barrier) : "memory");
    }
    if (threadIdx.x < 32) return;
    if (waits) {
        wait(barrier, 0);
        sums[blockIdx.x * 32 + lane] = s_words[lane] + s_words[lane + 32];
    }
    __syncwarp();
    if (lane == 0) {
        while (is_last && *(volatile u32*)count < gridDim.x - 1) { }
        __threadfence();
        if (!is_last) atomicAdd(count, 1);
    }
    __syncwarp();
    if (is_last) words[lane] = words[lane + 32] = 7; // over what was copied
    if (!waits) wait(barrier, 0);
}
