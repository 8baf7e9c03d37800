// Functions of CUDA's mathematical library, which compile to much of what PTX has: polynomials, approximations, tables in local memory,
// directed roundings, carries.

extern "C" __global__ void single(const float *a, const float *b, float (*out)[10], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    out[i][0] = sinf(x * 1000.0f * y);  // far enough out to need the long reduction by multiples of pi/2
    out[i][1] = cosf(x);
    out[i][2] = expf(x);
    out[i][3] = logf(fabsf(x));
    out[i][4] = powf(fabsf(x), y);
    out[i][5] = tanhf(x);
    out[i][6] = erff(x);
    out[i][7] = rsqrtf(fabsf(x));
    out[i][8] = cbrtf(x);
    out[i][9] = x / y;
}

extern "C" __global__ void fast(const float *a, const float *b, float (*out)[6], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    out[i][0] = __sinf(x);
    out[i][1] = __expf(x);
    out[i][2] = __logf(fabsf(x));
    out[i][3] = __fdividef(x, y);
    out[i][4] = __saturatef(x);
    out[i][5] = __powf(fabsf(x), 1.5f);
}

extern "C" __global__ void dbl(const double *a, const double *b, double (*out)[8], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i], y = b[i];
    out[i][0] = sin(x * 1e6);
    out[i][1] = exp(x);
    out[i][2] = log(fabs(x));
    out[i][3] = pow(fabs(x), y);
    out[i][4] = erf(x);
    out[i][5] = rsqrt(fabs(x));
    out[i][6] = tanh(x);
    out[i][7] = x / y;
}

extern "C" __global__ void directed(const float *a, const float *b, const float *c, float (*out)[5][3], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i], z = c[i];
    out[i][0][0] = __fadd_rz(x, y);
    out[i][0][1] = __fadd_rd(x, y);
    out[i][0][2] = __fadd_ru(x, y);
    out[i][1][0] = __fmul_rz(x, y);
    out[i][1][1] = __fmul_rd(x, y);
    out[i][1][2] = __fmul_ru(x, y);
    out[i][2][0] = __fmaf_rz(x, y, z);
    out[i][2][1] = __fmaf_rd(x, y, z);
    out[i][2][2] = __fmaf_ru(x, y, z);
    out[i][3][0] = __fdiv_rz(x, y);
    out[i][3][1] = __fdiv_rd(x, y);
    out[i][3][2] = __fdiv_ru(x, y);
    out[i][4][0] = __fsqrt_rz(fabsf(x));
    out[i][4][1] = __fsqrt_rd(fabsf(x));
    out[i][4][2] = __fsqrt_ru(fabsf(x));
}

// 128 bits, put together from words with the carry flag.
extern "C" __global__ void wide(const unsigned long long *a, const unsigned long long *b, unsigned long long (*out)[6], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned __int128 x = ((unsigned __int128)a[i] << 64) | b[i];
    unsigned __int128 y = ((unsigned __int128)b[i] << 64) | a[i];
    unsigned __int128 sum = x + y, difference = x - y, product = x * y + x;
    out[i][0] = (unsigned long long)sum;
    out[i][1] = (unsigned long long)(sum >> 64);
    out[i][2] = (unsigned long long)difference;
    out[i][3] = (unsigned long long)(difference >> 64);
    out[i][4] = (unsigned long long)product;
    out[i][5] = (unsigned long long)(product >> 64);
}
