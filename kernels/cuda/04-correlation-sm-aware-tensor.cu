// 04-correlation-sm-aware-tensor: the products ΣIT as matrix products, on tensor cores.
//
// Since `04-correlation-sm-aware-dp4a.cu`: write a row of the template into every column of a matrix, one row further
//          down each time. This is a band matrix. A row of image pixels times the band gives this template row's
//          contribution to a row of neighboring outputs. From compute capability 8.0 on, one instruction per warp
//          multiplies 16x32 bytes by 32x8 bytes.
// Launch:  two-dimensional grid, blocks of BLOCK_X x BLOCK_Y threads, WIDE x TALL outputs per block. `fill_bands`:
//          one-dimensional, one thread per word.
// Work:    per output and template pixel, K * STEPS / CHUNK = 64 / 56 multiply-adds on tensor cores: of the K * STEPS
//          rows of a band, CHUNK hold the template.
// Sizes:   any image, any template: the template is cut into pieces CHUNK wide and ROWS high.

#include "04-correlation.cuh"

// Pixels in a word.
constexpr int VECTOR = 4;
// The shape of one product: 16 rows of image pixels, 32 pixels each, times 8 columns of the band.
constexpr int M = 16, N = 8, K = 32;
// Products that cover the rows of a band, one below the other.
constexpr int STEPS = 2;
// Template columns that fit in a band, whose N columns each start one row further down.
constexpr int CHUNK = 56;
static_assert(CHUNK == STEPS * K - N);
// Words of a band in memory: its first column, with the zeros above and below.
constexpr int BAND_WORDS = 72;
static_assert(BAND_WORDS == STEPS * K + N);
// Template rows that one tile of the image serves.
constexpr int ROWS = 64;
// Output columns of a warp, which has M rows. The warps of a block are below each other.
constexpr int WIDE = 128;
// Bytes of a row of the tile: an odd multiple of 16, so the 8 rows that a warp reads at once are in different banks.
constexpr int PITCH = 208;
// Output rows of a block.
constexpr int TALL = 128;
static_assert(TALL == BLOCK_Y * M);

// ANCHOR: fill_bands
// Writes the bands one after the other, one for each row of each piece of the template. Word d has the pixels d - (N -
// 1) to d - (N - 1) + 3 of that row, and zeros beyond its ends. So the four pixels from any index on are in one word.
extern "C" __global__ void fill_bands(const unsigned char* __restrict__ template_pixels, int template_width,
                                      int template_height, unsigned* __restrict__ bands)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int d = at % BAND_WORDS;
    const int row = at / BAND_WORDS % template_height;
    const int first = at / BAND_WORDS / template_height * CHUNK;
    if (first >= template_width) {
        return;
    }
    const int width = min(CHUNK, template_width - first);
    unsigned word = 0;
    for (int byte = 0; byte < VECTOR; ++byte) {
        const int column = d - (N - 1) + byte;
        if (column >= 0 && column < width) {
            word |= static_cast<unsigned>(template_pixels[row * template_width + first + column]) << 8 * byte;
        }
    }
    bands[at] = word;
}
// ANCHOR_END: fill_bands

// ANCHOR: multiply
// One matrix product: `sums` += `image` x `band`, with the fragments that PTX defines for this shape.
__device__ void multiply(int (&sums)[4], unsigned upper, unsigned lower, unsigned upper_right, unsigned lower_right,
                         const unsigned (&band)[2])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(upper), "r"(lower), "r"(upper_right), "r"(lower_right), "r"(band[0]), "r"(band[1]));
}
// ANCHOR_END: multiply

// The lane's words of the band for one template row, starting at the lane's own word.
__device__ void load_band(unsigned (&band)[STEPS][2], const unsigned* band_of_row)
{
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            band[step][half] = band_of_row[step * K + half * 16];
        }
    }
}

