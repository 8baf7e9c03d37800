/* A C program of the time before CUDA 4: it stores the parameters of a launch in the function, and leaves the suffix out of names.
   usage: old FILE.ptx */
#include <dlfcn.h>
#include <stdio.h>

static void *driver;

#define FUNCTION(type, name, ...) type (*name)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(driver, #name)

#define SHOW(call) printf("%d ", call)

int main(int count, char **arguments) {
    if (count != 2 || !(driver = dlopen("libcuda.so.1", RTLD_NOW))) {
        fprintf(stderr, "no driver: %s\n", dlerror());
        return 90;
    }
    FUNCTION(int, cuInit, unsigned);
    FUNCTION(int, cuCtxCreate_v2, void **, unsigned, int);
    FUNCTION(int, cuCtxPopCurrent, void **);
    FUNCTION(int, cuCtxPushCurrent, void *);
    FUNCTION(int, cuCtxDestroy, void *);
    FUNCTION(int, cuStreamCreate, void **, unsigned);
    FUNCTION(int, cuStreamDestroy, void *);
    FUNCTION(int, cuEventCreate, void **, unsigned);
    FUNCTION(int, cuEventDestroy, void *);
    FUNCTION(int, cuDeviceTotalMem, unsigned *, int);
    FUNCTION(int, cuMemAlloc, unsigned *, unsigned);
    FUNCTION(int, cuMemAlloc_v2, unsigned long long *, size_t);
    FUNCTION(int, cuMemcpyHtoD_v2, unsigned long long, const void *, size_t);
    FUNCTION(int, cuMemcpyDtoH_v2, void *, unsigned long long, size_t);
    FUNCTION(int, cuModuleLoad, void **, const char *);
    FUNCTION(int, cuModuleGetFunction, void **, void *, const char *);
    FUNCTION(int, cuFuncSetBlockShape, void *, int, int, int);
    FUNCTION(int, cuFuncSetSharedSize, void *, unsigned);
    FUNCTION(int, cuParamSetSize, void *, unsigned);
    FUNCTION(int, cuParamSeti, void *, int, unsigned);
    FUNCTION(int, cuParamSetf, void *, int, float);
    FUNCTION(int, cuParamSetv, void *, int, void *, unsigned);
    FUNCTION(int, cuLaunch, void *);
    FUNCTION(int, cuLaunchGrid, void *, int, int);
    FUNCTION(int, cuLaunchGridAsync, void *, int, int, void *);

    void *context, *module, *add, *stream, *event;
    unsigned long long in, out;
    float numbers[100], sums[100];
    for (int i = 0; i < 100; i++)
        numbers[i] = i;
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoad(&module, arguments[1])
        || cuModuleGetFunction(&add, module, "add") || cuMemAlloc_v2(&in, 400) || cuMemAlloc_v2(&out, 400)
        || cuMemcpyHtoD_v2(in, numbers, 400) || cuMemcpyHtoD_v2(out, numbers, 400))
        return 91;
    SHOW(cuFuncSetBlockShape(add, 2000, 1, 1));
    SHOW(cuFuncSetBlockShape(add, 0, 1, 1));
    SHOW(cuFuncSetBlockShape(add, 50, 1, 1));
    SHOW(cuFuncSetSharedSize(add, 1 << 20));
    SHOW(cuFuncSetSharedSize(add, 64));
    printf("\n");
    SHOW(cuParamSetv(add, 0, &out, 8));
    SHOW(cuParamSetv(add, 8, &in, 8));
    SHOW(cuParamSetv(add, 16, &in, 8));
    SHOW(cuParamSetf(add, 24, 1.5f));
    SHOW(cuParamSeti(add, 24, 100));
    SHOW(cuParamSetSize(add, 28));
    SHOW(cuParamSeti(add, 400000, 1));
    SHOW(cuParamSetSize(add, 99999));
    printf("\n");
    SHOW(cuLaunchGrid(add, 0, 1));
    SHOW(cuLaunch(add));
    SHOW(cuMemcpyDtoH_v2(sums, out, 400));
    printf("%g %g %g\n", sums[49], sums[50], sums[99]);
    SHOW(cuLaunchGrid(add, 2, 1));
    SHOW(cuStreamCreate(&stream, 0));
    SHOW(cuLaunchGridAsync(add, 2, 1, stream));
    SHOW(cuMemcpyDtoH_v2(sums, out, 400));
    printf("%g %g %g\n", sums[49], sums[50], sums[99]);
    unsigned total = 0, address = 9;
    SHOW(cuDeviceTotalMem(&total, 0));
    printf("%x\n", total);
    SHOW(cuMemAlloc(&address, 64));
    SHOW(cuEventCreate(&event, 0));
    SHOW(cuEventDestroy(event));
    SHOW(cuStreamDestroy(stream));
    SHOW(cuCtxPopCurrent(&context));
    SHOW(cuCtxPushCurrent(context));
    SHOW(cuCtxDestroy(context));
    printf("\n");
    return 0;
}
