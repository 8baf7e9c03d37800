// 04-correlation-sm-aware-dp4a: the same sums, four pixels at a time.
//
// Since `04-correlation-sm-aware.cu`: `dp4a`, one instruction that multiplies four bytes by four others and adds all
//          products to a 32-bit sum. It came with compute capability 6.1, so these kernels have a file of their own.
// Launch:  two-dimensional grid, blocks of BLOCK_X x BLOCK_Y threads; all but `column_sums` have dynamic shared memory
//          for a tile, in rows of `pitch` bytes. Outputs per thread: 1 in `dp4a`, VECTOR x 1 in `dp4a_tile` and
//          `row_sums`, VECTOR x TALL in `products`, 1 x RUN in `column_sums`. `fill_words`: one-dimensional, one thread
//          per word.
// Work:    per output and four template pixels, three dp4a in `dp4a` and `dp4a_tile` and one in `products`.
// Sizes:   any image; a template whose rows, each padded to whole words, have at most MOST_WORDS words together.

#include "04-correlation.cuh"

// Pixels in a word.
constexpr int VECTOR = 4;
// Words of the largest template that fits in constant memory.
constexpr int MOST_WORDS = 16384;
// Output rows of each thread of `products`.
constexpr int TALL = 8;
// Output rows of each thread of `column_sums`.
constexpr int RUN = 32;

// The template, row by row, each row padded with zeros to whole words. For `products`, TALL - 1 rows of zeros follow
// the last one.
__constant__ unsigned c_words[MOST_WORDS];

extern __shared__ unsigned s_words[];

// ANCHOR: fill_words
// Packs the template into words, one per thread. `words` is the address of `c_words`: a kernel can write it like any
// other memory, as long as no kernel that runs at the same time reads it. Blocks are one-dimensional.
extern "C" __global__ void fill_words(const unsigned char* __restrict__ template_pixels, int template_width,
                                      int template_height, unsigned* __restrict__ words)
{
    const int words_per_row = (template_width + VECTOR - 1) / VECTOR;
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = at / words_per_row;
    if (row >= template_height + TALL - 1) {
        return;
    }
    unsigned word = 0;
    for (int byte = 0; byte < VECTOR; ++byte) {
        const int column = at % words_per_row * VECTOR + byte;
        if (column < template_width && row < template_height) {
            word |= static_cast<unsigned>(template_pixels[row * template_width + column]) << 8 * byte;
        }
    }
    words[at] = word;
}
// ANCHOR_END: fill_words

// ANCHOR: dot
// Four products of bytes, added to `sum`. (NVRTC 12.0 declares `__dp4a` but does not define it.)
__device__ unsigned dot(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}
// ANCHOR_END: dot

// Words of a row of the template.
__device__ int words_of(const Shape& shape)
{
    return (shape.template_width + VECTOR - 1) / VECTOR;
}

// A mask of the pixels of word `i` of a template row that belong to the template: a byte of ones for each.
__device__ unsigned counting(int i, const Shape& shape)
{
    const int left = shape.template_width - i * VECTOR;
    return left >= VECTOR ? 0xffffffffu : 0xffffffffu >> 8 * (VECTOR - left);
}

// ANCHOR: accumulate
// Adds a word of pixels to the three sums. `mask` selects the pixels under the template.
__device__ void accumulate(Sums& sums, unsigned pixels, unsigned wanted, unsigned mask)
{
    constexpr unsigned ONES = 0x01010101u;
    pixels &= mask;
    sums.image = dot(pixels, ONES, sums.image);
    sums.squares = dot(pixels, pixels, sums.squares);
    sums.products = dot(pixels, wanted, sums.products);
}
// ANCHOR_END: accumulate

