// 03-unroll-partitioned: a convolution by Fourier transforms of our own, each of 4,096 points and each in one block.
//
// Signal and filter are cut into parts that fit such a transform. The first half of the signal's blocks are the real
// parts of complex numbers and the second half the imaginary parts: a filter of real numbers keeps the two apart, so one
// transform serves two blocks. Spectra stay in the order in which the transform leaves them, because a product needs no
// order, and the transform back begins with that order.
//
// Since 03-unroll-fft: our own transforms instead of cuFFT's. Cutting, multiplying, and collecting are no launches of
//          their own: they are part of the transforms.
// Launch:  256 threads per block, 16 points per thread. `transform`: a block for each part of the filter, then one for each
//          pair of blocks of the signal. `convolve` and `transform_back`: a block for each pair of blocks of the output.
//          `multiply_parts`: threads in x for the bins, a warp of them in each block, and in y for 8 pairs of the output each.
// Work:    a transform of 4,096 points: about 150 multiply-adds, additions, or multiplications per point and 32 bytes of
//          shared memory per point in each of two exchanges. multiply_parts: 4 multiply-adds per bin, part, and pair.
// Sizes:   convolve: `hop + taps - 1` is at most 4,096. The others: parts and blocks of 2,048.

constexpr unsigned POINTS = 4096;
// A pass transforms this many points in the registers of one thread: three passes make the 4,096.
constexpr unsigned RADIX = 16;
constexpr unsigned THREADS = 256;
static_assert(RADIX * RADIX * RADIX == POINTS && RADIX * THREADS == POINTS, "three digits, and one thread for each run of points");
// Taps of a part of the filter and outputs of a block, when the filter has more than one part.
constexpr unsigned PART = 2048;
// Pairs of blocks for which a thread of `multiply_parts` adds up products.
constexpr unsigned PAIRS = 8;

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
// Says which product is fused with the addition, so that the result is the same with every compiler.
__device__ float2 operator*(float2 a, float2 b) { return make_float2(fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x)); }
__device__ float2 multiply_add(float2 a, float2 b, float2 sum)
{
    return make_float2(fmaf(a.x, b.x, fmaf(-a.y, b.y, sum.x)), fmaf(a.x, b.y, fmaf(a.y, b.x, sum.y)));
}
__device__ float2 conjugate(float2 a) { return make_float2(a.x, -a.y); }
__device__ float2 minus_i_times(float2 a) { return make_float2(a.y, -a.x); }

// ANCHOR: dft
__device__ __forceinline__ void dft4(float2& a, float2& b, float2& c, float2& d)
{
    const float2 even = a + c, odd = b + d, even_difference = a - c, odd_difference = minus_i_times(b - d);
    a = even + odd;
    b = even_difference + odd_difference;
    c = even - odd;
    d = even_difference - odd_difference;
}

