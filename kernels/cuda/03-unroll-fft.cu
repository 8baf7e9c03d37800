// 03-unroll-fft: what stands around the Fourier transforms of cuFFT, so that they compute the convolution.
//
// The signal is cut into blocks of `length` samples, each `hop` samples behind the one before. In the spectrum, a block and the
// filter are multiplied bin by bin: that is their correlation on a ring of `length` samples. Its first `length - taps + 1` values
// never run over the end of the ring, and `hop` is no more than that: they are outputs. The rest is thrown away.
//
// Launch:  one-dimensional grid and blocks, any block size; a thread per value in `gather` and `collect`, per bin in `multiply`,
//          whose second dimension of the grid goes over the blocks.
// Work:    gather: 4 bytes read and 4 written per value; multiply: 16 bytes read and 8 written, 4 multiply-adds per bin and block;
//          collect: 4 bytes read and 4 written per output.
// Sizes:   1 <= hop <= length - taps + 1; `blocks * hop` is at least `outputs`; `length * (blocks + 1)` is below 2^31.

// ANCHOR: gather
// Block 0 of `rings` is the filter with zeros behind it, the others are the blocks of the signal, with zeros behind its end.
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
// The spectrum of each block times the conjugate of the filter's, which makes it a correlation. A transform and its way back multiply
// by `length`, which `scale` takes away again.
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
// The first `hop` values of each ring, one after the other, are the outputs.
extern "C" __global__ void collect(const float* __restrict__ rings, unsigned length, unsigned hop, unsigned outputs,
                                   float* __restrict__ output)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < outputs) {
        output[i] = rings[i / hop * length + i % hop];
    }
}
// ANCHOR_END: collect
