// Pairs of kernels: a right one, and the same with a mistake in how one block tells another that its data is there. Blocks of 64 threads, two
// warps. `data` has an element for every thread of the grid, and `flags` are zero.

constexpr int THREADS = 64;

enum Fence { NONE, OF_BLOCK, OF_GPU };

template <Fence FENCE>
__device__ void fence() {
    if (FENCE == OF_BLOCK) {
        __threadfence_block();
    }
    if (FENCE == OF_GPU) {
        __threadfence();
    }
}

// The block that arrives last sums what all blocks have stored.
template <Fence RELEASE, Fence ACQUIRE, bool BARRIER, class Read = const float, class Written = float>
__device__ void sum_in_last_block(const float *in, float *data, unsigned *flags, float *out) {
    __shared__ bool s_is_last;
    unsigned own = blockIdx.x * THREADS + threadIdx.x;
    static_cast<Written *>(data)[own] = 2 * in[own]; // stored
    fence<RELEASE>();
    if (BARRIER) {
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        s_is_last = atomicAdd(flags, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (s_is_last) {
        fence<ACQUIRE>();
        float sum = 0;
        for (unsigned block = 0; block < gridDim.x; block++) {
            sum += static_cast<Read *>(data)[block * THREADS + threadIdx.x]; // summed
        }
        out[threadIdx.x] = sum;
    }
}

#define KERNEL(name, ...)                                                                                                                      \
    extern "C" __global__ void name(const float *in, float *data, unsigned *flags, float *out) { __VA_ARGS__(in, data, flags, out); }

KERNEL(last_block, sum_in_last_block<OF_GPU, OF_GPU, true>)
KERNEL(last_block_with_block_fence, sum_in_last_block<OF_BLOCK, OF_GPU, true>)
KERNEL(last_block_with_block_fences, sum_in_last_block<OF_BLOCK, OF_BLOCK, true>)
KERNEL(last_block_without_fences, sum_in_last_block<NONE, NONE, true>)
KERNEL(last_block_without_acquire, sum_in_last_block<OF_GPU, NONE, true>)
KERNEL(last_block_with_block_acquire, sum_in_last_block<OF_GPU, OF_BLOCK, true>)
KERNEL(last_block_without_barrier, sum_in_last_block<OF_GPU, OF_GPU, false>)

KERNEL(last_block_reads_volatile, sum_in_last_block<OF_GPU, NONE, true, const volatile float>)
KERNEL(last_block_is_volatile, sum_in_last_block<OF_GPU, NONE, true, const volatile float, volatile float>)
KERNEL(last_block_reads_volatile_without_release, sum_in_last_block<OF_BLOCK, NONE, true, const volatile float>)

// The same, but every block has read the line before: from a word that nobody writes.
extern "C" __global__ void last_block_has_read_the_line(const float *in, float *data, unsigned *flags, float *out) {
    __shared__ bool s_is_last;
    if (threadIdx.x == 0) {
        data[2 * blockIdx.x] = in[blockIdx.x] + data[2 * blockIdx.x + 1]; // stored
        __threadfence();
        s_is_last = atomicAdd(flags, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (s_is_last && threadIdx.x < gridDim.x) {
        out[threadIdx.x] = data[2 * threadIdx.x]; // summed
    }
}

enum Flag { RELEASED, RELEASED_IN_BLOCK, FENCED, FENCED_IN_BLOCK, UNFENCED, PLAIN, TOO_SOON, NOT_AT_ALL };

template <Flag FLAG>
__device__ void set(unsigned *flag) {
    switch (FLAG) {
    case RELEASED:
        asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
        break;
    case RELEASED_IN_BLOCK:
        asm volatile("st.release.cta.u32 [%0], 1;" ::"l"(flag) : "memory");
        break;
    case FENCED:
        __threadfence();
        *(volatile unsigned *)flag = 1;
        break;
    case FENCED_IN_BLOCK:
        __threadfence_block();
        *(volatile unsigned *)flag = 1;
        break;
    case PLAIN:
        __threadfence();
        *flag = 1;
        break;
    default:
        *(volatile unsigned *)flag = 1;
    }
}

template <Flag FLAG>
__device__ void wait_for(unsigned *flag) {
    unsigned value = 0;
    while (value == 0) {
        if (FLAG == RELEASED) {
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
        } else if (FLAG == RELEASED_IN_BLOCK) {
            asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
        } else {
            value = *(volatile unsigned *)flag;
        }
    }
    if (FLAG == FENCED) {
        __threadfence();
    } else if (FLAG == FENCED_IN_BLOCK) {
        __threadfence_block();
    }
}

// Each block waits for the block before it, and then knows of all before that. Different warps write, publish, wait and read.
template <Flag SET, Flag WAIT>
__device__ void sum_along(const float *in, float *data, unsigned *flags, float *out) {
    unsigned block = blockIdx.x, own = block * THREADS + threadIdx.x;
    if (SET == TOO_SOON && threadIdx.x == 32) {
        set<FENCED>(&flags[block]);
    }
    data[own] = 2 * in[own];
    if (WAIT != NOT_AT_ALL && threadIdx.x == 0 && block > 0) {
        wait_for<WAIT>(&flags[block - 1]);
    }
    __syncthreads();
    if (SET != TOO_SOON && threadIdx.x == 32) {
        set<SET>(&flags[block]);
    }
    float sum = 0;
    for (unsigned other = 0; other <= block; other++) {
        sum += data[other * THREADS + threadIdx.x];
    }
    out[own] = sum;
}

KERNEL(chain, sum_along<RELEASED, RELEASED>)
KERNEL(chain_of_fences, sum_along<FENCED, FENCED>)
KERNEL(chain_of_fence_and_acquire, sum_along<FENCED, RELEASED>)
KERNEL(chain_with_release_in_block, sum_along<RELEASED_IN_BLOCK, RELEASED>)
KERNEL(chain_with_acquire_in_block, sum_along<RELEASED, RELEASED_IN_BLOCK>)
KERNEL(chain_with_block_fence, sum_along<FENCED_IN_BLOCK, FENCED>)
KERNEL(chain_with_block_fences, sum_along<FENCED_IN_BLOCK, FENCED_IN_BLOCK>)
KERNEL(chain_without_acquire, sum_along<FENCED, UNFENCED>)
KERNEL(chain_without_release, sum_along<UNFENCED, FENCED>)
KERNEL(chain_with_plain_flag, sum_along<PLAIN, FENCED>)
KERNEL(chain_without_wait, sum_along<FENCED, NOT_AT_ALL>)
KERNEL(chain_published_too_soon, sum_along<TOO_SOON, FENCED>)

// Each block reads what the block before it has published, without a fence after the flag. The read begins when the flag has come, or before.
template <bool WAITS>
__device__ void read_before(const float *in, float *data, unsigned *flags, float *out) {
    unsigned block = blockIdx.x;
    if (threadIdx.x == 0) {
        data[block] = in[block]; // published
        set<FENCED>(&flags[block]);
        float value = 0;
        unsigned flag = block == 0;
        while (flag == 0) {
            flag = *(volatile unsigned *)&flags[block - 1];
            if (!WAITS || flag != 0) {
                value = *(volatile float *)&data[block - 1]; // read
            }
        }
        out[block] = value;
    }
}

KERNEL(volatile_after_flag, read_before<true>)
KERNEL(volatile_beside_flag, read_before<false>)

// Blocks pass one set of values on: each adds its own before the next may do so.
template <bool TOO_SOON>
__device__ void pass_on(const float *in, float *data, unsigned *flags, float *out) {
    unsigned block = blockIdx.x, own = block * THREADS + threadIdx.x;
    if (block > 0) {
        if (threadIdx.x == 0) {
            wait_for<FENCED>(&flags[block - 1]);
        }
        __syncthreads();
    }
    float before = block > 0 ? data[threadIdx.x] : 0;
    data[threadIdx.x] = before + in[own];
    __syncthreads();
    if (TOO_SOON && threadIdx.x == 0) {
        set<FENCED>(&flags[block]);
    }
    out[own] = *(volatile float *)&data[threadIdx.x ^ 32];
    float after = data[threadIdx.x ^ 32];
    __syncthreads();
    if (!TOO_SOON && threadIdx.x == 0) {
        set<FENCED>(&flags[block]);
    }
    out[own] += after;
}

KERNEL(relay, pass_on<false>)
KERNEL(relay_passed_on_too_soon, pass_on<true>)

// A sum behind a lock.
template <Fence AFTER_LOCK, Fence BEFORE_UNLOCK>
__device__ void sum_behind_lock(const float *in, float *data, unsigned *flags, float *out) {
    if (threadIdx.x == 0) {
        while (atomicCAS(flags, 0, 1) != 0) {
        }
        fence<AFTER_LOCK>();
        data[0] += in[blockIdx.x];
        fence<BEFORE_UNLOCK>();
        atomicExch(flags, 0);
    }
}

KERNEL(lock, sum_behind_lock<OF_GPU, OF_GPU>)
KERNEL(lock_without_first_fence, sum_behind_lock<NONE, OF_GPU>)
KERNEL(lock_without_second_fence, sum_behind_lock<OF_GPU, NONE>)

// All blocks count in one place.
extern "C" __global__ void count(const float *in, float *data, unsigned *flags, float *out) { atomicAdd(flags, 1); }
extern "C" __global__ void count_in_block(const float *in, float *data, unsigned *flags, float *out) { atomicAdd_block(flags, 1); }

// Each block counts in a place of its own.
extern "C" __global__ void count_own(const float *in, float *data, unsigned *flags, float *out) { atomicAdd_block(&flags[blockIdx.x], 1); }

// For a cooperative launch: all blocks meet, and each reads what the one after it has stored.
template <Fence FENCE>
__device__ void meet(const float *in, float *data, unsigned *flags, float *out) {
    unsigned own = blockIdx.x * THREADS + threadIdx.x, count = gridDim.x * THREADS;
    for (unsigned round = 1; round <= 3; round++) {
        data[own] = in[own] + round;
        for (unsigned half = 0; half < 2; half++) {
            __syncthreads();
            if (threadIdx.x == 0) {
                fence<FENCE>();
                atomicAdd(flags, 1);
                while (*(volatile unsigned *)flags < (2 * round - 1 + half) * gridDim.x) {
                }
                fence<FENCE>();
            }
            __syncthreads();
            if (half == 0) {
                out[own] = data[(own + THREADS) % count];
            }
        }
    }
}

KERNEL(grid_barrier, meet<OF_GPU>)
KERNEL(grid_barrier_with_block_fences, meet<OF_BLOCK>)

// Each block reads its values, and the next one replaces them. It may, because a flag says that they have been read. No fence says so.
template <bool BARRIER, bool WAITS>
__device__ void replace(const float *in, float *data, unsigned *flags, float *out) {
    unsigned own = blockIdx.x * THREADS + threadIdx.x;
    out[own] = data[own]; // has read
    if (BARRIER) {
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        asm volatile("st.relaxed.gpu.u32 [%0], 1;" ::"l"(flags + blockIdx.x) : "memory");
        unsigned came = blockIdx.x == 0;
        while (WAITS && came == 0) {
            asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(came) : "l"(flags + blockIdx.x - 1) : "memory");
        }
    }
    __syncthreads();
    if (blockIdx.x > 0) {
        data[own - THREADS] = in[own]; // replaces
    }
}

KERNEL(replaces_what_was_read, replace<true, true>)
KERNEL(replaces_what_may_be_read, replace<false, true>)
KERNEL(replaces_without_waiting, replace<true, false>)
