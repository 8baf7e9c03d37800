// What does the time of a histogram consist of, and how do the kernels of chapter 05 compare with CUB's?
//
// Record `queues`, rows without `deliver`. Images: constant (128), uniform (noise), clouds (as the chapter's), ramp (i % 256).
//   global-IMAGE, per-block-IMAGE, per-warp-IMAGE   the chapter's kernels
//   reading, reading-16                             the loads of per_block alone; 4 in flight, as there, or 16
//   adding-IMAGE, adding-2-IMAGE                    the additions of per_block and 1/64 of its loads; the addend is 1 or 2
//   per-block-2-IMAGE                               per_block with an addend of 2: ATOMS.ADD instead of ATOMS.POPC.INC in SASS
//   counters-N-apart-B-lanes-L                      2^24 additions to N counters in global memory, B bytes apart; L lanes of a warp add
//     Read the rows with one lane first, because a request of one lane is one addition.
//     Is counters-4-apart-4 faster than counters-1? Then counters of one 32-byte sector do not share a queue.
//     Is counters-4-apart-32 faster than apart-4? Then sectors of one line do not share a queue.
//     Is counters-4-apart-128 or -4096 faster than apart-32? Then lines do not share a queue, or slices of L2 do not.
//     Is counters-1 faster with 32 lanes? Then additions of one request to one counter merge.
//
// Record `cub-histogram`, on clouds. CUB, too, zeroes its counters in the timed part.
//   global, per-block, per-warp                     as the chapter launches them: zero, count, deliver
//   cub-int, cub-byte                               cub::DeviceHistogram::HistogramEven, 4 bytes or 1 byte per pixel
//   copy, copy-byte                                 a copy of the image, which reads and writes 4 bytes or 1 byte per pixel
//
// Compile: nvcc -std=c++17 -O3 -arch=sm_90a histogram.cu -o histogram -lnvidia-ml
// Run:     ./histogram FOLDER        (FOLDER has to exist)
// SASS:    cuobjdump -sass histogram | grep -E 'Function|ATOMS|RED'
#include "measure.cuh"

#include <cub/device/device_histogram.cuh>

#include <array>
#include <utility>

namespace chapter {
#include "../cuda/05-histogram.cu"
}

using chapter::CHUNK;
using chapter::LEVELS;
using chapter::THREADS;

constexpr int SIDE = 8192;
constexpr int PIXELS = SIDE * SIDE;
constexpr int BLOCKS = PIXELS / CHUNK;
// Pixels of a thread of `adding`, which it keeps in one register and counts REPEATS times.
constexpr int KEPT = 4;
constexpr int REPEATS = CHUNK / THREADS / KEPT;
static_assert(PIXELS % CHUNK == 0 && CHUNK % (THREADS * KEPT) == 0);

using Counts = std::array<unsigned, LEVELS>;
using CountingKernel = void (*)(const int*, int, unsigned*);

// The loads of `per_block`, LOADS in flight per thread. nvcc gives `per_block` 4. counts[t] becomes the sum of the pixels of all threads t.
template <int LOADS>
__global__ void __launch_bounds__(THREADS) reading(const int* __restrict__ image, int pixels, unsigned* counts)
{
    const int end = min(pixels - static_cast<int>(blockIdx.x) * CHUNK, CHUNK);
    const int* chunk = image + static_cast<size_t>(blockIdx.x) * CHUNK;
    unsigned sum = 0;
#pragma unroll LOADS
    for (int k = threadIdx.x; k < end; k += THREADS) {
        sum += chunk[k];
    }
    atomicAdd(&counts[threadIdx.x], sum);
}

