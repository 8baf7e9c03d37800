// Reads of textures, and reads and writes of surfaces, through handles.

// Reads a texture at each pair of coordinates: a float, or four of them.
extern "C" __global__ void fetch_2d(cudaTextureObject_t image, const float2* at, float* output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = tex2D<float>(image, at[i].x, at[i].y);
}

extern "C" __global__ void fetch_2d_channels(cudaTextureObject_t image, const float2* at, float4* output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = tex2D<float4>(image, at[i].x, at[i].y);
}

extern "C" __global__ void fetch_1d(cudaTextureObject_t image, const float2* at, float* output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = tex1D<float>(image, at[i].x);
}

extern "C" __global__ void fetch_3d(cudaTextureObject_t image, const float2* at, float* output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = tex3D<float>(image, at[i].x, at[i].y, at[i].x + at[i].y);
}

extern "C" __global__ void fetch_layer(cudaTextureObject_t image, const float2* at, float* output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = tex2DLayered<float>(image, at[i].x, at[i].y, i % 4);
}

// The integers of a texture that is memory, by their numbers.
extern "C" __global__ void fetch_elements(cudaTextureObject_t memory, const int* index, int* output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = tex1Dfetch<int>(memory, index[i]);
}

extern "C" __global__ void gather(cudaTextureObject_t image, const float2* at, float4* output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = tex2Dgather<float4>(image, at[i].x, at[i].y, 1);
}

// Transposes a surface of 16-bit integers, and writes 1 where the other has no texel.
extern "C" __global__ void transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned short value = surf2Dread<unsigned short>(from, y * 2, x, cudaBoundaryModeZero);
    surf2Dwrite<unsigned short>(value + 1, to, x * 2, y, cudaBoundaryModeZero);
}

extern "C" __global__ void outside(cudaSurfaceObject_t to)
{
    surf2Dwrite<float4>(make_float4(1, 2, 3, 4), to, 16 * threadIdx.x, 0, cudaBoundaryModeTrap);
}
