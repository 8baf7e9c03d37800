// 03-unroll: the same multiply-adds with fewer instructions around them, then with fewer loads from shared memory,
// until little remains but multiply-adds.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Since 02-conv-shared: `unroll_*` do several steps of the inner loop per iteration. `register_tile` and the kernels
//          after it give each thread a run of neighboring outputs. Their windows overlap, so one load of a sample from
//          shared memory serves every output of the run.
// Launch:  shared, unroll_*, wide_unroll: one thread for each output, BLOCK threads per block, one-dimensional.
//          The others: one thread for each run of outputs, RUN_THREADS threads per block. blockIdx.x counts tiles of
//          outputs and blockIdx.y counts slices of the filter. With several slices the results are partial sums, one
//          row of `outputs` for each slice, which `add_slices` adds up: one thread for each output, any block size.
// Work:    per output, `taps` multiply-adds. Bytes that a thread loads from shared memory for each of them: 8 in
//          `shared`, `unroll_*` and `wide_unroll`; 0.5 in `register_tile` (4 / RUN for the samples and 4 / RUN for the
//          filter); 0.25 in `constant_filter`; 0.14 in `long_run`.
// Sizes:   outputs >= 1, taps >= 1, `outputs + taps - 1` samples in `signal`, at most 2^31 of them. They need not be
//          multiples of anything. Tiles are padded with zeros, and a sample may be multiplied by one of them, so
//          samples have to be finite.

// Outputs of a block with one thread for each, and taps of its tile.
constexpr unsigned BLOCK = 256;
constexpr unsigned TILE = 256;
// Taps of a tile of `wide_unroll`.
constexpr unsigned WIDE_TILE = 1024;

// ANCHOR: convolve
// The kernels of chapter 02, with three changes. UNROLL steps of the inner loop become one iteration. Every tile has
// TAPS taps, the last one padded with zeros: the compiler knows how often the loop runs, and needs no second loop for a
// remainder. And the next tile is on its way from global memory while this one is used.
template <unsigned TAPS, unsigned UNROLL>
__device__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                         unsigned taps, float* __restrict__ output)
{
    // One sample more than needed: the filter after it then starts at a multiple of 16 bytes and can be loaded in vectors.
    __shared__ float s_signal[BLOCK + TAPS];
    __shared__ float s_filter[TAPS];

    const unsigned samples = outputs + taps - 1;
    const unsigned first = blockIdx.x * BLOCK;
    constexpr unsigned COPIES = TAPS / BLOCK;
    float signal_ahead[COPIES + 1];
    float filter_ahead[COPIES];
    const auto fetch = [&](unsigned tile) {
        for (unsigned copy = 0; copy < COPIES + 1; ++copy) {
            const unsigned i = first + tile + copy * BLOCK + threadIdx.x;
            signal_ahead[copy] = i < samples ? signal[i] : 0.0f;
        }
        for (unsigned copy = 0; copy < COPIES; ++copy) {
            const unsigned j = tile + copy * BLOCK + threadIdx.x;
            filter_ahead[copy] = j < taps ? filter[j] : 0.0f;
        }
    };
    fetch(0);
    float sum = 0.0f;
    for (unsigned tile = 0; tile < taps; tile += TAPS) {
        for (unsigned copy = 0; copy < COPIES + 1; ++copy) {
            s_signal[copy * BLOCK + threadIdx.x] = signal_ahead[copy];
        }
        for (unsigned copy = 0; copy < COPIES; ++copy) {
            s_filter[copy * BLOCK + threadIdx.x] = filter_ahead[copy];
        }
        // All threads have written the tile before any thread reads it.
        __syncthreads();
        if (tile + TAPS < taps) {
            fetch(tile + TAPS);
        }
        const float* window = s_signal + threadIdx.x;
        // ANCHOR: sum
#pragma unroll UNROLL
        for (unsigned k = 0; k < TAPS; ++k) {
            sum += window[k] * s_filter[k];
        }
        // ANCHOR_END: sum
        // All threads have read the tile before any thread overwrites it with the next one.
        __syncthreads();
    }
    if (first + threadIdx.x < outputs) {
        output[first + threadIdx.x] = sum;
    }
}
// ANCHOR_END: convolve

// ANCHOR: shared
// One multiply-add per iteration.
extern "C" __global__ void shared(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                  unsigned taps, float* __restrict__ output)
{
    convolve<TILE, 1>(signal, filter, outputs, taps, output);
}
// ANCHOR_END: shared

// ANCHOR: unroll
// The instructions that count and branch are needed once for 4, 8 or 16 multiply-adds. The neighboring filter values of an
// iteration, which are the same for all lanes, are loaded in vectors of four.
extern "C" __global__ void unroll_4(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    convolve<TILE, 4>(signal, filter, outputs, taps, output);
}

