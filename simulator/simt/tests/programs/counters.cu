// Kernels whose counts are known.

extern "C" __global__ void vector_add(const float* a, const float* b, float* output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    output[i] = a[i] + b[i];
}

extern "C" __global__ void transpose(const float* input, float* output)
{
    __shared__ float s_tile[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    s_tile[y][x] = input[(blockIdx.y * 32 + y) * 64 + blockIdx.x * 32 + x];
    __syncthreads();
    output[(blockIdx.x * 32 + y) * 64 + blockIdx.y * 32 + x] = s_tile[x][y];
}

extern "C" __global__ void transpose_padded(const float* input, float* output)
{
    __shared__ float s_tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    s_tile[y][x] = input[(blockIdx.y * 32 + y) * 64 + blockIdx.x * 32 + x];
    __syncthreads();
    output[(blockIdx.x * 32 + y) * 64 + blockIdx.y * 32 + x] = s_tile[x][y];
}

// Two multiply-adds, one subtraction, one division; one multiplication of doubles; one dot product; a shuffle and a vote.
extern "C" __global__ void kinds(float* floats, double* doubles, int* dots, unsigned* votes, float a, int b, double c)
{
    int i = threadIdx.x;
    float x = i;
    x = fmaf(x, a, x);
    x = fmaf(a, x, a);
    x = x - a;
    doubles[i] = c * c;
    asm("dp4a.s32.s32 %0, %1, %2, 9;" : "=r"(dots[i]) : "r"(b), "r"(i));
    x = __shfl_xor_sync(0xffffffff, x, 1);
    votes[i] = __ballot_sync(0xffffffff, x > 10.0f);
    floats[i] = x / a;
}
