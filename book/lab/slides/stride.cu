// Of the experiment `stride`: the naive convolution of chapter 01, with two numbers to play with.
//
// Each thread computes `run` neighboring outputs, so neighboring lanes read samples that are `run` apart. `first` is
// the sample that the very first thread starts with.
extern "C" __global__ void strided(const float* signal, const float* filter, unsigned outputs, unsigned taps, unsigned run,
                                   unsigned first, float* output)
{
    const unsigned begin = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    // Loops as they are written are easier to follow step by step.
#pragma unroll 1
    for (unsigned i = begin; i < begin + run; ++i) {
        if (i >= outputs) {
            return;
        }
        float sum = 0.0f;
#pragma unroll 1
        for (unsigned j = 0; j < taps; ++j) {
            sum += signal[first + i + j] * filter[j];
        }
        output[i] = sum;
    }
}
