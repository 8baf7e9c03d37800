// 03-unroll: the same multiply-adds with fewer instructions around them, then with fewer trips to shared memory, until little is left
// but multiply-adds.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Since 02-conv-shared: `unroll_*` take several steps of the inner loop at once. `register_tile` and those behind it give each
//          thread a run of neighbouring outputs: their windows overlap, so that a sample which is fetched from shared memory
//          once serves every output of the run.
// Launch:  shared, unroll_*, wide_unroll: a thread for each output, BLOCK threads in a block, one-dimensional.
//          The others: a thread for each run of outputs, RUN_THREADS threads in a block; blockIdx.x counts tiles of outputs and
//          blockIdx.y slices of the filter. With several slices the results are partial sums, a row of `outputs` for each slice,
//          which `add_slices` adds up: a thread for each output, any block size.
// Work:    per output `taps` multiply-adds. Bytes that a thread loads from shared memory for each of them: 8 in `shared`, `unroll_*`
//          and `wide_unroll`; 0.5 in `register_tile`, 4 / RUN for the samples and as much for the filter; 0.25 in
//          `constant_filter`; 0.14 in `long_run`.
// Sizes:   outputs >= 1, taps >= 1, `outputs + taps - 1` samples in `signal`, at most 2^31 of them. No multiples of anything. Tiles are
//          filled up with zeros, and a sample may meet one of them: samples have to be finite.

// Outputs of a block that has a thread for each, and taps of its tile.
constexpr unsigned BLOCK = 256;
constexpr unsigned TILE = 256;
// Taps of a tile of `wide_unroll`.
constexpr unsigned WIDE_TILE = 1024;

// ANCHOR: convolve
// The kernels of chapter 02, with three changes. UNROLL steps of the inner loop become one turn. Every tile has TAPS taps, the last one
// with zeros at its end: the loop runs a number of times that the compiler knows, and needs no second loop for what is left over.
// And the next tile is on its way from global memory while this one is used.
template <unsigned TAPS, unsigned UNROLL>
__device__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                         unsigned taps, float* __restrict__ output)
{
    // One sample more than is needed: the filter behind it then starts at a multiple of 16 bytes, and can be loaded in vectors.
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
        // The tile is written, by all threads, before any thread reads it.
        __syncthreads();
        if (tile + TAPS < taps) {
            fetch(tile + TAPS);
        }
        const float* window = s_signal + threadIdx.x;
#pragma unroll UNROLL
        for (unsigned k = 0; k < TAPS; ++k) {
            sum += window[k] * s_filter[k];
        }
        // The tile is read, by all threads, before any thread writes the next one in its place.
        __syncthreads();
    }
    if (first + threadIdx.x < outputs) {
        output[first + threadIdx.x] = sum;
    }
}
// ANCHOR_END: convolve

// ANCHOR: shared
// One multiply-add per turn.
extern "C" __global__ void shared(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                  unsigned taps, float* __restrict__ output)
{
    convolve<TILE, 1>(signal, filter, outputs, taps, output);
}
// ANCHOR_END: shared

// ANCHOR: unroll
// Of the instructions for a multiply-add, those that count and jump are shared by 4, 8 or 16. The neighbouring filter values of a
// turn, which are the same for all lanes, come in vectors of four.
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
// A larger tile: fewer copies of what neighbouring tiles share, and fewer barriers.
extern "C" __global__ void wide_unroll(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                       unsigned taps, float* __restrict__ output)
{
    convolve<WIDE_TILE, 16>(signal, filter, outputs, taps, output);
}
// ANCHOR_END: wide_unroll

// Threads of a block whose threads have runs of outputs. Small blocks spread more evenly over a chip.
constexpr unsigned RUN_THREADS = 64;
// Neighbouring outputs of a thread, and taps of a tile.
constexpr unsigned RUN = 16;
constexpr unsigned RUN_TILE = 1024;
// The same in `long_run`. Seven vectors: with an odd number of them, eight neighbouring lanes that load a vector each find it in eight
// different places of the 32 banks. With an even number, some would wait for each other.
constexpr unsigned LONG_RUN = 28;
constexpr unsigned LONG_TILE = 2048;
// Floats of a vector, the most that a thread loads at once.
constexpr unsigned VECTOR = 4;
// Samples in a thread's window, and steps of the inner loop that become one turn: after as many, the window stands where it began.
constexpr unsigned SLOTS = 32;
// Filter values that fit in constant memory, all of its 64 KB.
constexpr unsigned CONSTANT_TAPS = 16384;
// A part of the filter; the host copies it here before it launches a kernel that looks for it.
__constant__ float4 c_filter[CONSTANT_TAPS / VECTOR];

