// A convolution by Fourier transforms of 4,096 points in one kernel is faster than chapter 03's five steps around cuFFT. What does
// cutting the signal gain, and what does the single kernel gain?
//
// Rows, for 16,777,216 and for 294,912 outputs of 1,024 taps:
//
//     one-transform    the chapter's five steps, as in its stage `fft`, without cutting: gather, transform, multiply, transform back,
//                      collect. One transform holds the whole signal.
//     gathered-4096    the same five steps with blocks of 4,096 samples, of which 3,072 are outputs
//     gathered-16384   the same with blocks of 16,384 samples, of which 15,360 are outputs
//     parts-4096       blocks of 4,096 samples, which cuFFT reads where they lie in the signal, so they overlap. The filter is
//                      transformed by a call of its own, in place of `gather`.
//     parts-16384      the same with blocks of 16,384
//     fused            the kernel of `fft-partitioned`, launched as the chapter does
//
// `one-transform` against `gathered-4096` is what cutting gains, and the best row of cuFFT against `fused` is what the single kernel
// gains. (The chapter's stage `fft` also cuts: it times several lengths and keeps the fastest.) All rows transform the filter in each
// run. Callbacks, with which cuFFT could multiply and collect by itself, are not here: they have to be linked at run time.
//
//     nvcc -std=c++17 -O3 -arch=sm_90a transform.cu -o transform -lcufft -lnvidia-ml
//     ./transform FOLDER   writes experiment-cufft-parts-16777216.json and experiment-cufft-parts-294912.json

#include "measure.cuh"

#include <cufft.h>

#include <cmath>
#include <random>

namespace steps {
#include "../cuda/03-unroll-fft.cu"
}
namespace fused {
#include "../cuda/03-unroll-partitioned.cu"
}

void check(cufftResult result, const char* what, int line)
{
    if (result != CUFFT_SUCCESS) {
        std::fprintf(stderr, "line %d: %s: error %d of cuFFT\n", line, what, static_cast<int>(result));
        std::exit(1);
    }
}

constexpr unsigned TAPS = 1024;
// As in the chapter's host code.
constexpr unsigned THREADS = 256;

unsigned blocks_for(unsigned values) { return (values + THREADS - 1) / THREADS; }

struct Convolution {
    unsigned outputs, samples;
    std::vector<float> signal, filter;

    // Either sign and magnitudes in 0.5..1, so that a missing product shows.
    explicit Convolution(unsigned outputs) : outputs(outputs), samples(outputs + TAPS - 1), signal(samples), filter(TAPS)
    {
        std::mt19937 generator(13);
        const auto fill = [&](std::vector<float>& values) {
            for (float& value : values) {
                const unsigned bits = generator();
                const float magnitude = 0.5f + static_cast<float>(bits >> 9) / (1 << 24);
                value = bits & 1 ? magnitude : -magnitude;
            }
        };
        fill(signal);
        fill(filter);
    }

    // Compares 16,384 outputs with sums in double precision. The tolerance is what the chapter allows a transform of `length` points:
    // u log2(length) max|x| M, with the largest magnitude M of the filter's spectrum. A random filter's magnitudes are about its norm.
    // One in e^16 exceeds four times the norm, which is taken for M.
    bool agrees(const float* output, unsigned length) const
    {
        const std::vector<float> result = to_host(output, outputs);
        double squares = 0;
        for (const float weight : filter) {
            squares += static_cast<double>(weight) * weight;
        }
        const double tolerance = std::ldexp(std::log2(length), -24) * 4 * std::sqrt(squares);
        const unsigned step = outputs / 16384;
        double worst = 0;
        for (unsigned begin = 0; begin < outputs; begin += step) {
            // Any place within the step, so that all positions in a block are tried.
            const unsigned i = std::min(begin + (begin * 2654435761u >> 16) % step, outputs - 1);
            double sum = 0;
            for (unsigned tap = 0; tap < TAPS; ++tap) {
                sum += static_cast<double>(signal[i + tap]) * filter[tap];
            }
            const double error = std::fabs(result[i] - sum);
            // Also false for NaN.
            if (!(error <= tolerance)) {
                std::fprintf(stderr, "output %u is off by %g, and %g is allowed\n", i, error, tolerance);
                return false;
            }
            worst = std::max(worst, error);
        }
        std::fprintf(stderr, "largest error: %.2g, %.2f of the tolerance\n", worst, worst / tolerance);
        return true;
    }
};

