// What the chapters' kernels do not use, in a kernel each.

__constant__ float c_weights[4] = {0.25f, 0.5f, 1.0f, 2.0f};
__device__ int g_count = 5;

struct Pair {
    int first;
    float second;
};

extern "C" __global__ void lanes(const unsigned* in, unsigned* out)
{
    const unsigned t = threadIdx.x;
    unsigned x = in[t];
    x += __shfl_up_sync(0xffffffffu, x, 1);
    x ^= __shfl_xor_sync(0xffffffffu, x, 5);
    const float f = __shfl_down_sync(0xffffffffu, (float)t, 3);
    out[t] = x + __ballot_sync(0xffffffffu, x & 1) + (unsigned)f;
    out[64 + t] = __reduce_max_sync(0xffffffffu, x);
}

extern "C" __global__ void atomics(const unsigned* in, unsigned* out, int* sums, float* total)
{
    __shared__ int s_sum;
    const unsigned t = threadIdx.x;
    if (t == 0) {
        s_sum = 0;
    }
    __syncthreads();
    atomicAdd(&s_sum, (int)(in[t] & 15));
    atomicAdd(sums, 1);
    atomicAdd(total, 0.5f);
    atomicCAS(&out[t & 3], 0xa5a5a5a5u, in[t & 3]);
    __syncthreads();
    out[4 + t] = s_sum;
}

extern "C" __global__ void vectors(const float4* in, float4* out, const uchar4* bytes, uchar4* more)
{
    extern __shared__ float4 s_rows[];
    const unsigned t = threadIdx.x;
    s_rows[t] = in[t];
    __syncthreads();
    const float4 a = s_rows[63 - t];
    const uchar4 b = bytes[t];
    out[t] = make_float4(a.w * c_weights[t & 3], a.x, a.y + b.x, a.z);
    more[t] = make_uchar4(b.w, b.z + 1, b.y, b.x * 3);
}

__device__ __noinline__ Pair twice(Pair p, const float* weights) { return Pair{p.first * 2, p.second * weights[p.first & 3]}; }

extern "C" __global__ void calls(const float* in, int* out, Pair start, int n)
{
    int local[16];
    const unsigned t = threadIdx.x;
    for (int i = 0; i < 16; ++i) {
        local[i] = i * n;
    }
    local[t & 15] = g_count;
    Pair p = start;
    for (int i = 0; i < (n & 3); ++i) {
        p = twice(p, c_weights);
    }
    const Pair q = twice(Pair{(int)t, 1.5f}, in);
    out[t] = p.first + local[(t * 7) & 15] + (int)p.second;
    out[64 + t] = q.first + (int)(q.second * 100.0f);
}

extern "C" __global__ void doubles(const float* in, double* out, long long* wide)
{
    const unsigned t = threadIdx.x;
    const double x = in[t], y = in[63 - t];
    out[t] = x * y + x / (y + 3.0);
    wide[t] = (long long)(x * 1e12) * 7 + ((long long)t << 40) / 1000003;
    wide[64 + t] = (unsigned long long)wide[t] % 641u;
}
