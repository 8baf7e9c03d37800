// 03-unroll-tensor: the convolution as a product of matrices, for tensor cores.
//
//     output[COLUMNS r + c] = sum over m of A[r][m] * B[m][c],   A[r][m] = signal[COLUMNS r + m],   B[m][c] = filter[m - c]
//
// Since 03-unroll: the outputs are arranged in rows of COLUMNS. A is the signal itself, read with a stride of COLUMNS,
//          so its rows overlap and nothing is copied. B is a band: every column contains the filter, one row lower than
//          in the previous column, and zeros elsewhere. The zeros are multiplied too: COLUMNS - 1 of them per column,
//          whatever the length of the filter.
//
//          Tensor cores take factors of 11 binary digits, but an f32 has 24. So each factor becomes the sum of two,
//          high + low, and each product becomes three: high * high + high * low + low * high. The missing low * low is
//          at most 2^-22 of the product.
//
// Launch:  blocks of THREADS; blockIdx.x counts tiles of ROWS * COLUMNS outputs, blockIdx.y slices of `lines` rows of
//          taps. With several slices the results are partial sums, one row of `outputs` for each slice, for
//          `add_slices` of 03-unroll. Dynamic shared memory: (ROWS + lines) * PITCH * 8 bytes for tensor_tf32x3; (ROWS
//          + lines) * HALF_PITCH * 4 bytes and (COLUMNS * lines + MARGIN) * 8 bytes for tensor_f16x3.
// Work:    per output, 3 (taps + COLUMNS - 1) multiply-adds on tensor cores, rounded up to the next multiple of COLUMNS.
//          A warp multiplies 16 rows by COLUMNS columns. For every 8 taps (16 with f16) it loads 16 x 8 (16 x 16)
//          samples and 8 x 8 (16 x 8) values of the band, both as high and low parts.
// Sizes:   outputs >= 1, taps >= 1, `outputs + taps - 1` samples in `signal`, at most 2^31 of them. All are finite, because
//          samples next to the filter are multiplied by zeros, and below 3.4e38, because the high part is rounded up.
//          `signal` starts at a multiple of 16 bytes. Every slice has at least one row of taps.

// Outputs of a row: the distance from one row of A to the next.
constexpr unsigned COLUMNS = 64;
// Rows of a block. Each of its warps has the 16 rows of an `mma`.
constexpr unsigned ROWS = 64;
constexpr unsigned THREADS = 128;
static_assert(ROWS / 16 == THREADS / 32, "a warp for every 16 rows");
// Columns of an `mma`, and the number of `mma`s across a row.
constexpr unsigned N = 8;
constexpr unsigned PARTS = COLUMNS / N;
// Resident blocks per multiprocessor: with 12 warps, its tensor cores are never idle for long.
constexpr unsigned BLOCKS_PER_SM = 3;
// Length of a row of the tile in shared memory, in floats. The padding of 4 floats shifts each row by 4 banks, so the 8
// rows and 4 columns that a warp loads at a time are in 32 different banks.
constexpr unsigned PITCH = 68;
static_assert(PITCH == COLUMNS + 4, "the padding moves rows by 4 banks");
// The same in f16: the 8 rows of 16 bytes that `ldmatrix` loads at a time are in 32 different banks.
constexpr unsigned HALF_PITCH = 72;
static_assert(HALF_PITCH == COLUMNS + 8, "the padding moves rows by 4 banks");
// Zeros in front of the filter, which the first rows of the band contain.
constexpr unsigned MARGIN = 64;
static_assert(MARGIN >= COLUMNS - 1, "the last column begins that far before the filter");

// A factor as the sum of two.
struct Split {
    unsigned high;
    unsigned low;
};