// The convolution with cuFFT: blocks of `length` samples, each `hop` after the one before it.
class Cufft {
public:
    Cufft(unsigned length, unsigned hop, unsigned count, bool is_gathered)
        : length(length), hop(hop), count(count), bins(length / 2 + 1), is_gathered(is_gathered),
          rings(device_array<float>(static_cast<size_t>(length) * (count + 1))),
          spectra(device_array<float2>(static_cast<size_t>(bins) * (count + 1)))
    {
        if (is_gathered) {
            forward = plan(CUFFT_R2C, length, bins, count + 1);
        } else {
            forward = plan(CUFFT_R2C, hop, bins, count);
            of_filter = plan(CUFFT_R2C, length, bins, 1);
        }
        back = plan(CUFFT_C2R, bins, length, count);
    }

    ~Cufft()
    {
        cufftDestroy(forward);
        cufftDestroy(back);
        if (!is_gathered) {
            cufftDestroy(of_filter);
        }
        cudaFree(rings);
        cudaFree(spectra);
    }

    // Zeros follow the filter up to `length`, and the signal up to the end of the last block.
    void enqueue(const Convolution& conv, const float* signal, const float* filter, float* output) const
    {
        float2* const of_blocks = spectra + bins;
        if (is_gathered) {
            steps::gather<<<blocks_for(length * (count + 1)), THREADS>>>(signal, conv.samples, filter, TAPS, length, hop, count, rings);
            CHECK(cufftExecR2C(forward, rings, spectra));
        } else {
            CHECK(cufftExecR2C(of_filter, const_cast<float*>(filter), spectra));
            CHECK(cufftExecR2C(forward, const_cast<float*>(signal), of_blocks));
        }
        // The chapter has at most 32 blocks of the signal side by side. Short spectra need more to fill the device.
        const dim3 grid(blocks_for(bins), std::min(count, 1024u));
        steps::multiply<<<grid, THREADS>>>(spectra, bins, count, 1.0f / length);
        CHECK(cufftExecC2R(back, of_blocks, rings));
        steps::collect<<<blocks_for(conv.outputs), THREADS>>>(rings, length, hop, conv.outputs, output);
    }

private:
    // A batch of transforms of `length` points, with the distances from the start of one to the start of the next.
    cufftHandle plan(cufftType type, unsigned input_distance, unsigned output_distance, unsigned batch) const
    {
        cufftHandle handle;
        int points = length, real = length, complex = bins;
        const bool is_forward = type == CUFFT_R2C;
        CHECK(cufftPlanMany(&handle, 1, &points, is_forward ? &real : &complex, 1, input_distance, is_forward ? &complex : &real, 1,
                            output_distance, type, batch));
        return handle;
    }

    unsigned length, hop, count, bins;
    bool is_gathered;
    float* rings;
    float2* spectra;
    cufftHandle forward, back, of_filter = 0;
};

// The rotations that the fused kernel reads, as `turns` in chapters/03-unroll/src/partitioned.rs makes them.
std::vector<float4> turns()
{
    constexpr unsigned TIMES[3][2] = {{1, 2}, {3, 4}, {8, 12}};
    std::vector<float4> turns;
    const auto add = [&](unsigned points, unsigned shares) {
        for (const auto& times : TIMES) {
            for (unsigned share = 0; share < shares; ++share) {
                const double unit = -2 * std::acos(-1.0) * share / points;
                const double first = times[0] * unit, second = times[1] * unit;
                turns.push_back(make_float4(static_cast<float>(std::cos(first)), static_cast<float>(std::sin(first)),
                                            static_cast<float>(std::cos(second)), static_cast<float>(std::sin(second))));
            }
        }
    };
    add(fused::POINTS, fused::THREADS);
    add(fused::THREADS, fused::RADIX);
    return turns;
}

