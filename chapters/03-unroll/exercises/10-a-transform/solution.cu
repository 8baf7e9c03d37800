// Exercise: a convolution by transforms, inside a block.
//
//     output[i] = sum over j < taps of signal[i + j] * filter[j],   i < outputs
//
// Launch:  blocks of THREADS threads for 2 * OUTPUTS outputs each, as many as it takes.
// Work:    three transforms of POINTS complex points, each with 8 rounds.
// Sizes:   outputs >= 1, 1 <= taps <= MOST_TAPS; outputs + taps - 1 samples.

// Points of a transform.
constexpr unsigned POINTS = 256;
// In each round, a thread has a pair of points.
constexpr unsigned THREADS = 128;
static_assert(2 * THREADS == POINTS, "a pair of points for each thread");
constexpr unsigned MOST_TAPS = 64;
#ifdef SOLUTION
// The last MOST_TAPS - 1 outputs of a transform need samples from beyond its end, where its first ones come again.
constexpr unsigned OUTPUTS = POINTS - MOST_TAPS + 1;
#else
// How many outputs of a transform have all their samples?
constexpr unsigned OUTPUTS = POINTS;
#endif
// Outputs of a block: half of them are in the real parts, and half in the imaginary parts.
constexpr unsigned BLOCK_OUTPUTS = 2 * OUTPUTS;

// The product of two complex numbers. Their real part is x, and their imaginary part is y.
__device__ float2 times(float2 a, float2 b)
{
    return make_float2(fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x));
}

// The conjugate: the imaginary part has the other sign.
__device__ float2 conjugate(float2 a)
{
    return make_float2(a.x, -a.y);
}

// The complex number with the angle -2 pi index / POINTS, as a product of those whose indices are powers of two.
__device__ float2 turn_by(unsigned index)
{
    const float2 powers[7] = {{0.99969882f, -0.024541229f}, {0.99879546f, -0.049067674f}, {0.99518473f, -0.098017140f},
                              {0.98078528f, -0.19509032f},  {0.92387953f, -0.38268343f},  {0.70710678f, -0.70710678f},
                              {0.0f, -1.0f}};
    float2 turn = make_float2(1.0f, 0.0f);
#pragma unroll
    for (unsigned bit = 0; bit < 7; ++bit) {
        if (index >> bit & 1) {
            turn = times(turn, powers[bit]);
        }
    }
    return turn;
}

// One round of a transform, for a pair of points.
__device__ void forth(float2& a, float2& b, float2 turn)
{
    const float2 difference = make_float2(a.x - b.x, a.y - b.y);
    a = make_float2(a.x + b.x, a.y + b.y);
    b = times(difference, turn);
}

// One round of a transform back.
__device__ void back(float2& a, float2& b, float2 turn)
{
    const float2 turned = times(b, conjugate(turn));
    b = make_float2(a.x - turned.x, a.y - turned.y);
    a = make_float2(a.x + turned.x, a.y + turned.y);
}

extern "C" __global__ void convolve(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs,
                                    unsigned taps, float* __restrict__ output)
{
    __shared__ float2 s_signal[POINTS];
    __shared__ float2 s_filter[POINTS];
    __shared__ float2 s_turns[THREADS];

    const unsigned t = threadIdx.x;
    const unsigned samples = outputs + taps - 1;
    // One piece of the signal is in the real parts, and the piece after it in the imaginary parts.
    const unsigned real = blockIdx.x * BLOCK_OUTPUTS;
    const unsigned imaginary = real + OUTPUTS;
    for (unsigned p = t; p < POINTS; p += THREADS) {
        s_signal[p] = make_float2(real + p < samples ? signal[real + p] : 0.0f,
                                  imaginary + p < samples ? signal[imaginary + p] : 0.0f);
        s_filter[p] = make_float2(p < taps ? filter[p] : 0.0f, 0.0f);
    }
    s_turns[t] = turn_by(t);
    for (unsigned half = POINTS / 2; half > 0; half /= 2) {
        // All points of the previous round are written before any thread reads one.
        __syncthreads();
        const unsigned low = t / half * 2 * half + t % half;
        const float2 turn = s_turns[t % half * (THREADS / half)];
        forth(s_signal[low], s_signal[low + half], turn);
        forth(s_filter[low], s_filter[low + half], turn);
    }
    // Both spectra are complete. They are in an unusual order, but it is the same in both.
    __syncthreads();
    for (unsigned p = t; p < POINTS; p += THREADS) {
#ifdef SOLUTION
        s_signal[p] = times(s_signal[p], conjugate(s_filter[p]));
#else
        // Multiply value p of the signal's spectrum by the conjugate of value p of the filter's.
#endif
    }
    for (unsigned half = 1; half < POINTS; half *= 2) {
        // All points of the previous round are written before any thread reads one.
        __syncthreads();
        const unsigned low = t / half * 2 * half + t % half;
        back(s_signal[low], s_signal[low + half], s_turns[t % half * (THREADS / half)]);
    }
    // After the last round, each thread stores points that are its own.
    for (unsigned p = t; p < OUTPUTS; p += THREADS) {
        // Forth and back multiply everything by POINTS.
        if (real + p < outputs) {
            output[real + p] = s_signal[p].x / POINTS;
        }
        if (imaginary + p < outputs) {
            output[imaginary + p] = s_signal[p].y / POINTS;
        }
    }
}
