// Functions that call themselves, at once, through each other, and through pointers.

__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

// Each thread goes to a depth of its own.
extern "C" __global__ void fibonacci_of_each(unsigned *output) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = fibonacci(i % 11);
}

__device__ unsigned is_odd(unsigned n);
__device__ __noinline__ unsigned is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ unsigned is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }

extern "C" __global__ void parity(unsigned *output) {
    unsigned i = threadIdx.x;
    if (i % 3 != 2) output[i] = is_even(i) * 10 + is_odd(i);
    else output[i] = 77;
}

// The array of each call has an address of its own: the callee writes to that of its caller.
__device__ __noinline__ int digits(int number, int *place, int depth) {
    int mine[4] = {number, depth, 0, 0};
    if (number >= 4) digits(number / 4, mine + 2, depth + 1);
    *place += mine[0] % 4 + mine[2];
    return mine[1] + mine[0];
}

extern "C" __global__ void sums_of_digits(int *output) {
    int sum = 0;
    int last = digits(threadIdx.x * 37 + 5, &sum, 100);
    output[threadIdx.x] = sum * 100000 + last;
}

__device__ void sort(int *first, int *last) {
    if (last - first < 2) return;
    int pivot = first[(last - first) / 2];
    int *low = first, *high = last - 1;
    while (low <= high) {
        while (*low < pivot) ++low;
        while (*high > pivot) --high;
        if (low <= high) {
            int swapped = *low;
            *low++ = *high;
            *high-- = swapped;
        }
    }
    sort(first, high + 1);
    sort(low, last);
}

// Each thread sorts a piece of its own.
extern "C" __global__ void quicksort(int *values, int count) { sort(values + threadIdx.x * count, values + (threadIdx.x + 1) * count); }

struct Node {
    __device__ virtual float value() const = 0;
};
struct Leaf : Node {
    float number;
    __device__ Leaf(float number) : number(number) {}
    __device__ float value() const override { return number; }
};
struct Sum : Node {
    const Node *left, *right;
    __device__ Sum(const Node *left, const Node *right) : left(left), right(right) {}
    __device__ float value() const override { return left->value() + right->value(); }
};

extern "C" __global__ void trees(float *output) {
    Leaf one(threadIdx.x), two(0.5f);
    Sum both(&one, &two), more(&both, &one), all(&more, &both);
    const Node *root = threadIdx.x % 2 ? static_cast<const Node *>(&all) : &one;
    output[threadIdx.x] = root->value();
}

__device__ __noinline__ int endless(int depth) { return endless(depth + 1) * 3 + depth; }

extern "C" __global__ void overflows(int *output) {
    if (threadIdx.x == 5) *output = endless(0);
}

// To a depth that the host gives.
__device__ __noinline__ int descend(int depth) { return depth == 0 ? 0 : descend(depth - 1) * 3 % 1001 + depth; }

extern "C" __global__ void descends(int *output, int depth) { output[threadIdx.x] = descend(depth + threadIdx.x % 4); }
