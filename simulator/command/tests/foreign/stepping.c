/* A C program with kernels to be stepped through. It asks for no results, and fails if a call does.
   usage: stepping FILE.ptx CASE [MARK], with a case of: race, fault, call, spin, clean, once. The last one has its fault only if there is no file MARK yet. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *driver;

#define FUNCTION(type, name, ...) type (*name)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(driver, #name)
#define THREADS 64

int main(int count, char **arguments) {
    if (count < 3 || !(driver = dlopen("libcuda.so.1", RTLD_NOW))) {
        fprintf(stderr, "no driver: %s\n", dlerror());
        return 90;
    }
    FUNCTION(int, cuInit, unsigned);
    FUNCTION(int, cuCtxCreate_v2, void **, unsigned, int);
    FUNCTION(int, cuModuleLoad, void **, const char *);
    FUNCTION(int, cuModuleGetFunction, void **, void *, const char *);
    FUNCTION(int, cuMemAlloc_v2, unsigned long long *, size_t);
    FUNCTION(int, cuMemcpyHtoD_v2, unsigned long long, const void *, size_t);
    FUNCTION(int, cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

    void *context, *module, *scale, *reverse, *shift, *call, *spin;
    unsigned long long input, output;
    float values[THREADS], factor = 2.0f;
    int rounds = 3, n = THREADS;
    for (int i = 0; i < THREADS; i++)
        values[i] = i;
    void *of_scale[] = {&input, &factor}, *of_reverse[] = {&input, &output, &rounds}, *of_shift[] = {&output, &n};
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoad(&module, arguments[1])
        || cuModuleGetFunction(&scale, module, "scale") || cuModuleGetFunction(&reverse, module, "reverse")
        || cuModuleGetFunction(&shift, module, "shift") || cuModuleGetFunction(&call, module, "call")
        || cuModuleGetFunction(&spin, module, "spin") || cuMemAlloc_v2(&input, sizeof values)
        || cuMemAlloc_v2(&output, sizeof values) || cuMemcpyHtoD_v2(input, values, sizeof values))
        return 91;
    const char *chosen = arguments[2];
    printf("case %s\n", chosen);
    int failed = cuLaunchKernel(scale, 1, 1, 1, THREADS, 1, 1, 0, NULL, of_scale, NULL);
    if (!strcmp(chosen, "race"))
        failed |= cuLaunchKernel(reverse, 2, 1, 1, THREADS, 1, 1, 0, NULL, of_reverse, NULL);
    if (!strcmp(chosen, "fault") || (!strcmp(chosen, "once") && fopen(arguments[3], "wx")))
        failed |= cuLaunchKernel(shift, 1, 1, 1, THREADS, 1, 1, 0, NULL, of_shift, NULL);
    if (!strcmp(chosen, "call"))
        failed |= cuLaunchKernel(call, 1, 1, 1, 40, 1, 1, 0, NULL, of_shift, NULL);
    if (!strcmp(chosen, "spin"))
        failed |= cuLaunchKernel(spin, 1, 1, 1, THREADS, 1, 1, 0, NULL, of_scale, NULL);
    return failed ? 1 : 0;
}
