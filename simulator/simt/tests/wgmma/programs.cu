// Whole programs with wgmma.

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")

__device__ unsigned long long descriptor(const void *start, unsigned leading, unsigned stride, unsigned mode) {
    unsigned long long address = __cvta_generic_to_shared(start);
    return address >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)mode << 62;
}

template <int N> __device__ void bind(float (&d)[N]) {
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i])::"memory");
}

template <int N> __device__ void bind(int (&d)[N]) {
    for (int i = 0; i < N; i++) asm volatile("" : "+r"(d[i])::"memory");
}

constexpr int STEP = 64;           // elements of k in a stage: 128 bytes of f16
constexpr int ROWS = 128, COLS = 16; // of a block: two warpgroups of 64 rows
constexpr int STAGES = 2;

// The byte of an element in a tile with rows of 128 bytes, swizzled.
__device__ unsigned swizzled(int row, int byte) { return row * 128 + (byte ^ (row % 8) * 16); }

// C = A B for 128 x 16 elements of C. A is row by row, B column by column, of f16. While the products of one stage are computed, the
// block fills the other one.
extern "C" __global__ void __launch_bounds__(256) k_pipeline(const unsigned short *a, const unsigned short *b, float *c, int k) {
    extern __shared__ __align__(1024) unsigned char s_stages[];
    constexpr int BYTES_A = ROWS * 128, BYTES = BYTES_A + COLS * 128;
    int group = threadIdx.x / 128;
    float d[8] = {};
    for (int first = 0; first < k; first += STEP) {
        unsigned char *s_a = s_stages + first / STEP % STAGES * BYTES, *s_b = s_a + BYTES_A;
        for (int i = threadIdx.x; i < ROWS * STEP; i += blockDim.x)
            *(unsigned short *)(s_a + swizzled(i / STEP, i % STEP * 2)) = a[i / STEP * k + first + i % STEP];
        for (int i = threadIdx.x; i < COLS * STEP; i += blockDim.x)
            *(unsigned short *)(s_b + swizzled(i / STEP, i % STEP * 2)) = b[i / STEP * k + first + i % STEP];
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        if (first == 0) bind(d);
        FENCE();
        for (int step = 0; step < 4; step++) {
            unsigned long long of_a = descriptor(s_a + group * 64 * 128 + step * 32, 16, 1024, 1);
            unsigned long long of_b = descriptor(s_b + step * 32, 16, 1024, 1);
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %10, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0; }"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                         : "l"(of_a), "l"(of_b), "r"(first + step)
                         : "memory");
        }
        COMMIT();
        // All products but those of this stage are complete, in every warp.
        WAIT(1);
        __syncthreads();
    }
    WAIT(0);
    bind(d);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < 8; i++)
        c[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * COLS + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// D = -A B + C with A in registers, of tf32: 64 x 8 by 8 x 8.
extern "C" __global__ void __launch_bounds__(128) k_registers(const float *a, const float *b, const float *c, float *out) {
    __shared__ __align__(1024) float s_b[64];
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    if (threadIdx.x < 64) s_b[threadIdx.x / 8 * 4 + threadIdx.x % 8 / 4 * 32 + threadIdx.x % 4] = b[threadIdx.x];
    unsigned long long of_b = descriptor(s_b, 128, 256, 0);
    unsigned factors[4];
    float d[4];
    for (int i = 0; i < 4; i++) {
        factors[i] = __float_as_uint(a[(row + i % 2 * 8) * 8 + i / 2 * 4 + member]);
        d[i] = c[(row + i / 2 * 8) * 8 + member * 2 + i % 2];
    }
    for (int i = 0; i < 4; i++) asm volatile("" : "+r"(factors[i])::"memory");
    bind(d);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    FENCE();
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, -1, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(factors[0]), "r"(factors[1]), "r"(factors[2]), "r"(factors[3]), "l"(of_b)
                 : "memory");
    COMMIT();
    WAIT(0);
    bind(d);
    for (int i = 0; i < 4; i++) out[(row + i / 2 * 8) * 8 + member * 2 + i % 2] = d[i];
}

// D = A B and D = 2 A B of s8, in two sets of sums and two groups: 64 x 32 by 32 x 8.
extern "C" __global__ void __launch_bounds__(128) k_bytes(const unsigned *a, const unsigned *b, int *out) {
    __shared__ __align__(1024) unsigned s_a[512], s_b[64];
    // Both are row by row of 32 bytes, and go to groups of eight rows with 16 bytes each.
    auto place = [](int i) { return i / 64 * 64 + i % 8 / 4 * 32 + i / 8 % 8 * 4 + i % 4; };
    for (int i = threadIdx.x; i < 512; i += 128) s_a[place(i)] = a[i];
    if (threadIdx.x < 64) s_b[place(threadIdx.x)] = b[threadIdx.x];
    unsigned long long of_a = descriptor(s_a, 128, 256, 0), of_b = descriptor(s_b, 128, 256, 0);
    int first[4] = {}, second[4] = {};
    bind(first);
    bind(second);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    FENCE();
#define MULTIPLY(d, adds)                                                                                                     \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"                                                                      \
                 "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, p; }"                               \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                             \
                 : "l"(of_a), "l"(of_b), "r"(adds)                                                                            \
                 : "memory")
    MULTIPLY(first, 0);
    COMMIT();
    MULTIPLY(second, 0);
    MULTIPLY(second, 1);
    COMMIT();
    WAIT(1);
    bind(first);
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    for (int i = 0; i < 4; i++) out[(row + i / 2 * 8) * 8 + column + i % 2] = first[i];
    WAIT(0);
    bind(second);
    for (int i = 0; i < 4; i++) out[512 + (row + i / 2 * 8) * 8 + column + i % 2] = second[i];
}