// ANCHOR: dp4a
// One output per thread. Its window can start at any byte, but shared memory is read in words: two neighboring words
// are shifted into one.
extern "C" __global__ void dp4a(const unsigned char* __restrict__ image, Shape shape, int pitch, float* __restrict__ output)
{
    load_tile(reinterpret_cast<unsigned char*>(s_words), pitch, image, shape, blockIdx.x * BLOCK_X + shape.corner_x,
              blockIdx.y * BLOCK_Y + shape.corner_y, pitch, BLOCK_Y + shape.template_height - 1);
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= shape.columns || y >= shape.rows) {
        return;
    }
    const int words = words_of(shape);
    const int shift = 8 * (threadIdx.x % VECTOR);
    Sums sums = {};
    for (int j = 0; j < shape.template_height; ++j) {
        const unsigned* s_window = s_words + ((threadIdx.y + j) * pitch + threadIdx.x) / VECTOR;
        unsigned word = s_window[0];
        for (int i = 0; i < words; ++i) {
            const unsigned next = s_window[i + 1];
            accumulate(sums, __funnelshift_r(word, next, shift), c_words[j * words + i], counting(i, shape));
            word = next;
        }
    }
    output[y * shape.columns + x] = coefficient(sums, shape);
}
// ANCHOR_END: dp4a

// Output columns of a block of the kernels in which each thread has VECTOR neighboring outputs.
constexpr int WIDE_X = BLOCK_X * VECTOR;

// ANCHOR: dp4a_tile
// VECTOR neighboring outputs per thread. Their windows start at the four bytes of one word, so the two image words that
// one output reads serve all four, and so does the template word.
extern "C" __global__ void dp4a_tile(const unsigned char* __restrict__ image, Shape shape, int pitch,
                                     float* __restrict__ output)
{
    load_tile(reinterpret_cast<unsigned char*>(s_words), pitch, image, shape, blockIdx.x * WIDE_X + shape.corner_x,
              blockIdx.y * BLOCK_Y + shape.corner_y, pitch, BLOCK_Y + shape.template_height - 1);
    const int x = blockIdx.x * WIDE_X + threadIdx.x * VECTOR;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= shape.columns || y >= shape.rows) {
        return;
    }
    const int words = words_of(shape);
    Sums sums[VECTOR] = {};
    for (int j = 0; j < shape.template_height; ++j) {
        const unsigned* s_window = s_words + (threadIdx.y + j) * pitch / VECTOR + threadIdx.x;
        unsigned word = s_window[0];
        for (int i = 0; i < words; ++i) {
            const unsigned next = s_window[i + 1];
            const unsigned wanted = c_words[j * words + i];
            const unsigned mask = counting(i, shape);
#pragma unroll
            for (int output_x = 0; output_x < VECTOR; ++output_x) {
                accumulate(sums[output_x], __funnelshift_r(word, next, 8 * output_x), wanted, mask);
            }
            word = next;
        }
    }
#pragma unroll
    for (int output_x = 0; output_x < VECTOR; ++output_x) {
        if (x + output_x < shape.columns) {
            output[y * shape.columns + x + output_x] = coefficient(sums[output_x], shape);
        }
    }
}
// ANCHOR_END: dp4a_tile

// ANCHOR: row_sums
// ΣI and ΣI² over every window in a single row, for all `rows + template_height - 1` rows that the outputs need. They
// do not depend on the template, and the sum over a window is the sum over its rows. VECTOR neighboring windows per
// thread, as in `dp4a_tile`.
extern "C" __global__ void row_sums(const unsigned char* __restrict__ image, Shape shape, int pitch,
                                    uint2* __restrict__ of_rows)
{
    load_tile(reinterpret_cast<unsigned char*>(s_words), pitch, image, shape, blockIdx.x * WIDE_X + shape.corner_x,
              blockIdx.y * BLOCK_Y + shape.corner_y, pitch, BLOCK_Y);
    const int x = blockIdx.x * WIDE_X + threadIdx.x * VECTOR;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= shape.columns || y >= shape.rows + shape.template_height - 1) {
        return;
    }
    const unsigned* s_window = s_words + threadIdx.y * pitch / VECTOR + threadIdx.x;
    unsigned word = s_window[0];
    Sums sums[VECTOR] = {};
    for (int i = 0; i < words_of(shape); ++i) {
        const unsigned next = s_window[i + 1];
        const unsigned mask = counting(i, shape);
#pragma unroll
        for (int output_x = 0; output_x < VECTOR; ++output_x) {
            // There is no template here, so the products are zero.
            accumulate(sums[output_x], __funnelshift_r(word, next, 8 * output_x), 0, mask);
        }
        word = next;
    }
