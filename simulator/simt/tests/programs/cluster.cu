// Clusters of thread blocks, right and wrong. `cluster_h200.txt` holds what an H200 made of the right ones.
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ u32 smem_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 mapa(u32 a, u32 rank) { u32 r; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
__device__ u64 mapa_generic(const void* p, u32 rank) { u64 r; asm volatile("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank)); return r; }
__device__ u32 rank_of(u32 a) { u32 r; asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
__device__ u32 cluster_rank() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ u32 cluster_size() { u32 r; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ u32 ld_cluster(u32 a) { u32 v; asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory"); return v; }
__device__ void st_cluster(u32 a, u32 v) { asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(a), "r"(v) : "memory"); }
__device__ void barrier_init(u32 b, u32 n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(n) : "memory"); }
__device__ void barrier_expect(u32 b, u32 bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(b), "r"(bytes) : "memory"); }
__device__ void barrier_arrive_remote(u32 b) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(b) : "memory"); }
__device__ void barrier_wait(u32 b, u32 parity) {
    u32 done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "r"(parity) : "memory");
    while (!done);
}
__device__ void barrier_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// What every special register says, 24 words for each block.
__device__ void special_registers(u32* out) {
    u32 v[24];
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(v[0]));
    asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(v[1]));
    asm volatile("mov.u32 %0, %%clusterid.z;" : "=r"(v[2]));
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(v[3]));
    asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(v[4]));
    asm volatile("mov.u32 %0, %%nclusterid.z;" : "=r"(v[5]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[6]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[7]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(v[8]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v[9]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v[10]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(v[11]));
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[12]));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[13]));
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v[14]));
    v[15] = blockIdx.x; v[16] = blockIdx.y; v[17] = blockIdx.z;
    v[18] = gridDim.x; v[19] = gridDim.y; v[20] = gridDim.z;
    v[21] = v[22] = v[23] = 0;
    if (threadIdx.x == 0)
        for (int i = 0; i < 24; i++) out[24 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) + i] = v[i];
}
extern "C" __global__ void specials(u32* out) { special_registers(out); }
extern "C" __global__ void __cluster_dims__(2, 2, 1) specials_fixed(u32* out) { special_registers(out); }

// Each block passes its values to the next one of its cluster, and adds what it finds there.
extern "C" __global__ void ring(const u32* in, u32* out) {
    __shared__ u32 tile[64];
    u32 i = blockIdx.x * 64 + threadIdx.x, rank = cluster_rank(), size = cluster_size();
    tile[threadIdx.x] = in[i];
    cluster_sync();
    u32 sum = 0;
    for (u32 step = 0; step < size; step++)
        sum = sum * 3 + ld_cluster(mapa(smem_address(&tile[(threadIdx.x + step) % 64]), (rank + step) % size));
    cluster_sync();
    // The same through a generic address, and a store.
    u32* next = (u32*)mapa_generic(&tile[threadIdx.x], (rank + 1) % size);
    *next = sum;
    cluster_sync();
    out[i] = tile[threadIdx.x];
}

// One block copies a row into the shared memory of every block of its mask.
extern "C" __global__ void multicast(const u32* in, u32* out, u32 mask) {
    __shared__ __align__(128) u32 tile[64];
    __shared__ u64 barrier;
    u32 rank = cluster_rank(), b = smem_address(&barrier);
    tile[threadIdx.x] = 7;
    if (threadIdx.x == 0) { barrier_init(b, 1); barrier_fence(); asm volatile("fence.proxy.async;" ::: "memory"); }
    cluster_sync();
    bool mine = mask >> rank & 1;
    if (threadIdx.x == 0 && mine) barrier_expect(b, 256);
    if (threadIdx.x == 0 && rank == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                     :: "r"(smem_address(tile)), "l"(in + blockIdx.x * 64), "r"(256), "r"(b), "h"((unsigned short)mask) : "memory");
    if (mine) barrier_wait(b, 0);
    out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
    cluster_sync();
}

