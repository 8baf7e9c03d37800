// How fast are CUTLASS's own kernels on tensor cores for chapter 06's headline problem, 4096 x 4096 x 4096 in f32?
//
// Rows:
//
//     cublas-tf32         cublasGemmEx as in chapter 06: the link to the records cublaslt-*
//     cutlass-tf32        CUTLASS 3 for sm_90, wgmma and TMA, made by its CollectiveBuilder: tiles of 128 x 256 x 32, two blocks in a
//                         cluster, two warpgroups of consumers per tile (cooperative). `b` is stored column by column ("TN").
//                         There is no row for `b` stored row by row: wgmma reads factors of tf32 along `k` only.
//     cutlass-3xtf32      three products for about the accuracy of f32, as `tensor-3xtf32` of the chapter. CUTLASS 2 for sm_80:
//                         mma.sync, tiles of 128 x 128 x 16, three stages. `b` is stored column by column.
//     cutlass-3xtf32-nn   the same for `b` stored row by row
//     cublas-tf32-again   the first row once more: how far rows differ without a reason
//
// The tiles are common choices. They are not the best of a search.
//
//     nvcc -std=c++17 -O3 -DNDEBUG -arch=sm_90a --expt-relaxed-constexpr -I CUTLASS/include -I CUTLASS/tools/util/include
//          cutlass.cu -o cutlass -lcublas -lnvidia-ml -lcuda
//     ./cutlass FOLDER     writes experiment-cutlass-4096.json
//
// CUTLASS is a folder with CUTLASS 4.2, as the wheel nvidia-cutlass has it in cutlass_library/source. Without NDEBUG, its kernels have
// assertions, which are calls of functions, and ptxas serializes all wgmma instructions (warning C7510). Compiling takes a minute.

#include "matmul.cuh"

#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm.h>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>
#include <cutlass/version.h>

#include <memory>

constexpr int N = 4096;

void check(cutlass::Status result, const char* what, int line)
{
    if (result != cutlass::Status::kSuccess) {
        std::fprintf(stderr, "line %d: %s: %s\n", line, what, cutlassGetStatusString(result));
        std::exit(1);
    }
}

// Enqueues the product with arguments that were prepared before.
template <class Gemm> std::function<void()> prepared(const typename Gemm::Arguments& arguments)
{
    const auto gemm = std::make_shared<Gemm>();
    CHECK(gemm->can_implement(arguments));
    char* const workspace = device_array<char>(Gemm::get_workspace_size(arguments) + 1);
    CHECK(gemm->initialize(arguments, workspace));
    return [gemm] { CHECK(gemm->run()); };
}

constexpr int ALIGNMENT = 4;
using RowByRow = cutlass::layout::RowMajor;
using ColumnByColumn = cutlass::layout::ColumnMajor;
using Tile = cute::Shape<cute::_128, cute::_256, cute::_32>;
using Cluster = cute::Shape<cute::_2, cute::_1, cute::_1>;
using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float, void,
    RowByRow, ALIGNMENT, float, RowByRow, ALIGNMENT, cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;
using Stages = cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(Epilogue::SharedStorage))>;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, float, RowByRow, ALIGNMENT, float, ColumnByColumn, ALIGNMENT, float, Tile, Cluster,
    Stages, cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;

template <class Stride> Stride packed() { return cutlass::make_cute_packed_stride(Stride{}, cute::make_shape(N, N, 1)); }

// f32 numbers as factors of tf32 products.
std::function<void()> tf32(const float* a, const float* b, float* c)
{
    return prepared<cutlass::gemm::device::GemmUniversalAdapter<Kernel>>(
        {cutlass::gemm::GemmUniversalMode::kGemm,
         {N, N, N, 1},
         {a, packed<Kernel::StrideA>(), b, packed<Kernel::StrideB>()},
         {{1.0f, 0.0f}, nullptr, {}, c, packed<Kernel::StrideD>()}});
}

// Each factor is the sum of two tf32 numbers, and three of the four products are added up.
template <class LayoutOfB> std::function<void()> three_tf32(const float* a, const float* b, float* c)
{
    using Gemm = cutlass::gemm::device::Gemm<
        float, RowByRow, float, LayoutOfB, float, RowByRow, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
        cutlass::gemm::GemmShape<128, 128, 16>, cutlass::gemm::GemmShape<64, 32, 16>, cutlass::gemm::GemmShape<16, 8, 8>,
        cutlass::epilogue::thread::LinearCombination<float, 4, float, float>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>,
        3, 4, 4, false, cutlass::arch::OpMultiplyAddFastF32>;
    return prepared<Gemm>({{N, N, N}, {a, N}, {b, N}, {c, N}, {c, N}, {1.0f, 0.0f}});
}

int main(int count, char** arguments)
{
    const float* const a = matrix_of(N, Input::RANDOM, 0);
    const float* const b = matrix_of(N, Input::RANDOM, 1);
    const float* const b_transposed = matrix_of(N, Input::RANDOM, 1, true);
    float* const c = device_array<float>(static_cast<size_t>(N) * N);
    const Reference reference(N, Input::RANDOM);
    const Cublas cublas;
    const std::string version = measure::format("CUTLASS %d.%d.%d", CUTLASS_MAJOR, CUTLASS_MINOR, CUTLASS_PATCH);

    Experiment experiment("cutlass-4096", measure::format("\"m\": %d, \"n\": %d, \"k\": %d", N, N, N));
    const auto row = [&](const char* name, Arithmetic arithmetic, const std::function<void()>& enqueue, const std::string& library) {
        poison(c, N);
        experiment.row(name, enqueue, [&] { return reference.agrees(c, arithmetic); }, library);
    };
    const auto rival = [&] { cublas.multiply(N, a, b, c, CUBLAS_COMPUTE_32F_FAST_TF32); };

    row("cublas-tf32", Arithmetic::TF32, rival, cublas.version());
    row("cutlass-tf32", Arithmetic::TF32, tf32(a, b_transposed, c), version);
    row("cutlass-3xtf32", Arithmetic::THREE_TF32, three_tf32<ColumnByColumn>(a, b_transposed, c), version);
    row("cutlass-3xtf32-nn", Arithmetic::THREE_TF32, three_tf32<RowByRow>(a, b, c), version);
    row("cublas-tf32-again", Arithmetic::TF32, rival, cublas.version());
    experiment.print(count > 1 ? arguments[1] : nullptr);
}
