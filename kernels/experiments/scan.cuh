// The scan of chapter 05 with a choice of look-backs and sizes of tiles, for scan.cu.
#pragma once

#include "../cuda/05-window-sums-scan.cu"
#include "measure.cuh"

constexpr int WIDTH = 8192, HEIGHT = 8192;
constexpr int PIXELS = WIDTH * HEIGHT;
constexpr size_t STATE = 1 + 2 * static_cast<size_t>(PIXELS / SCAN_TILE);

enum class Back { ONE_THREAD, COUNTED, READY, STUB, WARP_WIDE };

// What one look-back did: how many reads found a sum, how many found nothing yet, and clocks.
struct Count {
    unsigned steps, spins;
    unsigned ticket, local, look_back, waiting, block;
};

// `look_back` with counters. `waiting` counts the clocks from the first read of a word that holds nothing until the word holds a sum.
__device__ unsigned counted_look_back(unsigned long long* tiles, int tile, unsigned own, Count& count)
{
    const unsigned begun = clock();
    publish(tiles + tile, tile == 0 ? PREFIX : AGGREGATE, own);
    unsigned before = 0;
    int other = tile - 1;
    while (other >= 0) {
        const unsigned first_read = clock();
        unsigned long long both = published(tiles + other);
        if (both >> 32 == NOTHING) {
            do {
                ++count.spins;
                both = published(tiles + other);
            } while (both >> 32 == NOTHING);
            count.waiting += clock() - first_read;
        }
        ++count.steps;
        before += static_cast<unsigned>(both);
        other = both >> 32 == PREFIX ? -1 : other - 1;
    }
    if (tile > 0) {
        publish(tiles + tile, PREFIX, before + own);
    }
    count.look_back = clock() - begun;
    return before;
}

// `look_back` for words that were published before the launch. It neither waits nor publishes.
__device__ unsigned ready_look_back(const unsigned long long* tiles, int tile)
{
    unsigned before = 0;
    for (int other = tile - 1; other >= 0;) {
        const unsigned long long both = published(tiles + other);
        before += static_cast<unsigned>(both);
        other = both >> 32 == PREFIX ? -1 : other - 1;
    }
    return before;
}

// `look_back` by a whole warp. Each lane reads one of the 32 words before the tile's.
__device__ unsigned warp_look_back(unsigned long long* tiles, int tile, unsigned own)
{
    const int lane = threadIdx.x % WARP;
    if (lane == 0) {
        publish(tiles + tile, tile == 0 ? PREFIX : AGGREGATE, own);
    }
    unsigned before = 0;
    int last = tile - 1;
    while (last >= 0) {
        // Lanes that are before the row's first tile see a prefix of zero.
        const unsigned long long both =
            last >= lane ? published(tiles + last - lane) : static_cast<unsigned long long>(PREFIX) << 32;
        const unsigned prefixes = __ballot_sync(~0u, both >> 32 == PREFIX);
        // Only the lanes up to the nearest prefix count.
        const unsigned wanted = prefixes == 0 ? ~0u : prefixes ^ (prefixes - 1);
        if (__ballot_sync(~0u, both >> 32 == NOTHING) & wanted) {
            continue;
        }
        before += __reduce_add_sync(~0u, wanted >> lane & 1 ? static_cast<unsigned>(both) : 0);
        last = prefixes == 0 ? last - WARP : -1;
    }
    if (lane == 0 && tile > 0) {
        publish(tiles + tile, PREFIX, before + own);
    }
    return before;
}

// `prefix_rows` for rows of whole tiles. A warp scans CHUNKS neighboring chunks of 128 pixels, one after the other. So loads and stores are
// coalesced for every size of tile, and the instructions per pixel hardly change. The compiler keeps the registers low enough for BLOCKS
// blocks on a multiprocessor.
template <int CHUNKS, Back BACK, bool HAS_TICKET, int BLOCKS>
__global__ void __launch_bounds__(SCAN_THREADS, BLOCKS)
scan(const int* __restrict__ image, unsigned long long* state, unsigned* __restrict__ pixels_to, unsigned* __restrict__ squares_to,
     Count* counts)
{
    constexpr int CHUNK = WARP * SCAN_RUN;
    constexpr int TILES = WIDTH / (SCAN_TILE * CHUNKS);
    __shared__ unsigned s_ticket;
    __shared__ unsigned s_warps[2][SCAN_WARPS];
    __shared__ unsigned s_before[2];
    Count count = {};
    const auto clocks = [] { return BACK == Back::COUNTED ? static_cast<unsigned>(clock()) : 0; };
    const unsigned begun = clocks();
    if (HAS_TICKET && threadIdx.x == 0) {
        s_ticket = static_cast<unsigned>(atomicAdd(state, 1ull));
    }
    // The ticket is written before any thread reads it.
    __syncthreads();
    count.ticket = clocks() - begun;
    const unsigned ticket = HAS_TICKET ? s_ticket : blockIdx.x;
    const int tile = ticket % TILES, warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const size_t at = static_cast<size_t>(ticket) * SCAN_TILE * CHUNKS + warp * CHUNKS * CHUNK + lane * SCAN_RUN;
    int4 four[CHUNKS];
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        four[c] = *reinterpret_cast<const int4*>(image + at + c * CHUNK);
    }
    unsigned pixels[CHUNKS][SCAN_RUN], squares[CHUNKS][SCAN_RUN];
    unsigned pixels_before = 0, squares_before = 0;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const unsigned run[SCAN_RUN] = {static_cast<unsigned>(four[c].x), static_cast<unsigned>(four[c].y),
                                        static_cast<unsigned>(four[c].z), static_cast<unsigned>(four[c].w)};
        unsigned pixel = 0, square = 0;