extern "C" __global__ void unroll_8(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    convolve<TILE, 8>(signal, filter, outputs, taps, output);
}

extern "C" __global__ void unroll_16(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                     unsigned taps, float* __restrict__ output)
{
    convolve<TILE, 16>(signal, filter, outputs, taps, output);
}
// ANCHOR_END: unroll

// ANCHOR: wide_unroll
// A larger tile: fewer copies of the samples that neighboring tiles share, and fewer barriers.
extern "C" __global__ void wide_unroll(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                       unsigned taps, float* __restrict__ output)
{
    convolve<WIDE_TILE, 16>(signal, filter, outputs, taps, output);
}
// ANCHOR_END: wide_unroll

// Threads of a block with a run of outputs for each. Small blocks spread more evenly over a chip.
constexpr unsigned RUN_THREADS = 64;
// Neighboring outputs of a thread, and taps of a tile.
constexpr unsigned RUN = 16;
constexpr unsigned RUN_TILE = 1024;
// The same in `long_run`. A run is seven vectors. With an odd number of vectors, eight neighboring lanes that load one
// vector each use eight different groups of four banks. With an even number there would be bank conflicts.
constexpr unsigned LONG_RUN = 28;
constexpr unsigned LONG_TILE = 2048;
// Floats of a vector, the most that a thread loads at once.
constexpr unsigned VECTOR = 4;
// Samples in a thread's window, and steps of the inner loop that become one iteration: after SLOTS steps, the window is
// back at its first slot.
constexpr unsigned SLOTS = 32;
// Filter values that fit in constant memory, which they fill: 64 KB.
constexpr unsigned CONSTANT_TAPS = 16384;
// A slice of the filter. The host copies it here before it launches a kernel that reads it.
__constant__ float4 c_filter[CONSTANT_TAPS / VECTOR];

enum class Filter { SHARED, CONSTANT };

