// Local, constant and shared memory; loads and stores of every width.

__constant__ float c_scale = 2.5f;
__constant__ int c_table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ float c_taps[16]; // written by the host
__device__ int g_counter = 7;
__device__ int* g_pointer = &g_counter;

extern "C" __global__ void constants(float* output)
{
    int i = threadIdx.x;
    output[i] = c_scale * (float)c_table[i & 7] + c_taps[i & 15] + c_taps[3];
    if (i == 0)
        *g_pointer += 5;
}

// A local array with an index that only the launch knows.
extern "C" __global__ void local_array(const int* index, int* output, int rounds)
{
    int values[17];
    int i = threadIdx.x;
    for (int k = 0; k < 17; ++k)
        values[k] = k * k + i;
    for (int k = 0; k < rounds; ++k) {
        int a = index[(i + k) % 32] % 17;
        int b = index[(i * 7 + k) % 32] % 17;
        int kept = values[a];
        values[a] = values[b] + 1;
        values[b] = kept;
    }
    int sum = 0;
    for (int k = 0; k < 17; ++k)
        sum += (k + 1) * values[k];
    output[i] = sum;
}

// Static and dynamic shared memory side by side, a barrier between each step.
extern "C" __global__ void reverse_sum(const float* input, float* output, int rounds)
{
    __shared__ float s_static[128];
    extern __shared__ float s_dynamic[];
    int i = threadIdx.x;
    int n = blockDim.x;
    s_static[i] = input[blockIdx.x * n + i];
    for (int round = 0; round < rounds; ++round) {
        __syncthreads();
        s_dynamic[i] = s_static[n - 1 - i] + s_static[i];
        __syncthreads();
        s_static[i] = s_dynamic[(i + 1) % n];
    }
    output[blockIdx.x * n + i] = s_static[i];
}

extern "C" __global__ void vectors(const float2* a, const float4* b, const uchar4* c, const ushort2* d, const double2* e,
                                   const uint2* f, float4* out_f, uchar4* out_c, ushort2* out_s, double2* out_d, uint2* out_u)
{
    int i = threadIdx.x;
    float2 x = a[i];
    float4 y = b[31 - i];
    out_f[i] = make_float4(x.y + y.w, x.x - y.z, y.y, y.x);
    uchar4 z = c[i];
    out_c[i] = make_uchar4(z.w, z.z + 1, z.y ^ z.x, 255 - z.x);
    ushort2 s = d[i];
    out_s[i] = make_ushort2(s.y, s.x + s.y);
    double2 t = e[i];
    out_d[i] = make_double2(t.y * 2.0, t.x - t.y);
    uint2 u = f[i];
    out_u[i] = make_uint2(u.y, u.x + 1);
}

// The same through shared memory.
extern "C" __global__ void shared_vectors(const float4* input, const uchar4* bytes, float4* output, uchar4* out_bytes)
{
    __shared__ float4 s_wide[32];
    __shared__ float2 s_half[32];
    __shared__ uchar4 s_bytes[32];
    __shared__ unsigned char s_single[32];
    __shared__ short s_short[32];
    int i = threadIdx.x;
    float4 value = input[i];
    s_wide[31 - i] = value;
    s_half[i] = make_float2(value.x, value.w);
    s_bytes[i] = bytes[i];
    s_single[i] = (unsigned char)(3 * i);
    s_short[i] = (short)(-1000 * i);
    __syncthreads();
    float4 wide = s_wide[i];
    float2 half = s_half[(i + 5) & 31];
    output[i] = make_float4(wide.x + half.x, wide.y + s_short[31 - i], wide.z + s_single[(i * 3) & 31], wide.w + half.y);
    out_bytes[i] = s_bytes[i ^ 1];
}

// 8 and 16 bits, with and without sign.
extern "C" __global__ void narrow(const signed char* a, const unsigned char* b, const short* c, const unsigned short* d,
                                  int* output, signed char* out_a, unsigned short* out_d)
{
    int i = threadIdx.x;
    output[4 * i] = a[i] * 3;
    output[4 * i + 1] = b[i] * 3;
    output[4 * i + 2] = c[i] - 1;
    output[4 * i + 3] = d[i] - 1;
    out_a[i] = (signed char)(a[i] + b[i]);
    out_d[i] = (unsigned short)(c[i] * d[i]);
}
