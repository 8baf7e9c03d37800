// Of the experiment `tile`: a matrix product in which a block computes a tile of `rows` x `columns` outputs.
//
// Launch:  a block for each tile; shared memory for rows * DEPTH + DEPTH * columns floats.
// Loads:   (rows + columns) * DEPTH for rows * columns * DEPTH multiply-adds.
// Sizes:   square matrices of `side`, which is a multiple of the tile; the inner side is DEPTH.

// What the block loads at once is the whole inner side, so that there is nothing but the shape of the tile to see.
constexpr unsigned DEPTH = 32;

extern "C" __global__ void product(const float* a, const float* b, unsigned side, unsigned rows, unsigned columns, float* c)
{
    extern __shared__ float s_tiles[];
    float* s_a = s_tiles;
    float* s_b = s_tiles + rows * DEPTH;
    const unsigned top = blockIdx.y * rows;
    const unsigned left = blockIdx.x * columns;
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < rows * DEPTH; k += blockDim.x) {
        s_a[k] = a[(top + k / DEPTH) * DEPTH + k % DEPTH];
    }
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < DEPTH * columns; k += blockDim.x) {
        s_b[k] = b[k / columns * side + left + k % columns];
    }
    // Both parts are there before any thread reads them.
    __syncthreads();
#pragma unroll 1
    for (unsigned output = threadIdx.x; output < rows * columns; output += blockDim.x) {
        const unsigned row = output / columns;
        const unsigned column = output % columns;
        float sum = 0.0f;
#pragma unroll 1
        for (unsigned k = 0; k < DEPTH; ++k) {
            sum += s_a[row * DEPTH + k] * s_b[k * columns + column];
        }
        c[(top + row) * side + left + column] = sum;
    }
}
