/* Loads NVRTC by the path in the first argument, as CuPy does, and prints how much machine code a program has. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    int (*size_of)(void *, size_t *) = library ? (int (*)(void *, size_t *))dlsym(library, "nvrtcGetCUBINSize") : NULL;
    size_t size = 0;
    int code = size_of ? size_of(NULL, &size) : -1;
    printf("%d %zu\n", code, size);
    return 0;
}
