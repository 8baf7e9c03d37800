// 04-correlation-sm-aware: normalized cross-correlation of a template with an image, one output per thread.
//
//     coefficient = (n ΣIT - ΣI ΣT) / sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²)),   0 where the quotient is 0/0
//
// The sums are over the n pixels of the template. T are its own pixels, and I are the image's pixels under it.
//
// Since the last chapter: two dimensions, bytes instead of floats, and arithmetic whose speed differs between generations.
// Launch:  two-dimensional grid, blocks of BLOCK_X x BLOCK_Y threads, one output for each thread. `shared` and the
//          kernels after it have dynamic shared memory for the tile: (BLOCK_Y + template_height - 1) rows of `pitch`
//          bytes.
// Work:    per output and template pixel, three additions, two of them with a multiplication, and two 1-byte loads.
// Sizes:   any image, and any template that is not larger; `c_template` holds 64 KiB. Beyond its edges, the image
//          continues with its edge pixels.

#include "04-correlation.cuh"

// Template pixels per iteration of the unrolled loop.
constexpr int UNROLL = 4;
// Pixels of the largest template that fits in constant memory.
constexpr int MOST_TEMPLATE_PIXELS = 65536;

// The template, row by row without gaps. All lanes of a warp read the same pixel at the same time, which is what
// constant memory is made for.
__constant__ unsigned char c_template[MOST_TEMPLATE_PIXELS];

// ANCHOR: accumulate
// Adds one template pixel to the sums. On compute capability 1.x, a 32-bit multiplication takes four instructions and a
// 24-bit multiplication takes one. 24 bits are plenty for bytes. On 2.x, 3.x and from 7.0 on it is the other way around.
// The kernels exist in both forms, and the host chooses.
template <bool MULTIPLY_24>
__device__ void accumulate(Sums& sums, unsigned pixel, unsigned wanted)
{
    sums.image += pixel;
    if constexpr (MULTIPLY_24) {
        sums.squares += __umul24(pixel, pixel);
        sums.products += __umul24(pixel, wanted);
    } else {
        sums.squares += pixel * pixel;
        sums.products += pixel * wanted;
    }
}
// ANCHOR_END: accumulate

// The sums directly from the image, with `template_pixels` in global or in constant memory.
__device__ Sums sums_from_global(const unsigned char* __restrict__ image, const unsigned char* template_pixels,
                                 int x, int y, const Shape& shape)
{
    Sums sums = {};
    int at = 0;
    for (int j = 0; j < shape.template_height; ++j) {
        const int row_of_image = clamped(y + shape.corner_y + j, shape.image_height);
        const unsigned char* row = image + static_cast<size_t>(row_of_image) * shape.image_width;
        for (int i = 0; i < shape.template_width; ++i) {
            accumulate<false>(sums, row[clamped(x + shape.corner_x + i, shape.image_width)], template_pixels[at]);
            ++at;
        }
    }
    return sums;
}

// ANCHOR: global
// Image and template in global memory. Neighboring lanes read neighboring pixels of the image, and all lanes read the
// same pixel of the template.
extern "C" __global__ void global(const unsigned char* __restrict__ image,
                                  const unsigned char* __restrict__ template_pixels,
                                  Shape shape, float* __restrict__ output)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x < shape.columns && y < shape.rows) {
        output[y * shape.columns + x] = coefficient(sums_from_global(image, template_pixels, x, y, shape), shape);
    }
}
// ANCHOR_END: global

// ANCHOR: constant
// The template in constant memory: one word for the whole warp, which does not go through the L1 cache that the image uses.
extern "C" __global__ void constant(const unsigned char* __restrict__ image, Shape shape, float* __restrict__ output)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x < shape.columns && y < shape.rows) {
        output[y * shape.columns + x] = coefficient(sums_from_global(image, c_template, x, y, shape), shape);
    }
}
// ANCHOR_END: constant

// ANCHOR: sums_from_tile
// The sums of one output from the tile, pixel by pixel.
template <bool MULTIPLY_24>
__device__ Sums sums_one_by_one(const unsigned char* s_window, int pitch, const Shape& shape)
{
    Sums sums = {};
    int at = 0;
    for (int j = 0; j < shape.template_height; ++j) {
        for (int i = 0; i < shape.template_width; ++i) {
            accumulate<MULTIPLY_24>(sums, s_window[i], c_template[at + i]);
        }
        at += shape.template_width;
        s_window += pitch;
    }
    return sums;
}

// The same with UNROLL template pixels per iteration, and the rest of each row one by one.
template <bool MULTIPLY_24>
__device__ Sums sums_unrolled(const unsigned char* s_window, int pitch, const Shape& shape)
{
    Sums sums = {};
    int at = 0;
    for (int j = 0; j < shape.template_height; ++j) {
        int i = 0;
        for (; i + UNROLL <= shape.template_width; i += UNROLL) {
#pragma unroll
            for (int step = 0; step < UNROLL; ++step) {
                accumulate<MULTIPLY_24>(sums, s_window[i + step], c_template[at + i + step]);
            }
        }
        for (; i < shape.template_width; ++i) {
            accumulate<MULTIPLY_24>(sums, s_window[i], c_template[at + i]);
        }
        at += shape.template_width;
        s_window += pitch;
    }
    return sums;
}
// ANCHOR_END: sums_from_tile

