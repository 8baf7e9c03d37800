// 04-correlation-sm-aware-roles: products and window sums at the same time, by warps of two roles.
//
// Since `04-correlation-sm-aware-hopper.cu`: two warpgroups only multiply, in turns: while one of them stores a chunk of products,
//          the tensor cores have those of the other one. Meanwhile other warps sum windows. And each template row has 8 bands,
//          not 16, for 8 output rows below each other, not 4: so fewer of the products are with zeros. The tile is there twice,
//          because `wgmma` reads from multiples of 16 bytes, and outputs that start 8 bytes further right need others.
// Launch:  two-dimensional grid, WIDE x TALL outputs per block of ROLE_THREADS threads.
// Work:    per output and template pixel of 52 x 52, 64 / 52 * 60 / 52 = 1.42 multiply-adds on tensor cores.
// Sizes:   any image; templates of up to PIECE_COLUMNS columns and as many rows as shared memory has space for.

#include "04-correlation.cuh"
#include "04-correlation-windows.cuh"
#include "hopper.cuh"
#include "04-correlation-wgmma.cuh"
#include "04-correlation-bands.cuh"

// Side of a square of outputs that one row of the pixels' matrix yields.
constexpr int SIDE = 8;
// Bytes of the bands of one template row, which are a group of eight rows of a matrix, too.
constexpr int BAND_BYTES = SIDE * UNIT;
// Neighboring output rows whose windows a warp sums. A chunk of products has SIDE of them, for each of these warps.
constexpr int STRETCH = 32;
constexpr int CHUNKS = STRETCH / SIDE;
constexpr int STRETCHES = 8;
// Output rows of a block, and of a chunk.
constexpr int TALL = 256;
constexpr int CHUNK_ROWS = 64;
static_assert(TALL == STRETCH * STRETCHES && CHUNK_ROWS == SIDE * STRETCHES);
// Pairs, and words, from one column of a lane to its next one. Lanes that read 16 pairs, or 32 words, from a multiple of
// LANE_COLUMNS on find them in different banks.
constexpr int PAIR_PITCH = 34;
constexpr int WORD_PITCH = 36;
// Bytes of a warp's prefixes: a pair and a word for each column.
constexpr int PREFIX_BYTES = 3328;
static_assert(PREFIX_BYTES == LANE_COLUMNS * (PAIR_PITCH * 8 + WORD_PITCH * 4));
// Threads of a warpgroup, warpgroups that multiply, warps that sum, and threads of the block.
constexpr int WARPGROUP = 128;
constexpr int PRODUCERS = 2;
constexpr int SUMMERS = 8;
constexpr int ROLE_THREADS = 512;
static_assert(SUMMERS == STRETCHES && ROLE_THREADS == PRODUCERS * WARPGROUP + 32 * SUMMERS);

// ANCHOR: slots
// The place of a row of the tile. Behind STRETCH rows are the same rows from the ninth pixel on, and then the next STRETCH rows.
__device__ inline int slot(unsigned row)
{
    return row / STRETCH * STRETCH + row;
}
// ANCHOR_END: slots

// Columns with the same number mod 32 are in different lanes of a warp that multiplies, so they are in different banks.
__device__ inline int swizzled(int x)
{
    return x ^ x / 32 * 8;
}

// ANCHOR: multiply_rows
// Multiplies the pixels with the bands for rows SIDE * chunk to SIDE * chunk + SIDE - 1 of each stretch. The compiler knows UNITS,
// and only the lower halves of descriptors change: the fewer instructions between two products, the less the tensor cores wait.
template <int UNITS>
__device__ inline void multiply_rows(int (&sums)[64], unsigned long long bands, unsigned long long pixels, const Pieces& pieces,
                                     int chunk)
{
    const unsigned pitch = pieces.pitch / 16, band_pitch = band_rows<SIDE>(pieces) * (BAND_BYTES / 16);
    unsigned band = static_cast<unsigned>(bands), row = static_cast<unsigned>(pixels) + chunk * SIDE * pitch;
    const unsigned long long band_steps = bands >> 32 << 32, row_steps = pixels >> 32 << 32;
#pragma unroll 1
    for (int step = 0; step < pieces.steps; step += 2) {
        if (step > 0 && (chunk * SIDE + step) % STRETCH == 0) {
            row += STRETCH * pitch;
        }
#pragma unroll
        for (int unit = 0; unit < UNITS; ++unit) {
            multiply(sums, band_steps | (band + unit * band_pitch), row_steps | (row + unit));
        }
        band += 2 * (BAND_BYTES / 16);
        row += 2 * pitch;
    }
}
// ANCHOR_END: multiply_rows

