// 04-correlation-sm-aware-dp4a: the same sums, four pixels at a time.
//
// Since `04-correlation-sm-aware.cu`: `dp4a`, one instruction that multiplies four bytes by four others and adds all products to a
// 32-bit sum. It came with compute capability 6.1, so these kernels have a file of their own.
// Launch:  blocks of BLOCK_X x BLOCK_Y threads. `dp4a`, `dp4a_tile`, `products`: two-dimensional grid, dynamic shared memory for the tile;
//          `row_sums`, `column_sums`: a thread for every column and RUN rows.
// Work:    per output and four template pixels three dp4a (`dp4a`, `dp4a_tile`) or one (`products`).
// Sizes:   any image; a template whose rows, each filled up to whole words, take no more than MOST_WORDS words.

#include "04-correlation.cuh"

// Pixels in a word.
constexpr int VECTOR = 4;
// Words of the template that constant memory holds.
constexpr int MOST_WORDS = 16384;
// Rows of outputs of each thread of `products`.
constexpr int TALL = 8;
// Outputs of each thread of `column_sums`, one below the other.
constexpr int RUN = 32;

// The template, row by row, each row filled up with zeros to whole words, and for `products` TALL - 1 rows of zeros after the last one.
__constant__ unsigned c_words[MOST_WORDS];

extern __shared__ unsigned s_words[];

// ANCHOR: fill_words
// Arranges the template in words, one per thread: `words` is `c_words`, which a kernel can write as it writes any memory, as long as no kernel
// that runs at the same time reads it. Blocks are one-dimensional.
extern "C" __global__ void fill_words(const unsigned char* __restrict__ template_pixels, int template_width, int template_height,
                                      unsigned* __restrict__ words)
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
// Four products of bytes and their sum. (NVRTC 12.0 declares `__dp4a` and does not define it.)
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

// The pixels that count in word `i` of a row of the template, each as a byte of all ones.
__device__ unsigned counting(int i, const Shape& shape)
{
    const int left = shape.template_width - i * VECTOR;
    return left >= VECTOR ? 0xffffffffu : 0xffffffffu >> 8 * (VECTOR - left);
}

// ANCHOR: accumulate
// A word's share of the three sums. `mask` has the pixels that count.
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
// One output per thread. Its window starts at any byte, and shared memory is read in words: two neighbouring words are shifted into one.
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

// The upper left pixel of a block's outputs in the tiled kernels, in columns: each thread has VECTOR neighbouring ones.
constexpr int WIDE_X = BLOCK_X * VECTOR;

// ANCHOR: dp4a_tile
// VECTOR neighbouring outputs per thread. Their windows start at the four bytes of a word, so that the two words which one output reads
// serve all four, and so does the word of the template.
extern "C" __global__ void dp4a_tile(const unsigned char* __restrict__ image, Shape shape, int pitch, float* __restrict__ output)
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
// ΣI and ΣI² of every window of one row, for every row that an output sees: `rows + template_height - 1` of them. They do not depend on
// the template, and the sums of a window are those of its rows. VECTOR neighbouring windows per thread, as in `dp4a_tile`.
extern "C" __global__ void row_sums(const unsigned char* __restrict__ image, Shape shape, int pitch, uint2* __restrict__ of_rows)
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
            // Without a template there are no products.
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
// The windows' sums from those of their rows. Each thread goes down RUN outputs: from one to the next, a row comes in and a row goes out.
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
// ΣIT alone, of VECTOR x TALL outputs per thread; the other two sums come from `column_sums`.
//
// A word of the image counts for TALL outputs one below the other, each with another row of the template. Rows of zeros, before the
// template in `wanted` and after it in constant memory, spare the question which of them there are.
extern "C" __global__ void products(const unsigned char* __restrict__ image, const uint2* __restrict__ of_windows, Shape shape, int pitch,
                                    float* __restrict__ output)
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
        // The words of the template that the image's row meets: `wanted[r]` for the output r rows down.
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
