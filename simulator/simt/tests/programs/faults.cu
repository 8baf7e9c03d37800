// Kernels with one fault each. The tests find the faulty line by the name in its comment.

extern "C" __global__ void write_at(float* output, long long offset)
{
    long long i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i + offset] = 1.0f; // <- write_at
}

extern "C" __global__ void read_at(const float* input, float* output, long long offset)
{
    long long i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = input[i + offset]; // <- read_at
}

extern "C" __global__ void add_at(int* counters, long long offset)
{
    long long i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counters[i + offset], 1); // <- add_at
}

// Only block 5, warp 2, lanes 7 and 9.
extern "C" __global__ void two_lanes(float* output, long long offset)
{
    if (blockIdx.x == 5 && (threadIdx.x == 71 || threadIdx.x == 73))
        output[offset] = 1.0f; // <- two_lanes
}

extern "C" __global__ void vector_at(const float* input, float4* output, int offset)
{
    output[threadIdx.x] = *(const float4*)(input + 4 * threadIdx.x + offset); // <- vector_at
}

extern "C" __global__ void static_shared(float* output, int offset)
{
    __shared__ float s_values[64];
    s_values[threadIdx.x + offset] = (float)threadIdx.x; // <- static_shared
    __syncthreads();
    output[threadIdx.x] = s_values[63 - threadIdx.x];
}

extern "C" __global__ void dynamic_shared(float* output, int offset)
{
    extern __shared__ float s_values[];
    s_values[threadIdx.x] = 1.0f;
    __syncthreads();
    output[threadIdx.x] = s_values[threadIdx.x + offset]; // <- dynamic_shared
}

extern "C" __global__ void shared_vector(float4* output, int offset)
{
    __shared__ float s_values[256];
    for (int k = 0; k < 8; ++k)
        s_values[threadIdx.x + 32 * k] = 1.0f;
    __syncthreads();
    output[threadIdx.x] = *(float4*)(s_values + offset + 4 * threadIdx.x); // <- shared_vector
}

extern "C" __global__ void local_array(const int* index, int* output)
{
    int values[8];
    for (int k = 0; k < 8; ++k)
        values[k] = k * threadIdx.x;
    values[index[threadIdx.x]] = 5; // <- local_array
    int sum = 0;
    for (int k = 0; k < 8; ++k)
        sum += values[k] * index[k];
    output[threadIdx.x] = sum;
}

extern "C" __global__ void trapped(const int* input)
{
    if (input[blockIdx.x * blockDim.x + threadIdx.x] < 0)
        __trap(); // <- trapped
}

// Block 0 takes its time, so that with two workers block 1 is the first to fail.
extern "C" __global__ void slow_and_fast(float* output, int rounds)
{
    float sum = 0;
    if (blockIdx.x == 0)
        for (int k = 0; k < rounds; ++k)
            sum = sum * 0.5f + output[k & 31];
    output[32 + 32 * blockIdx.x + threadIdx.x] = sum; // <- slow_and_fast
}

extern "C" __global__ void part_of_a_warp(int* output)
{
    __shared__ int s_value;
    if (threadIdx.x % 32 < 10) {
        s_value = 1;
        __syncthreads(); // <- part_of_a_warp
    }
    output[threadIdx.x] = s_value;
}

extern "C" __global__ void two_barriers(int* output)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1;" ::: "memory"); // <- two_barriers
    else
        asm volatile("bar.sync 2;" ::: "memory");
    output[threadIdx.x] = 1;
}

// Warp 1 is asked for and never comes.
extern "C" __global__ void nobody_arrives(int* output)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 3, 64;" ::: "memory"); // <- nobody_arrives
    output[threadIdx.x] = 1;
}

extern "C" __global__ void endless(volatile int* flag)
{
    while (flag[blockIdx.x] == 0) { // <- endless
    }
}

extern "C" __global__ void endless_through_a_barrier(volatile int* flag)
{
    while (*flag == 0)
        __syncthreads();
}

extern "C" __global__ void endless_arrivals(volatile int* flag)
{
    while (*flag == 0)
        asm volatile("bar.arrive 1, 64;" ::: "memory");
}