// Four transforms of 4 points, a rotation by the angle of each pair of indices, and four more.
__device__ __forceinline__ void dft16(float2 (&v)[RADIX])
{
    constexpr float COS = 0.92387953f, SIN = 0.38268343f, HALF = 0.70710678f;
    for (unsigned i = 0; i < 4; ++i) {
        dft4(v[i], v[4 + i], v[8 + i], v[12 + i]);
    }
    v[5] = v[5] * make_float2(COS, -SIN);
    v[6] = v[6] * make_float2(HALF, -HALF);
    v[7] = v[7] * make_float2(SIN, -COS);
    v[9] = v[9] * make_float2(HALF, -HALF);
    v[10] = minus_i_times(v[10]);
    v[11] = v[11] * make_float2(-HALF, -HALF);
    v[13] = v[13] * make_float2(SIN, -COS);
    v[14] = v[14] * make_float2(-HALF, -HALF);
    v[15] = v[15] * make_float2(-COS, SIN);
    for (unsigned i = 0; i < 4; ++i) {
        dft4(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    }
    // Rows and columns are swapped now. All indices are constants, so the compiler only renames registers.
    for (unsigned row = 0; row < 4; ++row) {
        for (unsigned column = row + 1; column < 4; ++column) {
            const float2 kept = v[4 * row + column];
            v[4 * row + column] = v[4 * column + row];
            v[4 * column + row] = kept;
        }
    }
}
// ANCHOR_END: dft

// The rotations by 1 and 2, 3 and 4, and 8 and 12 times an angle. All from 1 to 15 times are products of two of these.
struct Rotations {
    float4 by_1_2, by_3_4, by_8_12;
};

__device__ Rotations load_rotations(const float4* __restrict__ table, unsigned angle, unsigned angles)
{
    return {table[angle], table[angles + angle], table[2 * angles + angle]};
}

// Rotates point i by i times the angle.
__device__ __forceinline__ void rotate(float2 (&v)[RADIX], const Rotations& by)
{
    const float2 low[4] = {{1.0f, 0.0f}, {by.by_1_2.x, by.by_1_2.y}, {by.by_1_2.z, by.by_1_2.w}, {by.by_3_4.x, by.by_3_4.y}};
    const float2 high[4] = {{1.0f, 0.0f}, {by.by_3_4.z, by.by_3_4.w}, {by.by_8_12.x, by.by_8_12.y}, {by.by_8_12.z, by.by_8_12.w}};
    #pragma unroll
    for (unsigned i = 1; i < RADIX; ++i) {
        v[i] = v[i] * (i < 4 ? low[i] : i % 4 == 0 ? high[i / 4] : high[i / 4] * low[i % 4]);
    }
}

// ANCHOR: passes
// Threads 16 k to 16 k + 15 share tile k of 16 x 16 points in shared memory. A row has one place more than it has points:
// threads that read a column start in different banks.
constexpr unsigned PITCH = RADIX + 1;
constexpr unsigned TILE = RADIX * PITCH;

// What a thread needs for the three passes of a transform.
struct Passes {
    unsigned row, column;
    // Between the first two passes, the points of a thread turn by multiples of its share of the whole circle, and between
    // the last two by multiples of its share in a tile.
    Rotations far, near;
    float2* s_points;
    float2* s_tile;

    // `turns` holds the rotations for each of 256 threads, and then those for each of the 16 threads of a tile.
    __device__ Passes(const float4* __restrict__ turns, float2* s_points)
        : row(threadIdx.x / RADIX), column(threadIdx.x % RADIX), far(load_rotations(turns, threadIdx.x, THREADS)),
          near(load_rotations(turns + 3 * THREADS, threadIdx.x % RADIX, RADIX)), s_points(s_points), s_tile(s_points + row * TILE)
    {
    }

    // Before it, thread t has the points t + 256 i. After it, thread t has the bins t / 16 + 16 (t % 16) + 256 i.
    __device__ __forceinline__ void forth(float2 (&v)[RADIX]) const
    {
        dft16(v);
        rotate(v, far);
        for (unsigned i = 0; i < RADIX; ++i) {
            s_points[i * TILE + row * PITCH + column] = v[i];
        }
        // Orders the writes to all tiles before the reads of one.
        __syncthreads();
        for (unsigned i = 0; i < RADIX; ++i) {
            v[i] = s_tile[i * PITCH + column];
        }
        dft16(v);
        rotate(v, near);
        // From here on, the 16 threads of a tile exchange points, which are in one warp. Each writes where it has read.
        for (unsigned i = 0; i < RADIX; ++i) {
            s_tile[i * PITCH + column] = v[i];
        }
        // Orders the writes of rows before the reads of columns.
        __syncwarp();
        for (unsigned i = 0; i < RADIX; ++i) {
            v[i] = s_tile[column * PITCH + i];
        }
        dft16(v);
    }

    // The same passes from the last to the first: from the order of the bins to the order of the points.
    __device__ __forceinline__ void from_bins(float2 (&v)[RADIX]) const
    {
        dft16(v);
        rotate(v, near);
        for (unsigned i = 0; i < RADIX; ++i) {
            s_tile[column * PITCH + i] = v[i];
        }
        // Orders the writes of columns before the reads of rows.
        __syncwarp();
        for (unsigned i = 0; i < RADIX; ++i) {
            v[i] = s_tile[i * PITCH + column];
        }
        dft16(v);
        for (unsigned i = 0; i < RADIX; ++i) {
            s_tile[i * PITCH + column] = v[i];
        }
        // Orders the writes of all tiles before the reads across them.
        __syncthreads();
        for (unsigned i = 0; i < RADIX; ++i) {
            v[i] = s_points[i * TILE + row * PITCH + column];
        }
        rotate(v, far);
        dft16(v);
    }
};
// ANCHOR_END: passes

__device__ float sample_or_zero(const float* __restrict__ signal, unsigned samples, unsigned at)
{
    return at < samples ? signal[at] : 0.0f;
}

// Two blocks of the signal: one as real parts, and one `distance` samples later as imaginary parts.
__device__ void load_pair(float2 (&v)[RADIX], const float* __restrict__ signal, unsigned samples, unsigned start,
                          unsigned distance)
{
    #pragma unroll
    for (unsigned i = 0; i < RADIX; ++i) {
        const unsigned at = start + i * THREADS + threadIdx.x;
        v[i] = make_float2(sample_or_zero(signal, samples, at), sample_or_zero(signal, samples, at + distance));
    }
}

// The outputs of two blocks. The transform ran forth instead of back, on conjugates, so the imaginary parts are negative.
__device__ void store_pair(const float2 (&v)[RADIX], float* __restrict__ output, unsigned outputs, unsigned start,
                           unsigned distance, unsigned hop)
{
    #pragma unroll
    for (unsigned i = 0; i < RADIX; ++i) {
        const unsigned n = i * THREADS + threadIdx.x, at = start + n;
        if (n < hop && at < outputs) {
            output[at] = v[i].x;
        }
        if (n < hop && at + distance < outputs) {
            output[at + distance] = -v[i].y;
        }
    }
}

// A part of the filter, followed by zeros.
__device__ void load_part(float2 (&v)[RADIX], const float* __restrict__ filter, unsigned taps, unsigned start, unsigned part)
{
    for (unsigned i = 0; i < RADIX; ++i) {
        const unsigned n = i * THREADS + threadIdx.x, tap = start + n;
        // A transform forth and one back multiply by the number of points. Dividing by a power of two rounds no normal number.
        v[i] = make_float2(n < part && tap < taps ? filter[tap] * (1.0f / POINTS) : 0.0f, 0.0f);
    }
}

// ANCHOR: convolve
// A short filter: everything in one kernel. Each block transforms the filter, keeps its spectrum in registers, and convolves
// every pair that is its turn. That is quicker than a launch that transforms the filter once for all blocks.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
convolve(const float* __restrict__ signal, unsigned samples, const float* __restrict__ filter, unsigned taps, unsigned hop,
         unsigned pairs, const float4* __restrict__ turns, unsigned outputs, float* __restrict__ output)
{
    __shared__ float2 s_points[RADIX * TILE];
    const Passes passes(turns, s_points);
    float2 weights[RADIX];
    load_part(weights, filter, taps, 0, taps);
    passes.forth(weights);
    // Orders its last reads, within tiles, before the first writes of the next transform, across them. No other transform needs
    // that: each begins by writing where its threads have read.
    __syncthreads();
    for (unsigned pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
        const unsigned start = pair * hop, distance = pairs * hop;
        float2 v[RADIX];
        load_pair(v, signal, samples, start, distance);
        passes.forth(v);
        // The filter's conjugate makes a correlation of the product. The conjugate of all of it makes `from_bins`, which runs
        // forth, a transform back.
        for (unsigned i = 0; i < RADIX; ++i) {
            v[i] = conjugate(v[i]) * weights[i];
        }
        passes.from_bins(v);
        store_pair(v, output, outputs, start, distance, hop);
    }
}
// ANCHOR_END: convolve

// ANCHOR: transform
// Block b makes the spectrum of part b of the filter, or, after the `parts`, of pair b - parts of the signal.
extern "C" __global__ void __launch_bounds__(THREADS)
transform(const float* __restrict__ signal, unsigned samples, const float* __restrict__ filter, unsigned taps, unsigned parts,
          unsigned distance, const float4* __restrict__ turns, float2* __restrict__ spectra)
{
    __shared__ float2 s_points[RADIX * TILE];
    const Passes passes(turns, s_points);
    float2 v[RADIX];
    if (blockIdx.x < parts) {
        load_part(v, filter, taps, blockIdx.x * PART, PART);
    } else {
        load_pair(v, signal, samples, (blockIdx.x - parts) * PART, distance);
    }
    passes.forth(v);
    for (unsigned i = 0; i < RADIX; ++i) {
        spectra[blockIdx.x * POINTS + i * THREADS + threadIdx.x] = v[i];
    }
}
// ANCHOR_END: transform

// ANCHOR: multiply_parts
// Pair m of the output is the sum, over the parts p of the filter, of pair m + p of the signal times part p, conjugated as in
// `convolve`. The thread slides over the pairs of the signal for `PAIRS` sums: each part takes one load of the signal and one of the filter.
extern "C" __global__ void multiply_parts(const float2* __restrict__ spectra, unsigned parts, unsigned pairs, float2* __restrict__ sums)
{
    const unsigned bin = blockIdx.x * blockDim.x + threadIdx.x, first = (blockIdx.y * blockDim.y + threadIdx.y) * PAIRS;
    const unsigned last = pairs + parts - 2;
    const float2* const filter = spectra + bin;
    const float2* const signal = spectra + parts * POINTS + bin;
    float2 window[PAIRS], sum[PAIRS];
    for (unsigned i = 0; i < PAIRS; ++i) {
        window[i] = signal[min(first + i, last) * POINTS];
        sum[i] = make_float2(0.0f, 0.0f);
    }
    for (unsigned begin = 0; begin < parts; begin += PAIRS) {
        // All loads of an iteration before the arithmetic, so that they are under way together.
        float2 weights[PAIRS], next[PAIRS];
        for (unsigned p = 0; p < PAIRS; ++p) {
            weights[p] = begin + p < parts ? filter[(begin + p) * POINTS] : make_float2(0.0f, 0.0f);
            next[p] = signal[min(first + begin + p + PAIRS, last) * POINTS];
        }
        #pragma unroll
        for (unsigned p = 0; p < PAIRS; ++p) {
            // Each index is a constant after unrolling, so the window slides without moving a register.
            for (unsigned i = 0; i < PAIRS; ++i) {
                sum[i] = multiply_add(conjugate(window[(p + i) % PAIRS]), weights[p], sum[i]);
            }
            window[p] = next[p];
        }
    }
    for (unsigned i = 0; i < PAIRS; ++i) {
        if (first + i < pairs) {
            sums[(first + i) * POINTS + bin] = sum[i];
        }
    }
}
// ANCHOR_END: multiply_parts

// ANCHOR: transform_back
extern "C" __global__ void __launch_bounds__(THREADS)
transform_back(const float2* __restrict__ sums, unsigned distance, const float4* __restrict__ turns, unsigned outputs,
               float* __restrict__ output)
{
    __shared__ float2 s_points[RADIX * TILE];
    const Passes passes(turns, s_points);
    float2 v[RADIX];
    for (unsigned i = 0; i < RADIX; ++i) {
        v[i] = sums[blockIdx.x * POINTS + i * THREADS + threadIdx.x];
    }
    passes.from_bins(v);
    store_pair(v, output, outputs, blockIdx.x * PART, distance, PART);
}
// ANCHOR_END: transform_back
