// ΣI and ΣI² over the windows of a tile of the image, and the coefficients that follow: the end of the kernels that get
// ΣIT elsewhere. It needs dp4a, and copies in the background, so compute capability 8.0.
#pragma once

// Bytes of an aligned copy.
constexpr int UNIT = 16;
// Output columns of a block.
constexpr int WIDE = 128;
// Rows from one output row of a warp to its next one: the window of the warp slides by this many rows.
constexpr int DOWN = 4;
// Neighboring columns of the tile that a lane sums.
constexpr int LANE_COLUMNS = 8;
// The most bytes of a row of the tile, so that a warp covers it.
constexpr int MOST_PITCH = 256;
static_assert(MOST_PITCH == 32 * LANE_COLUMNS);
// The most columns of a template: its windows at WIDE outputs end within such a row.
constexpr int MOST_COLUMNS = 128;
static_assert(MOST_COLUMNS == MOST_PITCH - WIDE);

// ANCHOR: copy_unit
// Copies UNIT neighboring pixels into the tile. If they are aligned, the copy runs in the background.
__device__ inline void copy_unit(unsigned char* s_unit, const unsigned char* __restrict__ image, const Shape& shape, int x, int y)
{
    const unsigned char* row = image + static_cast<size_t>(clamped(y, shape.image_height)) * shape.image_width;
    const unsigned char* from = row + x;
    const size_t misaligned = reinterpret_cast<size_t>(from) % 4;
    const unsigned char* words_end = image + static_cast<size_t>(shape.image_height) * shape.image_width / 4 * 4;
    unsigned words[UNIT / 4];
    if (x >= 0 && x + UNIT <= shape.image_width && from + UNIT <= words_end) {
        if (reinterpret_cast<size_t>(from) % UNIT == 0) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(s_unit))), "l"(from) : "memory");
            return;
        }
        // Each word comes from two words of the image.
        const unsigned* in_words = reinterpret_cast<const unsigned*>(from - misaligned);
        unsigned word = in_words[0];
#pragma unroll
        for (int i = 0; i < UNIT / 4; ++i) {
            const unsigned next = in_words[misaligned || i < UNIT / 4 - 1 ? i + 1 : i];
            words[i] = __funnelshift_r(word, next, 8 * misaligned);
            word = next;
        }
    } else if (x >= shape.image_width) {
        words[0] = words[1] = words[2] = words[3] = row[shape.image_width - 1] * 0x01010101u;
    } else {
#pragma unroll
        for (int i = 0; i < UNIT; ++i) {
            const unsigned pixel = row[clamped(x + i, shape.image_width)];
            words[i / 4] = i % 4 == 0 ? pixel : words[i / 4] | pixel << 8 * (i % 4);
        }
    }
    *reinterpret_cast<uint4*>(s_unit) = make_uint4(words[0], words[1], words[2], words[3]);
}
// ANCHOR_END: copy_unit

