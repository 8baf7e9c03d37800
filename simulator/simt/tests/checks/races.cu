// Pairs of kernels: a right one, and the same without the synchronization that orders its accesses. Blocks of 64 threads, two warps,
// unless a kernel says otherwise.

constexpr int THREADS = 64;

// Threads write their element and read their mirror image's.
extern "C" __global__ void reversed(const float *in, float *out) {
    __shared__ float s_tile[THREADS];
    s_tile[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = s_tile[THREADS - 1 - threadIdx.x];
}

extern "C" __global__ void reversed_without_barrier(const float *in, float *out) {
    __shared__ float s_tile[THREADS];
    s_tile[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
    out[blockIdx.x * THREADS + threadIdx.x] = s_tile[THREADS - 1 - threadIdx.x];
}

// Tile after tile through the same shared memory: the second barrier keeps fast warps from overwriting what slow ones still read.
template <bool SECOND_BARRIER>
__device__ void sum_tiles(const float *in, float *out, int tiles) {
    __shared__ float s_tile[THREADS];
    float sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
        s_tile[threadIdx.x] = in[tile * THREADS + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < THREADS; i++) {
            sum += s_tile[i] * (i + 1);
        }
        if (SECOND_BARRIER) {
            __syncthreads();
        }
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

extern "C" __global__ void tiles(const float *in, float *out, int tiles) { sum_tiles<true>(in, out, tiles); }
extern "C" __global__ void tiles_without_second_barrier(const float *in, float *out, int tiles) { sum_tiles<false>(in, out, tiles); }

// All threads write one place: the same value, or each its own.
extern "C" __global__ void same_value(const float *in, float *out) {
    __shared__ int s_any;
    if (threadIdx.x == 0) {
        s_any = 0;
    }
    __syncthreads();
    if (in[threadIdx.x] >= 0) {
        s_any = 1;
    }
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = s_any;
}

extern "C" __global__ void different_values(const float *in, float *out) {
    __shared__ int s_last;
    if (in[threadIdx.x] >= 0) {
        s_last = threadIdx.x;
    }
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = s_last;
}

// The sum over a warp, from lane to lane.
template <bool SYNCHRONIZED>
__device__ void sum_warp(const float *in, float *out) {
    __shared__ float s_sums[THREADS];
    volatile float *sums = s_sums + threadIdx.x / 32 * 32;
    int lane = threadIdx.x % 32;
    sums[lane] = in[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) {
        if (SYNCHRONIZED) {
            __syncwarp();
        }
        float other = lane < distance ? sums[lane + distance] : 0;
        if (SYNCHRONIZED) {
            __syncwarp();
        }
        if (lane < distance) {
            sums[lane] += other;
        }
    }
    if (lane == 0) {
        out[blockIdx.x * 2 + threadIdx.x / 32] = sums[0];
    }
}

extern "C" __global__ void warp_sums(const float *in, float *out) { sum_warp<true>(in, out); }
extern "C" __global__ void warp_sums_without_syncwarp(const float *in, float *out) { sum_warp<false>(in, out); }

// Counts with atomic operations.
template <bool LAST_BARRIER>
__device__ void count(const float *in, float *out) {
    __shared__ int s_bins[8];
    if (threadIdx.x < 8) {
        s_bins[threadIdx.x] = 0;
    }
    __syncthreads();
    atomicAdd(&s_bins[int(in[threadIdx.x]) & 7], 1);
    if (LAST_BARRIER) {
        __syncthreads();
    }
    if (threadIdx.x < 8) {
        out[blockIdx.x * 8 + threadIdx.x] = s_bins[threadIdx.x];
    }
}

extern "C" __global__ void histogram(const float *in, float *out) { count<true>(in, out); }
extern "C" __global__ void histogram_without_barrier(const float *in, float *out) { count<false>(in, out); }

// Neighboring threads write neighboring bytes; then words, which are wider than what one thread wrote.
extern "C" __global__ void bytes(const float *in, float *out) {
    __shared__ unsigned char s_bytes[THREADS];
    s_bytes[threadIdx.x ^ 33] = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = s_bytes[threadIdx.x];
}

extern "C" __global__ void bytes_without_barrier(const float *in, float *out) {
    __shared__ unsigned char s_bytes[THREADS];
    s_bytes[threadIdx.x ^ 33] = in[threadIdx.x];
    out[blockIdx.x * THREADS + threadIdx.x] = s_bytes[threadIdx.x];
}

// The first warp hands a value to the second through a flag.
template <bool FENCED>
__device__ void hand_over(const float *in, float *out) {
    __shared__ float s_value[32];
    __shared__ int s_flag;
    if (threadIdx.x == 0) {
        s_flag = 0;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        s_value[threadIdx.x] = in[threadIdx.x];
        __syncwarp();
        if (FENCED) {
            __threadfence_block();
        }
        if (threadIdx.x == 0) {
            atomicExch(&s_flag, 1);
        }
    } else {
        while (atomicAdd(&s_flag, 0) == 0) {
        }
        if (FENCED) {
            __threadfence_block();
        }
        out[blockIdx.x * 32 + threadIdx.x - 32] = s_value[threadIdx.x - 32];
    }
}

extern "C" __global__ void flag(const float *in, float *out) { hand_over<true>(in, out); }
extern "C" __global__ void flag_without_fences(const float *in, float *out) { hand_over<false>(in, out); }

// The same with a barrier of their own, at which the producer does not wait.
template <bool ORDERED>
__device__ void produce(const float *in, float *out) {
    __shared__ float s_value[32];
    if (threadIdx.x < 32) {
        s_value[threadIdx.x] = in[threadIdx.x];
        if (ORDERED) {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
        if (ORDERED) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
        }
        out[blockIdx.x * 32 + threadIdx.x - 32] = s_value[threadIdx.x - 32];
    }
}

extern "C" __global__ void producer(const float *in, float *out) { produce<true>(in, out); }
extern "C" __global__ void producer_without_barrier(const float *in, float *out) { produce<false>(in, out); }