enum class Filter { SHARED, CONSTANT };

// ANCHOR: convolve_runs
// LENGTH neighbouring outputs for each thread, and the taps of one slice of the filter, in tiles of TAPS.
template <unsigned LENGTH, unsigned TAPS, Filter FILTER>
__device__ void convolve_runs(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                              unsigned taps, unsigned slice, float* __restrict__ output)
{
    static_assert(LENGTH % VECTOR == 0 && LENGTH + VECTOR <= SLOTS && TAPS % SLOTS == 0, "the window has room for the next vector");
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
        unsigned turns = (steps + SLOTS - 1) / SLOTS;
        for (unsigned k = threadIdx.x; k < OUTPUTS + turns * SLOTS; k += RUN_THREADS) {
            const unsigned i = first + tile + k;
            s_signal[k] = i < samples ? signal[i] : 0.0f;
        }
        if (FILTER == Filter::SHARED) {
            for (unsigned k = threadIdx.x; k < turns * SLOTS; k += RUN_THREADS) {
                reinterpret_cast<float*>(s_filter)[k] = k < steps ? filter[tile + k] : 0.0f;
            }
        }
        // The tile is written, by all threads, before any thread reads it.
        __syncthreads();

        // Sample k of the thread is in slot k % SLOTS: the next one takes the place of one that no output needs any more, and
        // nothing is ever moved. All indices are constants once the loops are unrolled, so that slots and sums are registers.
        float window[SLOTS];
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
        unsigned at = FILTER == Filter::SHARED ? 0 : tile / VECTOR;
#pragma unroll 1
        for (; turns != 0; --turns) {
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
        // The tile is read, by all threads, before any thread writes the next one, or its sums, in its place.
        __syncthreads();
    }

    // Through shared memory, so that neighbouring threads store neighbouring outputs.
#pragma unroll
    for (unsigned i = 0; i < LENGTH; i += VECTOR) {
        s_vectors[(threadIdx.x * LENGTH + i) / VECTOR] = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
    }
    // The sums are written, by all threads, before any thread reads those of others.
    __syncthreads();
    float* row = output + static_cast<size_t>(blockIdx.y) * outputs;
    for (unsigned k = threadIdx.x; k < OUTPUTS && first + k < outputs; k += RUN_THREADS) {
        row[first + k] = s_signal[k];
    }
}
// ANCHOR_END: convolve_runs

// ANCHOR: register_tile
// For RUN * VECTOR multiply-adds, one vector of samples and one of the filter.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
register_tile(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
              unsigned slice, float* __restrict__ output)
{
    convolve_runs<RUN, RUN_TILE, Filter::SHARED>(signal, filter, outputs, taps, slice, output);
}
// ANCHOR_END: register_tile

// ANCHOR: add_slices
// Always in the same order, so that the result is the same in every run; atomic additions would come in any order.
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
// The filter comes from constant memory, `taps` values of it. All lanes want the same one, and a multiply-add can take it from a
// register that belongs to the whole warp: of its three operands, two are left that come from the lanes' own registers.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
constant_filter(const float* __restrict__ signal, unsigned outputs, unsigned taps, unsigned slice, float* __restrict__ output)
{
    convolve_runs<RUN, RUN_TILE, Filter::CONSTANT>(signal, nullptr, outputs, taps, slice, output);
}
// ANCHOR_END: constant_filter

// ANCHOR: long_run
// More outputs for each thread: fewer loads for each of them.
extern "C" __global__ void __launch_bounds__(RUN_THREADS)
long_run(const float* __restrict__ signal, unsigned outputs, unsigned taps, unsigned slice, float* __restrict__ output)
{
    convolve_runs<LONG_RUN, LONG_TILE, Filter::CONSTANT>(signal, nullptr, outputs, taps, slice, output);
}
// ANCHOR_END: long_run
