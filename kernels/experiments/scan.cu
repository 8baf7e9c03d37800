// Does the scan of chapter 05 lose its time because its blocks wait for each other? And how fast is CUB's scan?
//
// Every row computes prefix sums of the pixels and of their squares, along each row of an image of 8192 x 8192 pixels. It reads 4 bytes
// per pixel and writes 8. Our rows include the memset of the tiles' words, as the chapter's stage does.
//
// Record `look-back`:
//     copy              moves 12 bytes per pixel with cudaMemcpyAsync
//     chapter           `prefix_rows` of ../cuda/05-window-sums-scan.cu: tiles of 1024 pixels; for each sum, one thread looks back
//     one-thread        the same algorithm in `scan` of scan.cuh. It should take as long as `chapter`. The rows below are variants of it.
//     ready-aggregates  The sums of all tiles are published before the launch. A block reads a word for each earlier tile of its row. It
//                       never waits.
//     ready-prefixes    The prefixes of all tiles are published before the launch. A block reads one word. It never waits.
//     stub              The look-back publishes its tile's sum and returns 0 at once. So the results are the prefix sums of each tile.
//     stub-no-ticket    `stub` without tickets: `blockIdx` says which tile a block scans
//     warp-wide         For each sum, a warp looks back, 32 words at a time (Merrill and Garland, 2016).
//     tile-2048, tile-4096, tile-8192  `one-thread` with larger tiles and more pixels per thread. A tile of 8192 is a whole row.
//     warp-wide-4096    `warp-wide` with tiles of 4096
//     eight-blocks      `one-thread` with at most 32 registers per thread, so eight blocks fit on a multiprocessor instead of six.
//                       The chapter's own PTX gets 32 registers from ptxas; nvcc gives `chapter` and `one-thread` 40.
// The time of ready-aggregates minus that of stub is the cost of walking back over all tiles, without waiting. If one-thread takes much
// longer than ready-aggregates, then waiting is expensive. (The walks of one-thread are shorter: they stop at the first prefix.)
// After these rows, a run of one-thread that counts prints to standard error how often its look-backs waited, and where the clocks went.
//
// Record `cub-scan`:
//     copy, chapter, warp-wide-4096  as in `look-back`
//     cub-one-sum       DeviceScan::InclusiveSum of the pixels only; reads 4 bytes and writes 4
//     cub-two-calls     InclusiveSum of the pixels, then InclusiveSum of their squares; reads 8 bytes and writes 8
//     cub-both          DeviceScan::InclusiveScan of pairs; reads and writes the same bytes as our kernels
//     cub-both-by-row   DeviceScan::InclusiveScanByKey of pairs, with the row as the key; the same results as our kernels
// The first three of CUB's rows scan the whole image as one row, and let 32 bits wrap around. The difference of two prefix sums, a window's
// sum, is the same. CUB 3.0 has no segmented scan, so cub-both-by-row is the only form with separate rows.
//
// Compile: nvcc -std=c++17 -O3 -arch=sm_90a scan.cu -o scan -lnvidia-ml
// Run:     ./scan FOLDER

#include "scan.cuh"

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <random>

// Prints histograms of the sums that a look-back read and of the reads that found nothing, and the mean clocks of a block's steps.
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
        std::fprintf(stderr, "look-back: %zu sums read by %zu of %zu look-backs\n", n, steps[n], counts.size());
    }
    for (size_t bits = 0; bits < spins.size(); ++bits) {
        if (spins[bits] != 0) {
            std::fprintf(stderr, "look-back: %llu to %llu reads found nothing in %zu of %zu look-backs\n", (1ull << bits) / 2,
                         (1ull << bits) - 1, spins[bits], counts.size());
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

    // Returns whether the results are the prefix sums of runs of `length` pixels.
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
    // Overwrites the results first, so that a row that writes nothing is not taken for right.
    const auto row = [&](Experiment& experiment, const char* name, const std::function<void()>& enqueue,
                         const std::function<bool()>& is_right, const std::string& library = "") {
        CHECK(cudaMemset(prefixes, 0xff, 2 * sizeof(unsigned) * static_cast<size_t>(PIXELS)));
        experiment.row(name, enqueue, is_right, library);
    };
    const auto are_rows = [&] { return are_sums(WIDTH); };
    const auto is_one_row = [&] { return are_sums(PIXELS); };
    const auto are_tiles = [&] { return are_sums(SCAN_TILE); };

    // `stub` leaves the sums of all tiles in their words, and `one-thread` leaves the prefixes.
    auto* ready_aggregates = device_array<unsigned long long>(STATE);
    auto* ready_prefixes = device_array<unsigned long long>(STATE);
    launch<1, Back::STUB>(image, ready_aggregates, prefixes);
    launch<1, Back::ONE_THREAD>(image, ready_prefixes, prefixes);

    // A copy that reads 6 bytes per pixel and writes 6.
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
    row(back, "ready-aggregates", [&] { launch<1, Back::READY>(image, ready_aggregates, prefixes); }, are_rows);
    row(back, "ready-prefixes", [&] { launch<1, Back::READY>(image, ready_prefixes, prefixes); }, are_rows);
    row(back, "stub", [&] { launch<1, Back::STUB>(image, state, prefixes); }, are_tiles);
    row(back, "stub-no-ticket", [&] { launch<1, Back::STUB, false>(image, state, prefixes); }, are_tiles);
    row(back, "warp-wide", [&] { launch<1, Back::WARP_WIDE>(image, state, prefixes); }, are_rows);
    row(back, "tile-2048", [&] { launch<2, Back::ONE_THREAD>(image, state, prefixes); }, are_rows);
    row(back, "tile-4096", [&] { launch<4, Back::ONE_THREAD>(image, state, prefixes); }, are_rows);
    row(back, "tile-8192", [&] { launch<8, Back::ONE_THREAD>(image, state, prefixes); }, are_rows);
    row(back, "warp-wide-4096", best, are_rows);
    row(back, "eight-blocks", [&] { launch<1, Back::ONE_THREAD, true, 8>(image, state, prefixes); }, are_rows);
    back.print(arguments[1]);

    auto* counts = device_array<Count>(2 * PIXELS / SCAN_TILE);
    launch<1, Back::COUNTED>(image, state, prefixes, counts);
    CHECK(cudaGetLastError());
    print_counts(to_host(counts, 2 * PIXELS / SCAN_TILE));

    const std::string cub = "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
                            std::to_string(CUB_SUBMINOR_VERSION);
    const auto* values = reinterpret_cast<const unsigned*>(image);
    const auto squares = thrust::make_transform_iterator(image, Square());
    const auto pairs = thrust::make_transform_iterator(image, PixelAndSquare());
    const auto both_to = thrust::make_zip_iterator(prefixes, squares_to);
    const auto rows = thrust::make_transform_iterator(thrust::make_counting_iterator(0), RowOf());
    // Temporary storage. A call that needs more than 64 MiB returns an error.
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
