// How fast are the kernels of 06-matmul-half beside the best that NVIDIA's library has?
//
// Rows, for one size m, n, k:
//
//     ours-WHAT, cublaslt-WHAT     in turn, as WHAT-1 to WHAT-8, and each is the first of every other pair: the first one finds a cooler chip.
//                                  WHAT is bf16 (the kernel that the chapter's by-size chooses) or fp8
//     cutlass-WHAT                 the same for CUTLASS, in half-cutlass.cuh, if CUTLASS_PATH is set
//     cublaslt-bf16-nn, -tn        the best algorithm for B stored row by row, and for B stored column by column. The pairs have the faster
//     ours-zeros, cublaslt-zeros   the same with zeros for all numbers, which take less power
//
// The library has a workspace of 64 MiB and the fastest of up to 16 algorithms from its heuristic, each of which is timed briefly before.
// Its fp8 products use fast accumulation, as ours do, and a scale for each matrix; ours have one for each row and column.
//
//     ./half FOLDER M N K          needs 06-matmul-half-hopper.cubin and 06-matmul-half-fp8.cubin in FOLDER

#include "measure.cuh"

#include <cublasLt.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cudaTypedefs.h>

#include <cmath>
#include <cstring>
#include <random>

inline void check(cublasStatus_t result, const char* what, int line)
{
    if (result != CUBLAS_STATUS_SUCCESS) {
        std::fprintf(stderr, "line %d: %s: %s\n", line, what, cublasGetStatusString(result));
        std::exit(1);
    }
}

inline void check(CUresult result, const char* what, int line)
{
    if (result != CUDA_SUCCESS) {
        std::fprintf(stderr, "line %d: %s: %d\n", line, what, result);
        std::exit(1);
    }
}

using Enqueue = std::function<void()>;

// The matrices. `b` is stored row by row, and `b_columns` column by column; `a8` and `b8` have 8 bits, `b8` column by column.
struct Problem {
    unsigned m, n, k;
    __nv_bfloat16 *a, *b, *b_columns, *c;
    __nv_fp8_e4m3 *a8, *b8;
    float* ones;
};

// Numbers of a normal distribution, from a pool of a million.
Problem problem_of(unsigned m, unsigned n, unsigned k)
{
    std::mt19937 generator(13);
    std::normal_distribution<float> normal;
    std::vector<float> pool(1 << 20);
    for (float& value : pool) {
        value = normal(generator);
    }
    const auto of_a = [&](size_t row, size_t i) { return pool[(row * k + i) * 2654435761u >> 7 & 0xfffff]; };
    const auto of_b = [&](size_t i, size_t column) { return pool[(i * n + column) * 2246822519u >> 9 & 0xfffff]; };
    const size_t of_a_size = static_cast<size_t>(m) * k, of_b_size = static_cast<size_t>(k) * n;
    std::vector<__nv_bfloat16> a(of_a_size), b(of_b_size), b_columns(of_b_size);
    std::vector<__nv_fp8_e4m3> a8(of_a_size), b8(of_b_size);
    for (size_t row = 0; row < m; ++row) {
        for (size_t i = 0; i < k; ++i) {
            a[row * k + i] = __nv_bfloat16(of_a(row, i));
            a8[row * k + i] = __nv_fp8_e4m3(of_a(row, i));
        }
    }
    for (size_t i = 0; i < k; ++i) {
        for (size_t column = 0; column < n; ++column) {
            b[i * n + column] = b_columns[column * k + i] = __nv_bfloat16(of_b(i, column));
            b8[column * k + i] = __nv_fp8_e4m3(of_b(i, column));
        }
    }
    const std::vector<float> ones(std::max(m, n), 1.0f);
    return {m,  n,  k,  to_device(a), to_device(b), to_device(b_columns), device_array<__nv_bfloat16>(static_cast<size_t>(m) * n),
            to_device(a8), to_device(b8), to_device(ones)};
}

