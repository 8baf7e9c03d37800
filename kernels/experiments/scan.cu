// Does the scan of chapter 05 lose its time because its blocks wait for each other? And how fast is CUB's scan?
//
// Each row of an image of 8192 x 8192 pixels is scanned twice, for the pixels and for their squares: 4 bytes read and 8 written per pixel.
// All rows but `copy` and CUB's set the words of `state` to zero first, as the chapter does; `ready-...` rows do so only to the ticket.
//
// Record `look-back`:
//     copy              as many bytes, by cudaMemcpyAsync
//     chapter           `prefix_rows` as it is in ../cuda/05-window-sums-scan.cu: tiles of 1024 pixels, one thread looks back for each sum
//     one-thread        the same in `scan` below, of which all further rows are variants; it has to take as long as `chapter`
//     ready-aggregates  all tiles' sums are published before the launch: a block reads one word for each tile before its own, but never waits
//     ready-prefixes    all tiles' prefixes are published before the launch: a block reads one word and never waits
//     stub              the look-back publishes its tile's sum and returns 0 at once, so the result is right only within each tile
//     stub-no-ticket    nor does a block take a ticket
//     warp-wide         a warp looks back for each sum, at 32 words at once (Merrill and Garland, 2016)
//     tile-2048, tile-4096, tile-8192  one thread looks back, tiles are larger, threads are as many; a tile of 8192 is a whole row
//     warp-wide-4096    both
// So one-thread minus ready-aggregates is about what waiting costs, and ready-aggregates minus stub is about what walking back costs.
// On standard error there is a histogram of what one-thread's look-backs did, and where their clocks went. That run is not timed.
//
// Record `cub-scan`:
//     copy, chapter, warp-wide-4096  as above
//     cub-one-sum       DeviceScan::InclusiveSum of the pixels alone: 4 bytes read, 4 written
//     cub-two-calls     InclusiveSum of the pixels, then of their squares: 8 bytes read, 8 written
//     cub-both          DeviceScan::InclusiveScan of pairs: the bytes of ours
//     cub-both-by-row   DeviceScan::InclusiveScanByKey of pairs, where the key is the row: the results of ours
// The first three scan all rows as one. CUB 3.0 has no scan of segments. A window's sum is the difference of two prefix sums, and that is
// the same either way.
//
// Compile: nvcc -std=c++17 -O3 -arch=sm_90a scan.cu -o scan -lnvidia-ml
// Run:     ./scan FOLDER

#include "../cuda/05-window-sums-scan.cu"
#include "measure.cuh"

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <random>

constexpr int WIDTH = 8192, HEIGHT = 8192;
constexpr int PIXELS = WIDTH * HEIGHT;
constexpr size_t STATE = 1 + 2 * static_cast<size_t>(PIXELS / SCAN_TILE);

enum class Back { ONE_THREAD, COUNTED, READY, STUB, WARP_WIDE };

// What one look-back did: words read that held a sum, words read that held nothing yet, and clocks.
struct Count {
    unsigned steps, spins;
    unsigned ticket, local, look_back, waiting, block;
};

// As `look_back`, but counts. `waiting` are the clocks spent on words that held nothing when they were first read.
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

// As `look_back`, where the words do not change during the launch.
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

