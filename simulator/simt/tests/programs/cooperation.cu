// Cooperation of threads: barriers, named barriers, shuffles, votes, atomics.

// A tree sum with a barrier per level, for blocks of any size.
extern "C" __global__ void tree_sum(const int* input, int* output)
{
    extern __shared__ int s_sum[];
    int i = threadIdx.x;
    s_sum[i] = input[blockIdx.x * blockDim.x + i];
    __syncthreads();
    for (unsigned width = blockDim.x; width > 1; width = (width + 1) / 2) {
        unsigned half = (width + 1) / 2;
        if (i + half < width)
            s_sum[i] += s_sum[i + half];
        __syncthreads();
    }
    if (i == 0)
        output[blockIdx.x] = s_sum[0];
}

// Warp 0 writes, warps 1 and 2 read: producers arrive at barrier 1 without waiting, consumers wait there; barrier 2 the other way.
extern "C" __global__ void producer_consumer(const int* input, int* output, int rounds)
{
    __shared__ int s_item[32];
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        if (warp == 0) {
            s_item[lane] = input[round * 32 + lane];
            asm volatile("bar.arrive 1, 96;" ::: "memory");
            asm volatile("bar.sync 2, 96;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 96;" ::: "memory");
            sum += s_item[(lane + warp) & 31] * warp;
            asm volatile("bar.arrive 2, 96;" ::: "memory");
        }
    }
    output[threadIdx.x] = sum;
}

// Two halves of the block, each with a barrier of its own.
extern "C" __global__ void two_barriers(int* output)
{
    __shared__ int s_value[128];
    int half = threadIdx.x / 64;
    s_value[threadIdx.x] = threadIdx.x * 3;
    asm volatile("bar.sync %0, 64;" ::"r"(half + 3) : "memory");
    output[threadIdx.x] = s_value[half * 64 + 63 - threadIdx.x % 64];
}