// Copies `height` rows of `pitch` pixels, starting at (left, top). After `wait_for_tile`, the thread's own copies are
// there, and after a barrier, those of all threads.
__device__ inline void copy_tile(unsigned char* s_tile, int pitch, const unsigned char* __restrict__ image,
                                 const Shape& shape, int left, int top, int height)
{
    const int across = pitch / UNIT;
    for (int at = threadIdx.x; at < height * across; at += blockDim.x) {
        copy_unit(s_tile + at * UNIT, image, shape, left + at % across * UNIT, top + at / across);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ inline void wait_for_tile()
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

// ANCHOR: columns
// For each of the lane's columns, the sums over the rows of a window.
struct Columns {
    unsigned image[LANE_COLUMNS], squares[LANE_COLUMNS];
};

// Turns four rows of four pixels into four columns.
__device__ inline void transpose(unsigned (&pixels)[4])
{
    const unsigned left_upper = __byte_perm(pixels[0], pixels[1], 0x5140);
    const unsigned right_upper = __byte_perm(pixels[0], pixels[1], 0x7362);
    const unsigned left_lower = __byte_perm(pixels[2], pixels[3], 0x5140);
    const unsigned right_lower = __byte_perm(pixels[2], pixels[3], 0x7362);
    pixels[0] = __byte_perm(left_upper, left_lower, 0x5410);
    pixels[1] = __byte_perm(left_upper, left_lower, 0x7632);
    pixels[2] = __byte_perm(right_upper, right_lower, 0x5410);
    pixels[3] = __byte_perm(right_upper, right_lower, 0x7632);
}

// Adds the first `rows` of DOWN rows, with one dp4a for each of the two sums of a column.
__device__ inline void add_rows(Columns& columns, const unsigned char* s_rows, int pitch, int rows)
{
    unsigned pixels[2][DOWN];
#pragma unroll
    for (int row = 0; row < DOWN; ++row) {
        const uint2 both = row < rows ? *reinterpret_cast<const uint2*>(s_rows + row * pitch) : make_uint2(0, 0);
        pixels[0][row] = both.x;
        pixels[1][row] = both.y;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        transpose(pixels[half]);
#pragma unroll
        for (int column = 0; column < 4; ++column) {
            const unsigned four = pixels[half][column];
            unsigned& image = columns.image[half * 4 + column];
            unsigned& squares = columns.squares[half * 4 + column];
            // NVRTC 12.0 declares `__dp4a` but does not define it.
            asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(image) : "r"(four), "r"(0x01010101u));
            asm("dp4a.u32.u32 %0, %1, %1, %0;" : "+r"(squares) : "r"(four));
        }
    }
}

// Moves the window down by DOWN rows.
__device__ inline void slide(Columns& columns, const unsigned char* s_out, const unsigned char* s_in, int pitch)
{
    Columns out = {};
    add_rows(out, s_out, pitch, DOWN);
    add_rows(columns, s_in, pitch, DOWN);
#pragma unroll
    for (int column = 0; column < LANE_COLUMNS; ++column) {
        columns.image[column] -= out.image[column];
        columns.squares[column] -= out.squares[column];
    }
}
// ANCHOR_END: columns

// Pairs from one column of a lane to its next one. It is odd, so the pairs of different lanes are in different banks.
__device__ inline int prefix_pitch(int pitch)
{
    return pitch / LANE_COLUMNS | 1;
}

// ANCHOR: prefixes
// Stores, for each column of the tile, the sums over all columns to its left. The difference of two of them is the sum
// over a window. The sum of all columns of the tile has a place, too.
__device__ inline void store_prefixes(const Columns& columns, uint2* s_prefixes, int pitch)
{
    const int lane = threadIdx.x % 32;
    uint2 own = {};
#pragma unroll
    for (int column = 0; column < LANE_COLUMNS; ++column) {
        own.x += columns.image[column];
        own.y += columns.squares[column];
    }
    uint2 sum = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const uint2 left = {__shfl_up_sync(~0u, sum.x, distance), __shfl_up_sync(~0u, sum.y, distance)};
        if (lane >= distance) {
            sum.x += left.x;
            sum.y += left.y;
        }
    }
    sum.x -= own.x;
    sum.y -= own.y;
    if (lane * LANE_COLUMNS <= pitch) {
#pragma unroll
        for (int column = 0; column < LANE_COLUMNS; ++column) {
            s_prefixes[column * prefix_pitch(pitch) + lane] = sum;
            sum.x += columns.image[column];
            sum.y += columns.squares[column];
        }
    }
}

__device__ inline uint2 prefix(const uint2* s_prefixes, int pitch, int column)
{
    return s_prefixes[column % LANE_COLUMNS * prefix_pitch(pitch) + column / LANE_COLUMNS];
}
// ANCHOR_END: prefixes

// ANCHOR: finish
// A warp's outputs: all WIDE columns of `rows` rows, DOWN apart, from row `first` of the block. The tile starts where the
// window of the block's first output does. `products(k, y)` plus gray ΣI is ΣIT of the output in column k * 32 + lane and
// row y of the block.
//
// `s_prefixes` belongs to the warp.
template <typename Products>
__device__ inline void finish(const unsigned char* s_tile, int pitch, uint2* s_prefixes, int first, int rows, int left,
                              int top, const Shape& shape, float* __restrict__ output, const Products& products,
                              unsigned gray = 0)
{
    const int lane = threadIdx.x % 32;
    // The lanes beyond the tile's last columns sum these again, and nobody reads what they sum.
    const unsigned char* s_window = s_tile + first * pitch + min(lane * LANE_COLUMNS, pitch - LANE_COLUMNS);
    Columns columns = {};
    for (int row = 0; row < shape.template_height; row += DOWN) {
        add_rows(columns, s_window + row * pitch, pitch, shape.template_height - row);
    }
#pragma unroll 1
    for (int row = 0; row < rows && top + first < shape.rows; ++row) {
        // They may come from far away, so they are asked for before the work that does not need them.
        unsigned of_row[WIDE / 32];
#pragma unroll
        for (int k = 0; k < WIDE / 32; ++k) {
            of_row[k] = products(k, first);
        }
        store_prefixes(columns, s_prefixes, pitch);
        // All lanes have written the prefixes before any lane reads them.
        __syncwarp();
#pragma unroll
        for (int k = 0; k < WIDE / 32; ++k) {
            const int x = k * 32 + lane;
            const uint2 before = prefix(s_prefixes, pitch, x);
            const uint2 through = prefix(s_prefixes, pitch, x + shape.template_width);
            if (left + x < shape.columns) {
                const unsigned image = through.x - before.x;
                output[static_cast<size_t>(top + first) * shape.columns + left + x]
                    = coefficient({image, through.y - before.y, of_row[k] + gray * image}, shape);
            }
        }
        // All lanes have read the prefixes before any lane overwrites them with those of the next row.
        __syncwarp();
        if (row + 1 < rows) {
            slide(columns, s_window, s_window + shape.template_height * pitch, pitch);
            s_window += DOWN * pitch;
            first += DOWN;
        }
    }
}
// ANCHOR_END: finish
