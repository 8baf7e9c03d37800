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
//          `multiply_parts`: one thread per bin in x, and 8 pairs of blocks of the output in y.
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
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 minus_i_times(float2 a) { return make_float2(a.y, -a.x); }

// ANCHOR: dft
__device__ void dft4(float2& a, float2& b, float2& c, float2& d)
{
    const float2 even = a + c, odd = b + d, even_difference = a - c, odd_difference = minus_i_times(b - d);
    a = even + odd;
    b = even_difference + odd_difference;
    c = even - odd;
    d = even_difference - odd_difference;
}

// Four transforms of 4 points, a rotation by the angle of each pair of indices, and four more.
__device__ void dft16(float2 (&v)[RADIX])
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

// ANCHOR: passes
// Three passes of `dft16` over an index of three digits. Before the first pass, thread t has the points t + 256 i. After
// the last one, it has the bins t / 16 + 16 (t % 16) + 256 i. `turns` holds the rotations between the passes: first
// row i, column t of e^(-2 pi i t / 4096), and then, from `NEAR` on, the same for 256.
constexpr unsigned NEAR = POINTS;
// Threads 16 k to 16 k + 15 share tile k of 16 x 16 points in shared memory. A row has one place more than it has points:
// threads that read a column start in different banks.
constexpr unsigned PITCH = RADIX + 1;
constexpr unsigned TILE = RADIX * PITCH;

__device__ void transform_forth(float2 (&v)[RADIX], const float2* __restrict__ turns, float2* s_points)
{
    const unsigned t = threadIdx.x, row = t / RADIX, column = t % RADIX;
    float2* const s_tile = s_points + row * TILE;
    dft16(v);
    for (unsigned i = 0; i < RADIX; ++i) {
        s_points[i * TILE + row * PITCH + column] = i == 0 ? v[i] : v[i] * turns[i * THREADS + t];
    }
    // Orders the writes to all tiles before the reads of one.
    __syncthreads();
    for (unsigned i = 0; i < RADIX; ++i) {
        v[i] = s_tile[i * PITCH + column];
    }
    dft16(v);
    // From here on, the 16 threads of a tile, which are in one warp, exchange points. Orders their reads before their writes.
    __syncwarp();
    for (unsigned i = 0; i < RADIX; ++i) {
        s_tile[i * PITCH + column] = i == 0 ? v[i] : v[i] * turns[NEAR + i * RADIX + column];
    }
    // Orders the writes of rows before the reads of columns.
    __syncwarp();
    for (unsigned i = 0; i < RADIX; ++i) {
        v[i] = s_tile[column * PITCH + i];
    }
    dft16(v);
}

// The same passes from the last to the first: from the order of the bins to the order of the points.
__device__ void transform_from_bins(float2 (&v)[RADIX], const float2* __restrict__ turns, float2* s_points)
{
    const unsigned t = threadIdx.x, row = t / RADIX, column = t % RADIX;
    float2* const s_tile = s_points + row * TILE;
    dft16(v);
    // Orders the reads of a transform before this one, which were of the same tile, before these writes.
    __syncwarp();
    for (unsigned i = 0; i < RADIX; ++i) {
        s_tile[column * PITCH + i] = i == 0 ? v[i] : v[i] * turns[NEAR + i * RADIX + column];
    }
    // Orders the writes of columns before the reads of rows.
    __syncwarp();
    for (unsigned i = 0; i < RADIX; ++i) {
        v[i] = s_tile[i * PITCH + column];
    }
    dft16(v);
    // Orders these reads before the writes to the same tile.
    __syncwarp();
    for (unsigned i = 0; i < RADIX; ++i) {
        s_tile[i * PITCH + column] = v[i] * turns[row * THREADS + i * RADIX + column];
    }
    // Orders the writes to all tiles before the reads across them.
    __syncthreads();
    for (unsigned i = 0; i < RADIX; ++i) {
        v[i] = s_points[i * TILE + row * PITCH + column];
    }
    dft16(v);
}
// ANCHOR_END: passes

__device__ float sample_or_zero(const float* __restrict__ signal, unsigned samples, unsigned at)
{
    return at < samples ? signal[at] : 0.0f;
}

// Two blocks of the signal: one as real parts, and one `distance` samples later as imaginary parts.
__device__ void load_pair(float2 (&v)[RADIX], const float* __restrict__ signal, unsigned samples, unsigned start,
                          unsigned distance)
{
    for (unsigned i = 0; i < RADIX; ++i) {
        const unsigned at = start + i * THREADS + threadIdx.x;
        v[i] = make_float2(sample_or_zero(signal, samples, at), sample_or_zero(signal, samples, at + distance));
    }
}