// Our kernels, from the compiled files.
class Ours {
public:
    explicit Ours(const std::string& folder)
    {
        CHECK(cuModuleLoad(&half, (folder + "/06-matmul-half-hopper.cubin").c_str()));
        CHECK(cuModuleLoad(&eighths, (folder + "/06-matmul-half-fp8.cubin").c_str()));
        cudaDriverEntryPointQueryResult found;
        CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", reinterpret_cast<void**>(&encode), 12000, cudaEnableDefault, &found));
    }

    // The chapter's choice by size.
    Enqueue bf16(const Problem& p) const
    {
        const auto tiles = [&](unsigned rows, unsigned columns) { return (p.m + rows - 1) / rows * ((p.n + columns - 1) / columns); };
        const auto fill = [](unsigned tiles) { return 4 * tiles >= 3 * MULTIPROCESSORS; };
        if (tiles(128, 256) >= 8 * MULTIPROCESSORS) {
            return large(p, "multicast", 2);
        }
        if (fill(tiles(128, 256))) {
            return large(p, "stores", 1);
        }
        return fill(tiles(64, 128)) ? small(p, "small", 128, 1, SMALL_BYTES) : small(p, "slices", 64, 2, SLICE_BYTES);
    }

    Enqueue fp8(const Problem& p) const
    {
        const CUfunction function = kernel(eighths, "fp8", LARGE_BYTES + 2048);
        const CUtensorMap a = map(p.a8, p.k, p.m, 128, 128), b = map(p.b8, p.k, p.n, 128, 64), c = map(p.c, p.n, p.m, 64, 64);
        const unsigned blocks = std::min((p.m + 255) / 256 * ((p.n + 255) / 256), MULTIPROCESSORS / 2) * 2;
        return [=] {
            const void* arguments[] = {&a, &b, &c, &p.m, &p.n, &p.k, &p.ones, &p.ones};
            launch(function, blocks, 384, LARGE_BYTES + 2048, arguments);
        };
    }

private:
    static constexpr unsigned MULTIPROCESSORS = 132, LARGE_BYTES = 4 * 49152 + 32768 + 64, SMALL_BYTES = 196736, SLICE_BYTES = 196800;

    Enqueue large(const Problem& p, const char* name, unsigned cluster) const
    {
        const CUfunction function = kernel(half, name, LARGE_BYTES);
        const CUtensorMap a = map(p.a, p.k, p.m, 64, 128), b = map(p.b, p.n, p.k, 64, 64), c = map(p.c, p.n, p.m, 64, 64);
        const unsigned tiles = (p.m + 128 * cluster - 1) / (128 * cluster) * ((p.n + 255) / 256);
        const unsigned blocks = std::min(tiles, MULTIPROCESSORS / cluster) * cluster;
        return [=] {
            const void* arguments[] = {&a, &b, &c, &p.m, &p.n, &p.k};
            launch(function, blocks, 384, LARGE_BYTES, arguments);
        };
    }

    Enqueue small(const Problem& p, const char* name, unsigned columns, unsigned slices, unsigned bytes) const
    {
        const CUfunction function = kernel(half, name, bytes);
        const CUtensorMap a = map(p.a, p.k, p.m, 64, 64), b = map(p.b, p.n, p.k, 64, 64);
        const unsigned blocks = (p.m + 63) / 64 * ((p.n + columns - 1) / columns) * slices;
        return [=] {
            const void* arguments[] = {&a, &b, &p.m, &p.n, &p.k, &p.c};
            launch(function, blocks, 160, bytes, arguments);
        };
    }

    static CUfunction kernel(CUmodule module, const char* name, unsigned bytes)
    {
        CUfunction function;
        CHECK(cuModuleGetFunction(&function, module, name));
        CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
        return function;
    }

