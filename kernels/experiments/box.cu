// How fast are NPP's window sums beside ours?
//
// Our kernels compute the sum and the sum of squares over a window of 1 x 15 pixels, for columns 7 to 8184 of an image of 8192 x 8192
// pixels. The pixels are 32-bit integers from 0 to 255. Our kernels read 4 bytes per pixel and write 8. NPP 13 has no such function. The
// rows below call the nearest ones. None of them computes squares, and none reads 32-bit integers.
//
// Record `npp-box`:
//     copy                  moves 12 bytes per pixel with cudaMemcpyAsync
//     sliding, vector, tile-scan  kernels of chapter 05, with both results
//     npp-sum-window-8u     nppiSumWindowRow_8u32f: sums, from pixels of 8 bits (5 bytes per pixel)
//     npp-sum-window-16u    nppiSumWindowRow_16u32f: sums, from pixels of 16 bits (6 bytes)
//     npp-row               nppiFilterRow_32f with 15 ones: sums, from floats (8 bytes)
//     npp-box               nppiFilterBox_32f: means, from floats (8 bytes)
//     npp-box-border        nppiFilterBoxBorder_32f: means of all columns, with NPP_BORDER_REPLICATE (8 bytes)
//     npp-both              both results as means: nppiFilterBox_32f, nppiSqr_32f, nppiFilterBox_32f of the squares (at least 24 bytes)
// Only npp-both has both results, apart from a factor of 15. The other NPP rows have one result, so compare them by bytes per second.
//
// Compile: nvcc -std=c++17 -O3 -arch=sm_90a box.cu -o box -lnvidia-ml -lnppif -lnppial -lnppc
// Run:     ./box FOLDER

#include "../cuda/05-window-sums-tiles.cu"
#include "measure.cuh"

#include <npp.h>

#include <cmath>
#include <random>

constexpr int WIDTH = 8192, HEIGHT = 8192, WINDOW = 15, HALF = WINDOW / 2;
constexpr size_t PIXELS = static_cast<size_t>(WIDTH) * HEIGHT;
// The columns whose windows are in the image.
constexpr int BEGIN = HALF, END = WIDTH - HALF;

void check_npp(NppStatus status, int line)
{
    if (status != NPP_SUCCESS) {
        std::fprintf(stderr, "line %d: NPP status %d\n", line, status);
        std::exit(1);
    }
}
#define CHECK_NPP(call) check_npp(call, __LINE__)

// Describes the device and the default stream. CUDA 13 has no function that fills in this structure.
NppStreamContext context_of_default_stream()
{
    NppStreamContext context = {};
    cudaDeviceProp device;
    CHECK(cudaGetDevice(&context.nCudaDeviceId));
    CHECK(cudaGetDeviceProperties(&device, context.nCudaDeviceId));
    context.hStream = nullptr;
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    CHECK(cudaStreamGetFlags(context.hStream, &context.nStreamFlags));
    return context;
}

