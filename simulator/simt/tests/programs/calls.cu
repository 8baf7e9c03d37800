// Calls through pointers, output of kernels, and asserts.

typedef int (*Operation)(int, int);

__device__ __noinline__ int sum(int a, int b) { return a + b; }
__device__ __noinline__ int difference(int a, int b) { return a - b; }
__device__ __noinline__ int product(int a, int b) { return a * b; }

__device__ Operation operations[] = {sum, difference, product};

struct Shape {
    __device__ virtual float area() const = 0;
};

struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};

struct Rectangle : Shape {
    float width, height;
    __device__ Rectangle(float width, float height) : width(width), height(height) {}
    __device__ float area() const override { return width * height; }
};

__device__ __noinline__ float area_of(const Shape& shape) { return shape.area(); }

// Every lane calls its own function.
extern "C" __global__ void by_table(const int* a, const int* b, int* output)
{
    int i = threadIdx.x;
    output[i] = operations[i % 3](a[i], b[i]);
}

// Only some lanes call at all; the pointer comes from a comparison.
extern "C" __global__ void by_choice(const int* a, const int* b, int* output, int limit)
{
    int i = threadIdx.x;
    Operation chosen = a[i] > b[i] ? difference : sum;
    output[i] = -1;
    if (i < limit)
        output[i] = chosen(a[i], b[i]);
}

extern "C" __global__ void virtual_calls(const float* input, float* output)
{
    int i = threadIdx.x;
    Square square(input[i]);
    Rectangle rectangle(input[i], 3.0f);
    output[i] = i % 2 ? area_of(square) : area_of(rectangle);
}

// What the pointer holds is a number, not the address of a function.
extern "C" __global__ void bad_call(int* output, unsigned long long address)
{
    output[0] = ((Operation)address)(1, 2);
}

extern "C" __global__ void prints(const float* input, const char* text)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (input[i] > 0.0f) {
        int written = printf("block %d thread %2u: %6.2f|%-8s|%c|%#x|%lld%%\n", blockIdx.x, threadIdx.x, input[i], "text", 'a' + i, i + 16, -5000000000LL * i);
        if (i == 1)
            printf("%d %s", written, text);
    }
    __syncthreads();
    if (i == 0)
        printf("\nend %p %e %g %5.1f%% %+d %05d %hhd %lu\n", (void*)0x10, 12345.678, 0.0001, 99.5, 7, -42, (char)-3, 1ul << 40);
}

extern "C" __global__ void asserts(const int* input)
{
    int i = threadIdx.x;
    assert(input[i] < 100 && "too large");
}
