// Whole numbers, places in the grid, parameters by value.

extern "C" __global__ void division(const int* a, const int* b, int* output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], y = b[i];
    int* out = output + i * 6;
    out[0] = x / y;
    out[1] = x % y;
    out[2] = (int)((unsigned)x / (unsigned)y);
    out[3] = (int)((unsigned)x % (unsigned)y);
    out[4] = x / 7;
    out[5] = (int)((unsigned)x % 10u);
}

extern "C" __global__ void wide(const long long* a, const long long* b, long long* output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long x = a[i], y = b[i];
    long long* out = output + i * 9;
    out[0] = x + y;
    out[1] = x * y;
    out[2] = x / y;
    out[3] = x % y;
    out[4] = (long long)((unsigned long long)x / (unsigned long long)y);
    out[5] = x >> (y & 63);
    out[6] = (long long)((unsigned long long)x << (y & 63));
    out[7] = __mul64hi(x, y);
    out[8] = (x < y ? 1 : 0) + ((unsigned long long)x < (unsigned long long)y ? 2 : 0) + (x == y ? 4 : 0);
}

extern "C" __global__ void bits(const unsigned* input, unsigned* output)
{
    unsigned v = input[threadIdx.x];
    unsigned* out = output + threadIdx.x * 10;
    out[0] = __popc(v);
    out[1] = __clz(v);
    out[2] = __brev(v);
    out[3] = __ffs(v);
    out[4] = __byte_perm(v, ~v, 0x5140);
    out[5] = __funnelshift_l(v, v * 3, 11);
    out[6] = __umulhi(v, 0x9e3779b9u);
    out[7] = __usad(v, 1000000u, 5u);
    int dot;
    asm("dp4a.s32.s32 %0, %1, %2, 9;" : "=r"(dot) : "r"(v), "r"(0x01ff027f));
    out[8] = dot;
    out[9] = (unsigned)__popcll((unsigned long long)v * 0x100000001ull) + __clzll((unsigned long long)v);
}

struct Place {
    unsigned thread[3], block[3], threads[3], blocks[3], lane, warp;
};

// Where every thread is, in its own row.
extern "C" __global__ void places(Place* output)
{
    unsigned in_block = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned lane, warp;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    Place place = {{threadIdx.x, threadIdx.y, threadIdx.z}, {blockIdx.x, blockIdx.y, blockIdx.z},
                   {blockDim.x, blockDim.y, blockDim.z}, {gridDim.x, gridDim.y, gridDim.z}, lane, warp};
    output[block * (blockDim.x * blockDim.y * blockDim.z) + in_block] = place;
}

extern "C" __global__ void lane_masks(unsigned* output)
{
    unsigned lt, le, eq, ge, gt;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    unsigned* out = output + threadIdx.x * 5;
    out[0] = lt;
    out[1] = le;
    out[2] = eq;
    out[3] = ge;
    out[4] = gt;
}

struct Settings {
    char flag;
    short offset;
    float scale;
    double bias;
    int table[5];
    float* output;
};

extern "C" __global__ void settings(unsigned char first, Settings s, short last, const Settings t)
{
    int i = threadIdx.x;
    float value = s.flag ? s.scale * (i + s.offset) : (float)s.bias;
    s.output[i] = value + s.table[i % 5] + first + last + t.table[(i + 1) % 5] * (float)t.bias;
}

extern "C" __global__ void clocks(long long* elapsed, unsigned* low)
{
    long long start = clock64();
    unsigned start_low = clock();
    float value = threadIdx.x;
    for (int k = 0; k < 10; ++k)
        value = value * 1.5f + 2.0f;
    if (value < 0)
        return;
    elapsed[threadIdx.x] = clock64() - start;
    low[threadIdx.x] = clock() - start_low;
}
