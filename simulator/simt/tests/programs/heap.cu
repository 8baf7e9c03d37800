// Memory that kernels allocate.

struct Link {
    Link *next;
    int value;
};

// Each thread builds a list, adds it up, and frees it.
extern "C" __global__ void lists(int *output) {
    Link *first = nullptr;
    for (int i = 0; i <= threadIdx.x % 5; ++i) {
        Link *link = new Link;
        link->next = first;
        link->value = threadIdx.x * 10 + i;
        first = link;
    }
    int sum = 0;
    while (first) {
        Link *next = first->next;
        sum += first->value;
        delete first;
        first = next;
    }
    output[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// What one launch allocates, the next one uses and frees.
extern "C" __global__ void keep(int **kept) {
    int *block = (int *)malloc(4 * sizeof(int));
    for (int i = 0; i < 4; ++i) block[i] = threadIdx.x * 4 + i;
    kept[threadIdx.x] = block;
}

extern "C" __global__ void release(int **kept, int *output) {
    int *block = kept[threadIdx.x];
    output[threadIdx.x] = block[0] + block[1] + block[2] + block[3];
    free(block);
}

// Allocates until there is no more, and says how many there were.
extern "C" __global__ void exhaust(size_t bytes, int *output) {
    int count = 0;
    void *last = nullptr;
    while (void *block = malloc(bytes)) {
        *(void **)block = last;
        last = block;
        ++count;
    }
    *output = count;
    while (last) {
        void *next = *(void **)last;
        free(last);
        last = next;
    }
}

extern "C" __global__ void odd_sizes(unsigned long long *output) {
    void *none = malloc(0);
    void *large = malloc(1ull << 40);
    char *one = (char *)malloc(1), *other = (char *)malloc(1);
    *one = 1;
    *other = 2;
    output[0] = large == nullptr;
    output[1] = (size_t)one % 16 == 0 && (size_t)other % 16 == 0 && one != other;
    output[2] = *one;
    free(none);
    free(nullptr);
    free(one);
    free(other);
}

extern "C" __global__ void use_after_free(int *output) {
    volatile int *block = (volatile int *)malloc(64);
    block[3] = 1;
    free((void *)block);
    *output = block[3];
}

extern "C" __global__ void free_twice(int *volatile *kept) {
    int *block = (int *)malloc(64);
    *kept = block;
    free(block);
    free(*kept);
}

extern "C" __global__ void free_the_middle(int *volatile *kept) {
    int *block = (int *)malloc(64);
    *kept = block;
    free(block + 1);
}

extern "C" __global__ void free_of_the_host(int *buffer) { free(buffer); }

extern "C" __global__ void past_the_end(int count) {
    int *block = (int *)malloc(count * sizeof(int));
    block[count] = 1;
}

extern "C" __global__ void never_written(int *output) {
    volatile int *block = (volatile int *)malloc(64);
    *output = block[5];
}