// As `look_back`, by all lanes of a warp: each reads one of the 32 words before.
__device__ unsigned warp_look_back(unsigned long long* tiles, int tile, unsigned own)
{
    const int lane = threadIdx.x % WARP;
    if (lane == 0) {
        publish(tiles + tile, tile == 0 ? PREFIX : AGGREGATE, own);
    }
    unsigned before = 0;
    int last = tile - 1;
    while (last >= 0) {
        // The prefix of what is before the row is zero.
        const unsigned long long both =
            last >= lane ? published(tiles + last - lane) : static_cast<unsigned long long>(PREFIX) << 32;
        const unsigned prefixes = __ballot_sync(~0u, both >> 32 == PREFIX);
        // The lanes up to the first one with a prefix.
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

// `prefix_rows` for rows of whole tiles. A warp has CHUNKS neighboring chunks of 128 pixels, and scans them one after the other. So loads
// and stores are coalesced as in the chapter, and each pixel takes as many shuffles, whatever the size of a tile.
template <int CHUNKS, Back BACK, bool HAS_TICKET = true>
__global__ void __launch_bounds__(SCAN_THREADS)
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
        // What comes before the next chunk of this warp.
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

template <int CHUNKS, Back BACK, bool HAS_TICKET = true>
void launch(const int* image, unsigned long long* state, unsigned* prefixes, bool is_ready = false, Count* counts = nullptr)
{
    CHECK(cudaMemsetAsync(state, 0, (is_ready ? 1 : STATE) * sizeof *state));
    scan<CHUNKS, BACK, HAS_TICKET><<<PIXELS / (SCAN_TILE * CHUNKS), SCAN_THREADS>>>(image, state, prefixes, prefixes + PIXELS, counts);
}

// Prints how many look-backs read how many words, and how many clocks a block takes on average for each of its steps.
void print_counts(const std::vector<Count>& counts)
{
    std::vector<size_t> steps(WIDTH / SCAN_TILE), spins(33);
    double ticket = 0, local = 0, look_back = 0, waiting = 0, block = 0;
    for (const Count& count : counts) {
        ++steps.at(count.steps);
        int bits = 0;
        while (count.spins >> bits != 0) {
            ++bits;
        }
        ++spins[bits];
        ticket += count.ticket;
        local += count.local;
        look_back += count.look_back;
        waiting += count.waiting;
        block += count.block;
    }
    for (size_t n = 0; n < steps.size(); ++n) {
        std::fprintf(stderr, "look-back: %7zu of %zu look-backs read %zu sums\n", steps[n], counts.size(), n);
    }
    for (size_t bits = 0; bits < spins.size(); ++bits) {
        if (spins[bits] != 0) {
            std::fprintf(stderr, "look-back: %7zu of %zu look-backs spin less than %llu times%s\n", spins[bits], counts.size(),
                         1ull << bits, bits > 0 ? ", and at least half as often" : "");
        }
    }
    std::fprintf(stderr, "look-back: mean clocks: block %.0f, ticket %.0f, load and scan %.0f, look-back %.0f, of which waiting %.0f\n",
                 block / counts.size(), ticket / counts.size(), local / counts.size(), look_back / counts.size(),
                 waiting / counts.size());
}

using Pair = thrust::tuple<unsigned, unsigned>;

struct Square {
    __host__ __device__ unsigned operator()(int pixel) const { return static_cast<unsigned>(pixel) * static_cast<unsigned>(pixel); }
};
struct PixelAndSquare {
    __host__ __device__ Pair operator()(int pixel) const { return {static_cast<unsigned>(pixel), Square()(pixel)}; }
};
struct Add {
    __host__ __device__ Pair operator()(const Pair& a, const Pair& b) const
    {
        return {thrust::get<0>(a) + thrust::get<0>(b), thrust::get<1>(a) + thrust::get<1>(b)};
    }
};
struct RowOf {
    __host__ __device__ int operator()(int pixel) const { return pixel / WIDTH; }
};

int main(int, char** arguments)
{
    std::vector<int> pixels(PIXELS);
    std::mt19937 random(13);
    for (int& pixel : pixels) {
        pixel = random() % 256;
    }
    const int* image = to_device(pixels);
    auto* state = device_array<unsigned long long>(STATE);
    // The prefix sums of the pixels, then those of their squares.
    auto* prefixes = device_array<unsigned>(2 * static_cast<size_t>(PIXELS));
    unsigned* squares_to = prefixes + PIXELS;

    // Whether the sums are those of runs of `length` pixels.
    const auto are_sums = [&](int length, bool has_squares = true) {
        const auto sums = to_host(prefixes, 2 * static_cast<size_t>(PIXELS));
        unsigned pixels_to = 0, squares_to = 0;
        for (int i = 0; i < PIXELS; ++i) {
            const unsigned pixel = pixels[i];
            pixels_to = (i % length == 0 ? 0 : pixels_to) + pixel;
            squares_to = (i % length == 0 ? 0 : squares_to) + pixel * pixel;
            if (sums[i] != pixels_to || (has_squares && sums[PIXELS + i] != squares_to)) {
                return false;
            }
        }
        return true;
    };
    // No row finds the results of the one before.
    const auto row = [&](Experiment& experiment, const char* name, const std::function<void()>& enqueue,
                         const std::function<bool()>& is_right, const std::string& library = "") {
        CHECK(cudaMemset(prefixes, 0xff, 2 * sizeof(unsigned) * static_cast<size_t>(PIXELS)));
        experiment.row(name, enqueue, is_right, library);
    };
    const auto are_rows = [&] { return are_sums(WIDTH); };
    const auto is_one_row = [&] { return are_sums(PIXELS); };
    const auto are_tiles = [&] { return are_sums(SCAN_TILE); };

    // The words of all tiles as they are when all have published their own sums, or their prefixes.
    std::vector<unsigned long long> aggregates(STATE), sums_to(STATE);
    for (size_t tile = 0, tiles = PIXELS / SCAN_TILE; tile < tiles; ++tile) {
        unsigned long long own[2] = {};
        for (int i = 0; i < SCAN_TILE; ++i) {
            const unsigned long long pixel = pixels[tile * SCAN_TILE + i];
            own[0] += pixel;
            own[1] += pixel * pixel;
        }
        for (size_t sum = 0; sum < 2; ++sum) {
            const size_t word = 1 + sum * tiles + tile;
            const bool is_first = tile % (WIDTH / SCAN_TILE) == 0;
            aggregates[word] = static_cast<unsigned long long>(AGGREGATE) << 32 | own[sum];
            sums_to[word] = (static_cast<unsigned long long>(PREFIX) << 32 | own[sum]) +
                            (is_first ? 0 : static_cast<unsigned>(sums_to[word - 1]));
        }
    }
    auto* ready_aggregates = to_device(aggregates);
    auto* ready_prefixes = to_device(sums_to);

    // A copy reads and writes half of what a scan moves: one and a half words for each pixel.
    const size_t copied = static_cast<size_t>(PIXELS) / 2 * 3;
    std::vector<unsigned> original(copied);
    for (size_t i = 0; i < copied; ++i) {
        original[i] = pixels[i % PIXELS] + i;
    }
    const unsigned* source = to_device(original);
    const auto copy = [&] { CHECK(cudaMemcpyAsync(prefixes, source, copied * sizeof *source, cudaMemcpyDeviceToDevice)); };
    const auto is_copy = [&] { return to_host(prefixes, copied) == original; };

    const Shape shape = {WIDTH, 15, 7, WIDTH - 7};
    const auto chapter = [&] {
        CHECK(cudaMemsetAsync(state, 0, STATE * sizeof *state));
        prefix_rows<<<PIXELS / SCAN_TILE, SCAN_THREADS>>>(image, shape, HEIGHT, state, prefixes, squares_to);
    };
    const auto best = [&] { launch<4, Back::WARP_WIDE>(image, state, prefixes); };

    const char* workload = "\"image_height\": 8192, \"image_width\": 8192";
    Experiment back("look-back", workload);
    row(back, "copy", copy, is_copy);
    row(back, "chapter", chapter, are_rows);
    row(back, "one-thread", [&] { launch<1, Back::ONE_THREAD>(image, state, prefixes); }, are_rows);
    row(back, "ready-aggregates", [&] { launch<1, Back::READY>(image, ready_aggregates, prefixes, true); }, are_rows);
    row(back, "ready-prefixes", [&] { launch<1, Back::READY>(image, ready_prefixes, prefixes, true); }, are_rows);
    row(back, "stub", [&] { launch<1, Back::STUB>(image, state, prefixes); }, are_tiles);
    row(back, "stub-no-ticket", [&] { launch<1, Back::STUB, false>(image, state, prefixes); }, are_tiles);
    row(back, "warp-wide", [&] { launch<1, Back::WARP_WIDE>(image, state, prefixes); }, are_rows);
    row(back, "tile-2048", [&] { launch<2, Back::ONE_THREAD>(image, state, prefixes); }, are_rows);
    row(back, "tile-4096", [&] { launch<4, Back::ONE_THREAD>(image, state, prefixes); }, are_rows);
    row(back, "tile-8192", [&] { launch<8, Back::ONE_THREAD>(image, state, prefixes); }, are_rows);
    row(back, "warp-wide-4096", best, are_rows);
    back.print(arguments[1]);

    auto* counts = device_array<Count>(2 * PIXELS / SCAN_TILE);
    launch<1, Back::COUNTED>(image, state, prefixes, false, counts);
    CHECK(cudaGetLastError());
    print_counts(to_host(counts, 2 * PIXELS / SCAN_TILE));

    const std::string cub = "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
                            std::to_string(CUB_SUBMINOR_VERSION);
    const auto* values = reinterpret_cast<const unsigned*>(image);
    const auto squares = thrust::make_transform_iterator(image, Square());
    const auto pairs = thrust::make_transform_iterator(image, PixelAndSquare());
    const auto both_to = thrust::make_zip_iterator(prefixes, squares_to);
    const auto rows = thrust::make_transform_iterator(thrust::make_counting_iterator(0), RowOf());
    // All of CUB's calls fit this much memory for themselves. If one did not, it would fail.
    size_t bytes = 64 << 20;
    void* memory = device_array<char>(bytes);

    Experiment library("cub-scan", workload);
    row(library, "copy", copy, is_copy);
    row(library, "chapter", chapter, are_rows);
    row(library, "warp-wide-4096", best, are_rows);
    row(library, "cub-one-sum", [&] { CHECK(cub::DeviceScan::InclusiveSum(memory, bytes, values, prefixes, PIXELS)); },
        [&] { return are_sums(PIXELS, false); }, cub);
    row(library, "cub-two-calls", [&] {
            CHECK(cub::DeviceScan::InclusiveSum(memory, bytes, values, prefixes, PIXELS));
            CHECK(cub::DeviceScan::InclusiveSum(memory, bytes, squares, squares_to, PIXELS));
        }, is_one_row, cub);
    row(library, "cub-both", [&] { CHECK(cub::DeviceScan::InclusiveScan(memory, bytes, pairs, both_to, Add(), PIXELS)); },
        is_one_row, cub);
    row(library, "cub-both-by-row",
        [&] { CHECK(cub::DeviceScan::InclusiveScanByKey(memory, bytes, rows, pairs, both_to, Add(), PIXELS)); }, are_rows, cub);
    library.print(arguments[1]);
}
