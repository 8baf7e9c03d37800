// Is there a faster product of square f32 matrices in NVIDIA's libraries than the call that chapter 06 compares with?
//
// Rows, for n = 1024, 4096, and 8192, in f32 and on tensor cores with factors rounded to tf32:
//
//     cublas-f32, cublas-tf32            cublasGemmEx as in chapter 06
//     cublaslt-f32-nn, cublaslt-tf32-nn  the chapter's problem, c = a b, all stored row by row. cuBLAS reads columns, so it sees two
//                                        factors that are not transposed (N, N): bT aT = cT
//     cublaslt-f32-tn, cublaslt-tf32-tn  the same product, but `b` is stored column by column, as the transpose of what cuBLAS expects
//                                        (T, N). In both factors, the numbers that are added up are neighbors in memory: what wgmma
//                                        needs for tf32. Another problem than the chapter's.
//     cublas-tf32-again                  the second row once more: how far rows differ without a reason
//
// The rows with cublasLt have a workspace of 64 MiB and the fastest of up to 16 algorithms (there were at most 8) from its heuristic, each of which is timed
// briefly before. Standard error shows which one won.
//
//     nvcc -std=c++17 -O3 -arch=sm_90a matmul.cu -o matmul -lcublas -lcublasLt -lnvidia-ml
//     ./matmul FOLDER      writes experiment-cublaslt-1024.json, experiment-cublaslt-4096.json, and experiment-cublaslt-8192.json

#include "matmul.cuh"

#include <cublasLt.h>

// Products of n x n matrices by cublasLt.
class CublasLt {
public:
    explicit CublasLt(unsigned n) : n(n), workspace(device_array<char>(WORKSPACE_BYTES))
    {
        CHECK(cublasLtCreate(&handle));
        CHECK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, n, n, n));
    }

    // Returns what enqueues c = a b with the fastest algorithm for these arguments. `b` is transposed in memory if `is_transposed`.
    std::function<void()> fastest(const char* name, bool is_transposed, cublasComputeType_t type, const float* a, const float* b, float* c)
    {
        cublasLtMatmulDesc_t product;
        CHECK(cublasLtMatmulDescCreate(&product, type, CUDA_R_32F));
        const cublasOperation_t operation = is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
        CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &operation, sizeof operation));
        cublasLtMatmulPreference_t preference;
        CHECK(cublasLtMatmulPreferenceCreate(&preference));
        const size_t bytes = WORKSPACE_BYTES;
        CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
        constexpr int MOST = 16;
        cublasLtMatmulHeuristicResult_t results[MOST];
        int found = 0;
        CHECK(cublasLtMatmulAlgoGetHeuristic(handle, product, layout, layout, layout, layout, preference, MOST, results, &found));

        int best = -1;
        std::vector<float> times;
        for (int i = 0; i < found; ++i) {
            const cublasLtMatmulAlgo_t algorithm = results[i].algo;
            const bool is_usable = results[i].state == CUBLAS_STATUS_SUCCESS;
            times.push_back(is_usable ? briefly([&] { multiply(product, a, b, c, algorithm); }) : 1e9f);
            if (is_usable && (best < 0 || times[i] < times[best])) {
                best = i;
            }
        }
        if (best < 0) {
            std::fprintf(stderr, "%s: the heuristic knows no algorithm\n", name);
            std::exit(1);
        }
        std::fprintf(stderr, "%s at %u: number %d of %d (from 0) is the fastest, %.4f ms. Number 0 takes %.4f ms\n", name, n, best, found,
                     times[best], times[0]);
        const cublasLtMatmulAlgo_t algorithm = results[best].algo;
        return [=] { multiply(product, a, b, c, algorithm); };
    }

private:
    static constexpr size_t WORKSPACE_BYTES = 64 << 20;

    void multiply(cublasLtMatmulDesc_t product, const float* a, const float* b, float* c, const cublasLtMatmulAlgo_t& algorithm) const
    {
        const float one = 1, zero = 0;
        CHECK(cublasLtMatmul(handle, product, &one, b, layout, a, layout, &zero, c, layout, c, layout, &algorithm, workspace,
                             WORKSPACE_BYTES, 0));
    }

    // Returns the shortest time of three short series of runs, in milliseconds per run.
    static float briefly(const std::function<void()>& enqueue)
    {
        constexpr float SERIES_MS = 5;
        cudaEvent_t start, end;
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
        const auto time = [&](int runs) {
            float elapsed;
            CHECK(cudaEventRecord(start));
            for (int run = 0; run < runs; ++run) {
                enqueue();
            }
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            CHECK(cudaEventElapsedTime(&elapsed, start, end));
            return elapsed / runs;
        };
        // The first run loads the kernel.
        time(1);
        const int runs = std::max(2, static_cast<int>(SERIES_MS / time(1)));
        const float shortest = std::min({time(runs), time(runs), time(runs)});
        CHECK(cudaEventDestroy(start));
        CHECK(cudaEventDestroy(end));
        return shortest;
    }

    unsigned n;
    char* workspace;
    cublasLtHandle_t handle;
    cublasLtMatrixLayout_t layout;
};

int main(int count, char** arguments)
{
    const Cublas cublas;
    const std::string library = cublas.version();
    for (const unsigned n : {1024u, 4096u, 8192u}) {
        const float* const a = matrix_of(n, Input::RANDOM, 0);
        const float* const b = matrix_of(n, Input::RANDOM, 1);
        const float* const b_transposed = matrix_of(n, Input::RANDOM, 1, true);
        float* const c = device_array<float>(static_cast<size_t>(n) * n);
        const Reference reference(n, Input::RANDOM);
        CublasLt lt(n);

        const std::string name = measure::format("cublaslt-%u", n);
        Experiment experiment(name.c_str(), measure::format("\"m\": %u, \"n\": %u, \"k\": %u", n, n, n));
        const auto row = [&](const char* name, Arithmetic arithmetic, const std::function<void()>& enqueue) {
            poison(c, n);
            experiment.row(name, enqueue, [&] { return reference.agrees(c, arithmetic); }, library);
        };
        const auto tf32 = [&] { cublas.multiply(n, a, b, c, CUBLAS_COMPUTE_32F_FAST_TF32); };

        row("cublas-f32", Arithmetic::F32, [&] { cublas.multiply(n, a, b, c, CUBLAS_COMPUTE_32F); });
        row("cublas-tf32", Arithmetic::TF32, tf32);
        for (const bool is_transposed : {false, true}) {
            const char* const f32_name = is_transposed ? "cublaslt-f32-tn" : "cublaslt-f32-nn";
            const char* const tf32_name = is_transposed ? "cublaslt-tf32-tn" : "cublaslt-tf32-nn";
            const float* const right = is_transposed ? b_transposed : b;
            row(f32_name, Arithmetic::F32, lt.fastest(f32_name, is_transposed, CUBLAS_COMPUTE_32F, a, right, c));
            row(tf32_name, Arithmetic::TF32, lt.fastest(tf32_name, is_transposed, CUBLAS_COMPUTE_32F_FAST_TF32, a, right, c));
        }
        row("cublas-tf32-again", Arithmetic::TF32, tf32);
        experiment.print(count > 1 ? arguments[1] : nullptr);
        for (const void* const array : {static_cast<const void*>(a), static_cast<const void*>(b), static_cast<const void*>(b_transposed),
                                        static_cast<const void*>(c)}) {
            CHECK(cudaFree(const_cast<void*>(array)));
        }
    }
}