// The outputs of two blocks. The transform ran forth instead of back, on conjugates, so the imaginary parts are negative.
__device__ void store_pair(const float2 (&v)[RADIX], float* __restrict__ output, unsigned outputs, unsigned start,
                           unsigned distance, unsigned hop)
{
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

// The conjugate of a product with the filter's conjugate, which makes it a correlation. Transforming the conjugate forth
// is transforming back.
__device__ float2 conjugate_product(float2 signal, float2 filter)
{
    return make_float2(signal.x * filter.x + signal.y * filter.y, signal.x * filter.y - signal.y * filter.x);
}

// ANCHOR: transform
// Block b makes the spectrum of part b of the filter, or, after the `parts`, of pair b - parts of the signal.
extern "C" __global__ void __launch_bounds__(THREADS)
transform(const float* __restrict__ signal, unsigned samples, const float* __restrict__ filter, unsigned taps, unsigned parts,
          unsigned part, unsigned distance, const float2* __restrict__ turns, float2* __restrict__ spectra)
{
    __shared__ float2 s_points[RADIX * TILE];
    float2 v[RADIX];
    if (blockIdx.x < parts) {
        for (unsigned i = 0; i < RADIX; ++i) {
            const unsigned n = i * THREADS + threadIdx.x, tap = blockIdx.x * part + n;
            // A transform forth and one back multiply by the number of points. It is a power of two, so this rounds nothing.
            v[i] = make_float2(n < part && tap < taps ? filter[tap] * (1.0f / POINTS) : 0.0f, 0.0f);
        }
    } else {
        load_pair(v, signal, samples, (blockIdx.x - parts) * part, distance);
    }
    transform_forth(v, turns, s_points);
    for (unsigned i = 0; i < RADIX; ++i) {
        spectra[blockIdx.x * POINTS + i * THREADS + threadIdx.x] = v[i];
    }
}
// ANCHOR_END: transform

// ANCHOR: convolve
// A filter of one part: from the samples to the outputs in one kernel.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
convolve(const float* __restrict__ signal, unsigned samples, const float2* __restrict__ filter, unsigned hop, unsigned distance,
         const float2* __restrict__ turns, unsigned outputs, float* __restrict__ output)
{
    __shared__ float2 s_points[RADIX * TILE];
    float2 v[RADIX];
    const unsigned start = blockIdx.x * hop;
    load_pair(v, signal, samples, start, distance);
    transform_forth(v, turns, s_points);
    for (unsigned i = 0; i < RADIX; ++i) {
        v[i] = conjugate_product(v[i], filter[i * THREADS + threadIdx.x]);
    }
    transform_from_bins(v, turns, s_points);
    store_pair(v, output, outputs, start, distance, hop);
}
// ANCHOR_END: convolve

// ANCHOR: multiply_parts
// Pair m of the output is the sum, over the parts p of the filter, of pair m + p of the signal times part p. The thread
// slides over the pairs of the signal for `PAIRS` sums: each part takes one load of the signal and one of the filter.
extern "C" __global__ void multiply_parts(const float2* __restrict__ spectra, unsigned parts, unsigned pairs, float2* __restrict__ sums)
{
    const unsigned bin = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * PAIRS;
    const unsigned last = pairs + parts - 2;
    const float2* const filter = spectra + bin;
    const float2* const signal = spectra + parts * POINTS + bin;
    float2 window[PAIRS], sum[PAIRS];
    for (unsigned i = 0; i < PAIRS; ++i) {
        window[i] = signal[min(first + i, last) * POINTS];
        sum[i] = make_float2(0.0f, 0.0f);
    }
    for (unsigned begin = 0; begin < parts; begin += PAIRS) {
        // Unrolled, so that each index of `window` is a constant, and the window slides without moving a register.
        #pragma unroll
        for (unsigned p = 0; p < PAIRS; ++p) {
            if (begin + p < parts) {
                const float2 weight = filter[(begin + p) * POINTS];
                for (unsigned i = 0; i < PAIRS; ++i) {
                    sum[i] = sum[i] + conjugate_product(window[(p + i) % PAIRS], weight);
                }
                window[p] = signal[min(first + begin + p + PAIRS, last) * POINTS];
            }
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
transform_back(const float2* __restrict__ sums, unsigned distance, const float2* __restrict__ turns, unsigned outputs,
               float* __restrict__ output)
{
    __shared__ float2 s_points[RADIX * TILE];
    float2 v[RADIX];
    for (unsigned i = 0; i < RADIX; ++i) {
        v[i] = sums[blockIdx.x * POINTS + i * THREADS + threadIdx.x];
    }
    transform_from_bins(v, turns, s_points);
    store_pair(v, output, outputs, blockIdx.x * PART, distance, PART);
}
// ANCHOR_END: transform_back