extern __shared__ unsigned char s_tile[];

// ANCHOR: load
// The part of the image that the block's outputs need: BLOCK_X x BLOCK_Y pixels, plus the template's width minus 1 to
// the right and its height minus 1 below.
__device__ void load_block(const unsigned char* __restrict__ image, const Shape& shape, int pitch)
{
    load_tile(s_tile, pitch, image, shape, blockIdx.x * BLOCK_X + shape.corner_x, blockIdx.y * BLOCK_Y + shape.corner_y,
              BLOCK_X + shape.template_width - 1, BLOCK_Y + shape.template_height - 1);
}
// ANCHOR_END: load

// The first pixel of the thread's window in the tile.
__device__ const unsigned char* window_of_thread(int pitch)
{
    return s_tile + threadIdx.y * pitch + threadIdx.x;
}

// ANCHOR: shared
// A tile of the image in shared memory: each pixel is loaded from global memory once per block, not once per template
// pixel.
template <bool MULTIPLY_24>
__device__ void correlate(const unsigned char* __restrict__ image, const Shape& shape, int pitch,
                          float* __restrict__ output)
{
    load_block(image, shape, pitch);
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x < shape.columns && y < shape.rows) {
        const Sums sums = sums_one_by_one<MULTIPLY_24>(window_of_thread(pitch), pitch, shape);
        output[y * shape.columns + x] = coefficient(sums, shape);
    }
}

extern "C" __global__ void shared(const unsigned char* __restrict__ image, Shape shape, int pitch,
                                  float* __restrict__ output)
{
    correlate<false>(image, shape, pitch, output);
}
// ANCHOR_END: shared

// ANCHOR: shared_multiply_24
// The same with 24-bit multiplications, for compute capability 1.x.
extern "C" __global__ void shared_multiply_24(const unsigned char* __restrict__ image, Shape shape, int pitch,
                                              float* __restrict__ output)
{
    correlate<true>(image, shape, pitch, output);
}
// ANCHOR_END: shared_multiply_24

// ANCHOR: unroll_4
// Four template pixels per iteration, which leaves a quarter of the counting and branching.
template <bool MULTIPLY_24>
__device__ void correlate_unrolled(const unsigned char* __restrict__ image, const Shape& shape, int pitch,
                                   float* __restrict__ output)
{
    load_block(image, shape, pitch);
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x < shape.columns && y < shape.rows) {
        const Sums sums = sums_unrolled<MULTIPLY_24>(window_of_thread(pitch), pitch, shape);
        output[y * shape.columns + x] = coefficient(sums, shape);
    }
}

extern "C" __global__ void unroll_4(const unsigned char* __restrict__ image, Shape shape, int pitch,
                                    float* __restrict__ output)
{
    correlate_unrolled<false>(image, shape, pitch, output);
}
// ANCHOR_END: unroll_4

// ANCHOR: unroll_4_multiply_24
// The same with 24-bit multiplications, for compute capability 1.x.
extern "C" __global__ void unroll_4_multiply_24(const unsigned char* __restrict__ image, Shape shape, int pitch,
                                                float* __restrict__ output)
{
    correlate_unrolled<true>(image, shape, pitch, output);
}
// ANCHOR_END: unroll_4_multiply_24

// ANCHOR: sums
// Also stores the three sums, for programs that need more than the coefficient: all ΣI, then all ΣI², then all ΣIT.
template <bool MULTIPLY_24>
__device__ void correlate_and_store(const unsigned char* __restrict__ image, const Shape& shape, int pitch,
                                    float* __restrict__ output, unsigned* __restrict__ stored)
{
    load_block(image, shape, pitch);
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x < shape.columns && y < shape.rows) {
        const Sums sums = sums_unrolled<MULTIPLY_24>(window_of_thread(pitch), pitch, shape);
        const int outputs = shape.columns * shape.rows;
        const int at = y * shape.columns + x;
        output[at] = coefficient(sums, shape);
        stored[at] = sums.image;
        stored[outputs + at] = sums.squares;
        stored[2 * outputs + at] = sums.products;
    }
}

extern "C" __global__ void sums(const unsigned char* __restrict__ image, Shape shape, int pitch, float* __restrict__ output,
                                unsigned* __restrict__ stored)
{
    correlate_and_store<false>(image, shape, pitch, output, stored);
}
// ANCHOR_END: sums

// ANCHOR: sums_multiply_24
// The same with 24-bit multiplications, for compute capability 1.x.
extern "C" __global__ void sums_multiply_24(const unsigned char* __restrict__ image, Shape shape, int pitch,
                                            float* __restrict__ output, unsigned* __restrict__ stored)
{
    correlate_and_store<true>(image, shape, pitch, output, stored);
}
// ANCHOR_END: sums_multiply_24
