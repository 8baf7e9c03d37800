// 03-unroll-fft: the kernels around cuFFT's transforms, which make a convolution of them.
//
// The signal is cut into blocks of `length` samples. Each block starts `hop` samples after the previous one. The
// spectra of a block and of the filter are multiplied bin by bin, which gives their correlation on a ring of `length`
// samples. Its first `length - taps + 1` values never run over the end of the ring. `hop` is at most that many: the
// first `hop` values are outputs, and the rest is thrown away.
//
// Since 03-unroll: another algorithm, whose work hardly depends on the number of taps.
// Launch:  one-dimensional grid and blocks, any block size; one thread per value in `gather` and `collect`, one per bin
//          in `multiply`, where the second dimension of the grid counts blocks of the signal.
// Work:    gather: 4 bytes read and 4 written per value; multiply: 16 bytes read and 8 written, 4 multiply-adds per bin
//          and block; collect: 4 bytes read and 4 written per output.
// Sizes:   1 <= hop <= length - taps + 1; `blocks * hop` is at least `outputs`; `length * (blocks + 1)` is below 2^31.

// ANCHOR: gather
// Ring 0 of `rings` is the filter, followed by zeros. The others are the blocks of the signal, with zeros after the
// signal's end.
extern "C" __global__ void gather(const float* __restrict__ signal, unsigned samples, const float* __restrict__ filter,
                                  unsigned taps, unsigned length, unsigned hop, unsigned blocks, float* __restrict__ rings)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= length * (blocks + 1)) {
        return;
    }
    const unsigned block = at / length, i = at % length;
    float value;
    if (block == 0) {
        value = i < taps ? filter[i] : 0.0f;
    } else {
        const unsigned sample = (block - 1) * hop + i;
        value = sample < samples ? signal[sample] : 0.0f;
    }
    rings[at] = value;
}
// ANCHOR_END: gather

// ANCHOR: multiply
// The spectrum of each block times the conjugate of the filter's spectrum, which makes it a correlation. A transform
// and its inverse together multiply by `length`; `scale` divides by it.
extern "C" __global__ void multiply(float2* __restrict__ spectra, unsigned bins, unsigned blocks, float scale)
{
    const unsigned bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin >= bins) {
        return;
    }
    const float2 filter = make_float2(spectra[bin].x * scale, spectra[bin].y * -scale);
    for (unsigned block = 1 + blockIdx.y; block <= blocks; block += gridDim.y) {
        float2* const at = spectra + static_cast<unsigned long long>(block) * bins + bin;
        const float2 value = *at;
        *at = make_float2(value.x * filter.x - value.y * filter.y, value.x * filter.y + value.y * filter.x);
    }
}
// ANCHOR_END: multiply

// ANCHOR: collect
// The first `hop` values of each ring, ring after ring, are the outputs.
extern "C" __global__ void collect(const float* __restrict__ rings, unsigned length, unsigned hop, unsigned outputs,
                                   float* __restrict__ output)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < outputs) {
        output[i] = rings[i / hop * length + i % hop];
    }
}
// ANCHOR_END: collect
