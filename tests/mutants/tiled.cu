// Right, unlike its neighbours: a convolution by tiles of signal and filter in shared memory. The test takes out its barriers, one at
// a time, and each must be missed.

constexpr int TILE = 128;

extern "C" __global__ void tiled(const float *signal, const float *filter, unsigned outputs, unsigned taps, float *output) {
    __shared__ float s_signal[2 * TILE];
    __shared__ float s_filter[TILE];
    const unsigned first = blockIdx.x * TILE;
    float sum = 0;
    for (unsigned tile = 0; tile < taps; tile += TILE) {
        for (unsigned i = threadIdx.x; i < 2 * TILE; i += TILE) {
            const unsigned at = first + tile + i;
            s_signal[i] = at < outputs + taps - 1 ? signal[at] : 0;
        }
        s_filter[threadIdx.x] = tile + threadIdx.x < taps ? filter[tile + threadIdx.x] : 0;
        __syncthreads(); // the tile is written before it is read
        for (unsigned i = 0; i < TILE; i++) {
            sum = fmaf(s_signal[threadIdx.x + i], s_filter[i], sum);
        }
        __syncthreads(); // the tile is read before the next one overwrites it
    }
    if (first + threadIdx.x < outputs) {
        output[first + threadIdx.x] = sum;
    }
}
