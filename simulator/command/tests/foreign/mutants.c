/* A C program with a kernel and a test of it, to be run with mutants of the kernel. It succeeds if the kernel's results are right.
   usage: mutants FILE.ptx */
#include <dlfcn.h>
#include <stdio.h>

static void *driver;

#define FUNCTION(type, name, ...) type (*name)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(driver, #name)
#define THREADS 64

int main(int count, char **arguments) {
    if (count < 2 || !(driver = dlopen("libcuda.so.1", RTLD_NOW))) {
        fprintf(stderr, "no driver: %s\n", dlerror());
        return 90;
    }
    FUNCTION(int, cuInit, unsigned);
    FUNCTION(int, cuCtxCreate_v2, void **, unsigned, int);
    FUNCTION(int, cuModuleLoad, void **, const char *);
    FUNCTION(int, cuModuleGetFunction, void **, void *, const char *);
    FUNCTION(int, cuMemAlloc_v2, unsigned long long *, size_t);
    FUNCTION(int, cuMemcpyHtoD_v2, unsigned long long, const void *, size_t);
    FUNCTION(int, cuMemcpyDtoH_v2, void *, unsigned long long, size_t);
    FUNCTION(int, cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

    void *context, *module, *function;
    unsigned long long input, output;
    int values[THREADS], results[THREADS], n = THREADS, mode = 0;
    void *parameters[] = {&input, &output, &n, &mode};
    for (int i = 0; i < THREADS; i++)
        values[i] = 100 + i * i;
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoad(&module, arguments[1])
        || cuModuleGetFunction(&function, module, "mutants") || cuMemAlloc_v2(&input, sizeof values)
        || cuMemAlloc_v2(&output, sizeof results) || cuMemcpyHtoD_v2(input, values, sizeof values)
        || cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL)
        || cuMemcpyDtoH_v2(results, output, sizeof results))
        return 91;
    for (int i = 0; i < THREADS; i++)
        if (results[i] != 4 - values[THREADS - 1 - i])
            return 1;
    return 0;
}