// `per_block` with an addend of 2. Only an addend of 1 can be ATOMS.POPC.INC.
__global__ void __launch_bounds__(THREADS) per_block_2(const int* __restrict__ image, int pixels, unsigned* counts)
{
    __shared__ unsigned s_counts[LEVELS];
    s_counts[threadIdx.x] = 0;
    // All counters are zero before any thread adds to one.
    __syncthreads();
    const int end = min(pixels - static_cast<int>(blockIdx.x) * CHUNK, CHUNK);
    const int* chunk = image + static_cast<size_t>(blockIdx.x) * CHUNK;
    for (int k = threadIdx.x; k < end; k += THREADS) {
        atomicAdd(&s_counts[chunk[k]], 2u);
    }
    // All threads have counted before any thread reads a counter.
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], s_counts[threadIdx.x]);
}

// The additions of `per_block`. A thread reads the levels of its first KEPT pixels once, a byte for each, and counts them REPEATS times.
// So the lanes of a warp add to the counters that they add to in `per_block`. The compiler does not know the levels.
template <unsigned ADDEND>
__global__ void __launch_bounds__(THREADS) adding(const unsigned* __restrict__ kept, unsigned* counts)
{
    __shared__ unsigned s_counts[LEVELS];
    s_counts[threadIdx.x] = 0;
    unsigned levels = kept[blockIdx.x * THREADS + threadIdx.x];
    // All counters are zero before any thread adds to one.
    __syncthreads();
    for (int k = 0; k < KEPT * REPEATS; ++k) {
        atomicAdd(&s_counts[levels % LEVELS], ADDEND);
        levels = __funnelshift_r(levels, levels, 8);
    }
    // All threads have counted before any thread reads a counter.
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], s_counts[threadIdx.x]);
}

// ADDITIONS additions of 1. Addition number k of adder a goes to counter (a + k) % counters, so the counters grow equally, and lanes that
// are neighbors add to counters that are neighbors. An adder is a thread, or the first lane of a warp.
constexpr unsigned ADDITIONS = 1 << 24;
constexpr unsigned ADDING_BLOCKS = 1024;

__global__ void __launch_bounds__(THREADS) spread(unsigned* words, unsigned counters, unsigned words_apart, unsigned lanes)
{
    const unsigned thread = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x % 32 < lanes) {
        const unsigned adder = lanes == 1 ? thread / 32 : thread;
        const unsigned additions = ADDITIONS / (ADDING_BLOCKS * THREADS / 32 * lanes);
        for (unsigned k = 0; k < additions; ++k) {
            atomicAdd(&words[((adder + k) & (counters - 1)) * words_apart], 1u);
        }
    }
}

// splitmix64 of a count: random numbers of 8 bits that are the same on every machine.
struct Random {
    unsigned long long state;
    int next()
    {
        unsigned long long z = state += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        return static_cast<int>(z >> 56);
    }
};

// `clouds` of common/oracles/src/random.rs with other random numbers: a coarse random pattern, interpolated, with grain.
std::vector<int> clouds()
{
    constexpr int CELL = 16, ACROSS = SIDE / CELL + 2;
    Random random{13};
    std::vector<int> coarse(ACROSS * ACROSS), pixels(PIXELS);
    for (int& level : coarse) {
        level = random.next();
    }
    for (int i = 0; i < PIXELS; ++i) {
        const int x = i % SIDE, y = i / SIDE, right = x % CELL, down = y % CELL;
        const int* at = &coarse[y / CELL * ACROSS + x / CELL];
        const int upper = at[0] * (CELL - right) + at[1] * right;
        const int lower = at[ACROSS] * (CELL - right) + at[ACROSS + 1] * right;
        const int cloud = (upper * (CELL - down) + lower * down) / (CELL * CELL);
        pixels[i] = (3 * cloud + random.next()) / 4;
    }
    return pixels;
}

// Lanes of a warp that have the warp's most frequent level, on average over all warps.
double equal_lanes(const std::vector<int>& pixels)
{
    long long lanes = 0;
    for (int warp = 0; warp < PIXELS / 32; ++warp) {
        std::array<int, LEVELS> count = {};
        int most = 0;
        for (int lane = 0; lane < 32; ++lane) {
            most = std::max(most, ++count[pixels[warp * 32 + lane]]);
        }
        lanes += most;
    }
    return static_cast<double>(lanes) / (PIXELS / 32);
}