// ANCHOR: tensor
// M x WIDE outputs per warp. For each row of the template, STEPS products for every N output columns.
//
// 16 neighboring pixels are the right half of one product and the left half of the next. The pixels of a band's lower
// product are also those of the upper product for the outputs 32 columns to the right. So each pixel is read once and
// used in up to four products.
extern "C" __global__ void tensor(const unsigned char* __restrict__ image, const unsigned* __restrict__ bands,
                                  const uint2* __restrict__ of_windows, Shape shape, float* __restrict__ output)
{
    __shared__ unsigned s_words[(TALL + ROWS - 1) * PITCH / VECTOR];
    constexpr int HALVES = WIDE / 16 + 2 * (STEPS - 1);
    // The lane's position in the fragments: its row of pixels or column of the band, and its word.
    const int group = threadIdx.x / 4;
    const int word = threadIdx.x % 4;
    const int left = blockIdx.x * WIDE;
    const int top = blockIdx.y * TALL;
    int sums[WIDE / N][4] = {};
    for (int first_column = 0; first_column < shape.template_width; first_column += CHUNK) {
        for (int first_row = 0; first_row < shape.template_height; first_row += ROWS) {
            const int rows = min(ROWS, shape.template_height - first_row);
            // All threads have read the tile before any thread overwrites it with the next one.
            __syncthreads();
            load_tile(reinterpret_cast<unsigned char*>(s_words), PITCH, image, shape, left + shape.corner_x + first_column,
                      top + shape.corner_y + first_row, PITCH, TALL + rows - 1);
            const unsigned* band_of_row = bands + (first_column / CHUNK * shape.template_height + first_row) * BAND_WORDS
                                        + word * VECTOR - group + N - 1;
            const unsigned* s_row = s_words + (threadIdx.y * M + group) * PITCH / VECTOR + word;
            unsigned next[STEPS][2];
            load_band(next, band_of_row);
#pragma unroll 1
            for (int row = 0; row < rows; ++row) {
                unsigned band[STEPS][2];
#pragma unroll
                for (int step = 0; step < STEPS; ++step) {
                    band[step][0] = next[step][0];
                    band[step][1] = next[step][1];
                }
                // The band of the next row is on its way while this one is multiplied.
                if (row + 1 < rows) {
                    band_of_row += BAND_WORDS;
                    load_band(next, band_of_row);
                }
                // Two sets of outputs: those that start at a multiple of 16, and those 8 columns to the right.
#pragma unroll
                for (int shift = 0; shift < 2; ++shift) {
                    const unsigned* s_upper = s_row + shift * N / VECTOR;
                    const unsigned* s_lower = s_upper + 8 * PITCH / VECTOR;
                    unsigned upper = s_upper[0];
                    unsigned lower = s_lower[0];
#pragma unroll
                    for (int half = 0; half < HALVES; ++half) {
                        const unsigned upper_right = s_upper[(half + 1) * 4];
                        const unsigned lower_right = s_lower[(half + 1) * 4];
#pragma unroll
                        for (int step = 0; step < STEPS; ++step) {
                            const int tile = 2 * (half - 2 * step) + shift;
                            if (tile >= 0 && tile < WIDE / N) {
                                multiply(sums[tile], upper, lower, upper_right, lower_right, band[step]);
                            }
                        }
                        upper = upper_right;
                        lower = lower_right;
                    }
                }
                s_row += PITCH / VECTOR;
            }
        }
    }
    // The layout of the sums' fragment: two neighboring columns in row `group`, and the same eight rows further down.
#pragma unroll
    for (int tile = 0; tile < WIDE / N; ++tile) {
#pragma unroll
        for (int element = 0; element < 4; ++element) {
            const int x = left + tile * N + word * 2 + element % 2;
            const int y = top + threadIdx.y * M + group + element / 2 * 8;
            if (x < shape.columns && y < shape.rows) {
                const int at = y * shape.columns + x;
                const uint2 window = of_windows[at];
                output[at] = coefficient({window.x, window.y, static_cast<unsigned>(sums[tile][element])}, shape);
            }
        }
    }
}
// ANCHOR_END: tensor