// ANCHOR: convolve_runs
// LENGTH neighboring outputs for each thread, and the taps of one slice of the filter, in tiles of TAPS.
template <unsigned LENGTH, unsigned TAPS, Filter FILTER>
__device__ void convolve_runs(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                              unsigned taps, unsigned slice, float* __restrict__ output)
{
    static_assert(LENGTH % VECTOR == 0 && LENGTH + VECTOR <= SLOTS && TAPS % SLOTS == 0,
                  "the window has room for the next vector");
    constexpr unsigned OUTPUTS = RUN_THREADS * LENGTH;
    __shared__ float4 s_vectors[(OUTPUTS + TAPS) / VECTOR];
    __shared__ float4 s_filter[FILTER == Filter::SHARED ? TAPS / VECTOR : 1];
    float* s_signal = reinterpret_cast<float*>(s_vectors);

    const unsigned samples = outputs + taps - 1;
    const unsigned first = blockIdx.x * OUTPUTS;
    const unsigned end = min((blockIdx.y + 1) * slice, taps);
    float sum[LENGTH] = {};
    for (unsigned tile = blockIdx.y * slice; tile < end; tile += TAPS) {
        const unsigned steps = min(TAPS, end - tile);
        unsigned iterations = (steps + SLOTS - 1) / SLOTS;
        for (unsigned k = threadIdx.x; k < OUTPUTS + iterations * SLOTS; k += RUN_THREADS) {
            const unsigned i = first + tile + k;
            s_signal[k] = i < samples ? signal[i] : 0.0f;
        }
        if (FILTER == Filter::SHARED) {
            for (unsigned k = threadIdx.x; k < iterations * SLOTS; k += RUN_THREADS) {
                reinterpret_cast<float*>(s_filter)[k] = k < steps ? filter[tile + k] : 0.0f;
            }
        }
        // All threads have written the tile before any thread reads it.
        __syncthreads();

        // ANCHOR: window
        // Sample k of the thread is in slot k % SLOTS. A new sample overwrites one that no output needs any more, and
        // nothing ever moves. Once the loops are unrolled all indices are constants, so slots and sums are registers.
        float window[SLOTS];
        const float4* run = s_vectors + threadIdx.x * (LENGTH / VECTOR);
        const auto fetch = [&](unsigned k) {
            const float4 next = run[k / VECTOR];
            window[k % SLOTS] = next.x;
            window[(k + 1) % SLOTS] = next.y;
            window[(k + 2) % SLOTS] = next.z;
            window[(k + 3) % SLOTS] = next.w;
        };
        // ANCHOR_END: window
#pragma unroll
        for (unsigned k = 0; k < LENGTH; k += VECTOR) {
            fetch(k);
        }
        unsigned at = FILTER == Filter::SHARED ? 0 : tile / VECTOR;
        // ANCHOR: run_loop
#pragma unroll 1
        for (; iterations != 0; --iterations) {
#pragma unroll
            for (unsigned k = 0; k < SLOTS; k += VECTOR) {
                fetch(LENGTH + k);
                const float4 four = FILTER == Filter::SHARED ? s_filter[at + k / VECTOR] : c_filter[at + k / VECTOR];
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
        }
        // ANCHOR_END: run_loop
        // All threads have read the tile before any thread overwrites it with the next one or with its sums.
        __syncthreads();
    }

    // ANCHOR: store_run
    // Through shared memory, so that neighboring threads store neighboring outputs.
#pragma unroll
    for (unsigned i = 0; i < LENGTH; i += VECTOR) {
        s_vectors[(threadIdx.x * LENGTH + i) / VECTOR] = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
    }
    // All threads have written their sums before any thread reads those of others.
    __syncthreads();
    float* row = output + static_cast<size_t>(blockIdx.y) * outputs;
    for (unsigned k = threadIdx.x; k < OUTPUTS && first + k < outputs; k += RUN_THREADS) {
        row[first + k] = s_signal[k];
    }
    // ANCHOR_END: store_run
}
// ANCHOR_END: convolve_runs

// ANCHOR: register_tile
// One vector of samples and one vector of the filter are enough for RUN * VECTOR multiply-adds.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
register_tile(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
              unsigned slice, float* __restrict__ output)
{
    convolve_runs<RUN, RUN_TILE, Filter::SHARED>(signal, filter, outputs, taps, slice, output);
}
// ANCHOR_END: register_tile

// ANCHOR: at_least
// The register tile with a promise to the compiler: so many blocks should fit on a multiprocessor at once. The more
// blocks, the fewer registers a thread may use. What does not fit into them is spilled to local memory. Tiles of TILE
// taps take 6 KB of shared memory, so that registers alone limit the number of resident blocks.
extern "C" __global__ void __launch_bounds__(RUN_THREADS, 16)
at_least_16(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
            unsigned slice, float* __restrict__ output)
{
    convolve_runs<RUN, TILE, Filter::SHARED>(signal, filter, outputs, taps, slice, output);
}
// ANCHOR_END: at_least

// ANCHOR: at_least_more
extern "C" __global__ void __launch_bounds__(RUN_THREADS, 20)
at_least_20(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
            unsigned slice, float* __restrict__ output)
{
    convolve_runs<RUN, TILE, Filter::SHARED>(signal, filter, outputs, taps, slice, output);
}

extern "C" __global__ void __launch_bounds__(RUN_THREADS, 24)
at_least_24(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
            unsigned slice, float* __restrict__ output)
{
    convolve_runs<RUN, TILE, Filter::SHARED>(signal, filter, outputs, taps, slice, output);
}

extern "C" __global__ void __launch_bounds__(RUN_THREADS, 32)
at_least_32(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
            unsigned slice, float* __restrict__ output)
{
    convolve_runs<RUN, TILE, Filter::SHARED>(signal, filter, outputs, taps, slice, output);
}
// ANCHOR_END: at_least_more

// ANCHOR: add_slices
// Always in the same order, so the result is the same in every run. Atomic additions would happen in any order.
extern "C" __global__ void add_slices(const float* __restrict__ partial, unsigned outputs, unsigned slices,
                                      float* __restrict__ output)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    float sum = 0.0f;
    for (unsigned slice = 0; slice < slices; ++slice) {
        sum += partial[static_cast<size_t>(slice) * outputs + i];
    }
    output[i] = sum;
}
// ANCHOR_END: add_slices

// ANCHOR: constant_filter
// The `taps` filter values come from constant memory. All lanes need the same value, so a multiply-add can read it from
// a register that the whole warp shares. Only two of its three operands then come from the lanes' own registers.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
constant_filter(const float* __restrict__ signal, unsigned outputs, unsigned taps, unsigned slice,
                float* __restrict__ output)
{
    convolve_runs<RUN, RUN_TILE, Filter::CONSTANT>(signal, nullptr, outputs, taps, slice, output);
}
// ANCHOR_END: constant_filter

// ANCHOR: long_run
// More outputs for each thread, and so fewer loads per output.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
long_run(const float* __restrict__ signal, unsigned outputs, unsigned taps, unsigned slice, float* __restrict__ output)
{
    convolve_runs<LONG_RUN, LONG_TILE, Filter::CONSTANT>(signal, nullptr, outputs, taps, slice, output);
}
// ANCHOR_END: long_run