    static void launch(CUfunction function, unsigned blocks, unsigned threads, unsigned bytes, const void** arguments)
    {
        CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, bytes, nullptr, const_cast<void**>(arguments), nullptr));
    }

    template <class T> CUtensorMap map(T* matrix, cuuint64_t columns, cuuint64_t rows, unsigned box_columns, unsigned box_rows) const
    {
        const auto type = sizeof(T) == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
        const cuuint64_t sides[] = {columns, rows}, pitch[] = {columns * sizeof(T)};
        const cuuint32_t box[] = {box_columns, box_rows}, every[] = {1, 1};
        CUtensorMap map;
        CHECK(encode(&map, type, 2, matrix, sides, pitch, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                     CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
        return map;
    }

    CUmodule half, eighths;
    PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
};

#if __has_include(<cutlass/cutlass.h>)
#include "half-cutlass.cuh"
#endif

// cublasLt. It reads columns, so it multiplies the transpose of B and that of A, and writes that of C.
class CublasLt {
public:
    CublasLt() : workspace(device_array<char>(WORKSPACE_BYTES))
    {
        CHECK(cublasLtCreate(&handle));
    }

    // Returns what enqueues the fastest algorithm, and its time. `columns` says that B is stored column by column.
    std::pair<Enqueue, float> fastest(const Problem& p, bool columns, bool fp8)
    {
        const cudaDataType_t type = fp8 ? CUDA_R_8F_E4M3 : CUDA_R_16BF;
        cublasLtMatmulDesc_t product;
        CHECK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        const cublasOperation_t operation = columns ? CUBLAS_OP_T : CUBLAS_OP_N;
        CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &operation, sizeof operation));
        if (fp8) {
            const int8_t fast = 1;
            CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
        }
        cublasLtMatrixLayout_t left, right, result;
        CHECK(columns ? cublasLtMatrixLayoutCreate(&left, type, p.k, p.n, p.k) : cublasLtMatrixLayoutCreate(&left, type, p.n, p.k, p.n));
        CHECK(cublasLtMatrixLayoutCreate(&right, type, p.k, p.m, p.k));
        CHECK(cublasLtMatrixLayoutCreate(&result, CUDA_R_16BF, p.n, p.m, p.n));
        cublasLtMatmulPreference_t preference;
        CHECK(cublasLtMatmulPreferenceCreate(&preference));
        const size_t bytes = WORKSPACE_BYTES;
        CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
        cublasLtMatmulHeuristicResult_t results[16];
        int found = 0;
        CHECK(cublasLtMatmulAlgoGetHeuristic(handle, product, left, right, result, result, preference, 16, results, &found));
        const void* const of_b = fp8 ? static_cast<const void*>(p.b8) : columns ? p.b_columns : p.b;
        const void* const of_a = fp8 ? static_cast<const void*>(p.a8) : p.a;
        std::pair<Enqueue, float> best{nullptr, 1e9f};
        for (int i = 0; i < found; ++i) {
            const cublasLtMatmulAlgo_t algorithm = results[i].algo;
            const Enqueue enqueue = [=, this] {
                const float one = 1, zero = 0;
                CHECK(cublasLtMatmul(handle, product, &one, of_b, left, of_a, right, &zero, p.c, result, p.c, result, &algorithm, workspace,
                                     WORKSPACE_BYTES, nullptr));
            };
            if (const float time = briefly(enqueue); time < best.second) {
                best = {enqueue, time};
            }
        }
        std::fprintf(stderr, "%s: %d algorithms, the fastest takes %.4f ms\n", fp8 ? "fp8" : columns ? "tn" : "nn", found, best.second);
        return best;
    }

private:
    static constexpr size_t WORKSPACE_BYTES = 64 << 20;

    // Returns the time of a run, in milliseconds.
    static float briefly(const Enqueue& enqueue)
    {
        cudaEvent_t start, end;
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
        float shortest = 1e9f;
        for (int run = 0; run < 20; ++run) {
            CHECK(cudaEventRecord(start));
            enqueue();
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            float elapsed;
            CHECK(cudaEventElapsedTime(&elapsed, start, end));
            shortest = std::min(shortest, elapsed);
        }
        return shortest;
    }

    char* workspace;
    cublasLtHandle_t handle;
};