// Four neighboring samples of the signal, with zeros after its end.
__device__ float4 samples_from(const float* __restrict__ signal, unsigned at, unsigned samples)
{
    if (at + 4 <= samples) {
        return *reinterpret_cast<const float4*>(signal + at);
    }
    return make_float4(at < samples ? signal[at] : 0.0f, at + 1 < samples ? signal[at + 1] : 0.0f,
                       at + 2 < samples ? signal[at + 2] : 0.0f, 0.0f);
}

// Stores the 16 x COLUMNS sums of a warp. Lane 4 g + t has columns 2 t and 2 t + 1 of rows g and g + 8.
__device__ void store(const float (&sums)[PARTS][4], unsigned first, unsigned outputs, float* __restrict__ output)
{
#pragma unroll
    for (unsigned part = 0; part < PARTS; ++part) {
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned at = first + i / 2 * 8 * COLUMNS + part * N + i % 2;
            if (at < outputs) {
                output[at] = sums[part][i];
            }
        }
    }
}

// ANCHOR: tf32
// The nearest tf32 number, and the tf32 number nearest to the remainder.
__device__ Split split(float value)
{
    Split parts;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(parts.high) : "f"(value));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(parts.low) : "f"(value - __uint_as_float(parts.high)));
    return parts;
}

// sums += A B, with 16 x 8 values of A and 8 x 8 of B, distributed over the lanes of a warp.
__device__ void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// ANCHOR_END: tf32

// ANCHOR: tensor_tf32x3
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
tensor_tf32x3(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
              unsigned lines, float* __restrict__ output)
{
    constexpr unsigned K = 8;
    constexpr unsigned STEPS = COLUMNS / K;
    extern __shared__ unsigned s_high[];
    unsigned* const s_low = s_high + (ROWS + lines) * PITCH;

    const unsigned samples = outputs + taps - 1;
    const unsigned first_line = blockIdx.y * lines;
    // The last slice can be shorter.
    const unsigned end = min(lines, (taps + 2 * COLUMNS - 2) / COLUMNS - first_line);
    const unsigned first = (blockIdx.x * ROWS + first_line) * COLUMNS;
    // For the next row of taps, every row of outputs needs the next row of the signal. So the whole tile is ROWS + end
    // rows of the signal.
    for (unsigned i = threadIdx.x; i < (ROWS + end) * (COLUMNS / 4); i += THREADS) {
        const float4 four = samples_from(signal, first + 4 * i, samples);
        const Split x = split(four.x), y = split(four.y), z = split(four.z), w = split(four.w);
        const unsigned at = 4 * i / COLUMNS * PITCH + 4 * i % COLUMNS;
        *reinterpret_cast<uint4*>(s_high + at) = make_uint4(x.high, y.high, z.high, w.high);
        *reinterpret_cast<uint4*>(s_low + at) = make_uint4(x.low, y.low, z.low, w.low);
    }
    // All threads have written the tile before any thread reads it.
    __syncthreads();

    const unsigned warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    // The small products have separate sums. A tensor core cuts off all digits that are more than 25 below the first
    // digit of the largest term. Added to the large products, the small ones would lose most of theirs.
    float large[PARTS][4] = {};
    float small[PARTS][4] = {};
    // A lane's value of B at tap m and column c depends only on m - c. So column c of one step is column c + 8 of the next,
    // and each step loads only one column: column `part` of step `step` is in slot (step - part) modulo PARTS.
    unsigned high[PARTS][2], low[PARTS][2];
    // The tap of this lane in column 0, which can be before the first. It is signed so that the taps of all steps are
    // one address with different offsets.
    int tap = static_cast<int>(first_line * COLUMNS + member - group);
    const auto weight = [&](int tap) { return static_cast<unsigned>(tap) < taps ? filter[tap] : 0.0f; };
    const auto load_column = [&](unsigned slot, float upper, float lower) {
        const Split first_half = split(upper), second_half = split(lower);
        high[slot][0] = first_half.high, high[slot][1] = second_half.high;
        low[slot][0] = first_half.low, low[slot][1] = second_half.low;
    };
#pragma unroll
    for (unsigned part = 1; part < PARTS; ++part) {
        const int before = static_cast<int>(N * part);
        load_column(PARTS - part, weight(tap - before), weight(tap - before + 4));
    }
    // Load one step ahead, so the values have time to arrive.
    float upper = weight(tap), lower = weight(tap + 4);
    const unsigned* row = s_high + (warp * 16 + group) * PITCH + member;
    const unsigned to_low = (ROWS + lines) * PITCH;
#pragma unroll 1
    for (unsigned line = 0; line < end; ++line, row += PITCH, tap += COLUMNS) {
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
            load_column(step, upper, lower);
            const int next = static_cast<int>((step + 1) * K);
            upper = weight(tap + next);
            lower = weight(tap + next + 4);
            const unsigned* const of_high = row + step * K;
            const unsigned* const of_low = of_high + to_low;
            const unsigned a_high[4] = {of_high[0], of_high[8 * PITCH], of_high[4], of_high[8 * PITCH + 4]};
            const unsigned a_low[4] = {of_low[0], of_low[8 * PITCH], of_low[4], of_low[8 * PITCH + 4]};
            // ANCHOR: three_products
#pragma unroll
            for (unsigned part = 0; part < PARTS; ++part) {
                multiply_add(small[part], a_low, high[(step + PARTS - part) % PARTS]);
            }
#pragma unroll
            for (unsigned part = 0; part < PARTS; ++part) {
                multiply_add(small[part], a_high, low[(step + PARTS - part) % PARTS]);
            }
#pragma unroll
            for (unsigned part = 0; part < PARTS; ++part) {
                multiply_add(large[part], a_high, high[(step + PARTS - part) % PARTS]);
            }
            // ANCHOR_END: three_products
        }
    }
