// Kernels whose speed in the simulator is measured.

extern "C" __global__ void naive(const float* signal, const float* filter, float* output, int n, int taps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < taps; ++k)
        sum += signal[i + k] * filter[k];
    output[i] = sum;
}

extern "C" __global__ void tiled(const float* signal, const float* filter, float* output, int n, int taps)
{
    const int tile = 256;
    __shared__ float s_signal[2 * tile];
    __shared__ float s_filter[tile];
    int i = blockIdx.x * tile + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < taps; start += tile) {
        int first = blockIdx.x * tile + start;
        int last = n + taps - 1;
        s_signal[threadIdx.x] = first + threadIdx.x < last ? signal[first + threadIdx.x] : 0.0f;
        s_signal[tile + threadIdx.x] = first + tile + threadIdx.x < last ? signal[first + tile + threadIdx.x] : 0.0f;
        s_filter[threadIdx.x] = start + threadIdx.x < taps ? filter[start + threadIdx.x] : 0.0f;
        __syncthreads();
        for (int k = 0; k < tile; ++k)
            sum += s_signal[threadIdx.x + k] * s_filter[k];
        __syncthreads();
    }
    if (i < n)
        output[i] = sum;
}

extern "C" __global__ void arithmetic(float* output, int rounds, float a, float b)
{
    float x = threadIdx.x;
    unsigned count = threadIdx.x;
    for (int k = 0; k < rounds; ++k) {
        x = fmaf(x, a, b);
        count = count * 5 + 1;
        x = fmaf(x, b, a);
        count += count << 2;
    }
    output[blockIdx.x * blockDim.x + threadIdx.x] = x + count;
}
