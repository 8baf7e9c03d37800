// CUTLASS's products of half precision for half.cu: its kernels for sm_90, with wgmma, TMA and the roles of the chapter's kernels, as its
// CollectiveBuilder makes them. The tile is the chapter's, two blocks share B by multicast, and the number of stages is CUTLASS's own choice.

#pragma once

#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>
#include <cutlass/version.h>

#include <functional>
#include <memory>

inline void check(cutlass::Status result, const char* what, int line)
{
    if (result != cutlass::Status::kSuccess) {
        std::fprintf(stderr, "line %d: %s: %s\n", line, what, cutlassGetStatusString(result));
        std::exit(1);
    }
}

// Products of T, with A stored row by row, B in this layout, and sums that are rounded to bf16. A slab of K has 128 bytes.
template <class T, class LayoutOfB, class Schedule> struct Cutlass {
    static constexpr int ALIGNMENT = 16 / sizeof(T);
    using RowByRow = cutlass::layout::RowMajor;
    using Bf16 = cutlass::bfloat16_t;
    using Tile = cute::Shape<cute::_128, cute::_256, cute::Int<128 / sizeof(T)>>;
    using Cluster = cute::Shape<cute::_2, cute::_1, cute::_1>;
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float, void,
        RowByRow, 8, Bf16, RowByRow, 8, cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;
    using Stages = cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, T, RowByRow, ALIGNMENT, T, LayoutOfB, ALIGNMENT, float, Tile, Cluster, Stages,
        Schedule>::CollectiveOp;
    using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

    // Returns what enqueues the product, with arguments that were prepared before.
    static std::function<void()> prepared(int m, int n, int k, const void* a, const void* b, void* c)
    {
        const auto packed = [](auto stride, int rows, int columns) {
            return cutlass::make_cute_packed_stride(stride, cute::make_shape(rows, columns, 1));
        };
        const typename Gemm::Arguments arguments{
            cutlass::gemm::GemmUniversalMode::kGemm,
            {m, n, k, 1},
            {static_cast<const T*>(a), packed(typename Kernel::StrideA{}, m, k), static_cast<const T*>(b), packed(typename Kernel::StrideB{}, n, k)},
            {{1.0f, 0.0f}, nullptr, {}, static_cast<Bf16*>(c), packed(typename Kernel::StrideD{}, m, n)}};
        const auto gemm = std::make_shared<Gemm>();
        CHECK(gemm->can_implement(arguments));
        CHECK(gemm->initialize(arguments, device_array<char>(Gemm::get_workspace_size(arguments) + 1)));
        return [gemm] { CHECK(gemm->run()); };
    }
};

using CutlassBf16 = Cutlass<cutlass::bfloat16_t, cutlass::layout::RowMajor, cutlass::gemm::KernelTmaWarpSpecializedCooperative>;
using CutlassFp8 =
    Cutlass<cutlass::float_e4m3_t, cutlass::layout::ColumnMajor, cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8FastAccum>;