#pragma unroll
    for (unsigned part = 0; part < PARTS; ++part) {
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            large[part][i] += small[part][i];
        }
    }
    const unsigned first_output = (blockIdx.x * ROWS + warp * 16 + group) * COLUMNS + 2 * member;
    store(large, first_output, outputs, output + static_cast<unsigned long long>(blockIdx.y) * outputs);
}
// ANCHOR_END: tensor_tf32x3

// Two f16 in a word, the second in the upper half.
__device__ unsigned halves(float first, float second)
{
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

__device__ float half_value(unsigned pair, unsigned which)
{
    float value;
    asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "r"(pair >> 16 * which));
    return value;
}

// Two neighboring values as two pairs of f16: the high parts and the low parts.
__device__ Split split_pair(float first, float second)
{
    const unsigned high = halves(first, second);
    return {high, halves(first - half_value(high, 0), second - half_value(high, 1))};
}

// 2 to a power from -126 to 127.
__device__ float power_of_two(int exponent)
{
    return __int_as_float((exponent + 127) << 23);
}

// `value` times 2 to the power `exponent`, for any exponent that the scales of this file can have.
__device__ float scaled(float value, int exponent)
{
    const int half = max(-126, min(127, exponent / 2));
    return value * power_of_two(half) * power_of_two(max(-126, min(127, exponent - half)));
}

// The exponent of the power of two that brings the number with the bits `largest` to at least 2^14 and below 2^15. The
// range of f16 ends at 65504.
__device__ int scale_of(unsigned largest)
{
    if (largest == 0) {
        return 0;
    }
    const int exponent = largest >= 0x00800000 ? static_cast<int>(largest >> 23) - 127 : 31 - __clz(largest) - 149;
    return 14 - exponent;
}

// Blocks of `magnitudes`. Each leaves one maximum for the signal and one for the filter.
constexpr unsigned MAXIMA = 128;
constexpr unsigned MAXIMA_THREADS = 256;

