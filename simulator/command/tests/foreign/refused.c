/* A C program that calls functions which the simulator does not have, each three times, and prints what they return.
   usage: refused */
#include <dlfcn.h>
#include <stdio.h>

static void *driver;

/* A fat binary with machine code for sm_90: its header, the header of an image, and the image. */
static const unsigned fatbin[] = {0xba55ed50, 0x00100001, 72, 0, 0x01010002, 64, 8, 0, 0, 0, 0, 90, 0, 0, 0, 0, 0, 0, 0, 0, 0x464c457f, 0};

#define FUNCTION(type, name, ...) type (*name)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(driver, #name)

#define SHOW(call) printf("%d ", call)

int main(void) {
    if (!(driver = dlopen("libcuda.so.1", RTLD_NOW))) {
        fprintf(stderr, "no driver: %s\n", dlerror());
        return 90;
    }
    FUNCTION(int, cuInit, unsigned);
    FUNCTION(int, cuCtxCreate_v2, void **, unsigned, int);
    FUNCTION(int, cuGraphConditionalHandleCreate, void *, void *, void *, unsigned, unsigned);
    FUNCTION(int, cuImportExternalMemory, void **, const void *);
    FUNCTION(int, cuModuleLoadData, void **, const void *);
    FUNCTION(int, cuModuleLoadFatBinary, void **, const void *);
    void *made;
    if (cuInit(0) || cuCtxCreate_v2(&made, 0, 0))
        return 91;
    for (int time = 0; time < 3; time++) {
        SHOW(cuGraphConditionalHandleCreate(&made, NULL, NULL, 0, 0));
        SHOW(cuImportExternalMemory(&made, NULL));
        SHOW(cuModuleLoadData(&made, "\x7f" "ELF"));
        SHOW(cuModuleLoadFatBinary(&made, fatbin));
    }
    return 0;
}
