// Limits every element to the range from `low` to `high`.
extern "C" __global__ void clamp(float *data, unsigned n, float low, float high) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (data[i] < low)
        data[i] = low;
    else if (data[i] > high)
        data[i] = high;
}