// ANCHOR: changes
// For each of the lane's columns, how its sums change when the window moves down by a row, and then by another row. The
// pixels of a window change by less than 2^15, so a word has both rows: the first one plus 2^16 times the second one.
struct Changes {
    unsigned image[LANE_COLUMNS], squares[2][LANE_COLUMNS];
};

template <int ROW>
__device__ inline void slide_one(Changes& changes, const unsigned char* s_out, const unsigned char* s_in)
{
    const uint2 out = *reinterpret_cast<const uint2*>(s_out), in = *reinterpret_cast<const uint2*>(s_in);
#pragma unroll
    for (int column = 0; column < LANE_COLUMNS; ++column) {
        const int leaving = (column < 4 ? out.x : out.y) >> 8 * (column % 4) & 255;
        const int entering = (column < 4 ? in.x : in.y) >> 8 * (column % 4) & 255;
        changes.image[column] = ROW == 0 ? entering - leaving : changes.image[column] + (entering - leaving) * 65536;
        changes.squares[ROW][column] = (entering - leaving) * (entering + leaving);
    }
}
// ANCHOR_END: changes

// ANCHOR: prefixes
// Adds the numbers of the lane that is `distance` lower, if there is one.
template <int DISTANCE>
__device__ inline void add_lower(unsigned (&sums)[3])
{
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        asm volatile("{ .reg .pred is_there; .reg .b32 lower; shfl.sync.up.b32 lower|is_there, %0, %1, 0, -1;"
                     " @is_there add.u32 %0, %0, lower; }"
                     : "+r"(sums[i])
                     : "n"(DISTANCE));
    }
}

// A warp's prefixes: for each column of its part of the tile, the sums over all columns to its left.
struct Prefixes {
    uint2* s_squares;
    unsigned* s_image;

    __device__ void store(const Changes& changes) const
    {
        const int lane = threadIdx.x % 32;
        unsigned own[3] = {};
#pragma unroll
        for (int column = 0; column < LANE_COLUMNS; ++column) {
            own[0] += changes.image[column];
            own[1] += changes.squares[0][column];
            own[2] += changes.squares[1][column];
        }
        unsigned sums[3] = {own[0], own[1], own[2]};
        add_lower<1>(sums);
        add_lower<2>(sums);
        add_lower<4>(sums);
        add_lower<8>(sums);
        add_lower<16>(sums);
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            sums[i] -= own[i];
        }
#pragma unroll
        for (int column = 0; column < LANE_COLUMNS; ++column) {
            s_squares[column * PAIR_PITCH + lane] = {sums[1], sums[2]};
            s_image[column * WORD_PITCH + lane] = sums[0];
            sums[0] += changes.image[column];
            sums[1] += changes.squares[0][column];
            sums[2] += changes.squares[1][column];
        }
    }

    // The changes of the squares over a window that begins in a column.
    __device__ uint2 squares(unsigned column, unsigned width) const
    {
        const uint2 before = s_squares[column % LANE_COLUMNS * PAIR_PITCH + column / LANE_COLUMNS];
        column += width;
        const uint2 through = s_squares[column % LANE_COLUMNS * PAIR_PITCH + column / LANE_COLUMNS];
        return {through.x - before.x, through.y - before.y};
    }

    // The changes of the pixels, for the first row and for the second one.
    __device__ int2 image(unsigned column, unsigned width) const
    {
        const unsigned before = s_image[column % LANE_COLUMNS * WORD_PITCH + column / LANE_COLUMNS];
        column += width;
        const unsigned both = s_image[column % LANE_COLUMNS * WORD_PITCH + column / LANE_COLUMNS] - before;
        const int first = static_cast<short>(both);
        return {first, static_cast<int>(both - first) >> 16};
    }
};
// ANCHOR_END: prefixes

// The same as `coefficient` does, with fewer instructions.
__device__ inline float lean_coefficient(const Sums& sums, unsigned pixels, unsigned template_sum, float template_variance)
{
    const auto product = [](unsigned a, unsigned b) { return static_cast<long long>(static_cast<unsigned long long>(a) * b); };
    const long long image_variance = product(pixels, sums.squares) - product(sums.image, sums.image);
    const long long covariance = product(pixels, sums.products) - product(sums.image, template_sum);
    const float both = static_cast<float>(image_variance) * template_variance;
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(both));
    return both == 0.0f ? 0.0f : static_cast<float>(covariance) * root;
}