// An image, and the results that kernels should have for it.
struct Image {
    std::string name;
    int* pixels = nullptr;
    unsigned* kept = nullptr;
    Counts counts = {}, kept_counts = {}, sums = {};

    Image(std::string name, const std::vector<int>& levels) : name(std::move(name)), pixels(to_device(levels))
    {
        std::vector<unsigned> bytes(BLOCKS * THREADS);
        for (int i = 0; i < PIXELS; ++i) {
            const unsigned level = levels[i];
            counts[level] += 1;
            sums[i % THREADS] += level;
            const int block = i / CHUNK, row = i % CHUNK / THREADS, thread = i % THREADS;
            if (row < KEPT) {
                kept_counts[level] += REPEATS;
                bytes[block * THREADS + thread] |= level << 8 * row;
            }
        }
        kept = to_device(bytes);
    }
};

bool equals(const unsigned* counts, const Counts& expected, unsigned factor = 1)
{
    const std::vector<unsigned> got = to_host(counts, LEVELS);
    return std::equal(got.begin(), got.end(), expected.begin(), [&](unsigned a, unsigned b) { return a == factor * b; });
}

void zero(unsigned* counts) { CHECK(cudaMemsetAsync(counts, 0, LEVELS * sizeof(unsigned))); }

void queues(const std::vector<Image>& images, const std::string& workload, const char* folder)
{
    Experiment experiment("queues", workload + measure::format(", \"additions\": %u", ADDITIONS));
    unsigned* counts = device_array<unsigned>(LEVELS);
    const auto count = [&](const std::string& name, CountingKernel kernel, int blocks, const Image& image, const Counts& expected,
                           unsigned factor) {
        experiment.row(name, [&] { zero(counts); kernel<<<blocks, THREADS>>>(image.pixels, PIXELS, counts); },
                       [&] { return equals(counts, expected, factor); });
    };
    for (const Image& image : images) {
        count("global-" + image.name, chapter::global, PIXELS / THREADS, image, image.counts, 1);
        count("per-block-" + image.name, chapter::per_block, BLOCKS, image, image.counts, 1);
        count("per-warp-" + image.name, chapter::per_warp, BLOCKS, image, image.counts, 1);
        count("per-block-2-" + image.name, per_block_2, BLOCKS, image, image.counts, 2);
        experiment.row("adding-" + image.name, [&] { zero(counts); adding<1><<<BLOCKS, THREADS>>>(image.kept, counts); },
                       [&] { return equals(counts, image.kept_counts); });
        experiment.row("adding-2-" + image.name, [&] { zero(counts); adding<2><<<BLOCKS, THREADS>>>(image.kept, counts); },
                       [&] { return equals(counts, image.kept_counts, 2); });
    }
    count("reading", reading<4>, BLOCKS, images.back(), images.back().sums, 1);
    count("reading-16", reading<16>, BLOCKS, images.back(), images.back().sums, 1);

    constexpr unsigned MOST_WORDS = 1024 * 4096 / sizeof(unsigned);
    unsigned* words = device_array<unsigned>(MOST_WORDS);
    for (const unsigned lanes : {1u, 32u}) {
        for (const unsigned counters : {1u, 4u, 32u, 256u, 1024u}) {
            for (const unsigned apart : {4u, 32u, 128u, 4096u}) {
                if (counters == 1 && apart > 4) {
                    continue;
                }
                // The counters are not zeroed between runs, so only additions are timed. They grow by `runs` times the same number.
                const unsigned words_apart = apart / sizeof(unsigned);
                unsigned runs = 0;
                CHECK(cudaMemset(words, 0, MOST_WORDS * sizeof(unsigned)));
                experiment.row(
                    measure::format("counters-%u-apart-%u-lanes-%u", counters, apart, lanes),
                    [&] { spread<<<ADDING_BLOCKS, THREADS>>>(words, counters, words_apart, lanes); ++runs; },
                    [&] {
                        std::vector<unsigned> expected(MOST_WORDS);
                        for (unsigned counter = 0; counter < counters; ++counter) {
                            expected[counter * words_apart] = runs * (ADDITIONS / counters);
                        }
                        return to_host(words, MOST_WORDS) == expected;
                    });
            }
        }
    }
    experiment.print(folder);
}

