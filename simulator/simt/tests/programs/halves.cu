// Arithmetic of 16 bits, alone and in pairs, and what goes in and out of it.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void f16(const __half *a, const __half *b, const __half *c, __half (*out)[8], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = a[i], y = b[i], z = c[i];
    out[i][0] = __hadd(x, y);
    out[i][1] = __hsub(x, y);
    out[i][2] = __hmul(x, y);
    out[i][3] = __hfma(x, y, z);
    out[i][4] = __hfma_relu(x, y, z);
    out[i][5] = __hmin(x, y);
    out[i][6] = __hlt(x, y) ? x : y;
    out[i][7] = __int2half_rn((int)(__half2float(x) * 64.0f));
}

extern "C" __global__ void f16x2(const __half2 *a, const __half2 *b, const __half2 *c, __half2 (*out)[5], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 x = a[i], y = b[i], z = c[i];
    out[i][0] = __hadd2(x, y);
    out[i][1] = __hmul2(x, y);
    out[i][2] = __hfma2(x, y, z);
    out[i][3] = __hgt2(x, y);
    out[i][4] = __floats2half2_rn(__low2float(x) * 3.0f, __high2float(y) / 3.0f);
}

extern "C" __global__ void bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, const __nv_bfloat16 *c, __nv_bfloat16 (*out)[5], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 x = a[i], y = b[i], z = c[i];
    out[i][0] = __hadd(x, y);
    out[i][1] = __hmul(x, y);
    out[i][2] = __hfma(x, y, z);
    out[i][3] = __hmax(x, y);
    out[i][4] = __float2bfloat16(__bfloat162float(x) / 3.0f);
}