// Every block arrives at the barrier of the cluster's first block, after it has added to a sum there.
extern "C" __global__ void remote_arrive(u32* out) {
    __shared__ u64 barrier;
    __shared__ u32 sum;
    u32 rank = cluster_rank(), size = cluster_size(), b = smem_address(&barrier);
    if (threadIdx.x == 0) { sum = 0; barrier_init(b, size * 64); barrier_fence(); }
    cluster_sync();
    u32 old;
    asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(mapa(smem_address(&sum), 0)), "r"(blockIdx.x * 64 + threadIdx.x) : "memory");
    barrier_arrive_remote(mapa(b, 0));
    if (rank == 0) {
        barrier_wait(b, 0);
        if (threadIdx.x == 0) out[blockIdx.x / size] = sum;
    }
    cluster_sync();
}

// Each block sends its tile to the next one with a bulk copy, and a word of each thread with st.async.
extern "C" __global__ void block_to_block(const u32* in, u32* out) {
    __shared__ __align__(128) u32 from[64], to[64], words[64];
    __shared__ u64 barrier;
    u32 rank = cluster_rank(), size = cluster_size(), b = smem_address(&barrier), next = (rank + 1) % size;
    from[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0) { barrier_init(b, 1); barrier_fence(); barrier_expect(b, 512); }
    asm volatile("fence.proxy.async;" ::: "memory");
    cluster_sync();
    u32 there = mapa(b, next);
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(mapa(smem_address(to), next)), "r"(smem_address(from)), "r"(256), "r"(there) : "memory");
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 :: "r"(mapa(smem_address(&words[threadIdx.x]), next)), "r"(rank * 1000 + threadIdx.x), "r"(there) : "memory");
    barrier_wait(b, 0);
    out[blockIdx.x * 64 + threadIdx.x] = to[threadIdx.x] * 10000 + words[threadIdx.x];
    cluster_sync();
}

// The addresses of one variable in every block, as this block and the others see it.
extern "C" __global__ void addresses(u64* out) {
    __shared__ u32 word;
    u32 own = smem_address(&word), rank = cluster_rank(), size = cluster_size();
    u32 in_window, in_block, other_in_block;
    word = rank;
    u64 other = mapa_generic(&word, (rank + 1) % size);
    asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(in_window) : "l"(other));
    asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(other_in_block) : "l"(other));
    asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(in_block) : "l"(&word));
    if (threadIdx.x == 0) {
        u64* row = out + 8 * blockIdx.x;
        row[0] = own; row[1] = mapa(own, rank); row[2] = mapa(own, (rank + 1) % size); row[3] = rank_of(own);
        row[4] = rank_of(mapa(own, (rank + 1) % size)); row[5] = in_window * 100 + other_in_block * 10 + in_block;
        row[6] = other - (u64)&word; row[7] = mapa(own, size + 3);
    }
    cluster_sync();
}

// Requests for ncu: one warp of the second block, to the first block's memory or to its own.
extern "C" __global__ void counted(u32* out, u32 stride, u32 what, u32 target) {
    __shared__ __align__(128) u32 tile[4096];
    for (int i = threadIdx.x; i < 4096; i += 32) tile[i] = i;
    cluster_sync();
    if (cluster_rank() == 1) {
        u32 a = mapa(smem_address(tile) + 4 * stride * threadIdx.x, target);
        u32 v0 = 0, v1 = 0, v2 = 0, v3 = 0;
        switch (what) {
            case 0: asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v0) : "r"(a) : "memory"); break;
            case 1: asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];" : "=r"(v0), "=r"(v1) : "r"(a) : "memory"); break;
            case 2: asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v0), "=r"(v1), "=r"(v2), "=r"(v3) : "r"(a) : "memory"); break;
            case 3: asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(a), "r"(threadIdx.x) : "memory"); break;
            case 4: asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" :: "r"(a), "r"(threadIdx.x) : "memory"); break;
            case 5: asm volatile("red.shared::cluster.add.u32 [%0], %1;" :: "r"(a), "r"(threadIdx.x) : "memory"); break;
            case 6: asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v0) : "r"(smem_address(tile) + 4 * stride * threadIdx.x) : "memory"); break;
            case 7: asm volatile("st.shared.u32 [%0], %1;" :: "r"(smem_address(tile) + 4 * stride * threadIdx.x), "r"(v0) : "memory"); break;
        }
        out[threadIdx.x] = v0 + v1 + v2 + v3;
    }
    cluster_sync();
}

