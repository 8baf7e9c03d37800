// Uninitialized memory, races between blocks, and barriers that only some threads of a block reach. Blocks of 64 threads.

constexpr int THREADS = 64;

// A tile with a halo of one element: the last thread must load two.
template <bool HALO>
__device__ void differences(const float *in, float *out) {
    __shared__ float s_tile[THREADS + 1];
    int i = blockIdx.x * THREADS + threadIdx.x;
    s_tile[threadIdx.x] = in[i];
    if (HALO && threadIdx.x == THREADS - 1) {
        s_tile[THREADS] = in[i + 1];
    }
    __syncthreads();
    out[i] = s_tile[threadIdx.x + 1] - s_tile[threadIdx.x];
}

extern "C" __global__ void with_halo(const float *in, float *out) { differences<true>(in, out); }
extern "C" __global__ void without_halo(const float *in, float *out) { differences<false>(in, out); }

extern __shared__ float s_dynamic[];

extern "C" __global__ void dynamic_without_writing(float *out) { out[threadIdx.x] = s_dynamic[threadIdx.x + 3]; }

extern "C" __global__ void copy(const float *in, float *out) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = in[i];
}

// Neighboring blocks write neighboring bytes of one word.
extern "C" __global__ void bytes_of_blocks(unsigned char *out) {
    if (threadIdx.x < 3) {
        out[blockIdx.x * 3 + threadIdx.x] = blockIdx.x + 1;
    }
}

extern "C" __global__ void one_place_same_value(float *out) { out[0] = 5; }
extern "C" __global__ void one_place_own_value(float *out) { out[0] = blockIdx.x; }

// A block reads its neighbor's first element, which that block overwrites.
extern "C" __global__ void shift_in_place(float *data) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    float next = data[i + 1];
    __syncthreads();
    data[i] = next;
}

extern "C" __global__ void shift_out_of_place(const float *in, float *out) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = in[i + 1];
}

// A thread reads what another one of its block overwrites, after both read the place before a barrier.
template <bool SECOND_BARRIER>
__device__ void read_again(float *data, float *out) {
    float *own = data + blockIdx.x * THREADS;
    float first = own[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        out[blockIdx.x] = own[THREADS - 1];
    }
    if (SECOND_BARRIER) {
        __syncthreads();
    }
    if (threadIdx.x == THREADS - 1) {
        own[threadIdx.x] = first + 1;
    }
}

extern "C" __global__ void overwritten_after_barrier(float *data, float *out) { read_again<true>(data, out); }
extern "C" __global__ void overwritten_without_barrier(float *data, float *out) { read_again<false>(data, out); }

// Each lane takes its neighbor's element.
template <bool SYNCHRONIZED>
__device__ void rotate(float *data) {
    float *own = data + (blockIdx.x * THREADS + threadIdx.x) / 32 * 32;
    float next = own[(threadIdx.x + 1) % 32];
    if (SYNCHRONIZED) {
        __syncwarp();
    }
    own[threadIdx.x % 32] = next;
}

extern "C" __global__ void rotated(float *data) { rotate<true>(data); }
extern "C" __global__ void rotated_without_syncwarp(float *data) { rotate<false>(data); }
extern "C" __global__ void one_place_of_lanes(float *data) { data[(blockIdx.x * THREADS + threadIdx.x) / 32] = threadIdx.x; }

extern "C" __global__ void counted(int *out) { atomicAdd(&out[threadIdx.x & 3], 1); }

extern "C" __global__ void counted_and_read(int *out) {
    atomicAdd(&out[threadIdx.x & 3], 1);
    out[4 + blockIdx.x] = out[0];
}

// The block that comes last adds what the others left: ordered by a fence and a counter.
extern "C" __global__ void last_block_adds(const float *in, float *sums, int *done, float *out) {
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        if (atomicAdd(done, 1) == gridDim.x - 1) {
            __threadfence();
            float sum = 0;
            for (int i = 0; i < gridDim.x; i++) {
                sum += ((volatile float *)sums)[i];
            }
            out[0] = sum;
        }
    }
}

extern "C" __global__ void early_return(const float *in, float *out, int n) {
    __shared__ float s_tile[THREADS];
    if (threadIdx.x >= n) {
        return;
    }
    s_tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s_tile[(threadIdx.x + 1) % n];
}

extern "C" __global__ void two_barriers(const float *in, float *out) {
    __shared__ float s_tile[THREADS];
    s_tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = s_tile[threadIdx.x + 32];
    } else {
        __syncthreads();
        out[threadIdx.x] = 2 * s_tile[threadIdx.x - 32];
    }
}

extern "C" __global__ void half_a_warp(const float *in, float *out) {
    __shared__ float s_tile[THREADS];
    s_tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    }
    out[threadIdx.x] = s_tile[THREADS - 1 - threadIdx.x];
}
