// The template as a matrix for `wgmma`: each of its rows several times, each time shifted by one more pixel.
#pragma once

// A piece of the template has as many columns as the bands in shared memory have space for. The host limits its rows.
constexpr int PIECE_COLUMNS = 64;
// Words of a template row with up to UNIT zeros before it and zeros after it, up to the last byte of any band.
constexpr int PADDED_WORDS = 25;
static_assert(PADDED_WORDS * 4 > UNIT + PIECE_COLUMNS + UNIT - 1);

// ANCHOR: pieces
// How the template is cut, and what follows. The host computes it once.
struct Pieces {
    // Of the template that a piece has at most.
    int columns, rows;
    // Of UNIT bytes in a band.
    int units;
    // Rows of the tile that the outputs below each other multiply with a piece: even, because `wgmma` takes two at a time.
    int steps;
    // Of the tile.
    int pitch, tile_rows;
};
// ANCHOR_END: pieces

// Bands from one unit to the next, in rows of the template: the piece between two times BELOW - 1 rows of zeros.
template <int BELOW>
__device__ inline int band_rows(const Pieces& pieces)
{
    return pieces.steps + BELOW - 1;
}

// ANCHOR: fill_bands
// Copies the rows of a piece of the template, with zeros around them.
template <int SHIFTS>
__device__ inline void pad_rows(unsigned* s_padded, const unsigned char* __restrict__ template_pixels, const Shape& shape,
                                const Pieces& pieces, int first_column, int first_row)
{
    const int columns = min(pieces.columns, shape.template_width - first_column);
    const int rows = min(pieces.rows, shape.template_height - first_row);
    // A thread loads several words before it stores the first one, so it waits once for all of them.
    constexpr int AT_ONCE = 3;
    for (int first = threadIdx.x; first < rows * PADDED_WORDS; first += AT_ONCE * blockDim.x) {
        unsigned words[AT_ONCE] = {};
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const int at = first + i * blockDim.x;
            const unsigned char* row = template_pixels + (first_row + at / PADDED_WORDS) * shape.template_width + first_column;
#pragma unroll
            for (int byte = 0; byte < 4; ++byte) {
                const int column = at % PADDED_WORDS * 4 + byte - SHIFTS;
                if (at < rows * PADDED_WORDS && column >= 0 && column < columns) {
                    words[i] |= static_cast<unsigned>(row[column]) << 8 * byte;
                }
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const int at = first + i * blockDim.x;
            if (at < rows * PADDED_WORDS) {
                s_padded[at] = words[i];
            }
        }
    }
}

// Fills the bands of a piece of the template from its padded rows. Band (row, shift) is the template's row with `shift` zeros
// before it. Byte `16 * unit + i` of it is at [unit][row][shift][i]. There are SHIFTS bands of each row, for BELOW outputs below
// each other.
template <int SHIFTS, int BELOW>
__device__ inline void fill_bands(unsigned char* s_bands, const unsigned* s_padded, const Shape& shape, const Pieces& pieces,
                                  int first_row)
{
    const int rows = min(pieces.rows, shape.template_height - first_row);
    for (int at = threadIdx.x; at < band_rows<BELOW>(pieces) * SHIFTS; at += blockDim.x) {
        uint4* s_band = reinterpret_cast<uint4*>(s_bands) + at;
        const int row = at / SHIFTS - (BELOW - 1), start = SHIFTS - at % SHIFTS;
        const bool zeros = row < 0 || row >= rows;
        const unsigned* s_words = s_padded + (zeros ? 0 : row * PADDED_WORDS + start / 4);
        unsigned last = *s_words;
        for (int unit = 0; unit < pieces.units; ++unit) {
            uint4 words = {};
            if (!zeros) {
                const unsigned shift = start % 4 * 8;
                const uint4 next = {s_words[1], s_words[2], s_words[3], s_words[4]};
                words = {__funnelshift_r(last, next.x, shift), __funnelshift_r(next.x, next.y, shift),
                         __funnelshift_r(next.y, next.z, shift), __funnelshift_r(next.z, next.w, shift)};
                last = next.w;
                s_words += 4;
            }
            *s_band = words;
            s_band += band_rows<BELOW>(pieces) * SHIFTS;
        }
    }
}
// ANCHOR_END: fill_bands
