// Tiles of tensors, copied by the Tensor Memory Accelerator: one thread loads, stores, or reduces a box, and the block looks at it.
using u32 = unsigned int;
using u64 = unsigned long long;

struct alignas(64) TensorMap {
    u64 opaque[16];
};

struct Place {
    int at[5];
};

constexpr u32 UNTOUCHED = 0xa5a5a5a5;

extern __shared__ __align__(1024) u32 s_region[];

__device__ u32 shared_address(const void* pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

__device__ void load_box(u32 to, const TensorMap& map, u32 rank, const Place& p, u32 barrier)
{
#define LOAD(D, COORDINATES) \
    asm volatile("cp.async.bulk.tensor." D ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " COORDINATES "], [%2];" \
                 :: "r"(to), "l"(&map), "r"(barrier), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3]), "r"(p.at[4]) : "memory")
    switch (rank) {
    case 1: LOAD("1d", "{%3}"); break;
    case 2: LOAD("2d", "{%3, %4}"); break;
    case 3: LOAD("3d", "{%3, %4, %5}"); break;
    case 4: LOAD("4d", "{%3, %4, %5, %6}"); break;
    default: LOAD("5d", "{%3, %4, %5, %6, %7}"); break;
    }
#undef LOAD
}

__device__ void store_box(const TensorMap& map, u32 rank, const Place& p, u32 from)
{
#define STORE(D, COORDINATES) \
    asm volatile("cp.async.bulk.tensor." D ".global.shared::cta.tile.bulk_group [%0, " COORDINATES "], [%1];" \
                 :: "l"(&map), "r"(from), "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3]), "r"(p.at[4]) : "memory")
    switch (rank) {
    case 1: STORE("1d", "{%2}"); break;
    case 2: STORE("2d", "{%2, %3}"); break;
    case 3: STORE("3d", "{%2, %3, %4}"); break;
    case 4: STORE("4d", "{%2, %3, %4, %5}"); break;
    default: STORE("5d", "{%2, %3, %4, %5, %6}"); break;
    }
#undef STORE
}

__device__ void reduce_box(const TensorMap& map, u32 op, const Place& p, u32 from)
{
#define REDUCE(OP) \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." OP ".tile.bulk_group [%0, {%2, %3}], [%1];" \
                 :: "l"(&map), "r"(from), "r"(p.at[0]), "r"(p.at[1]) : "memory")
    switch (op) {
    case 0: REDUCE("add"); break;
    case 1: REDUCE("min"); break;
    case 2: REDUCE("max"); break;
    case 3: REDUCE("inc"); break;
    case 4: REDUCE("dec"); break;
    case 5: REDUCE("and"); break;
    case 6: REDUCE("or"); break;
    default: REDUCE("xor"); break;
    }
#undef REDUCE
}

__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ void finish_stores()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Fills shared memory with a pattern, loads a box into it, and stores all of it. The last word says whether the box arrived.
extern "C" __global__ void load(const __grid_constant__ TensorMap map, u32 rank, Place place, u32 target, u32 bytes, u32 words, u32* out)
{
    __shared__ u64 barrier;
    u32 address = shared_address(&barrier);
    for (u32 i = threadIdx.x; i < words; i += blockDim.x) s_region[i] = UNTOUCHED;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(address) : "memory");
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(address), "r"(bytes) : "memory");
        load_box(shared_address(s_region) + target, map, rank, place, address);
    }
    u32 done = 0;
    for (int tries = 0; tries < 1000 && !done; ++tries) {
        asm volatile("{\n.reg .pred done;\nmbarrier.try_wait.parity.shared::cta.b64 done, [%1], 0;\nselp.u32 %0, 1, 0, done;\n}"
                     : "=r"(done) : "r"(address) : "memory");
    }
    for (u32 i = threadIdx.x; i < words; i += blockDim.x) out[i] = s_region[i];
    if (threadIdx.x == 0) out[words] = done;
}

// Fills shared memory with words of `in`, and stores a box of it.
extern "C" __global__ void store(const __grid_constant__ TensorMap map, u32 rank, Place place, u32 source, u32 words, const u32* in)
{
    for (u32 i = threadIdx.x; i < words; i += blockDim.x) s_region[i] = in[i];
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_box(map, rank, place, shared_address(s_region) + source);
        finish_stores();
    }
}

// The same, but combines the box with what the tensor holds.
extern "C" __global__ void reduce(const __grid_constant__ TensorMap map, u32 op, Place place, u32 source, u32 words, const u32* in)
{
    for (u32 i = threadIdx.x; i < words; i += blockDim.x) s_region[i] = in[i];
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        reduce_box(map, op, place, shared_address(s_region) + source);
        finish_stores();
    }
}
