/* What the programs with streams share: the driver's functions, two kernels, and some buffers of N numbers. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long Address;
typedef void *Handle;

enum { N = 64, BYTES = N * 4, NON_BLOCKING = 1, EXTERNAL = 1, NOT_READY = 600 };

#define FUNCTIONS(F)                                                                                                                      \
    F(cuInit, unsigned) F(cuCtxCreate_v2, Handle *, unsigned, int) F(cuCtxSynchronize, void) F(cuModuleLoad, Handle *, const char *)      \
    F(cuModuleGetFunction, Handle *, Handle, const char *) F(cuMemAlloc_v2, Address *, size_t) F(cuMemFree_v2, Address)                  \
    F(cuMemHostAlloc, void *, size_t, unsigned) F(cuStreamCreate, Handle *, unsigned) F(cuStreamSynchronize, Handle)                      \
    F(cuEventCreate, Handle *, unsigned) F(cuEventRecord, Handle, Handle) F(cuEventSynchronize, Handle) F(cuEventQuery, Handle)           \
    F(cuStreamWaitEvent, Handle, Handle, unsigned) F(cuMemcpyHtoD_v2, Address, const void *, size_t)                                     \
    F(cuMemcpyDtoH_v2, void *, Address, size_t) F(cuMemcpyDtoD_v2, Address, Address, size_t)                                             \
    F(cuMemcpyHtoDAsync_v2, Address, const void *, size_t, Handle) F(cuMemcpyDtoHAsync_v2, void *, Address, size_t, Handle)              \
    F(cuMemcpyDtoDAsync_v2, Address, Address, size_t, Handle) F(cuMemsetD32_v2, Address, unsigned, size_t)                               \
    F(cuMemsetD32Async, Address, unsigned, size_t, Handle) F(cuMemAllocAsync, Address *, size_t, Handle)                                 \
    F(cuStreamAddCallback, Handle, void (*)(Handle, int, void *), void *, unsigned) F(cuMemFreeAsync, Address, Handle)                   \
    F(cuLaunchHostFunc, Handle, void (*)(void *), void *) F(cuEventRecordWithFlags, Handle, Handle, unsigned)                            \
    F(cuLaunchKernel, Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **, void **)             \
    F(cuStreamBeginCapture_v2, Handle, int) F(cuStreamEndCapture, Handle, Handle *)                                                      \
    F(cuGraphInstantiateWithFlags, Handle *, Handle, unsigned long long) F(cuGraphLaunch, Handle, Handle)                                \
    F(cuGraphCreate, Handle *, unsigned) F(cuGraphAddDependencies, Handle, const Handle *, const Handle *, size_t)                       \
    F(cuGraphAddKernelNode, Handle *, Handle, const Handle *, size_t, const void *) F(cuLaunchKernelEx, const void *, Handle, void **, void **) \
    F(cuStreamWriteValue32_v2, Handle, Address, unsigned, unsigned) F(cuStreamWaitValue32_v2, Handle, Address, unsigned, unsigned)

#define DECLARE(name, ...) static int (*name)(__VA_ARGS__);
FUNCTIONS(DECLARE)

static const Handle LEGACY = (Handle)1;
static Handle add_kernel, twice_kernel, s1, s2, s3, event, other_event;
static Address a, b, c;
static int *pinned, *more, pageable[N], results[N];

/* Ends the program if a call fails. */
static void ok(int result) {
    if (result) {
        fprintf(stderr, "error %d\n", result);
        _Exit(92);
    }
}

static void add(Address out, Address left, Address right, Handle stream) {
    void *parameters[] = {&out, &left, &right};
    ok(cuLaunchKernel(add_kernel, 1, 1, 1, N, 1, 1, 0, stream, parameters, NULL));
}

static void twice(Address x, Handle stream) {
    void *parameters[] = {&x};
    ok(cuLaunchKernel(twice_kernel, 1, 1, 1, N, 1, 1, 0, stream, parameters, NULL));
}

static int all(const int *values, int expected) {
    for (int i = 0; i < N; i++)
        if (values[i] != expected)
            return 1;
    return 0;
}

static void set(int *values, int value) {
    for (int i = 0; i < N; i++)
        values[i] = value;
}

/* Opens the driver, and makes streams, events and buffers: `a` has ones, `b` threes, and `c` zeros. */
static int start(const char *ptx) {
    Handle driver, context, module;
    if (!(driver = dlopen("libcuda.so.1", RTLD_NOW))) {
        fprintf(stderr, "no driver: %s\n", dlerror());
        return 90;
    }
#define LOAD(name, ...)                                                                                                                   \
    if (!(name = (int (*)(__VA_ARGS__))dlsym(driver, #name)))                                                                             \
        return 91;
    FUNCTIONS(LOAD)
    ok(cuInit(0));
    ok(cuCtxCreate_v2(&context, 0, 0));
    ok(cuModuleLoad(&module, ptx));
    ok(cuModuleGetFunction(&add_kernel, module, "add"));
    ok(cuModuleGetFunction(&twice_kernel, module, "twice"));
    Handle *streams[] = {&s1, &s2, &s3}, *events[] = {&event, &other_event};
    for (int i = 0; i < 3; i++)
        ok(cuStreamCreate(streams[i], NON_BLOCKING));
    for (int i = 0; i < 2; i++)
        ok(cuEventCreate(events[i], 0));
    Address *buffers[] = {&a, &b, &c};
    int values[] = {1, 3, 0};
    for (int i = 0; i < 3; i++) {
        ok(cuMemAlloc_v2(buffers[i], BYTES));
        ok(cuMemsetD32_v2(*buffers[i], values[i], N));
    }
    ok(cuMemHostAlloc(&pinned, BYTES, 0));
    ok(cuMemHostAlloc(&more, BYTES, 0));
    ok(cuCtxSynchronize());
    return 0;
}