int main(int count, char** arguments)
{
    if (count != 5) {
        std::fprintf(stderr, "usage: half FOLDER M N K\n");
        return 2;
    }
    const unsigned m = std::atoi(arguments[2]), n = std::atoi(arguments[3]), k = std::atoi(arguments[4]);
    CHECK(cudaFree(nullptr));
    const Problem p = problem_of(m, n, k);
    const Ours ours(arguments[1]);
    CublasLt lt;
    const size_t outputs = static_cast<size_t>(m) * n;
    const std::string cublaslt = measure::format("cuBLASLt %zu", cublasLtGetVersion());
    const std::string name = measure::format("half-%ux%ux%u", m, n, k);
    Experiment experiment(name.c_str(), measure::format("\"m\": %u, \"n\": %u, \"k\": %u", m, n, k));

    std::vector<__nv_bfloat16> expected;
    const auto row = [&](const std::string& row_name, const Enqueue& enqueue, const std::string& library) {
        CHECK(cudaMemset(p.c, 0xff, outputs * sizeof(__nv_bfloat16)));
        experiment.row(row_name, enqueue, [&] {
            const std::vector<__nv_bfloat16> got = to_host(p.c, outputs);
            if (expected.empty()) {
                expected = got;
            }
            // Two roundings to 8 digits apart, and what sums in another order lose.
            size_t wrong = 0;
            for (size_t i = 0; i < outputs; ++i) {
                const float want = __bfloat162float(expected[i]), value = __bfloat162float(got[i]);
                wrong += !(std::fabs(want - value) <= 0.016f * std::fabs(want) + 0.0005f * k);
            }
            return wrong == 0;
        }, library);
    };
    struct Rival {
        const char* name;
        Enqueue enqueue;
        std::string library;
    };
    const auto in_turn = [&](const std::string& what, const std::vector<Rival>& rivals) {
        for (size_t turn = 0; turn < 4 * rivals.size(); ++turn) {
            for (size_t i = 0; i < rivals.size(); ++i) {
                const Rival& rival = rivals[(turn + i) % rivals.size()];
                row(measure::format("%s-%s-%zu", rival.name, what.c_str(), turn + 1), rival.enqueue, rival.library);
            }
        }
    };

    const auto nn = lt.fastest(p, false, false), tn = lt.fastest(p, true, false);
    row("cublaslt-bf16-nn", nn.first, cublaslt);
    row("cublaslt-bf16-tn", tn.first, cublaslt);
    const Enqueue best = nn.second < tn.second ? nn.first : tn.first;
    std::vector<Rival> rivals{{"cublaslt", best, cublaslt}, {"ours", ours.bf16(p), ""}};
#ifdef CUTLASS_MAJOR
    const std::string cutlass = measure::format("CUTLASS %d.%d.%d", CUTLASS_MAJOR, CUTLASS_MINOR, CUTLASS_PATCH);
    rivals.push_back({"cutlass", CutlassBf16::prepared(m, n, k, p.a, p.b, p.c), cutlass});
#endif
    in_turn("bf16", rivals);
    if (m >= 4096 && n >= 4096) {
        expected.clear();
        rivals = {{"cublaslt", lt.fastest(p, true, true).first, cublaslt}, {"ours", ours.fp8(p), ""}};
#ifdef CUTLASS_MAJOR
        rivals.push_back({"cutlass", CutlassFp8::prepared(m, n, k, p.a8, p.b8, p.c), cutlass});
#endif
        in_turn("fp8", rivals);
    }
    expected.clear();
    for (const auto& [matrix, size] : {std::pair(p.a, static_cast<size_t>(m) * k), std::pair(p.b, static_cast<size_t>(k) * n),
                                       std::pair(p.b_columns, static_cast<size_t>(k) * n)}) {
        CHECK(cudaMemset(matrix, 0, size * sizeof(__nv_bfloat16)));
    }
    row("cublaslt-zeros", best, cublaslt);
    row("ours-zeros", ours.bf16(p), "");
    experiment.print(arguments[1]);
}
