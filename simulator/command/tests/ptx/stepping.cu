// Kernels to step through. `stepping.ptx` is what NVRTC 12.0 makes of this file with -lineinfo, without its variables.
extern "C" __global__ void scale(float* values, float factor)
{
    values[threadIdx.x] *= factor;
}

// A barrier is missing, so that each warp reads what the other one has yet to store.
extern "C" __global__ void reverse(const float* input, float* output, int rounds)
{
    __shared__ float s_values[64];
    int i = threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 1; k <= rounds; k++) {
        sum += input[i] * k;
    }
    s_values[i] = sum;
    output[i] = s_values[63 - i];
}

// The last lane stores behind the end.
extern "C" __global__ void shift(float* values, int n)
{
    int i = threadIdx.x + 1;
    if (i <= n) {
        values[i] = 1.0f;
    }
}

__device__ __noinline__ int odd(int x)
{
    return 2 * x + 1;
}

// The function's registers have the names of the kernel's.
extern "C" __global__ void call(int* values, int n)
{
    int i = threadIdx.x;
    values[i] = odd(i) + n;
}

// The second warp never ends.
extern "C" __global__ void spin(volatile float* values)
{
    if (threadIdx.x >= 32) {
        while (values[0] == values[0]) {
        }
    }
}
