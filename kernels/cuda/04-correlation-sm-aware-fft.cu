// 04-correlation-sm-aware-fft: the kernels around cuFFT's transforms, which make ΣIT of them.
//
// The image is cut into tiles of `side` x `side` pixels. The transform sees a tile as a ring in both directions. The
// spectra of a tile and of the template are multiplied bin by bin (`multiply` of chapter 03), which gives their correlation
// on the ring. Where the template does not run over the end of the ring, that is ΣIT.
//
// Since `04-correlation-sm-aware-hopper.cu`: another algorithm for the products, whose work hardly depends on the size of
//          the template. The window sums are the same.
// Launch:  `gather`: one-dimensional blocks of any size, one thread per pixel of a tile in x, tiles in y. `finish_tiles`:
//          two-dimensional grid, blocks of FINISH_THREADS, WIDE x FINISH_ROWS outputs per block.
// Work:    `gather`: 1 byte read and 4 written per pixel of a tile; `finish_tiles`: 4 bytes read and written per output.
// Sizes:   `side` is at least the width and the height of the template; templates of up to MOST_COLUMNS columns.

#include "04-correlation.cuh"
#include "04-correlation-windows.cuh"

// Half of the range of a pixel. It is subtracted before the transforms, because their errors grow with the numbers.
constexpr int MIDDLE_GRAY = 128;
// Threads and output rows of a block of `finish_tiles`.
constexpr int FINISH_THREADS = 256;
constexpr int FINISH_ROWS = 32;
constexpr int FINISH_WARPS = FINISH_THREADS / 32;

// ANCHOR: gather
// How the image is cut.
struct Tiles {
    // Points of a transform in each direction.
    int side;
    // Outputs of a tile, and pixels from the start of one tile to the start of the next.
    int across, down;
    // Tiles in a row.
    int in_row;
};

// Ring 0 is the template, followed by zeros. The others are the tiles of the image.
extern "C" __global__ void gather_tiles(const unsigned char* __restrict__ image, const unsigned char* __restrict__ template_pixels,
                                        Shape shape, Tiles tiles, float* __restrict__ rings)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= tiles.side * tiles.side) {
        return;
    }
    const int x = at % tiles.side, y = at / tiles.side;
    float value = 0.0f;
    if (blockIdx.y == 0) {
        if (x < shape.template_width && y < shape.template_height) {
            value = static_cast<float>(template_pixels[y * shape.template_width + x] - MIDDLE_GRAY);
        }
    } else {
        const int tile = blockIdx.y - 1;
        const int column = clamped(tile % tiles.in_row * tiles.across + shape.corner_x + x, shape.image_width);
        const int row = clamped(tile / tiles.in_row * tiles.down + shape.corner_y + y, shape.image_height);
        value = static_cast<float>(image[static_cast<size_t>(row) * shape.image_width + column] - MIDDLE_GRAY);
    }
    rings[static_cast<size_t>(blockIdx.y) * tiles.side * tiles.side + at] = value;
}
// ANCHOR_END: gather

// ANCHOR: finish
// The coefficients from the rings. The exact ΣIT is an integer, so the nearest one is what a ring's value stands for. With
// m = MIDDLE_GRAY and n template pixels, Σ(I - m)(T - m) = ΣIT - m ΣI - m ΣT + n m².
extern "C" __global__ void __launch_bounds__(FINISH_THREADS)
finish_tiles(const unsigned char* __restrict__ image, const float* __restrict__ rings, Shape shape, Tiles tiles, int pitch,
             float* __restrict__ output)
{
    extern __shared__ uint4 s_units[];
    unsigned char* s_tile = reinterpret_cast<unsigned char*>(s_units);
    const int tile_rows = FINISH_ROWS + shape.template_height - 1;
    const int left = blockIdx.x * WIDE, top = blockIdx.y * FINISH_ROWS, warp = threadIdx.x / 32;
    copy_tile(s_tile, pitch, image, shape, left + shape.corner_x, top + shape.corner_y, tile_rows);
    wait_for_tile();
    // All threads have written the tile before any thread reads it.
    __syncthreads();
    uint2* s_prefixes = reinterpret_cast<uint2*>(s_tile + tile_rows * pitch) + warp * LANE_COLUMNS * prefix_pitch(pitch);
    constexpr int ROWS = FINISH_ROWS / FINISH_WARPS;
    const int pixels = shape.template_width * shape.template_height;
    const int of_template = MIDDLE_GRAY * (static_cast<int>(shape.template_sum) - MIDDLE_GRAY * pixels);
    // For each of the lane's columns, a pointer to its value in the first row of its tile, for tiles in the first row.
    const float* of_columns[WIDE / 32];
#pragma unroll
    for (int k = 0; k < WIDE / 32; ++k) {
        const int x = min(left + k * 32 + static_cast<int>(threadIdx.x % 32), shape.columns - 1);
        of_columns[k] = rings + static_cast<size_t>(x / tiles.across) * tiles.side * tiles.side + x % tiles.across;
    }
    finish(s_tile, pitch, s_prefixes, warp / DOWN * DOWN * ROWS + warp % DOWN, ROWS, left, top, shape, output,
           [&](int k, int in_block) {
               const int y = top + in_block, tile = y / tiles.down * tiles.in_row;
               const size_t row = static_cast<size_t>(tile) * tiles.side + y % tiles.down;
               return static_cast<unsigned>(__float2int_rn(of_columns[k][row * tiles.side]) + of_template);
           },
           MIDDLE_GRAY);
}
// ANCHOR_END: finish
