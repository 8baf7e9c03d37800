// Misuse of wgmma, and the same done right: each kernel has a partner whose name ends with _wrong.
// One warpgroup multiplies 64 x 8 by 8 x 8 of tf32. A and B are in shared memory without swizzling.

constexpr unsigned BYTES_A = 64 * 32, BYTES_B = 8 * 32;

__shared__ __align__(1024) float s_factors[(BYTES_A + BYTES_B) / 4];

__device__ unsigned long long descriptor(const void *start, unsigned leading, unsigned stride) {
    unsigned long long address = __cvta_generic_to_shared(start);
    return address >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32;
}

__device__ unsigned long long of_a() { return descriptor(s_factors, 128, 256); }
__device__ unsigned long long of_b() { return descriptor(s_factors + BYTES_A / 4, 128, 256); }

// Fills shared memory, and makes it visible to the products.
__device__ void fill() {
    for (int i = threadIdx.x; i < (BYTES_A + BYTES_B) / 4; i += blockDim.x) s_factors[i] = 1.0f;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
}

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")
// Keeps the compiler from moving accesses to the registers across this point.
#define BIND(d) asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory")
#define MULTIPLY(d, a, b)                                                                                                     \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;"                       \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                             \
                 : "l"(a), "l"(b)                                                                                             \
                 : "memory")
#define MULTIPLY_REGISTERS(d, a, b)                                                                                           \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1;"         \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                                         \
                 : "memory")

__device__ void load(float (&d)[4], const float *in) {
    for (int i = 0; i < 4; i++) d[i] = in[threadIdx.x * 4 + i];
    BIND(d);
}

__device__ void store(float *out, const float (&d)[4]) {
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}

template <bool WRONG> __device__ void read_sum(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    if (WRONG) out[threadIdx.x] = d[0];
    WAIT(0);
    BIND(d);
    store(out, d);
}

template <bool WRONG> __device__ void write_sum(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    if (!WRONG) WAIT(0);
    // The same register as before, because the assembly both reads and writes it.
    asm volatile("mov.f32 %0, 0f40A00000;" : "+f"(d[1])::"memory");
    WAIT(0);
    BIND(d);
    store(out, d);
}

template <bool WRONG> __device__ void write_factor(const float *in, float *out) {
    float d[4];
    unsigned a[4];
    fill();
    load(d, in);
    for (int i = 0; i < 4; i++) a[i] = __float_as_uint(in[i]);
    FENCE();
    MULTIPLY_REGISTERS(d, a, of_b());
    COMMIT();
    if (!WRONG) WAIT(0);
    // The same register as before, because the assembly both reads and writes it.
    asm volatile("mov.u32 %0, 5;" : "+r"(a[0])::"memory");
    WAIT(0);
    BIND(d);
    asm volatile("" : "+r"(a[0])::"memory");
    store(out, d);
    out[512 + threadIdx.x] = __uint_as_float(a[0]);
}

