// Two kernels of different appetite, for the test that reads register counts from machine code.
extern "C" __global__ void modest(float *data) { data[threadIdx.x] *= 2.0f; }

extern "C" __global__ void hungry(float *data) {
    float kept[32];
    for (int i = 0; i < 32; ++i) kept[i] = data[i];
    __syncthreads();
    for (int i = 0; i < 32; ++i) data[i] = kept[31 - i];
}
