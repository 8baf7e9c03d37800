/* A C program that finds the CUDA driver by its library's name, runs one kernel of a PTX file, and ends in the given way.
   usage: ends FILE.ptx KERNEL return|exit|abort|fork */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *driver;

#define FUNCTION(type, name, ...) type (*name)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(driver, #name)

static void print_at_exit(void) { printf("the program's own end\n"); }

int main(int count, char **arguments) {
    if (count != 4 || !(driver = dlopen("libcuda.so.1", RTLD_NOW))) {
        fprintf(stderr, "no driver: %s\n", dlerror());
        return 90;
    }
    atexit(print_at_exit);
    FUNCTION(int, cuInit, unsigned);
    FUNCTION(int, cuCtxCreate_v2, void **, unsigned, int);
    FUNCTION(int, cuModuleLoad, void **, const char *);
    FUNCTION(int, cuModuleGetFunction, void **, void *, const char *);
    FUNCTION(int, cuMemAlloc_v2, unsigned long long *, size_t);
    FUNCTION(int, cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
    FUNCTION(int, cuCtxSynchronize, void);

    void *context, *module, *function;
    unsigned long long out;
    void *parameters[] = {&out};
    int failed = cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoad(&module, arguments[1])
        || cuModuleGetFunction(&function, module, arguments[2]) || cuMemAlloc_v2(&out, 64)
        || cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
    if (failed)
        return 91;
    /* Not flushed here: the end of the process must do that. */
    printf("synchronized: %d\n", cuCtxSynchronize());

    dlclose(driver);
    if (!strcmp(arguments[3], "fork")) {
        fflush(stdout);
        if (fork() == 0)
            exit(0);
        wait(NULL);
    }
    if (!strcmp(arguments[3], "exit"))
        exit(7);
    if (!strcmp(arguments[3], "abort"))
        abort();
    return 0;
}