void cub_histogram(const Image& image, const std::vector<int>& levels, const std::string& workload, const char* folder)
{
    Experiment experiment("cub-histogram", workload);
    unsigned* counts = device_array<unsigned>(LEVELS);
    float* histogram = device_array<float>(LEVELS);
    const auto count = [&](const char* name, CountingKernel kernel, int blocks) {
        const auto enqueue = [&] {
            zero(counts);
            kernel<<<blocks, THREADS>>>(image.pixels, PIXELS, counts);
            chapter::deliver<<<1, LEVELS>>>(counts, histogram);
        };
        const auto is_right = [&] {
            const std::vector<float> got = to_host(histogram, LEVELS);
            return std::equal(got.begin(), got.end(), image.counts.begin(), [](float a, unsigned b) { return a == static_cast<float>(b); });
        };
        experiment.row(name, enqueue, is_right);
    };
    count("global", chapter::global, PIXELS / THREADS);
    count("per-block", chapter::per_block, BLOCKS);
    count("per-warp", chapter::per_warp, BLOCKS);

    const std::vector<unsigned char> bytes(levels.begin(), levels.end());
    const unsigned char* byte_pixels = to_device(bytes);
    const std::string library = measure::format("CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    const auto library_row = [&](const char* name, auto samples) {
        // Without storage, CUB only sets `size`.
        const auto call = [=](void* storage, size_t& size) {
            CHECK(cub::DeviceHistogram::HistogramEven(storage, size, samples, counts, LEVELS + 1, 0, LEVELS, PIXELS));
        };
        size_t size = 0;
        call(nullptr, size);
        void* storage = device_array<char>(size);
        CHECK(cudaMemset(counts, 0, LEVELS * sizeof(unsigned)));
        experiment.row(name, [&] { call(storage, size); }, [&] { return equals(counts, image.counts); }, library);
    };
    library_row("cub-int", static_cast<const int*>(image.pixels));
    library_row("cub-byte", byte_pixels);

    const auto copy = [&](const char* name, const auto* from, const auto& expected) {
        auto* to = device_array<std::decay_t<decltype(*from)>>(PIXELS);
        experiment.row(name, [&] { CHECK(cudaMemcpyAsync(to, from, PIXELS * sizeof *from, cudaMemcpyDeviceToDevice)); },
                       [&] { return to_host(to, PIXELS) == expected; });
    };
    copy("copy", static_cast<const int*>(image.pixels), levels);
    copy("copy-byte", byte_pixels, bytes);
    experiment.print(folder);
}

int main(int argument_count, char** arguments)
{
    std::vector<int> uniform(PIXELS), ramp(PIXELS);
    Random random{5};
    for (int i = 0; i < PIXELS; ++i) {
        uniform[i] = random.next();
        ramp[i] = i % LEVELS;
    }
    const std::vector<int> cloudy = clouds();
    const std::vector<Image> images = {
        {"constant", std::vector<int>(PIXELS, 128)}, {"uniform", uniform}, {"ramp", ramp}, {"clouds", cloudy}};
    const std::string workload = measure::format("\"image_width\": %d, \"image_height\": %d", SIDE, SIDE);
    std::fprintf(stderr, "equal lanes per warp: uniform %.3f, clouds %.3f\n", equal_lanes(uniform), equal_lanes(cloudy));
    const char* folder = argument_count > 1 ? arguments[1] : nullptr;
    queues(images, workload, folder);
    cub_histogram(images.back(), cloudy, workload, folder);
}
