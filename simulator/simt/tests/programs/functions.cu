// Device functions that are really called: parameters and results by value, structs, several levels, called by part of a warp.

struct Complex {
    float re, im;
};

struct Mixed {
    char tag;
    short small;
    int whole;
    double real;
    unsigned char bytes[5];
};

__device__ __noinline__ Complex multiply(Complex a, Complex b)
{
    Complex product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return product;
}

__device__ __noinline__ Complex power(Complex base, int exponent)
{
    Complex result = {1.0f, 0.0f};
    for (int i = 0; i < exponent; ++i)
        result = multiply(result, base);
    return result;
}

__device__ __noinline__ Mixed change(Mixed value, int by)
{
    if (by < 0)
        return value;
    value.tag = (char)(value.tag + by);
    value.small = (short)(value.small * by);
    value.whole -= by;
    value.real /= 2.0;
    for (int i = 0; i < 5; ++i)
        value.bytes[i] = (unsigned char)(value.bytes[i] + i * by);
    return value;
}

__device__ __noinline__ void store(float* to, float value)
{
    *to = value;
}

extern "C" __global__ void powers(const Complex* base, const int* exponents, Complex* output)
{
    int i = threadIdx.x;
    Complex result = {-1.0f, -1.0f};
    if (exponents[i] >= 0) // only some lanes call
        result = power(base[i], exponents[i]);
    output[i] = result;
}

extern "C" __global__ void mixed(const Mixed* input, Mixed* output)
{
    int i = threadIdx.x;
    output[i] = change(change(input[i], i - 3), 1);
}

// One function, called with pointers to shared, to local and to global memory.
extern "C" __global__ void anywhere(float* output)
{
    __shared__ float s_values[64];
    float local[4];
    int i = threadIdx.x;
    store(&s_values[i], (float)i);
    store(&local[i & 3], (float)(2 * i));
    __syncthreads();
    float* to = (i % 3 == 0) ? &s_values[63 - i] : &output[64 + i];
    float before = s_values[63 - i];
    __syncthreads();
    store(to, 100.0f + i); // the lanes of a warp write to two memories at once
    __syncthreads();
    output[i] = s_values[i] + 1000.0f * local[i & 3] + 0.5f * before;
}