#pragma unroll
        for (int i = 0; i < SCAN_RUN; ++i) {
            pixels[c][i] = pixel += run[i];
            squares[c][i] = square += run[i] * run[i];
        }
        pixels_before += warp_sum_to(pixel) - pixel;
        squares_before += warp_sum_to(square) - square;
#pragma unroll
        for (int i = 0; i < SCAN_RUN; ++i) {
            pixels[c][i] += pixels_before;
            squares[c][i] += squares_before;
        }
        // The next chunk of this warp starts from the sums at the end of this one.
        pixels_before = __shfl_sync(~0u, pixels[c][SCAN_RUN - 1], WARP - 1);
        squares_before = __shfl_sync(~0u, squares[c][SCAN_RUN - 1], WARP - 1);
    }
    if (lane == WARP - 1) {
        s_warps[0][warp] = pixels_before;
        s_warps[1][warp] = squares_before;
    }
    // All warps have written their sums before any thread reads them.
    __syncthreads();
    unsigned before[2] = {}, own[2] = {};
#pragma unroll
    for (int w = 0; w < SCAN_WARPS; ++w) {
        for (int sum = 0; sum < 2; ++sum) {
            before[sum] += w < warp ? s_warps[sum][w] : 0;
            own[sum] += s_warps[sum][w];
        }
    }
    count.local = clocks() - begun - count.ticket;
    if (warp < 2 && (BACK == Back::WARP_WIDE || lane == 0)) {
        unsigned long long* words = state + 1 + static_cast<size_t>(warp) * HEIGHT * TILES + ticket / TILES * TILES;
        if (BACK == Back::STUB) {
            publish(words + tile, AGGREGATE, own[warp]);
        }
        s_before[warp] = BACK == Back::ONE_THREAD  ? look_back(words, tile, own[warp])
                         : BACK == Back::COUNTED   ? counted_look_back(words, tile, own[warp], count)
                         : BACK == Back::READY     ? ready_look_back(words, tile)
                         : BACK == Back::WARP_WIDE ? warp_look_back(words, tile, own[warp])
                                                   : 0;
    }
    // Both have found what comes before the tile before any thread reads it.
    __syncthreads();
    before[0] += s_before[0];
    before[1] += s_before[1];
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const unsigned(&p)[SCAN_RUN] = pixels[c], (&s)[SCAN_RUN] = squares[c];
        *reinterpret_cast<uint4*>(pixels_to + at + c * CHUNK) =
            make_uint4(before[0] + p[0], before[0] + p[1], before[0] + p[2], before[0] + p[3]);
        *reinterpret_cast<uint4*>(squares_to + at + c * CHUNK) =
            make_uint4(before[1] + s[0], before[1] + s[1], before[1] + s[2], before[1] + s[3]);
    }
    if (BACK == Back::COUNTED && warp < 2 && lane == 0) {
        count.block = clocks() - begun;
        counts[2 * ticket + warp] = count;
    }
}

// Returns the resident blocks per multiprocessor: for tiles of 1024 pixels six, as for `prefix_rows`. Larger tiles need more registers.
constexpr int blocks_for(int chunks)
{
    return chunks == 1 ? 6 : chunks == 2 ? 5 : chunks == 4 ? 4 : 2;
}

// Launches `scan` for tiles of CHUNKS * 1024 pixels. With READY, only the ticket is set to zero, so that the tiles' words stay.
template <int CHUNKS, Back BACK, bool HAS_TICKET = true, int BLOCKS = blocks_for(CHUNKS)>
void launch(const int* image, unsigned long long* state, unsigned* prefixes, Count* counts = nullptr)
{
    const auto kernel = scan<CHUNKS, BACK, HAS_TICKET, BLOCKS>;
    // Some variants have fewer registers than others, so more blocks would fit. Unused shared memory keeps all of them at six, so that
    // occupancy does not differ.
    const size_t unused = BLOCKS == 6 ? 36 << 10 : 0;
    static bool is_checked = false;
    if (!is_checked) {
        int blocks = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, SCAN_THREADS, unused));
        if (blocks != BLOCKS) {
            std::fprintf(stderr, "warning: %d blocks fit on a multiprocessor, not %d, with tiles of %d\n", blocks, BLOCKS,
                         SCAN_TILE * CHUNKS);
        }
        is_checked = true;
    }
    CHECK(cudaMemsetAsync(state, 0, (BACK == Back::READY ? 1 : STATE) * sizeof *state));
    kernel<<<PIXELS / (SCAN_TILE * CHUNKS), SCAN_THREADS, unused>>>(image, state, prefixes, prefixes + PIXELS, counts);
}