// ANCHOR: roles
extern "C" __global__ void __launch_bounds__(ROLE_THREADS, 1)
wgmma_roles(const unsigned char* __restrict__ image, const unsigned char* __restrict__ template_pixels, Shape shape,
            Pieces pieces, float* __restrict__ output)
{
    extern __shared__ uint4 s_units[];
    __shared__ unsigned long long s_barriers[1 + 2 * PRODUCERS];
    unsigned char* s_tile = reinterpret_cast<unsigned char*>(s_units);
    unsigned char* s_bands = s_tile + (slot(pieces.tile_rows - 1) + STRETCH + 1) * pieces.pitch;
    int* s_products = reinterpret_cast<int*>(s_bands + pieces.units * band_rows<SIDE>(pieces) * BAND_BYTES);
    unsigned char* s_prefixes = reinterpret_cast<unsigned char*>(s_products + CHUNK_ROWS * WIDE);
    // `full`: a chunk is in shared memory. For each warpgroup that multiplies, `empty`: its latest chunk has been read, and `turn`:
    // it has started all products of its latest chunk. A warpgroup waits for every phase of the other's barriers, in order.
    const unsigned full = shared_address(s_barriers), empty = full + 8, turn = empty + 8 * PRODUCERS;
    const int left = blockIdx.x * WIDE, top = blockIdx.y * TALL;
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    // The products' memory has the padded rows until the bands are filled.
    unsigned* s_padded = reinterpret_cast<unsigned*>(s_products);
    pad_rows<SIDE>(s_padded, template_pixels, shape, pieces, 0, 0);
    const int unit = lane % 16;
    // Pixels that only outputs beyond the last column multiply are zeros: beyond the image's edge, copies are slow.
    const bool is_needed = unit * UNIT < min(WIDE, shape.columns - left) + shape.template_width - 1;
    if (unit * UNIT < pieces.pitch) {
#pragma unroll 2
        for (int row = threadIdx.x / 16; row < pieces.tile_rows; row += ROLE_THREADS / 16) {
            unsigned char* s_unit = s_tile + slot(row) * pieces.pitch + unit * UNIT;
            if (is_needed) {
                copy_unit(s_unit, image, shape, left + shape.corner_x + unit * UNIT, top + shape.corner_y + row);
            } else {
                *reinterpret_cast<uint4*>(s_unit) = uint4();
            }
        }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (threadIdx.x == 0) {
        init_barrier(full, WARPGROUP);
        for (int producer = 0; producer < PRODUCERS; ++producer) {
            init_barrier(empty + 8 * producer, SUMMERS);
            init_barrier(turn + 8 * producer, WARPGROUP);
        }
    }
    // All threads have written the padded rows and the barriers before any thread reads them.
    __syncthreads();
    // Meanwhile, the tile arrives.
    fill_bands<SIDE, SIDE>(s_bands, s_padded, shape, pieces, 0);
    wait_for_tile();
    // All threads have written the tile before any thread copies from it.
    __syncthreads();
    const int pairs = pieces.pitch / 8;
    if (lane < pairs) {
#pragma unroll 4
        for (int row = warp; row < pieces.tile_rows; row += ROLE_THREADS / 32) {
            uint2* s_pair = reinterpret_cast<uint2*>(s_tile + slot(row) * pieces.pitch) + lane;
            s_pair[STRETCH * pairs] = lane + 1 < pairs ? s_pair[1] : uint2();
        }
    }
    publish_to_tensor_cores();
    // All threads have written the tile and the bands before the tensor cores read them.
    __syncthreads();
    if (warp < PRODUCERS * WARPGROUP / 32) {
        const unsigned long long bands = describe(s_bands, BAND_BYTES, BAND_BYTES);
        const unsigned long long pixels = describe(s_tile, pieces.pitch, STRETCH * pieces.pitch);
        const int producer = warp / 4, other = 1 - producer;
#pragma unroll 1
        for (int chunk = producer; chunk < CHUNKS; chunk += PRODUCERS) {
            int sums[64];
#pragma unroll
            for (int i = 0; i < 64; ++i) {
                // Before the fence. The compiler would move a plain assignment.
                asm volatile("mov.u32 %0, 0;" : "=r"(sums[i]));
            }
            if (chunk > 0) {
                wait_for(turn + 8 * other, (chunk - 1) / 2);
            }
            begin_products();
            switch (pieces.units) {
                case 1: multiply_rows<1>(sums, bands, pixels, pieces, chunk); break;
                case 2: multiply_rows<2>(sums, bands, pixels, pieces, chunk); break;
                case 3: multiply_rows<3>(sums, bands, pixels, pieces, chunk); break;
                case 4: multiply_rows<4>(sums, bands, pixels, pieces, chunk); break;
                case 5: multiply_rows<5>(sums, bands, pixels, pieces, chunk); break;
            }
            end_products();
            // The tensor cores have all products of the chunk before them, so the other warpgroup may add its own.
            arrive(turn + 8 * producer);
            wait_for_products<0>();
            if (chunk > 0) {
                wait_for(empty + 8 * other, (chunk - 1) / 2);
            }
#pragma unroll
            for (int i = 0; i < 64; ++i) {
                const int x = (lane % 4 * 2 + i % 2) * UNIT + i / 4 % 2 * SIDE + lane / 4;
                const int y = i / 8 * SIDE + SIDE - 1 - (warp % 4 * 2 + i % 4 / 2);
                s_products[y * WIDE + swizzled(x)] = sums[i];
            }
            arrive(full);
        }
    } else {
        const int stretch = warp - PRODUCERS * WARPGROUP / 32;
        uint2* s_pairs = reinterpret_cast<uint2*>(s_prefixes + stretch * PREFIX_BYTES);
        const Prefixes prefixes = {s_pairs, reinterpret_cast<unsigned*>(s_pairs + LANE_COLUMNS * PAIR_PITCH)};
        // The lanes beyond the tile's last columns sum these again, and nobody reads what they sum.
        const unsigned char* s_column = s_tile + min(lane * LANE_COLUMNS, pieces.pitch - LANE_COLUMNS);
        const auto at = [&](int row) { return s_column + slot(stretch * STRETCH + row) * pieces.pitch; };
        const unsigned count = shape.template_width * shape.template_height;
        const float template_variance = static_cast<float>(shape.template_variance);
        Columns columns = {};
        // Four rows from a multiple of four are in the same stretch, so they are neighbors.
        for (int first = 0; first < shape.template_height; first += DOWN) {
            add_rows(columns, at(first), pieces.pitch, shape.template_height - first);
        }
        // The first window's sums go where the changes of two rows' squares will be, because they need all bits of a word.
        Changes changes = {};
#pragma unroll
        for (int column = 0; column < LANE_COLUMNS; ++column) {
            changes.squares[0][column] = columns.image[column];
            changes.squares[1][column] = columns.squares[column];
        }
        prefixes.store(changes);
        // All lanes have written the prefixes before any lane reads them.
        __syncwarp();
        uint2 sums[WIDE / 32];
#pragma unroll
        for (int k = 0; k < WIDE / 32; ++k) {
            sums[k] = prefixes.squares(k * 32 + lane, shape.template_width);
        }
        // All lanes have read the prefixes before any lane overwrites them.
        __syncwarp();
#pragma unroll 1
        for (int row = 0; row < STRETCH; row += 2) {
            changes = {};
            if (row > 0) {
                slide_one<0>(changes, at(row - 1), at(row - 1 + shape.template_height));
            }
            slide_one<1>(changes, at(row), at(row + shape.template_height));
            prefixes.store(changes);
            // All lanes have written the prefixes before any lane reads them.
            __syncwarp();
            if (row % SIDE == 0) {
                wait_for(full, row / SIDE % 2);
            }
            float coefficients[2][WIDE / 32];
#pragma unroll
            for (int k = 0; k < WIDE / 32; ++k) {
                const int x = k * 32 + lane;
                const uint2 of_squares = prefixes.squares(x, shape.template_width);
                const int2 of_image = prefixes.image(x, shape.template_width);
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const unsigned products = s_products[(stretch * SIDE + row % SIDE + i) * WIDE + swizzled(x)];
                    sums[k].x += i == 0 ? of_image.x : of_image.y;
                    sums[k].y += i == 0 ? of_squares.x : of_squares.y;
                    coefficients[i][k] = lean_coefficient({sums[k].x, sums[k].y, products}, count, shape.template_sum, template_variance);
                    // Computed for all outputs, so that the compiler does not branch around each.
                    asm volatile("" : "+f"(coefficients[i][k]));
                }
            }
            // All lanes have read the prefixes before any lane overwrites them, and the products.
            __syncwarp();
            if (row % SIDE == SIDE - 2 && lane == 0) {
                arrive(empty + row / SIDE % 2 * 8);
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const int y = top + stretch * STRETCH + row + i;
#pragma unroll
                for (int k = 0; k < WIDE / 32; ++k) {
                    const int x = left + k * 32 + lane;
                    if (x < shape.columns && y < shape.rows) {
                        output[static_cast<size_t>(y) * shape.columns + x] = coefficients[i][k];
                    }
                }
            }
        }
    }
}
// ANCHOR_END: roles