// ANCHOR: magnitudes
// The largest magnitudes of signal and filter, as bits: the bits of positive floats have the same order as the floats.
// Launch: MAXIMA blocks of MAXIMA_THREADS. `maxima` gets one number per block for the signal, and then one per block
// for the filter.
extern "C" __global__ void magnitudes(const float* __restrict__ signal, unsigned samples, const float* __restrict__ filter,
                                      unsigned taps, unsigned* __restrict__ maxima)
{
    constexpr unsigned WARPS = MAXIMA_THREADS / 32;
    __shared__ unsigned s_largest[2][WARPS];
    unsigned of_signal = 0, of_filter = 0;
    for (unsigned i = blockIdx.x * MAXIMA_THREADS + threadIdx.x; i < samples; i += MAXIMA * MAXIMA_THREADS) {
        of_signal = max(of_signal, __float_as_uint(fabsf(signal[i])));
    }
    for (unsigned i = blockIdx.x * MAXIMA_THREADS + threadIdx.x; i < taps; i += MAXIMA * MAXIMA_THREADS) {
        of_filter = max(of_filter, __float_as_uint(fabsf(filter[i])));
    }
    of_signal = __reduce_max_sync(~0u, of_signal);
    of_filter = __reduce_max_sync(~0u, of_filter);
    if (threadIdx.x % 32 == 0) {
        s_largest[0][threadIdx.x / 32] = of_signal;
        s_largest[1][threadIdx.x / 32] = of_filter;
    }
    // All warps have written their maxima before any thread reads them.
    __syncthreads();
    if (threadIdx.x < 2) {
        unsigned largest = 0;
        for (unsigned warp = 0; warp < WARPS; ++warp) {
            largest = max(largest, s_largest[threadIdx.x][warp]);
        }
        maxima[threadIdx.x * MAXIMA + blockIdx.x] = largest;
    }
}
// ANCHOR_END: magnitudes

// sums += A B, with 16 x 16 values of A and 16 x 8 of B, distributed over the lanes of a warp.
__device__ void multiply_add_halves(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Loads 16 x 16 values of A. Each lane passes the address of one of the 32 half rows.
__device__ void load_matrix(unsigned (&a)[4], const unsigned short* s_half_row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(s_half_row))));
}