extern "C" __global__ void shuffles(const int* input, int* output, int width)
{
    int lane = threadIdx.x;
    int value = input[lane];
    int* out = output + lane * 6;
    out[0] = __shfl_sync(0xffffffff, value, lane * 5 + 3, width);
    out[1] = __shfl_up_sync(0xffffffff, value, 3, width);
    out[2] = __shfl_down_sync(0xffffffff, value, 2, width);
    out[3] = __shfl_xor_sync(0xffffffff, value, 5, width);
    out[4] = __shfl_sync(0xffffffff, value, -1, width);
    int in_range;
    // The predicate that CUDA's functions hide.
    asm("{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, 4, 0, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(in_range) : "r"(value));
    out[5] = in_range;
}

// 64 bits are shuffled as two halves.
extern "C" __global__ void warp_sum(const double* input, double* output)
{
    double value = input[blockIdx.x * 32 + threadIdx.x];
    for (int by = 16; by > 0; by /= 2)
        value += __shfl_down_sync(0xffffffff, value, by);
    if (threadIdx.x == 0)
        output[blockIdx.x] = value;
}

extern "C" __global__ void votes(const int* input, unsigned* output)
{
    int lane = threadIdx.x;
    int value = input[lane];
    unsigned* out = output + lane * 7;
    out[0] = __ballot_sync(0xffffffff, value & 1);
    out[1] = __all_sync(0xffffffff, value >= 0);
    out[2] = __any_sync(0xffffffff, value == 17);
    int uniform;
    asm("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.uni.pred q, p, 0xffffffff; selp.b32 %0, 1, 0, q; }" : "=r"(uniform) : "r"(value & 256));
    out[3] = uniform;
    out[4] = 0;
    if (lane & 2)
        out[4] = __ballot_sync(0xcccccccc, value & 2) | (__activemask() == 0xcccccccc ? 1u : 0u);
    // Both halves of the warp vote in the same instruction, separately.
    unsigned members = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    out[5] = __ballot_sync(members, value & 4);
    out[6] = __all_sync(members, lane < 16 || (value & 8));
}

// Results do not depend on the order of the threads.
extern "C" __global__ void atomics(const unsigned* input, unsigned* u, int* s, unsigned long long* w, float* f, double* d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = input[i];
    atomicAdd(&u[0], v);
    atomicSub(&u[1], v);
    atomicMin(&u[2], v);
    atomicMax(&u[3], v);
    atomicAnd(&u[4], v | 0xffff0000u);
    atomicOr(&u[5], v & 0xff00u);
    atomicXor(&u[6], v);
    atomicInc(&u[7], 9);
    atomicDec(&u[8], 9);
    atomicExch(&u[9], 77);
    atomicCAS(&u[10], 5, 6);
    atomicAdd(&s[0], (int)v - 500);
    atomicMin(&s[1], (int)v - 500);
    atomicMax(&s[2], (int)v - 500);
    atomicAdd(&w[0], (unsigned long long)v << 30);
    atomicMin(&w[1], (unsigned long long)v << 33);
    atomicMax(&w[2], (unsigned long long)v << 33);
    atomicAnd(&w[3], ~(1ull << (v & 63)));
    atomicOr(&w[4], 1ull << (v & 63));
    atomicXor(&w[5], (unsigned long long)v * 0x100000001ull);
    atomicMin((long long*)&w[6], (long long)v - 500);
    atomicMax((long long*)&w[7], (long long)v - 5000);
    // Whole numbers: their sums are exact in any order.
    atomicAdd(&f[0], (float)v);
    atomicAdd(&d[0], (double)v + 0.5);
}

extern "C" __global__ void shared_atomics(const unsigned* input, unsigned* u, int* s, unsigned long long* w, float* f, double* d)
{
    __shared__ unsigned s_u[8];
    __shared__ int s_s[2];
    __shared__ unsigned long long s_w[2];
    __shared__ float s_f;
    __shared__ double s_d;
    int i = threadIdx.x;
    if (i < 8)
        s_u[i] = i == 2 || i == 4 ? 0xffffffffu : 0;
    if (i < 2) {
        s_s[i] = 0;
        s_w[i] = 0;
    }
    if (i == 0) {
        s_f = 0;
        s_d = 0;
    }
    __syncthreads();
    unsigned v = input[i];
    atomicAdd(&s_u[0], v);
    atomicInc(&s_u[1], 6);
    atomicMin(&s_u[2], v);
    atomicMax(&s_u[3], v);
    atomicAnd(&s_u[4], v | 0xffff0000u);
    atomicOr(&s_u[5], v);
    atomicXor(&s_u[6], v);
    atomicDec(&s_u[7], 6);
    atomicMin(&s_s[0], (int)v - 500);
    atomicMax(&s_s[1], (int)v - 500);
    atomicAdd(&s_w[0], (unsigned long long)v << 31);
    atomicMax(&s_w[1], (unsigned long long)v << 31);
    atomicAdd(&s_f, (float)v);
    atomicAdd(&s_d, (double)v + 0.25);
    __syncthreads();
    if (i < 8)
        u[i] = s_u[i];
    if (i < 2) {
        s[i] = s_s[i];
        w[i] = s_w[i];
    }
    if (i == 0) {
        *f = s_f;
        *d = s_d;
    }
}

// Every thread gets a place of its own, and a compare-and-swap loop multiplies.
extern "C" __global__ void old_values(unsigned* next, unsigned* seen, unsigned* product, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned place = atomicAdd(next, 1);
    atomicAdd(&seen[place], 1);
    unsigned old = *product;
    unsigned assumed;
    do {
        assumed = old;
        old = atomicCAS(product, assumed, assumed * 3);
    } while (old != assumed);
}

// A warp waits for what another one writes.
extern "C" __global__ void spin(int* output)
{
    __shared__ volatile int s_flag;
    if (threadIdx.x == 0)
        s_flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        while (s_flag == 0) {
        }
        output[threadIdx.x] = s_flag + threadIdx.x;
    } else if (threadIdx.x == 63) {
        s_flag = 42;
        __threadfence_block();
    }
}
