/* What nvcc makes of a program with a kernel, a constant, a variable and a managed variable, written by hand: it registers a fat binary, and
   each `<<<...>>>` is two calls. The fat binary is made here, of the PTX in the file that the first argument names. The second argument
   chooses what is in it. */
#include "fat_binary.h"

typedef struct { unsigned x, y, z; } dim3;

void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
int __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaGetLastError(void);
const char *cudaGetErrorString(int);
int cudaRuntimeGetVersion(int *);
int cudaGetDeviceProperties(void *, int);
int cudaGraphicsMapResources(int, void **, void *);

static char factors[8], launches[4];
static unsigned *total;

/* The stub of the kernel on the host. */
static void scale(unsigned *values, unsigned n) {
    dim3 grid, block;
    size_t shared;
    void *stream, *arguments[] = {&values, &n};
    if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == 0)
        cudaLaunchKernel((const void *)scale, grid, block, arguments, shared, stream);
}

/* The stub of the kernel that prints, which the program launches itself. */
static void says(void) {}

static void launch(unsigned blocks, unsigned threads, unsigned *values, unsigned n) {
    dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1};
    if (__cudaPushCallConfiguration(grid, block, 0, NULL) == 0)
        scale(values, n);
}

int main(int count, char **arguments) {
    if (count != 3)
        return 91;
    void **handle = register_fat_binary(arguments[1], strcmp(arguments[2], "ptx"));
    __cudaRegisterFunction(handle, (const char *)scale, "scale", "scale", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(handle, (const char *)says, "says", "says", -1, 0, 0, 0, 0, 0);
    __cudaRegisterVar(handle, factors, "factors", "factors", 0, sizeof factors, 1, 0);
    __cudaRegisterVar(handle, launches, "launches", "launches", 0, sizeof launches, 0, 0);
    __cudaRegisterManagedVar(handle, (void **)&total, "total", "total", 0, sizeof *total, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);

    unsigned values[1000], *on_device, launched = 0, wrong = 0, two[2] = {3, 7};
    for (unsigned i = 0; i < 1000; i++)
        values[i] = i;
    printf("%d", cudaMalloc((void **)&on_device, sizeof values));
    printf(" %d", cudaMemcpy(on_device, values, sizeof values, 1));
    printf(" %d", cudaMemcpyToSymbol(factors, two, sizeof two, 0, 1));
    launch(8, 128, on_device, 1000);
    int error = cudaGetLastError();
    printf(" %d %d: %s\n", error, cudaDeviceSynchronize(), cudaGetErrorString(error));
    if (error == 0) {
        printf("%d", cudaMemcpy(values, on_device, sizeof values, 2));
        for (unsigned i = 0; i < 1000; i++)
            wrong += values[i] != i * two[i % 2];
        printf(" %d", cudaMemcpyFromSymbol(&launched, launches, sizeof launched, 0, 2));
        printf(" %d", __cudaInitModule(handle));
        printf(", %u wrong, launches %u, total %u\n", wrong, launched, *total);

        launch(8, 2000, on_device, 1000);
        int shape = cudaGetLastError(), symbol = cudaMemcpyToSymbol(values, two, sizeof two, 0, 1);
        int refused = cudaGraphicsMapResources(0, NULL, NULL), again = cudaGraphicsMapResources(0, NULL, NULL);
        int last = cudaGetLastError();
        printf("%d %d %d %d %d %d\n", shape, symbol, refused, again, last, cudaGetLastError());

        /* The structure for CUDA 12 and that for CUDA 13 are shorter than this. */
        static char properties[2000];
        memset(properties, 0x55, sizeof properties);
        int version = 0, used = sizeof properties;
        cudaRuntimeGetVersion(&version);
        error = cudaGetDeviceProperties(properties, 0);
        while (properties[used - 1] == 0x55)
            used--;
        printf("%d %s: CUDA %d, %d bytes\n", error, properties, version, used);

        /* What is printed before a launch comes before what the kernel prints. */
        dim3 one = {1, 1, 1};
        void *none[1];
        printf("before ");
        error = cudaLaunchKernel((const void *)says, one, one, none, 0, NULL);
        printf("after %d\n", error);

        printf("%d", cudaDeviceReset());
        printf(" %d", cudaMalloc((void **)&on_device, sizeof values));
        cudaMemcpy(on_device, values, sizeof values, 1);
        launch(8, 128, on_device, 1000);
        printf(" %d", cudaDeviceSynchronize());
        cudaMemcpyFromSymbol(&launched, launches, sizeof launched, 0, 2);
        printf(", launches after a reset %u, free %d\n", launched, cudaFree(on_device));
    }
    __cudaUnregisterFatBinary(handle);
    return 0;
}

/* What belongs to the thread is gone by now. */
__attribute__((destructor)) static void at_the_end(void) {
    printf("at the end %d\n", cudaFree(0));
}
