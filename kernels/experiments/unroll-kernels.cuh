// The kernels of `unroll.cu`.
#pragma once

#include "../cuda/03-unroll.cu"

enum class Weights { SHARED, CONSTANT_LANE, CONSTANT_UNIFORM };

// The chapter's `convolve_runs` for a slice that is one tile and a multiple of SLOTS. The loop has COPIES bodies.
template <unsigned LENGTH, unsigned COPIES, Weights WEIGHTS>
__device__ void runs(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
                     unsigned slice, float* __restrict__ output)
{
    constexpr unsigned OUTPUTS = RUN_THREADS * LENGTH, TAPS = LENGTH == RUN ? RUN_TILE : LONG_TILE;
    __shared__ float4 s_vectors[(OUTPUTS + TAPS) / VECTOR];
    __shared__ float4 s_filter[WEIGHTS == Weights::SHARED ? TAPS / VECTOR : 1];
    float* s_signal = reinterpret_cast<float*>(s_vectors);
    const unsigned first = blockIdx.x * OUTPUTS, tile = blockIdx.y * slice;
    for (unsigned k = threadIdx.x; k < OUTPUTS + slice; k += RUN_THREADS) {
        const unsigned i = first + tile + k;
        s_signal[k] = i < outputs + taps - 1 ? signal[i] : 0.0f;
    }
    if (WEIGHTS == Weights::SHARED) {
        for (unsigned k = threadIdx.x; k < slice; k += RUN_THREADS) {
            reinterpret_cast<float*>(s_filter)[k] = filter[tile + k];
        }
    }
    // All threads have written the tile before any thread reads it.
    __syncthreads();
    float sum[LENGTH] = {}, window[SLOTS];
    const float4* run = s_vectors + threadIdx.x * (LENGTH / VECTOR);
    const auto fetch = [&](unsigned k) {
        const float4 next = run[k / VECTOR];
        window[k % SLOTS] = next.x;
        window[(k + 1) % SLOTS] = next.y;
        window[(k + 2) % SLOTS] = next.z;
        window[(k + 3) % SLOTS] = next.w;
    };
#pragma unroll
    for (unsigned k = 0; k < LENGTH; k += VECTOR) {
        fetch(k);
    }
    // An index that depends on the thread, as far as the compiler knows, makes it load into lanes' registers. It adds 0.
    unsigned at = WEIGHTS == Weights::SHARED ? 0 : tile / VECTOR + (WEIGHTS == Weights::CONSTANT_LANE ? threadIdx.x / 1024 : 0);
    unsigned iterations = slice / SLOTS;
    for (bool more = true; more;) {
#pragma unroll
        for (unsigned copy = 0; copy < COPIES; ++copy) {
#pragma unroll
            for (unsigned k = 0; k < SLOTS; k += VECTOR) {
                fetch(LENGTH + k);
                const float4 four = WEIGHTS == Weights::SHARED ? s_filter[at + k / VECTOR] : c_filter[at + k / VECTOR];
                const float weight[VECTOR] = {four.x, four.y, four.z, four.w};
#pragma unroll
                for (unsigned j = 0; j < VECTOR; ++j) {
#pragma unroll
                    for (unsigned i = 0; i < LENGTH; ++i) {
                        sum[i] += window[(k + j + i) % SLOTS] * weight[j];
                    }
                }
            }
            run += SLOTS / VECTOR;
            at += SLOTS / VECTOR;
            more = --iterations != 0;
            if (!more) {
                break;
            }
        }
    }
    // All threads have read the tile before any thread overwrites it with its sums.
    __syncthreads();
    for (unsigned i = 0; i < LENGTH; ++i) {
        s_signal[threadIdx.x * LENGTH + i] = sum[i];
    }
    // All threads have written their sums before any thread reads those of others.
    __syncthreads();
    for (unsigned k = threadIdx.x; k < OUTPUTS && first + k < outputs; k += RUN_THREADS) {
        output[static_cast<size_t>(blockIdx.y) * outputs + first + k] = s_signal[k];
    }
}

#define KERNEL(NAME, ...)                                                                                                          \
    extern "C" __global__ void __launch_bounds__(RUN_THREADS)                                                                      \
    NAME(const float* signal, const float* filter, unsigned outputs, unsigned taps, unsigned slice, float* output)                 \
    {                                                                                                                              \
        runs<__VA_ARGS__>(signal, filter, outputs, taps, slice, output);                                                           \
    }
KERNEL(copies_1, LONG_RUN, 1, Weights::CONSTANT_UNIFORM)
KERNEL(copies_2, LONG_RUN, 2, Weights::CONSTANT_UNIFORM)
KERNEL(copies_3, LONG_RUN, 3, Weights::CONSTANT_UNIFORM)
KERNEL(copies_4, LONG_RUN, 4, Weights::CONSTANT_UNIFORM)
KERNEL(filter_shared, RUN, 1, Weights::SHARED)
KERNEL(filter_lane, RUN, 1, Weights::CONSTANT_LANE)
KERNEL(filter_uniform, RUN, 1, Weights::CONSTANT_UNIFORM)

// Loads SUMS sums, four values of x and eight of y, and adds x * y to each sum STEPS times in an iteration. What counts is the number
// of FFMAs, since a patch writes their registers, and that loads and stores have the sums in the same registers.
constexpr unsigned QUADS = 8, SUMS = 4 * QUADS, STEPS = 8, ITERATIONS = 256, FFMA_THREADS = 512, INPUTS = SUMS + 12;
extern "C" __global__ void __launch_bounds__(FFMA_THREADS) multiply_adds(const float4* in, float4* out)
{
    const float4* mine = in + threadIdx.x * (INPUTS / 4);
    float4 sum[QUADS];
    for (unsigned q = 0; q < QUADS; ++q) {
        sum[q] = mine[q];
    }
    const float4 x = mine[QUADS], y[2] = {mine[QUADS + 1], mine[QUADS + 2]};
#pragma unroll 1
    for (unsigned iteration = 0; iteration < ITERATIONS; ++iteration) {
#pragma unroll
        for (unsigned q = 0; q < STEPS * QUADS; ++q) {
            float4& s = sum[q % QUADS];
            s = make_float4(fmaf(x.x, y[q % 2].x, s.x), fmaf(x.y, y[q % 2].y, s.y), fmaf(x.z, y[q % 2].z, s.z), fmaf(x.w, y[q % 2].w, s.w));
        }
    }
    for (unsigned q = 0; q < QUADS; ++q) {
        out[(blockIdx.x * FFMA_THREADS + threadIdx.x) * QUADS + q] = sum[q];
    }
}
