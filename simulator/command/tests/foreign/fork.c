/* A C program that launches a kernel of many blocks, then forks. The child calls the driver and prints what each call returns.
   usage: fork FILE.ptx KERNEL */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *driver;

#define FUNCTION(type, name, ...) type (*name)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(driver, #name)

#define SHOW(call) printf("%d ", call)

int main(int count, char **arguments) {
    if (count != 3 || !(driver = dlopen("libcuda.so.1", RTLD_NOW))) {
        fprintf(stderr, "no driver: %s\n", dlerror());
        return 90;
    }
    FUNCTION(int, cuInit, unsigned);
    FUNCTION(int, cuDeviceGetCount, int *);
    FUNCTION(int, cuDriverGetVersion, int *);
    FUNCTION(int, cuCtxCreate_v2, void **, unsigned, int);
    FUNCTION(int, cuCtxGetCurrent, void **);
    FUNCTION(int, cuModuleLoad, void **, const char *);
    FUNCTION(int, cuModuleGetFunction, void **, void *, const char *);
    FUNCTION(int, cuMemAlloc_v2, unsigned long long *, size_t);
    FUNCTION(int, cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
    FUNCTION(int, cuCtxSynchronize, void);

    void *context, *module, *function;
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoad(&module, arguments[1])
        || cuModuleGetFunction(&function, module, arguments[2])
        || cuLaunchKernel(function, 200, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
        return 91;
    if (fork() == 0) {
        /* A child that hangs ends by this signal. */
        alarm(20);
        int number;
        unsigned long long address;
        SHOW(cuInit(0));
        SHOW(cuDeviceGetCount(&number));
        SHOW(cuCtxGetCurrent(&context));
        SHOW(cuCtxCreate_v2(&context, 0, 0));
        SHOW(cuMemAlloc_v2(&address, 64));
        SHOW(cuLaunchKernel(function, 200, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        SHOW(cuCtxSynchronize());
        SHOW(cuDriverGetVersion(&number));
        fflush(stdout);
        _exit(0);
    }
    int status;
    wait(&status);
    printf("child %d, parent %d\n", status, cuLaunchKernel(function, 200, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    return 0;
}