// Defects.
extern "C" __global__ void no_such_rank(u32* out) {
    __shared__ u32 word;
    word = 1;
    cluster_sync();
    out[threadIdx.x] = ld_cluster(mapa(smem_address(&word), 5)); // there is none
    cluster_sync();
}
extern "C" __global__ void own_only(u32* out) {
    __shared__ u32 word;
    if (threadIdx.x == 0) word = cluster_rank() + 1;
    cluster_sync();
    u32 v, a = mapa(smem_address(&word), cluster_rank() ^ 1);
    asm volatile("ld.shared::cta.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory"); // of the other block
    out[blockIdx.x] = v;
    cluster_sync();
}
// The first block may end before the second one reads its memory, if it does not wait.
extern "C" __global__ void leaves(u32* out, u32 waits) {
    __shared__ u32 word;
    if (threadIdx.x == 0) word = 1;
    cluster_sync();
    if (cluster_rank() == 1) out[threadIdx.x] = ld_cluster(mapa(smem_address(&word), 0)); // too late?
    if (waits) cluster_sync();
}
// Both blocks write a word of the first one, the second before or after a barrier.
extern "C" __global__ void both_write(u32* out, u32 waits) {
    __shared__ u32 word;
    u32 rank = cluster_rank();
    if (threadIdx.x == 0 && rank == 0) word = 1; // the owner
    if (waits) cluster_sync();
    if (threadIdx.x == 0 && rank == 1) st_cluster(mapa(smem_address(&word), 0), 2); // the other block
    cluster_sync();
    if (threadIdx.x == 0 && rank == 0) out[0] = word;
}
// The first block reads what only the second one may have written.
extern "C" __global__ void reads_too_early(u32* out, u32 writes) {
    __shared__ u32 word;
    u32 rank = cluster_rank();
    cluster_sync();
    if (threadIdx.x == 0 && rank == 1 && writes) st_cluster(mapa(smem_address(&word), 0), 2);
    cluster_sync();
    if (threadIdx.x == 0 && rank == 0) out[0] = word; // of its own memory
}
// One block waits for the cluster, and the other for an arrival of the first one, which comes before or after.
extern "C" __global__ void stuck(u32* out, u32 first) {
    __shared__ u64 barrier;
    u32 rank = cluster_rank(), b = smem_address(&barrier);
    if (threadIdx.x == 0) { barrier_init(b, 1); barrier_fence(); }
    cluster_sync();
    if (rank == 0 && threadIdx.x == 0 && first) barrier_arrive_remote(mapa(b, 1));
    if (rank == 1) barrier_wait(b, 0);
    cluster_sync(); // both
    if (rank == 0 && threadIdx.x == 0 && !first) barrier_arrive_remote(mapa(b, 1));
    out[blockIdx.x] = 1;
    cluster_sync();
}
// The second block arrives at a barrier of the first, whose initialization a fence releases. Of `does`, 1: the thread that initializes executes the
// fence. 2: another thread does. 4: the fence is before the initialization. 8: the arrival at the cluster releases. 16: a word is written, too.
extern "C" __global__ void relaxed_init(u32* out, u32 does) {
    __shared__ u64 barrier;
    __shared__ u32 word;
    u32 rank = cluster_rank(), b = smem_address(&barrier), i = threadIdx.x;
    if (rank == 0 && i == 0 && does & 4) barrier_fence();
    if (rank == 0 && i == 0 && does & 16) word = 1; // the word
    if (rank == 0 && i == 0) barrier_init(b, 32); // the initialization
    if (rank == 0 && (i == 0 && does & 1 || i == 1 && does & 2)) barrier_fence();
    __syncwarp();
    if (does & 8) asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    else asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (rank == 1) barrier_arrive_remote(mapa(b, 0)); // the arrival
    else barrier_wait(b, 0);
    out[32 * rank + i] = does & 16 && rank == 1 ? ld_cluster(mapa(smem_address(&word), 0)) : 1; // the read
    cluster_sync();
}
extern "C" __global__ void arrive_twice(u32* out) {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    out[blockIdx.x] = 1;
}
// Threads that have ended are not waited for.
extern "C" __global__ void some_exit(u32* out) {
    if (cluster_rank() == 0) return;
    cluster_sync();
    out[blockIdx.x] = 1;
}
