// out[i] = in[i] - in[i - 1], where in[-1] counts as 0. Each block keeps its part of `in` in shared memory. Launch with 256 threads per block.
extern "C" __global__ void differences(const float *in, float *out, int n) {
    __shared__ float s_in[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        s_in[threadIdx.x] = in[i];
    // Each thread reads what its neighbor has written.
    __syncthreads();
    if (i < n) {
        float before = threadIdx.x > 0 ? s_in[threadIdx.x - 1] : i > 0 ? in[i - 1] : 0.0f;
        out[i] = s_in[threadIdx.x] - before;
    }
}
