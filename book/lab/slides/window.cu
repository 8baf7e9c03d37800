// Of the experiment `window`: sums of `window` neighbors in each column of an image. A thread adds up its first window,
// and after that only what comes in and what goes out.
//
// Launch:  blocks of one dimension, a thread for each column; the y of the grid counts slices of `rows` outputs.
// Loads:   window + 2 * (rows - 1) for the `rows` outputs of a slice.

extern "C" __global__ void column_sums(const float* image, unsigned width, unsigned outputs, unsigned window,
                                       unsigned rows, float* sums)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned first = blockIdx.y * rows;
    const unsigned last = min(first + rows, outputs);
    if (x >= width || first >= outputs) {
        return;
    }
    float sum = 0.0f;
#pragma unroll 1
    for (unsigned y = first; y < first + window; ++y) {
        sum += image[y * width + x];
    }
    sums[first * width + x] = sum;
#pragma unroll 1
    for (unsigned y = first + 1; y < last; ++y) {
        sum += image[(y + window - 1) * width + x] - image[(y - 1) * width + x];
        sums[y * width + x] = sum;
    }
}
