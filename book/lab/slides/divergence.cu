// Of the experiment `divergence`: a branch that the chosen lanes of the chosen warps take.
//
// Launch:  one block of 4 warps.
// Work:    `steps` multiply-adds per thread, on either path.

constexpr unsigned WARP = 32;

extern "C" __global__ void branch(const float* in, unsigned lanes, unsigned warps, unsigned steps, float* out)
{
    const unsigned lane = threadIdx.x % WARP;
    const unsigned warp = threadIdx.x / WARP;
    float x = in[threadIdx.x];
    if ((lanes >> lane & 1) != 0 && (warps >> warp & 1) != 0) {
#pragma unroll 1
        for (unsigned step = 0; step < steps; ++step) {
            x = x * 0.5f + 1.0f;
        }
    } else {
#pragma unroll 1
        for (unsigned step = 0; step < steps; ++step) {
            x = x * 0.25f - 1.0f;
        }
    }
    out[threadIdx.x] = x;
}