// Products of the same registers and shape may follow each other.
template <bool WRONG> __device__ void chain(const float *in, float *out) {
    float d[4], e[4];
    fill();
    load(d, in);
    load(e, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    // These share a register with those in flight.
    if (WRONG) e[3] = d[3];
    MULTIPLY(e, of_a(), of_b());
    COMMIT();
    WAIT(0);
    BIND(d);
    BIND(e);
    store(out, d);
    store(out + 512, e);
}

template <bool WRONG> __device__ void first_fence(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    if (!WRONG) FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    WAIT(0);
    BIND(d);
    store(out, d);
}

template <bool WRONG> __device__ void later_fence(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    WAIT(0);
    BIND(d);
    for (int i = 0; i < 4; i++) d[i] *= 2.0f;
    BIND(d);
    if (!WRONG) FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    WAIT(0);
    BIND(d);
    store(out, d);
}

// The last warp overwrites B, which all of them multiply, before the wait for the products.
template <bool WRONG> __device__ void overwrite(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    if (!WRONG) WAIT(0);
    __syncthreads();
    if (threadIdx.x >= 96 && threadIdx.x < 112) s_factors[BYTES_A / 4 + threadIdx.x % 32] = 7.0f;
    WAIT(0);
    BIND(d);
    store(out, d);
}

// After its own wait, one thread overwrites a row of A that another warp multiplied, and a word that this warp must not have loaded.
template <bool WRONG> __device__ void of_another_warp(const float *in, float *out) {
    float d[4];
    __shared__ float s_word;
    if (threadIdx.x == 96) s_word = 1.0f;
    fill();
    load(d, in);
    if (WRONG && threadIdx.x == 96) out[512] = s_word;
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    WAIT(0);
    BIND(d);
    if (threadIdx.x == 0) s_word = s_factors[48 * 8] = 7.0f;
    store(out, d);
}

// Each thread overwrites a word of the rows of A that its own warp multiplies.
template <bool WRONG> __device__ void own_store(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    if (!WRONG) WAIT(0);
    s_factors[threadIdx.x * 4] = 9.0f;
    WAIT(0);
    BIND(d);
    store(out, d);
}

template <bool WRONG> __device__ void copied_over(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    if (!WRONG) WAIT(0);
    unsigned target = __cvta_generic_to_shared(&s_factors[threadIdx.x * 4]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(in + threadIdx.x * 4) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    WAIT(0);
    BIND(d);
    store(out, d);
}

template <bool WRONG> __device__ void no_commit(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    if (!WRONG) COMMIT();
    WAIT(0);
    BIND(d);
    if (!WRONG) store(out, d);
}

template <bool WRONG> __device__ void no_wait(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    if (!WRONG) WAIT(0);
    BIND(d);
    if (!WRONG) store(out, d);
}

template <bool WRONG> __device__ void missing_warp(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    if (!WRONG || threadIdx.x < 96) {
        FENCE();
        MULTIPLY(d, of_a(), of_b());
        COMMIT();
        WAIT(0);
        BIND(d);
    }
    store(out, d);
}

template <bool WRONG> __device__ void two_descriptors(const float *in, float *out) {
    float d[4];
    fill();
    load(d, in);
    // The warps' numbers are not the same, and so neither are the descriptors.
    unsigned long long b = of_b() - (WRONG ? threadIdx.x / 32 : 0);
    FENCE();
    MULTIPLY(d, of_a(), b);
    COMMIT();
    WAIT(0);
    BIND(d);
    store(out, d);
}

// The sum is set to zero after the fence, where compilers may put it.
template <bool WRONG> __device__ void late_zero(const float *in, float *out) {
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    fill();
    if (!WRONG) BIND(d);
    FENCE();
    MULTIPLY(d, of_a(), of_b());
    COMMIT();
    WAIT(0);
    BIND(d);
    store(out, d);
}

#define BOTH(name)                                                                                                            \
    extern "C" __global__ void __launch_bounds__(128) k_##name(const float *in, float *out) { name<false>(in, out); }         \
    extern "C" __global__ void __launch_bounds__(128) k_##name##_wrong(const float *in, float *out) { name<true>(in, out); }

BOTH(read_sum)
BOTH(write_sum)
BOTH(write_factor)
BOTH(chain)
BOTH(first_fence)
BOTH(later_fence)
BOTH(overwrite)
BOTH(of_another_warp)
BOTH(own_store)
BOTH(copied_over)
BOTH(no_commit)
BOTH(no_wait)
BOTH(missing_warp)
BOTH(two_descriptors)
BOTH(late_zero)

// Descriptors from the host.
extern "C" __global__ void k_descriptors(unsigned long long a, unsigned long long b, const float *in, float *out, int of_lane) {
    float d[4];
    fill();
    load(d, in);
    FENCE();
    MULTIPLY(d, a, b + (of_lane ? threadIdx.x % 2 : 0));
    COMMIT();
    WAIT(0);
    BIND(d);
    store(out, d);
}