// ANCHOR: tensor_f16x3
// The same with f16, of which tensor cores multiply twice as many in the same time. An f16 has as many digits as tf32
// but a much smaller range of exponents. So signal and filter are scaled into this range by powers of two, which follow
// from `maxima`. Values that are 2^39 times smaller than the largest are lost.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
tensor_f16x3(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
             unsigned lines, const unsigned* __restrict__ maxima, float* __restrict__ output)
{
    constexpr unsigned K = 16;
    constexpr unsigned STEPS = COLUMNS / K;
    extern __shared__ uint2 s_weights[];
    unsigned short* const s_high = reinterpret_cast<unsigned short*>(s_weights + COLUMNS * lines + MARGIN);
    unsigned short* const s_low = s_high + (ROWS + lines) * HALF_PITCH;
    __shared__ int s_scales[2];

    if (threadIdx.x < 64) {
        // One warp for the signal and one for the filter.
        const unsigned which = threadIdx.x / 32;
        unsigned largest = 0;
        for (unsigned i = threadIdx.x % 32; i < MAXIMA; i += 32) {
            largest = max(largest, maxima[which * MAXIMA + i]);
        }
        largest = __reduce_max_sync(~0u, largest);
        if (threadIdx.x % 32 == 0) {
            s_scales[which] = scale_of(largest);
        }
    }
    // Both scales are written before any thread reads them.
    __syncthreads();
    const int signal_scale = s_scales[0], filter_scale = s_scales[1];

    const unsigned samples = outputs + taps - 1;
    const unsigned first_line = blockIdx.y * lines;
    const unsigned end = min(lines, (taps + 2 * COLUMNS - 2) / COLUMNS - first_line);
    const unsigned first = (blockIdx.x * ROWS + first_line) * COLUMNS;
    for (unsigned i = threadIdx.x; i < (ROWS + end) * (COLUMNS / 4); i += THREADS) {
        const float4 four = samples_from(signal, first + 4 * i, samples);
        const Split xy = split_pair(scaled(four.x, signal_scale), scaled(four.y, signal_scale));
        const Split zw = split_pair(scaled(four.z, signal_scale), scaled(four.w, signal_scale));
        const unsigned at = 4 * i / COLUMNS * HALF_PITCH + 4 * i % COLUMNS;
        *reinterpret_cast<uint2*>(s_high + at) = make_uint2(xy.high, zw.high);
        *reinterpret_cast<uint2*>(s_low + at) = make_uint2(xy.low, zw.low);
    }
    // Every filter value is in two pairs, one with the next value and one with the previous value. A lane needs two
    // neighbors in one register, and the first of them can have an odd index.
    for (unsigned i = threadIdx.x; i < COLUMNS * end + MARGIN; i += THREADS) {
        const unsigned tap = first_line * COLUMNS + i - MARGIN;
        const float weight = tap < taps ? filter[tap] : 0.0f, next = tap + 1 < taps ? filter[tap + 1] : 0.0f;
        const Split pair = split_pair(scaled(weight, filter_scale), scaled(next, filter_scale));
        s_weights[i] = make_uint2(pair.high, pair.low);
    }
    // All threads have written samples and weights before any thread reads them.
    __syncthreads();

    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, member = lane % 4;
    float large[PARTS][4] = {};
    float small[PARTS][4] = {};
    // As in tensor_tf32x3, but a step is two columns long: column `part` of step `step` is in slot (2 step - part)
    // modulo PARTS. Its two registers are 8 taps apart, as columns are, so the second is also the first of the next
    // slot.
    unsigned high[PARTS][2], low[PARTS][2];
    const uint2* pair = s_weights + MARGIN + 2 * member - group;
    uint2 last = *(pair - N * (PARTS - 1));
    const auto load_slot = [&](unsigned slot, uint2 next) {
        high[slot][0] = last.x, high[slot][1] = next.x;
        low[slot][0] = last.y, low[slot][1] = next.y;
        last = next;
    };
#pragma unroll
    for (unsigned slot = 1; slot < PARTS - 1; ++slot) {
        load_slot(slot, *(pair - N * (PARTS - 1 - slot)));
    }
    const unsigned short* half_row = s_high + (warp * 16 + lane % 16) * HALF_PITCH + lane / 16 * 8;
    const unsigned to_low = (ROWS + lines) * HALF_PITCH;
#pragma unroll 1
    for (unsigned line = 0; line < end; ++line, half_row += HALF_PITCH, pair += COLUMNS) {
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
            load_slot((2 * step + PARTS - 1) % PARTS, pair[2 * step * N]);
            load_slot(2 * step, pair[(2 * step + 1) * N]);
            unsigned a_high[4], a_low[4];
            load_matrix(a_high, half_row + step * K);
            load_matrix(a_low, half_row + to_low + step * K);
#pragma unroll
            for (unsigned part = 0; part < PARTS; ++part) {
                multiply_add_halves(small[part], a_low, high[(2 * step + PARTS - part) % PARTS]);
            }
#pragma unroll
            for (unsigned part = 0; part < PARTS; ++part) {
                multiply_add_halves(small[part], a_high, low[(2 * step + PARTS - part) % PARTS]);
            }
#pragma unroll
            for (unsigned part = 0; part < PARTS; ++part) {
                multiply_add_halves(large[part], a_high, high[(2 * step + PARTS - part) % PARTS]);
            }
        }
    }
#pragma unroll
    for (unsigned part = 0; part < PARTS; ++part) {
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            large[part][i] = scaled(large[part][i] + small[part][i], -(signal_scale + filter_scale));
        }
    }
    const unsigned first_output = (blockIdx.x * ROWS + warp * 16 + group) * COLUMNS + 2 * member;
    store(large, first_output, outputs, output + static_cast<unsigned long long>(blockIdx.y) * outputs);
}
// ANCHOR_END: tensor_f16x3