int main(int, char** arguments)
{
    std::vector<int> pixels(PIXELS);
    std::mt19937 random(13);
    for (int& pixel : pixels) {
        pixel = random() % 256;
    }
    const int* image = to_device(pixels);
    const Npp8u* image_8u = to_device(std::vector<Npp8u>(pixels.begin(), pixels.end()));
    const Npp16u* image_16u = to_device(std::vector<Npp16u>(pixels.begin(), pixels.end()));
    const Npp32f* image_32f = to_device(std::vector<Npp32f>(pixels.begin(), pixels.end()));
    const Npp32f* ones = to_device(std::vector<Npp32f>(WINDOW, 1.0f));
    auto* squared_32f = device_array<Npp32f>(PIXELS);
    // The sums or means of the pixels, then those of their squares.
    auto* results = device_array<float>(2 * PIXELS);
    float* squares = results + PIXELS;

    // Returns the exact sum, or sum of squares, over a pixel's window. Beyond its ends, a row continues with its outermost pixels.
    const auto window_sum = [&](const int* row, int x, bool is_squared) {
        long long sum = 0;
        for (int i = x - HALF; i <= x + HALF; ++i) {
            const long long pixel = row[std::min(std::max(i, 0), WIDTH - 1)];
            sum += is_squared ? pixel * pixel : pixel;
        }
        return sum;
    };
    // Returns whether the results of columns `begin` to `end` - 1 are right. Sums must be exact, because all of them are below 2^24. A mean
    // may be off by 16 roundings: 15 additions and a product.
    const auto are_right = [&](const float* from, bool is_squared, bool are_means, int begin = BEGIN, int end = END) {
        const auto found = to_host(from, PIXELS);
        for (size_t y = 0; y < HEIGHT; ++y) {
            for (int x = begin; x < end; ++x) {
                const double sum = static_cast<double>(window_sum(&pixels[y * WIDTH], x, is_squared));
                const double expected = are_means ? sum / WINDOW : sum;
                const double most = are_means ? 16 * std::ldexp(expected, -24) : 0;
                // A comparison with NaN is false.
                if (!(std::abs(found[y * WIDTH + x] - expected) <= most)) {
                    return false;
                }
            }
        }
        return true;
    };
    const auto are_both = [&](bool are_means) { return are_right(results, false, are_means) && are_right(squares, true, are_means); };

    Experiment experiment("npp-box", "\"image_height\": 8192, \"image_width\": 8192, \"window\": 15");
    // Overwrites the results first, so that a row that writes nothing is not taken for right.
    const auto row = [&](const char* name, const std::function<void()>& enqueue, const std::function<bool()>& is_right,
                         const std::string& library = "") {
        CHECK(cudaMemset(results, 0xff, 2 * PIXELS * sizeof *results));
        experiment.row(name, enqueue, is_right, library);
    };

    // A copy that reads 6 bytes per pixel and writes 6.
    std::vector<float> original(PIXELS / 2 * 3);
    for (size_t i = 0; i < original.size(); ++i) {
        original[i] = static_cast<float>(pixels[i % PIXELS]) + static_cast<float>(i % 65536) * 256;
    }
    const float* source = to_device(original);
    row("copy", [&] { CHECK(cudaMemcpyAsync(results, source, original.size() * sizeof *source, cudaMemcpyDeviceToDevice)); },
        [&] { return to_host(results, original.size()) == original; });

    // Launched as in ../../chapters/05-window-sums/src/tiles.rs.
    const Shape shape = {WIDTH, WINDOW, BEGIN, END};
    constexpr int FROM = BEGIN / WARP * WARP;
    const auto blocks = [](int columns, int outputs) { return dim3((columns + outputs - 1) / outputs, HEIGHT); };
    const dim3 of_sliding = blocks(END - BEGIN, RUN_THREADS * RUN), of_vector = blocks(END - FROM, RUN_THREADS * VECTOR);
    const dim3 of_tile_scan = blocks(END - FROM, (TILE - WINDOW - (VECTOR - 1)) / WARP * WARP);
    const auto are_sums = [&] { return are_both(false); };
    row("sliding", [&] { sliding<<<of_sliding, RUN_THREADS>>>(image, shape, results, squares); }, are_sums);
    row("vector", [&] { vector<<<of_vector, RUN_THREADS>>>(image, shape, results, squares); }, are_sums);
    row("tile-scan", [&] { tile_scan<<<of_tile_scan, TILE_THREADS>>>(image, shape, results, squares); }, are_sums);

    const NppStreamContext context = context_of_default_stream();
    const NppLibraryVersion* version = nppGetLibVersion();
    const std::string npp = "NPP " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                            std::to_string(version->build);
    constexpr int STEP = WIDTH * sizeof(Npp32f);
    const NppiSize inside = {END - BEGIN, HEIGHT}, whole = {WIDTH, HEIGHT}, mask = {WINDOW, 1};
    const NppiPoint anchor = {HALF, 0};
    const auto are_one_sum = [&] { return are_right(results, false, false); };
    row("npp-sum-window-8u", [&] {
            CHECK_NPP(nppiSumWindowRow_8u32f_C1R_Ctx(image_8u + BEGIN, WIDTH * sizeof(Npp8u), results + BEGIN, STEP, inside, WINDOW, HALF,
                                                     context));
        }, are_one_sum, npp);
    row("npp-sum-window-16u", [&] {
            CHECK_NPP(nppiSumWindowRow_16u32f_C1R_Ctx(image_16u + BEGIN, WIDTH * sizeof(Npp16u), results + BEGIN, STEP, inside, WINDOW,
                                                      HALF, context));
        }, are_one_sum, npp);
    row("npp-row", [&] {
            CHECK_NPP(nppiFilterRow_32f_C1R_Ctx(image_32f + BEGIN, STEP, results + BEGIN, STEP, inside, ones, WINDOW, HALF, context));
        }, are_one_sum, npp);
    const auto box = [&](const Npp32f* from, Npp32f* to) {
        CHECK_NPP(nppiFilterBox_32f_C1R_Ctx(from + BEGIN, STEP, to + BEGIN, STEP, inside, mask, anchor, context));
    };
    row("npp-box", [&] { box(image_32f, results); }, [&] { return are_right(results, false, true); }, npp);
    row("npp-box-border", [&] {
            CHECK_NPP(nppiFilterBoxBorder_32f_C1R_Ctx(image_32f, STEP, whole, {0, 0}, results, STEP, whole, mask, anchor,
                                                      NPP_BORDER_REPLICATE, context));
        }, [&] { return are_right(results, false, true, 0, WIDTH); }, npp);
    row("npp-both", [&] {
            box(image_32f, results);
            CHECK_NPP(nppiSqr_32f_C1R_Ctx(image_32f, STEP, squared_32f, STEP, whole, context));
            box(squared_32f, squares);
        }, [&] { return are_both(true); }, npp);
    experiment.print(arguments[1]);
}
