// What matmul.cu, power.cu, and cutlass.cu share: inputs of a product c = a b of square matrices in f32, cuBLAS as chapter 06 calls it,
// and a check of the result. All matrices are stored row by row.
#pragma once

#include "measure.cuh"

#include <cublas_v2.h>

#include <cmath>

inline void check(cublasStatus_t result, const char* what, int line)
{
    if (result != CUBLAS_STATUS_SUCCESS) {
        std::fprintf(stderr, "line %d: %s: %s\n", line, what, cublasGetStatusString(result));
        std::exit(1);
    }
}

enum class Input { ZEROS, ONES, RANDOM };

// Number `row`, `column` of `a` (matrix 0) or `b` (matrix 1). Random numbers are as in the chapter: either sign, magnitudes in 0.5..1.
__host__ __device__ inline float value(Input input, unsigned matrix, unsigned row, unsigned column)
{
    if (input != Input::RANDOM) {
        return input == Input::ONES ? 1.0f : 0.0f;
    }
    // The mixer of SplitMix64.
    unsigned long long bits = (static_cast<unsigned long long>(matrix) << 48) + (static_cast<unsigned long long>(row) << 24) + column;
    bits = (bits + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    const float magnitude = 0.5f + static_cast<float>(bits >> 41) / (1 << 24);
    return bits & 1 ? magnitude : -magnitude;
}

__global__ void fill(float* array, unsigned n, Input input, unsigned matrix, bool is_transposed)
{
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < n) {
        array[static_cast<size_t>(row) * n + column] =
            is_transposed ? value(input, matrix, column, row) : value(input, matrix, row, column);
    }
}

// Returns an input matrix, or its transpose.
inline float* matrix_of(unsigned n, Input input, unsigned matrix, bool is_transposed = false)
{
    float* const array = device_array<float>(static_cast<size_t>(n) * n);
    fill<<<dim3((n + 255) / 256, n), 256>>>(array, n, input, matrix, is_transposed);
    CHECK(cudaDeviceSynchronize());
    return array;
}

enum class Arithmetic { F32, TF32, THREE_TF32 };

// 4096 entries of the product, one in each square of a grid of 64 x 64, computed in double precision on the host.
class Reference {
public:
    Reference(unsigned n, Input input) : n(n)
    {
        constexpr unsigned SQUARES = 64;
        const unsigned side = n / SQUARES;
        for (unsigned square = 0; square < SQUARES * SQUARES; ++square) {
            const unsigned scatter = square * 2654435761u;
            Entry entry = {square / SQUARES * side + (scatter >> 20) % side, square % SQUARES * side + (scatter >> 8) % side, 0, 0, 0};
            for (unsigned i = 0; i < n; ++i) {
                const double term = static_cast<double>(value(input, 0, entry.row, i)) * value(input, 1, i, entry.column);
                entry.product += term;
                entry.magnitudes += std::fabs(term);
                entry.squares += term * term;
            }
            entries.push_back(entry);
        }
    }

    // Checks a result in device memory. A missing term, 0.25 or more, exceeds each tolerance at all sizes here.
    bool agrees(const float* c, Arithmetic arithmetic) const
    {
        const std::vector<float> result = to_host(c, static_cast<size_t>(n) * n);
        double worst = 0;
        for (const Entry& entry : entries) {
            // In f32, rounding errors of a sum grow like sqrt(n) u times the magnitudes (Higham and Mary, 2019). Tensor cores cut off
            // digits when they add, so three products get four times as much. Factors that are cut to 11 digits are off by up to 2^-10
            // each. These errors differ from term to term, so they grow like the root of the sum of squares.
            const double tolerance = arithmetic == Arithmetic::TF32  ? std::ldexp(4.0, -10) * std::sqrt(entry.squares)
                                     : arithmetic == Arithmetic::F32 ? std::ldexp(std::sqrt(n), -24) * entry.magnitudes
                                                                     : std::ldexp(std::sqrt(n), -22) * entry.magnitudes;
            const double error = std::fabs(result[static_cast<size_t>(entry.row) * n + entry.column] - entry.product);
            // Also false for NaN.
            if (!(error <= tolerance)) {
                std::fprintf(stderr, "c[%u][%u] is off by %g, and %g is allowed\n", entry.row, entry.column, error, tolerance);
                return false;
            }
            worst = std::max(worst, tolerance == 0 ? 0 : error / tolerance);
        }
        std::fprintf(stderr, "largest error: %.2f of the tolerance\n", worst);
        return true;
    }

private:
    struct Entry {
        unsigned row, column;
        double product, magnitudes, squares;
    };
    unsigned n;
    std::vector<Entry> entries;
};

// cuBLAS as chapters/06-matmul-tiled/src/rival.rs calls it: its own choice of algorithm, and its own workspace. It reads matrices column
// by column, so `b` is the left factor.
class Cublas {
public:
    Cublas() { CHECK(cublasCreate(&handle)); }

    void multiply(unsigned n, const float* a, const float* b, float* c, cublasComputeType_t type) const
    {
        const float one = 1, zero = 0;
        CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, CUDA_R_32F, n, a, CUDA_R_32F, n, &zero, c, CUDA_R_32F, n,
                           type, CUBLAS_GEMM_DEFAULT));
    }

    std::string version() const
    {
        int number = 0;
        CHECK(cublasGetVersion(handle, &number));
        return measure::format("cuBLAS %d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    }

private:
    cublasHandle_t handle;
};

// Fills a result with NaN, so that entries that a row does not write are found.
inline void poison(float* c, unsigned n) { CHECK(cudaMemset(c, 0xff, static_cast<size_t>(n) * n * sizeof(float))); }
