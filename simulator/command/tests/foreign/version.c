/* A C program that prints the version of CUDA that the driver says it has. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "no driver: %s\n", dlerror());
        return 90;
    }
    int (*cuDriverGetVersion)(int *) = (int (*)(int *))dlsym(driver, "cuDriverGetVersion");
    int version = 0;
    if (cuDriverGetVersion(&version))
        return 91;
    printf("%d\n", version);
    return 0;
}