#pragma unroll
    for (int output_x = 0; output_x < VECTOR; ++output_x) {
        if (x + output_x < shape.columns) {
            of_rows[static_cast<size_t>(y) * shape.columns + x + output_x] = {sums[output_x].image, sums[output_x].squares};
        }
    }
}
// ANCHOR_END: row_sums

// ANCHOR: column_sums
// The sums over the windows, from the sums over their rows. Each thread goes down RUN outputs: from one output to the
// next, one row enters the window and one row leaves it.
extern "C" __global__ void column_sums(const uint2* __restrict__ of_rows, Shape shape, uint2* __restrict__ of_windows)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int first = (blockIdx.y * BLOCK_Y + threadIdx.y) * RUN;
    if (x >= shape.columns || first >= shape.rows) {
        return;
    }
    const uint2* column = of_rows + x;
    const size_t columns = shape.columns;
    uint2 sums = {};
#pragma unroll 8
    for (int j = 0; j < shape.template_height - 1; ++j) {
        const uint2 row = column[(first + j) * columns];
        sums.x += row.x;
        sums.y += row.y;
    }
#pragma unroll 8
    for (int y = first; y < min(first + RUN, shape.rows); ++y) {
        const uint2 in = column[(y + shape.template_height - 1) * columns];
        sums.x += in.x;
        sums.y += in.y;
        of_windows[y * columns + x] = sums;
        const uint2 out = column[y * columns];
        sums.x -= out.x;
        sums.y -= out.y;
    }
}
// ANCHOR_END: column_sums

// ANCHOR: products
// Only ΣIT, for VECTOR x TALL outputs per thread; the other two sums come from `column_sums`.
//
// A word of the image belongs to TALL outputs below each other, with a different row of the template for each. Rows of
// zeros, before the template in `wanted` and after it in constant memory, make it unnecessary to test which of these
// rows exist.
extern "C" __global__ void products(const unsigned char* __restrict__ image, const uint2* __restrict__ of_windows,
                                    Shape shape, int pitch, float* __restrict__ output)
{
    load_tile(reinterpret_cast<unsigned char*>(s_words), pitch, image, shape, blockIdx.x * WIDE_X + shape.corner_x,
              blockIdx.y * BLOCK_Y * TALL + shape.corner_y, pitch, BLOCK_Y * TALL + shape.template_height - 1);
    const int x = blockIdx.x * WIDE_X + threadIdx.x * VECTOR;
    const int y = (blockIdx.y * BLOCK_Y + threadIdx.y) * TALL;
    if (x >= shape.columns || y >= shape.rows) {
        return;
    }
    const int words = words_of(shape);
    unsigned sums[TALL][VECTOR] = {};
    for (int i = 0; i < words; ++i) {
        const unsigned* s_column = s_words + threadIdx.y * TALL * pitch / VECTOR + threadIdx.x + i;
        // The template words that are multiplied by the current image row: `wanted[r]` for the output r rows down.
        unsigned wanted[TALL] = {};
        for (int j = 0; j < shape.template_height + TALL - 1; ++j) {
#pragma unroll
            for (int r = TALL - 1; r > 0; --r) {
                wanted[r] = wanted[r - 1];
            }
            wanted[0] = c_words[j * words + i];
            const unsigned word = s_column[j * pitch / VECTOR];
            const unsigned next = s_column[j * pitch / VECTOR + 1];
#pragma unroll
            for (int output_x = 0; output_x < VECTOR; ++output_x) {
                const unsigned pixels = __funnelshift_r(word, next, 8 * output_x);
#pragma unroll
                for (int r = 0; r < TALL; ++r) {
                    sums[r][output_x] = dot(pixels, wanted[r], sums[r][output_x]);
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < TALL; ++r) {
#pragma unroll
        for (int output_x = 0; output_x < VECTOR; ++output_x) {
            if (x + output_x < shape.columns && y + r < shape.rows) {
                const int at = (y + r) * shape.columns + x + output_x;
                const uint2 window = of_windows[at];
                output[at] = coefficient({window.x, window.y, sums[r][output_x]}, shape);
            }
        }
    }
}
// ANCHOR_END: products