// The smallest even number from `least` on whose prime factors are 2, 3, and 5, as the chapter picks the length of one transform.
unsigned smooth_and_even(unsigned least)
{
    for (unsigned number = least + least % 2;; number += 2) {
        unsigned rest = number;
        for (const unsigned factor : {2u, 3u, 5u}) {
            while (rest % factor == 0) {
                rest /= factor;
            }
        }
        if (rest == 1) {
            return number;
        }
    }
}

unsigned ceil_div(unsigned a, unsigned b) { return (a + b - 1) / b; }

int main(int count, char** arguments)
{
    int number = 0;
    CHECK(cufftGetVersion(&number));
    const std::string library = measure::format("cuFFT %d.%d.%d", number / 1000, number / 100 % 10, number % 100);
    const float4* const rotations = to_device(turns());
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));

    for (const unsigned outputs : {16777216u, 294912u}) {
        const Convolution conv(outputs);
        const unsigned whole = smooth_and_even(conv.samples);
        // Zeros after the signal for the last block, and after the filter for the longest transform of it.
        std::vector<float> padded = conv.signal;
        padded.resize(conv.samples + 2 * 16384);
        const float* const signal = to_device(padded);
        std::vector<float> ring = conv.filter;
        ring.resize(16384);
        const float* const filter = to_device(ring);
        float* const output = device_array<float>(outputs);

        const std::string name = measure::format("cufft-parts-%u", outputs);
        Experiment experiment(name.c_str(), measure::format("\"outputs\": %u, \"taps\": %u, \"whole_length\": %u", outputs, TAPS, whole));
        const auto row = [&](const char* name, unsigned length, const std::function<void()>& enqueue, const std::string& library) {
            // NaN, so that an output that is not written is found.
            CHECK(cudaMemset(output, 0xff, outputs * sizeof(float)));
            experiment.row(name, enqueue, [&] { return conv.agrees(output, length); }, library);
        };
        const auto cufft_row = [&](const char* name, unsigned length, unsigned hop, bool is_gathered) {
            const Cufft cufft(length, hop, ceil_div(outputs, hop), is_gathered);
            row(name, length, [&] { cufft.enqueue(conv, signal, filter, output); }, library);
        };
        // Blocks start at multiples of 1,024 samples, so they are aligned as well as the whole signal is.
        cufft_row("one-transform", whole, outputs, true);
        cufft_row("gathered-4096", 4096, 4096 - TAPS, true);
        cufft_row("gathered-16384", 16384, 16384 - TAPS, true);
        cufft_row("parts-4096", 4096, 4096 - TAPS, false);
        cufft_row("parts-16384", 16384, 16384 - TAPS, false);

        const unsigned pairs = ceil_div(outputs, 2 * (fused::POINTS - TAPS + 1)), hop = ceil_div(outputs, 2 * pairs);
        // No more blocks than are resident at once, two on each multiprocessor, and about the same number of pairs for each.
        const unsigned blocks = ceil_div(pairs, ceil_div(pairs, 2 * device.multiProcessorCount));
        row("fused", fused::POINTS,
            [&] {
                fused::convolve<<<blocks, fused::THREADS>>>(signal, conv.samples, filter, TAPS, hop, pairs, rotations, outputs, output);
            },
            "");
        experiment.print(count > 1 ? arguments[1] : nullptr);
        CHECK(cudaFree(const_cast<float*>(signal)));
        CHECK(cudaFree(const_cast<float*>(filter)));
        CHECK(cudaFree(output));
    }
}
