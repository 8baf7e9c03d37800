/* A program with graphs and stream capture, against the runtime of CUDA 12 or 13 (`-DCUDA=12`). It prints each line whose result is not the
   expected one. With `-DWITH_DATA`, it calls the functions of CUDA 12 that have data of edges. With `-DHEADERS`, it takes NVIDIA's declarations
   instead of its own. */
#include "fat_binary.h"

#ifdef HEADERS
#include <cuda_runtime_api.h>
#endif

#if CUDA == 12 && defined WITH_DATA
#undef cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphAddNode cudaGraphAddNode_v2
#elif CUDA == 12 && !defined HEADERS
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v2
#elif CUDA == 13
#define WITH_DATA
#endif

#ifndef HEADERS
typedef struct { unsigned x, y, z; } dim3;
typedef struct stream *cudaStream_t;
typedef struct event *cudaEvent_t;
typedef struct graph *cudaGraph_t;
typedef struct node *cudaGraphNode_t;
typedef struct executable *cudaGraphExec_t;
typedef struct object *cudaUserObject_t;
typedef void (*cudaHostFn_t)(void *);
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaKernelNodeParams { void *func; dim3 gridDim, blockDim; unsigned sharedMemBytes; void **kernelParams, **extra; };
struct cudaChannelFormatDesc { int x, y, z, w, f; };
typedef void *cudaArray_t;
struct cudaMemcpy3DParms {
    void *srcArray;
    size_t srcPos[3];
    struct cudaPitchedPtr srcPtr;
    void *dstArray;
    size_t dstPos[3];
    struct cudaPitchedPtr dstPtr;
    struct { size_t width, height, depth; } extent;
    int kind;
};
struct cudaMemsetParams { void *dst; size_t pitch; unsigned value, elementSize; size_t width, height; };
struct cudaHostNodeParams { cudaHostFn_t fn; void *userData; };
struct cudaMemAllocNodeParams {
    struct {
        int allocType, handleTypes;
        struct { int type, id; } location;
        char rest[72];
    } poolProps;
    void *accessDescs;
    size_t accessDescCount, bytesize;
    void *dptr;
};
struct cudaGraphNodeParams {
    int type, reserved0[3];
    union {
        long long reserved1[29];
        struct cudaKernelNodeParams kernel;
        struct { int flags, reserved[3]; struct cudaMemcpy3DParms copyParams; } memcpy;
        struct cudaMemsetParams memset;
        struct cudaMemAllocNodeParams alloc;
        struct { void *dptr; } free;
    };
    long long reserved2;
};
typedef struct { unsigned char from_port, to_port, type, reserved[5]; } cudaGraphEdgeData;
typedef struct { unsigned long long flags; cudaStream_t uploadStream; cudaGraphNode_t errNode_out; int result_out; } cudaGraphInstantiateParams;
typedef struct { int result; cudaGraphNode_t errorNode, errorFromNode; } cudaGraphExecUpdateResultInfo;
typedef union { char pad[64]; int cooperative, priority; } cudaKernelNodeAttrValue;

#ifdef WITH_DATA
#define DATA , const cudaGraphEdgeData *
#define DATA_OUT , cudaGraphEdgeData *
#define INFO , cudaGraph_t *, const cudaGraphNode_t **, const cudaGraphEdgeData **, size_t *
#else
#define DATA
#define DATA_OUT
#define INFO , cudaGraph_t *, const cudaGraphNode_t **, size_t *
#endif
#define AT cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t
int cudaMallocArray(void **, const struct cudaChannelFormatDesc *, size_t, size_t, unsigned);
int cudaFreeArray(void *);
int cudaMalloc(void **, size_t);
int cudaMallocAsync(void **, size_t, cudaStream_t);
int cudaFree(void *);
int cudaFreeAsync(void *, cudaStream_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, cudaStream_t);
int cudaMemsetAsync(void *, int, size_t, cudaStream_t);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaGetSymbolAddress(void **, const void *);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int cudaStreamCreate(cudaStream_t *);
int cudaStreamDestroy(cudaStream_t);
int cudaStreamSynchronize(cudaStream_t);
int cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
int cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void *);
int cudaEventCreate(cudaEvent_t *);
int cudaEventRecord(cudaEvent_t, cudaStream_t);
int cudaEventQuery(cudaEvent_t);
int cudaDeviceSynchronize(void);
int cudaPeekAtLastError(void);
int cudaGetLastError(void);
int cudaStreamBeginCapture(cudaStream_t, int);
int cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t, const cudaGraphNode_t *, const cudaGraphEdgeData *, size_t, int);
int cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
int cudaStreamIsCapturing(cudaStream_t, int *);
int cudaStreamGetCaptureInfo(cudaStream_t, int *, unsigned long long * INFO);
int cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t * DATA, size_t, unsigned);
int cudaThreadExchangeStreamCaptureMode(int *);
int cudaGraphCreate(cudaGraph_t *, unsigned);
int cudaGraphDestroy(cudaGraph_t);
int cudaGraphClone(cudaGraph_t *, cudaGraph_t);
int cudaGraphDebugDotPrint(cudaGraph_t, const char *, unsigned);
int cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t *, size_t *);
int cudaGraphGetRootNodes(cudaGraph_t, cudaGraphNode_t *, size_t *);
int cudaGraphGetEdges(cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t * DATA_OUT, size_t *);
int cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t * DATA, size_t);
int cudaGraphRemoveDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t * DATA, size_t);
int cudaGraphNodeFindInClone(cudaGraphNode_t *, cudaGraphNode_t, cudaGraph_t);
int cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t * DATA_OUT, size_t *);
int cudaGraphNodeGetDependentNodes(cudaGraphNode_t, cudaGraphNode_t * DATA_OUT, size_t *);
int cudaGraphNodeGetType(cudaGraphNode_t, int *);
int cudaGraphDestroyNode(cudaGraphNode_t);
int cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long);
int cudaGraphInstantiateWithFlags(cudaGraphExec_t *, cudaGraph_t, unsigned long long);
int cudaGraphInstantiateWithParams(cudaGraphExec_t *, cudaGraph_t, cudaGraphInstantiateParams *);
int cudaGraphUpload(cudaGraphExec_t, cudaStream_t);
int cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
int cudaGraphExecDestroy(cudaGraphExec_t);
int cudaGraphExecGetFlags(cudaGraphExec_t, unsigned long long *);
int cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *);
int cudaGraphNodeGetEnabled(cudaGraphExec_t, cudaGraphNode_t, unsigned *);
int cudaGraphNodeSetEnabled(cudaGraphExec_t, cudaGraphNode_t, unsigned);
int cudaDeviceGetGraphMemAttribute(int, int, void *);
int cudaDeviceSetGraphMemAttribute(int, int, void *);
int cudaDeviceGraphMemTrim(int);
int cudaUserObjectCreate(cudaUserObject_t *, void *, cudaHostFn_t, unsigned, unsigned);
int cudaUserObjectRetain(cudaUserObject_t, unsigned);
int cudaUserObjectRelease(cudaUserObject_t, unsigned);
int cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t, unsigned, unsigned);
int cudaGraphReleaseUserObject(cudaGraph_t, cudaUserObject_t, unsigned);
int cudaGraphAddNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t * DATA, size_t, struct cudaGraphNodeParams *);
int cudaGraphNodeSetParams(cudaGraphNode_t, struct cudaGraphNodeParams *);
int cudaGraphExecNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, struct cudaGraphNodeParams *);
int cudaGraphAddKernelNode(AT, const struct cudaKernelNodeParams *);
int cudaGraphKernelNodeGetParams(cudaGraphNode_t, struct cudaKernelNodeParams *);
int cudaGraphKernelNodeSetParams(cudaGraphNode_t, const struct cudaKernelNodeParams *);
int cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaKernelNodeParams *);
int cudaGraphKernelNodeGetAttribute(cudaGraphNode_t, int, cudaKernelNodeAttrValue *);
int cudaGraphKernelNodeSetAttribute(cudaGraphNode_t, int, const cudaKernelNodeAttrValue *);
int cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t, cudaGraphNode_t);
int cudaGraphAddMemcpyNode(AT, const struct cudaMemcpy3DParms *);
int cudaGraphMemcpyNodeGetParams(cudaGraphNode_t, struct cudaMemcpy3DParms *);
int cudaGraphMemcpyNodeSetParams(cudaGraphNode_t, const struct cudaMemcpy3DParms *);
int cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaMemcpy3DParms *);
int cudaGraphAddMemcpyNode1D(AT, void *, const void *, size_t, int);
int cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t, void *, const void *, size_t, int);
int cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t, cudaGraphNode_t, void *, const void *, size_t, int);
int cudaGraphAddMemcpyNodeToSymbol(AT, const void *, const void *, size_t, size_t, int);
int cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t, const void *, const void *, size_t, size_t, int);
int cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t, cudaGraphNode_t, const void *, const void *, size_t, size_t, int);
int cudaGraphAddMemcpyNodeFromSymbol(AT, void *, const void *, size_t, size_t, int);
int cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t, void *, const void *, size_t, size_t, int);
int cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t, cudaGraphNode_t, void *, const void *, size_t, size_t, int);
int cudaGraphAddMemsetNode(AT, const struct cudaMemsetParams *);
int cudaGraphMemsetNodeGetParams(cudaGraphNode_t, struct cudaMemsetParams *);
int cudaGraphMemsetNodeSetParams(cudaGraphNode_t, const struct cudaMemsetParams *);
int cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaMemsetParams *);
int cudaGraphAddHostNode(AT, const struct cudaHostNodeParams *);
int cudaGraphHostNodeGetParams(cudaGraphNode_t, struct cudaHostNodeParams *);
int cudaGraphHostNodeSetParams(cudaGraphNode_t, const struct cudaHostNodeParams *);
int cudaGraphExecHostNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaHostNodeParams *);
int cudaGraphAddEmptyNode(AT);
int cudaGraphAddChildGraphNode(AT, cudaGraph_t);
int cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t, cudaGraph_t *);
int cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, cudaGraph_t);
int cudaGraphAddEventRecordNode(AT, cudaEvent_t);
int cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t, cudaEvent_t *);
int cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t, cudaEvent_t);
int cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t);
int cudaGraphAddEventWaitNode(AT, cudaEvent_t);
int cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t, cudaEvent_t *);
int cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t, cudaEvent_t);
int cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t);
int cudaGraphAddMemAllocNode(AT, struct cudaMemAllocNodeParams *);
int cudaGraphMemAllocNodeGetParams(cudaGraphNode_t, struct cudaMemAllocNodeParams *);
int cudaGraphAddMemFreeNode(AT, void *);
int cudaGraphMemFreeNodeGetParams(cudaGraphNode_t, void *);
#endif

int cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int cudaStreamBeginCapture_ptsz(cudaStream_t, int);
int cudaStreamEndCapture_ptsz(cudaStream_t, cudaGraph_t *);

int cudaGraphLaunch_ptsz(cudaGraphExec_t, cudaStream_t);
/* The first form of this function, whose name the headers of CUDA 12 give to the second. */
int first_form(cudaStream_t, int *, unsigned long long *) __asm__("cudaStreamGetCaptureInfo");

/* Where some functions have data of edges. */
#ifdef WITH_DATA
#define EDGES , NULL
#else
#define EDGES
#endif

enum { SIZE = 100, BYTES = SIZE * sizeof(unsigned) };
enum { TO_DEVICE = 1, TO_HOST = 2, BY_ADDRESS = 4 };
enum { INVALID_VALUE = 1, INVALID_SYMBOL = 13, INVALID_DIRECTION = 21, INVALID_FUNCTION = 98, INVALID_DEVICE = 101, BAD_HANDLE = 400 };
enum { ILLEGAL_STATE = 401, NOT_READY = 600, UNSUPPORTED = 801, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901 };
enum { CAPTURE_UNMATCHED = 903, CAPTURE_UNJOINED = 904, UPDATE_FAILURE = 910 };

static char factors[8], launches[4];
static unsigned input[SIZE], output[SIZE], *on_device, *other, failures;
static cudaStream_t stream, second;
static cudaEvent_t event, later;

static void expect(long got, long wanted, const char *what, int line) {
    if (got != wanted && failures++ < 30)
        printf("line %d: %s is %ld, not %ld\n", line, what, got, wanted);
}
#define IS(call, wanted) expect((long)(call), (long)(wanted), #call, __LINE__)
#define OK(call) IS(call, 0)

/* The stub of the kernel, which the program launches by its address. */
static void scale(void) {}
/* A function that is no kernel. */
static void not_a_kernel(void) {}

static void count_call(void *calls) { ++*(unsigned *)calls; }

/* Counts the outputs that are not the inputs scaled some times. */
static unsigned wrong(unsigned times) {
    static const unsigned by[2] = {3, 7};
    unsigned found = 0;
    for (unsigned i = 0; i < SIZE; i++) {
        unsigned value = input[i];
        for (unsigned t = 0; t < times; t++)
            value *= by[i % 2];
        found += output[i] != value;
    }
    return found;
}

static unsigned not_all(const unsigned *device, unsigned value) {
    unsigned found = 0, read[SIZE];
    OK(cudaMemcpy(read, device, BYTES, TO_HOST));
    for (unsigned i = 0; i < SIZE; i++)
        found += read[i] != value;
    return found;
}

static void launch(unsigned *values, cudaStream_t in) {
    unsigned n = SIZE;
    void *arguments[] = {&values, &n};
    dim3 grid = {1, 1, 1}, block = {SIZE, 1, 1};
    OK(cudaLaunchKernel((const void *)scale, grid, block, arguments, 0, in));
}

static unsigned nodes_of(cudaGraph_t graph) {
    size_t count = 0;
    OK(cudaGraphGetNodes(graph, NULL, &count));
    return count;
}

/* Makes an executable graph, launches it, and destroys it. */
static void run(cudaGraph_t graph) {
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(executable));
}

static void captures(void) {
    cudaGraph_t graph, inside;
    cudaGraphExec_t executable;
    unsigned calls = 0;
    memset(output, 0, sizeof output);
    int state;
    unsigned long long id = 0;
    size_t count = 9;
    const cudaGraphNode_t *last;
    OK(cudaStreamIsCapturing(stream, (void *)&state));
    IS(state, 0);

    OK(cudaStreamBeginCapture(stream, 0));
    OK(cudaMemcpyAsync(on_device, input, BYTES, TO_DEVICE, stream));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(second, event, 0));
    OK(cudaLaunchHostFunc(second, count_call, &calls));
    launch(on_device, stream);
    OK(cudaEventRecord(later, second));
    OK(cudaStreamWaitEvent(stream, later, 0));
    OK(cudaMemcpyAsync(output, on_device, BYTES, TO_HOST, stream));
    OK(cudaStreamIsCapturing(stream, (void *)&state));
    IS(state, 1);
#ifdef WITH_DATA
    const cudaGraphEdgeData *data;
    OK(cudaStreamGetCaptureInfo(stream, (void *)&state, &id, &inside, &last, &data, &count));
    IS(data[0].type, 0);
#else
    OK(cudaStreamGetCaptureInfo(stream, (void *)&state, &id, &inside, &last, &count));
#endif
    IS(state, 1);
    IS(id != 0 && count == 1, 1);
#if CUDA == 12
    unsigned long long same = 0;
    OK(first_form(stream, &state, &same));
    IS(same == id, 1);
#endif
    IS(nodes_of(inside), 4);
    OK(cudaStreamEndCapture(stream, &graph));
    IS(graph == inside, 1);
    IS(output[0] + calls, 0);
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphUpload(executable, stream));
    for (unsigned launches = 1; launches <= 2; launches++) {
        input[5] += launches;
        OK(cudaGraphLaunch(executable, stream));
        OK(cudaStreamSynchronize(stream));
        IS(wrong(1), 0);
        IS(calls, launches);
    }
    OK(cudaGraphExecDestroy(executable));

    /* A capture to an existing graph, whose next node waits for what the program says. */
    cudaGraphNode_t empty, from[9], to[9];
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, 1));
    OK(cudaMemsetAsync(on_device, 1, BYTES, stream));
    OK(cudaStreamUpdateCaptureDependencies(stream, &empty EDGES, 1, 1));
    OK(cudaMemsetAsync(other, 2, BYTES, stream));
    OK(cudaStreamEndCapture(stream, &inside));
    IS(inside == graph, 1);
    count = 9;
    OK(cudaGraphGetEdges(graph, from, to EDGES, &count));
    IS(count == 1 && from[0] == empty, 1);
    run(graph);
    IS(not_all(on_device, 0x01010101) + not_all(other, 0x02020202), 0);
    OK(cudaGraphDestroy(graph));

    /* A stream that ends before the capture does. */
    cudaStream_t brief;
    OK(cudaStreamCreate(&brief));
    OK(cudaStreamBeginCapture(stream, 0));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(brief, event, 0));
    OK(cudaMemsetAsync(on_device, 3, BYTES, brief));
    OK(cudaEventRecord(later, brief));
    OK(cudaStreamWaitEvent(stream, later, 0));
    OK(cudaStreamDestroy(brief));
    OK(cudaStreamEndCapture(stream, &graph));
    run(graph);
    IS(not_all(on_device, 0x03030303), 0);
    OK(cudaGraphDestroy(graph));

    /* The default stream of the thread, for which functions have names of their own. */
    unsigned n = SIZE, before = 0, after = 0;
    void *arguments[] = {&other, &n};
    dim3 grid = {1, 1, 1}, block = {SIZE, 1, 1};
    OK(cudaMemcpyFromSymbol(&before, launches, sizeof before, 0, TO_HOST));
    OK(cudaStreamBeginCapture_ptsz(NULL, 0));
    OK(cudaLaunchKernel_ptsz((const void *)scale, grid, block, arguments, 0, NULL));
    OK(cudaStreamEndCapture_ptsz(NULL, &graph));
    OK(cudaMemcpyFromSymbol(&after, launches, sizeof after, 0, TO_HOST));
    IS(nodes_of(graph) == 1 && before == after, 1);
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch_ptsz(executable, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&after, launches, sizeof after, 0, TO_HOST));
    IS(after - before, 1);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));

    /* What a capture does not allow. */
    graph = (cudaGraph_t)&state;
    IS(cudaStreamBeginCapture(NULL, 0), CAPTURE_UNSUPPORTED);
    IS(cudaStreamBeginCapture(stream, 3), INVALID_VALUE);
    IS(cudaStreamEndCapture(stream, &graph), ILLEGAL_STATE);
    IS(cudaStreamUpdateCaptureDependencies(stream, NULL EDGES, 0, 1), ILLEGAL_STATE);
    OK(cudaStreamBeginCapture(stream, 0));
    IS(cudaStreamBeginCapture(stream, 0), ILLEGAL_STATE);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamBeginCapture(stream, 2));
    IS(cudaStreamSynchronize(stream), CAPTURE_UNSUPPORTED);
    OK(cudaStreamIsCapturing(stream, (void *)&state));
    IS(state, 2);
    IS(cudaMemsetAsync(on_device, 9, BYTES, stream), CAPTURE_INVALIDATED);
    IS(cudaStreamEndCapture(stream, &graph), CAPTURE_INVALIDATED);
    IS(graph == NULL, 1);
    OK(cudaStreamBeginCapture(stream, 2));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(second, event, 0));
    OK(cudaMemsetAsync(on_device, 9, BYTES, second));
    IS(cudaStreamEndCapture(second, &graph), CAPTURE_UNMATCHED);
    IS(cudaStreamEndCapture(stream, &graph), CAPTURE_UNJOINED);
    IS(not_all(on_device, 0x03030303), 0);
    int mode = 7;
    IS(cudaThreadExchangeStreamCaptureMode((void *)&mode), INVALID_VALUE);
    mode = 2;
    OK(cudaThreadExchangeStreamCaptureMode((void *)&mode));
    IS(mode, 0);
    OK(cudaThreadExchangeStreamCaptureMode((void *)&mode));
    IS(mode, 2);
}

static void nodes(void) {
    cudaGraph_t graph, inside, child;
    cudaGraphNode_t fill, kernel, copy_in, copy_out, row, host, recorded, waits, twin;
    cudaGraphExec_t executable;
    unsigned n = SIZE, calls = 0, more = 0;
    int type;
    void *arguments[] = {&on_device, &n}, *others[] = {&other, &n};
    struct cudaKernelNodeParams launch = {(void *)scale, {1, 1, 1}, {SIZE, 1, 1}, 0, arguments, NULL}, found;
    struct cudaMemsetParams zero = {on_device, 0, 0, 4, SIZE, 1}, filled;
    struct cudaHostNodeParams call = {count_call, &calls}, called_by;
    struct cudaMemcpy3DParms box, box_found;
    memset(&box, 0, sizeof box);
    memset(&box_found, 1, sizeof box_found);
    box.srcPtr = (struct cudaPitchedPtr){input, BYTES, BYTES, 1};
    box.dstPtr = (struct cudaPitchedPtr){on_device, BYTES, BYTES, 1};
    box.extent.width = BYTES;
    box.extent.height = box.extent.depth = 1;
    box.kind = TO_DEVICE;
    memset(output, 0, sizeof output);

    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddKernelNode(&twin, child, NULL, 0, &launch));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zero));
    OK(cudaGraphAddMemcpyNode(&copy_in, graph, &fill, 1, &box));
    OK(cudaGraphAddKernelNode(&kernel, graph, &copy_in, 1, &launch));
    OK(cudaGraphAddChildGraphNode(&row, graph, &kernel, 1, child));
    OK(cudaGraphAddEventRecordNode(&recorded, graph, &row, 1, event));
    OK(cudaGraphAddEventWaitNode(&waits, graph, &recorded, 1, event));
    OK(cudaGraphAddMemcpyNode1D(&copy_out, graph, &waits, 1, output, on_device, BYTES, TO_HOST));
    OK(cudaGraphAddHostNode(&host, graph, &copy_out, 1, &call));
    OK(cudaGraphDestroy(child));
    run(graph);
    IS(wrong(2), 0);
    IS(calls, 1);
    OK(cudaEventQuery(event));

    /* What the nodes say about themselves. */
    OK(cudaGraphKernelNodeGetParams(kernel, &found));
    IS(found.func == (void *)scale && found.blockDim.x == SIZE && *(unsigned *)found.kernelParams[1] == SIZE, 1);
    OK(cudaGraphKernelNodeSetParams(kernel, &found));
    OK(cudaGraphMemsetNodeGetParams(fill, &filled));
    IS(filled.dst == on_device && filled.width == SIZE && filled.elementSize == 4, 1);
    OK(cudaGraphHostNodeGetParams(host, &called_by));
    IS(called_by.fn == count_call && called_by.userData == &calls, 1);
    OK(cudaGraphMemcpyNodeGetParams(copy_in, &box_found));
    IS(box_found.srcPtr.ptr == input && box_found.dstPtr.ptr == on_device && box_found.kind == TO_DEVICE, 1);
    IS(box_found.extent.width == BYTES && box_found.extent.depth == 1 && box_found.srcArray == NULL, 1);
    OK(cudaGraphMemcpyNodeSetParams(copy_in, &box_found));
    cudaEvent_t of_node;
    OK(cudaGraphEventRecordNodeGetEvent(recorded, &of_node));
    IS(of_node == event, 1);
    OK(cudaGraphEventWaitNodeGetEvent(waits, &of_node));
    IS(of_node == event, 1);
    OK(cudaGraphChildGraphNodeGetGraph(row, &inside));
    IS(nodes_of(inside), 1);
    cudaGraphNode_t all[] = {kernel, copy_in, fill, host, row, recorded, waits};
    const int types[] = {0, 1, 2, 3, 4, 7, 6};
    for (unsigned i = 0; i < 7; i++) {
        OK(cudaGraphNodeGetType(all[i], (void *)&type));
        IS(type, types[i]);
    }

    /* Changes of the graph, for executable graphs that are made of it later. */
    launch.kernelParams = others;
    OK(cudaGraphKernelNodeSetParams(kernel, &launch));
    box.dstPtr.ptr = other;
    OK(cudaGraphMemcpyNodeSetParams(copy_in, &box));
    OK(cudaGraphMemcpyNodeSetParams1D(copy_out, output, other, BYTES, TO_HOST));
    zero.dst = other;
    OK(cudaGraphMemsetNodeSetParams(fill, &zero));
    call.userData = &more;
    OK(cudaGraphHostNodeSetParams(host, &call));
    OK(cudaGraphEventRecordNodeSetEvent(recorded, later));
    OK(cudaGraphEventWaitNodeSetEvent(waits, later));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(wrong(1), 0);
    IS(calls + 10 * more, 11);

    /* Changes of the executable graph alone: back to what it was, with a kernel that works on the copy's target. */
    launch.kernelParams = arguments;
    OK(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
    box.dstPtr.ptr = on_device;
    OK(cudaGraphExecMemcpyNodeSetParams(executable, copy_in, &box));
    OK(cudaGraphExecMemcpyNodeSetParams1D(executable, copy_out, output, on_device, BYTES, TO_HOST));
    zero.value = 5;
    OK(cudaGraphExecMemsetNodeSetParams(executable, fill, &zero));
    call.userData = &calls;
    OK(cudaGraphExecHostNodeSetParams(executable, host, &call));
    OK(cudaGraphExecEventRecordNodeSetEvent(executable, recorded, event));
    OK(cudaGraphExecEventWaitNodeSetEvent(executable, waits, event));
    OK(cudaGraphCreate(&child, 0));
    launch.kernelParams = others;
    OK(cudaGraphAddKernelNode(&twin, child, NULL, 0, &launch));
    OK(cudaGraphExecChildGraphNodeSetParams(executable, row, child));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(wrong(1), 0);
    IS(calls + 10 * more, 12);
    unsigned scaled[SIZE];
    OK(cudaMemcpy(scaled, other, BYTES, TO_HOST));
    IS(scaled[0] == 15 && scaled[1] == 35, 1);
    OK(cudaGraphMemcpyNodeGetParams(copy_out, &box_found));
    IS(box_found.srcPtr.ptr == other, 1);

    /* Attributes of kernels. */
    cudaKernelNodeAttrValue attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.priority = 3;
    OK(cudaGraphKernelNodeSetAttribute(kernel, 8, &attribute));
    OK(cudaGraphKernelNodeCopyAttributes(twin, kernel));
    memset(&attribute, 0, sizeof attribute);
    OK(cudaGraphKernelNodeGetAttribute(twin, 8, &attribute));
    IS(attribute.priority, 3);
    IS(cudaGraphKernelNodeGetAttribute(fill, 8, &attribute), INVALID_VALUE);

    /* Nothing of this becomes a node, and nothing changes one. */
    unsigned had = nodes_of(graph);
    launch.func = (void *)not_a_kernel;
    IS(cudaGraphAddKernelNode(&twin, graph, NULL, 0, &launch), INVALID_FUNCTION);
    IS(cudaGraphKernelNodeSetParams(kernel, &launch), INVALID_FUNCTION);
    launch.func = NULL;
    IS(cudaGraphAddKernelNode(&twin, graph, NULL, 0, &launch), INVALID_FUNCTION);
    launch.func = (void *)scale;
    launch.blockDim.x = 2000;
    IS(cudaGraphAddKernelNode(&twin, graph, NULL, 0, &launch), INVALID_VALUE);
    IS(cudaGraphAddKernelNode(&twin, graph, NULL, 0, NULL), INVALID_VALUE);
    IS(cudaGraphAddKernelNode(&twin, (cudaGraph_t)&n, NULL, 0, &launch), INVALID_VALUE);
    IS(cudaGraphAddMemcpyNode1D(&twin, graph, NULL, 0, output, on_device, BYTES, 9), INVALID_DIRECTION);
    IS(cudaGraphAddMemcpyNode1D(&twin, graph, NULL, 1, output, on_device, BYTES, TO_HOST), INVALID_VALUE);
    box.kind = 9;
    IS(cudaGraphAddMemcpyNode(&twin, graph, NULL, 0, &box), INVALID_DIRECTION);
    zero.elementSize = 3;
    IS(cudaGraphAddMemsetNode(&twin, graph, NULL, 0, &zero), INVALID_VALUE);
    call.fn = NULL;
    IS(cudaGraphAddHostNode(&twin, graph, NULL, 0, &call), INVALID_VALUE);
    IS(cudaGraphAddEventRecordNode(&twin, graph, NULL, 0, NULL), INVALID_VALUE);
    IS(cudaGraphEventRecordNodeSetEvent(recorded, NULL), BAD_HANDLE);
    IS(cudaGraphAddChildGraphNode(&twin, graph, NULL, 0, NULL), INVALID_VALUE);
    IS(cudaGraphMemsetNodeGetParams(kernel, &filled), INVALID_VALUE);
    IS(cudaGraphKernelNodeGetParams(fill, &found), INVALID_VALUE);
    IS(cudaGraphMemcpyNodeSetParams1D(fill, output, on_device, BYTES, TO_HOST), INVALID_VALUE);
    IS(cudaGraphExecHostNodeSetParams(NULL, host, &call), INVALID_VALUE);
    IS(nodes_of(graph), had);
    OK(cudaGraphKernelNodeGetParams(kernel, &found));
    IS(found.func == (void *)scale && found.blockDim.x == SIZE, 1);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphDestroy(graph));
}

static void symbols(void) {
    cudaGraph_t graph;
    cudaGraphNode_t to, from, last;
    cudaGraphExec_t executable;
    static unsigned given[2] = {11, 13}, later_given[2] = {17, 19}, read[2], read_later[2];
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, factors, &given[1], 4, 4, TO_DEVICE));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, read, factors, 8, 0, TO_HOST));
    run(graph);
    IS(read[0] == 3 && read[1] == 13, 1);
    OK(cudaGraphMemcpyNodeSetParamsToSymbol(to, factors, given, 8, 0, BY_ADDRESS));
    OK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, &read[1], factors, 4, 0, TO_HOST));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(read[0] == 3 && read[1] == 11, 1);
    OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, to, factors, later_given, 8, 0, TO_DEVICE));
    OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable, from, read_later, factors, 8, 0, TO_HOST));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(read_later[0] == 17 && read_later[1] == 19, 1);

    IS(cudaGraphAddMemcpyNodeToSymbol(&last, graph, NULL, 0, given, given, 8, 0, TO_DEVICE), INVALID_SYMBOL);
    IS(cudaGraphAddMemcpyNodeToSymbol(&last, graph, NULL, 0, factors, given, 8, 4, TO_DEVICE), INVALID_VALUE);
    IS(cudaGraphAddMemcpyNodeFromSymbol(&last, graph, NULL, 0, read, factors, 8, 0, TO_DEVICE), INVALID_DIRECTION);
    IS(nodes_of(graph), 2);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
    given[0] = 3, given[1] = 7;
    OK(cudaMemcpyToSymbol(factors, given, 8, 0, TO_DEVICE));
}

/* Copies to and from an array, whose elements are the units. */
static void arrays(void) {
    cudaGraph_t graph;
    cudaGraphNode_t to, from;
    cudaArray_t array;
    struct cudaChannelFormatDesc format = {32, 0, 0, 0, 1};
    struct cudaMemcpy3DParms box, found;
    OK(cudaMallocArray(&array, &format, 10, 10, 0));
    OK(cudaGraphCreate(&graph, 0));
    memset(&box, 0, sizeof box);
    box.srcPtr = (struct cudaPitchedPtr){input, 40, 40, 10};
    box.dstArray = array;
    box.extent.width = box.extent.height = 10;
    box.extent.depth = 1;
    box.kind = TO_DEVICE;
    OK(cudaGraphAddMemcpyNode(&to, graph, NULL, 0, &box));
    OK(cudaGraphMemcpyNodeGetParams(to, &found));
    IS(found.dstArray == array && found.extent.width == 10 && found.kind == TO_DEVICE, 1);
    OK(cudaGraphMemcpyNodeSetParams(to, &found));
    memset(&box, 0, sizeof box);
    box.srcArray = array;
    ((size_t *)&box.srcPos)[0] = 5;
    box.dstPtr = (struct cudaPitchedPtr){output, 20, 20, 10};
    box.extent.width = 5;
    box.extent.height = 10;
    box.extent.depth = 1;
    box.kind = TO_HOST;
    OK(cudaGraphAddMemcpyNode(&from, graph, &to, 1, &box));
    OK(cudaGraphMemcpyNodeGetParams(from, &found));
    IS(found.srcArray == array && ((size_t *)&found.srcPos)[0] == 5 && found.extent.width == 5, 1);
    run(graph);
    IS(output[0] == input[5] && output[4] == input[9] && output[5] == input[15] && output[49] == input[99], 1);
    box.extent.width = 6;
    IS(cudaGraphMemcpyNodeSetParams(from, &box), INVALID_VALUE);
    OK(cudaGraphDestroy(graph));
    OK(cudaFreeArray(array));
}

/* Nodes of any type, by one structure. */
static void any_node(void) {
    cudaGraph_t graph;
    cudaGraphNode_t node[4];
    cudaGraphExec_t executable;
    unsigned n = SIZE;
    void *memory = NULL, *arguments[] = {&memory, &n};
    struct cudaGraphNodeParams given;
    OK(cudaGraphCreate(&graph, 0));
    memset(&given, 0, sizeof given);
    given.type = 10;
    given.alloc.poolProps.allocType = given.alloc.poolProps.location.type = 1;
    given.alloc.bytesize = BYTES;
    OK(cudaGraphAddNode(&node[0], graph, NULL EDGES, 0, &given));
    memory = given.alloc.dptr;
    IS(memory != NULL, 1);
    memset(&given, 0, sizeof given);
    given.type = 2;
    given.memset.dst = memory;
    given.memset.value = 2;
    given.memset.elementSize = 4;
    given.memset.width = SIZE;
    given.memset.height = 1;
    OK(cudaGraphAddNode(&node[1], graph, &node[0] EDGES, 1, &given));
    memset(&given, 0, sizeof given);
    given.type = 0;
    given.kernel.func = (void *)scale;
    given.kernel.gridDim.x = given.kernel.gridDim.y = given.kernel.gridDim.z = 1;
    given.kernel.blockDim.x = SIZE;
    given.kernel.blockDim.y = given.kernel.blockDim.z = 1;
    given.kernel.kernelParams = arguments;
    OK(cudaGraphAddNode(&node[2], graph, &node[1] EDGES, 1, &given));
    IS(given.kernel.func == (void *)scale, 1);
    memset(&given, 0, sizeof given);
    given.type = 1;
    given.memcpy.copyParams.srcPtr = (struct cudaPitchedPtr){memory, BYTES, BYTES, 1};
    given.memcpy.copyParams.dstPtr = (struct cudaPitchedPtr){output, BYTES, BYTES, 1};
    given.memcpy.copyParams.extent.width = BYTES;
    given.memcpy.copyParams.extent.height = given.memcpy.copyParams.extent.depth = 1;
    given.memcpy.copyParams.kind = TO_HOST;
    OK(cudaGraphAddNode(&node[3], graph, &node[2] EDGES, 1, &given));
    OK(cudaGraphInstantiate(&executable, graph, 1));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(output[98] == 6 && output[99] == 14, 1);
    given.memcpy.copyParams.dstPtr.ptr = output + 1;
    given.memcpy.copyParams.extent.width = BYTES - 4;
    OK(cudaGraphExecNodeSetParams(executable, node[3], &given));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(output[98] == 14 && output[99] == 6, 1);
    OK(cudaGraphNodeSetParams(node[3], &given));
    IS(cudaGraphNodeSetParams(node[2], &given), INVALID_VALUE);
    given.memcpy.copyParams.kind = 9;
    IS(cudaGraphExecNodeSetParams(executable, node[3], &given), INVALID_DIRECTION);
    given.type = 13;
    IS(cudaGraphAddNode(&node[0], graph, NULL EDGES, 0, &given), UNSUPPORTED);
    given.type = 99;
    IS(cudaGraphAddNode(&node[0], graph, NULL EDGES, 0, &given), INVALID_VALUE);
    IS(cudaGraphAddNode(&node[0], graph, NULL EDGES, 0, NULL), INVALID_VALUE);
    IS(nodes_of(graph), 4);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(memory));
}

static void structure(const char *folder) {
    cudaGraph_t graph, clone;
    cudaGraphNode_t a, b, c, found, from[9], to[9];
    size_t count;
    int type;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&b, graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&c, graph, &a, 1));
    OK(cudaGraphAddDependencies(graph, &b, &c EDGES, 1));
    count = 9;
    OK(cudaGraphNodeGetDependencies(c, from EDGES, &count));
    IS(count == 2 && from[0] == a && from[1] == b, 1);
    count = 9;
    OK(cudaGraphNodeGetDependentNodes(b, to EDGES, &count));
    IS(count == 1 && to[0] == c, 1);
    count = 9;
    OK(cudaGraphGetRootNodes(graph, from, &count));
    IS(count, 2);
    OK(cudaGraphGetEdges(graph, NULL, NULL EDGES, &count));
    IS(count, 2);
    OK(cudaGraphGetEdges(graph, from, to EDGES, &count));
    IS(from[0] == a && to[0] == c && from[1] == b && to[1] == c, 1);
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&found, c, clone));
    OK(cudaGraphNodeGetType(found, (void *)&type));
    IS(found != c && type == 5, 1);
    OK(cudaGraphRemoveDependencies(graph, &b, &c EDGES, 1));
    OK(cudaGraphDestroyNode(a));
    OK(cudaGraphGetEdges(graph, NULL, NULL EDGES, &count));
    IS(count + 10 * nodes_of(graph) + 100 * nodes_of(clone), 320);

    char path[1000], text[9];
    snprintf(path, sizeof path, "%s/graph.dot", folder);
    OK(cudaGraphDebugDotPrint(graph, path, 0));
    FILE *file = fopen(path, "r");
    IS(file && fgets(text, 8, file) && !strcmp(text, "digraph"), 1);
    IS(cudaGraphDebugDotPrint(graph, "/does/not/exist", 0), 304);

    IS(cudaGraphCreate(&graph, 1), INVALID_VALUE);
    IS(cudaGraphCreate(NULL, 0), INVALID_VALUE);
    IS(cudaGraphAddDependencies(graph, &b, &found EDGES, 1), INVALID_VALUE);
    IS(cudaGraphAddDependencies(graph, &b, &b EDGES, 1), INVALID_VALUE);
    IS(cudaGraphRemoveDependencies(graph, &b, &c EDGES, 1), INVALID_VALUE);
    IS(cudaGraphNodeFindInClone(&found, b, graph), INVALID_VALUE);
    IS(cudaGraphNodeGetType(a, (void *)&type), INVALID_VALUE);
    IS(cudaGraphDestroyNode(a), INVALID_VALUE);
    IS(cudaGraphGetNodes(graph, NULL, NULL), INVALID_VALUE);
    OK(cudaGraphDestroy(clone));
    IS(cudaGraphDestroy(clone), INVALID_VALUE);
    OK(cudaGraphDestroy(graph));
}

static void executables(void) {
    cudaGraph_t graph, same, more;
    cudaGraphNode_t fill, second_fill, extra;
    cudaGraphExec_t executable, unused = NULL;
    cudaGraphInstantiateParams how = {0, NULL, NULL, 9};
    cudaGraphExecUpdateResultInfo update;
    unsigned long long flags = 9;
    unsigned enabled = 9;
    struct cudaMemsetParams to = {on_device, 0, 1, 4, SIZE, 1};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &to));
    OK(cudaGraphClone(&same, graph));
    OK(cudaGraphNodeFindInClone(&second_fill, fill, same));
    to.value = 2;
    OK(cudaGraphMemsetNodeSetParams(second_fill, &to));
    OK(cudaGraphClone(&more, graph));
    OK(cudaGraphAddEmptyNode(&extra, more, NULL, 0));

    how.flags = 2;
    how.uploadStream = stream;
    OK(cudaGraphInstantiateWithParams(&executable, graph, &how));
    IS(how.result_out, 0);
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(not_all(on_device, 1), 0);
    OK(cudaGraphExecUpdate(executable, same, &update));
    IS(update.result, 0);
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(not_all(on_device, 2), 0);
    IS(cudaGraphExecUpdate(executable, more, &update), UPDATE_FAILURE);
    IS(update.result, 2);
    OK(cudaMemcpy(on_device, input, BYTES, TO_DEVICE));
    OK(cudaGraphNodeSetEnabled(executable, fill, 0));
    OK(cudaGraphNodeGetEnabled(executable, fill, &enabled));
    IS(enabled, 0);
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(output, on_device, BYTES, TO_HOST));
    IS(wrong(0), 0);
    OK(cudaGraphNodeSetEnabled(executable, fill, 1));
    OK(cudaGraphLaunch(executable, NULL));
    OK(cudaDeviceSynchronize());
    IS(not_all(on_device, 2), 0);
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphInstantiateWithFlags(&executable, graph, 1));
    OK(cudaGraphExecGetFlags(executable, &flags));
    IS(flags, 1);

    IS(cudaGraphInstantiate(&unused, graph, 1 << 20), INVALID_VALUE);
    IS(cudaGraphInstantiate(&unused, graph, 4), UNSUPPORTED);
    IS(cudaGraphInstantiate(NULL, graph, 0), INVALID_VALUE);
    IS(cudaGraphInstantiateWithParams(&unused, graph, NULL), INVALID_VALUE);
    IS(cudaGraphInstantiate(&unused, (cudaGraph_t)&to, 0), INVALID_VALUE);
    IS(unused == NULL, 1);
    IS(cudaGraphNodeSetEnabled(executable, extra, 0), INVALID_VALUE);
    OK(cudaGraphExecDestroy(executable));
    IS(cudaGraphExecDestroy(executable), INVALID_VALUE);
    IS(cudaGraphLaunch(executable, stream), INVALID_VALUE);
    IS(cudaGraphUpload(executable, stream), INVALID_VALUE);
    IS(cudaGraphExecUpdate(executable, same, &update), INVALID_VALUE);

    /* A cycle. */
    cudaGraphNode_t begin, end;
    OK(cudaGraphAddEmptyNode(&begin, graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&end, graph, &begin, 1));
    OK(cudaGraphAddDependencies(graph, &end, &begin EDGES, 1));
    how.flags = 0;
    IS(cudaGraphInstantiateWithParams(&unused, graph, &how), INVALID_VALUE);
    IS(how.result_out == 2 && (how.errNode_out == begin || how.errNode_out == end), 1);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(same));
    OK(cudaGraphDestroy(more));
}

static unsigned long long used(int attribute) {
    unsigned long long bytes = 0;
    OK(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
}

static void memory(void) {
    cudaGraph_t graph, copy;
    cudaGraphNode_t allocates, fills, frees, wrong_node;
    cudaGraphExec_t executable;
    struct cudaMemAllocNodeParams given, found;
    void *address, *freed, *captured;
    memset(&given, 0, sizeof given);
    memset(&found, 0, sizeof found);
    given.poolProps.allocType = given.poolProps.location.type = 1;
    given.bytesize = BYTES;
    OK(cudaDeviceGraphMemTrim(0));
    unsigned long long before = used(0), zero = 0;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemAllocNode(&allocates, graph, NULL, 0, &given));
    address = given.dptr;
    struct cudaMemsetParams fill = {address, 0, 0x05050505, 4, SIZE, 1};
    OK(cudaGraphAddMemsetNode(&fills, graph, &allocates, 1, &fill));
    OK(cudaGraphMemAllocNodeGetParams(allocates, &found));
    IS(found.dptr == address && found.bytesize == BYTES, 1);
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    IS(not_all(address, 0x05050505), 0);
    IS(used(0) - before, BYTES);
    IS(cudaGraphLaunch(executable, stream), INVALID_VALUE);
    IS(cudaGraphClone(&copy, graph), UNSUPPORTED);
    OK(cudaFreeAsync(address, stream));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFree(address));
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphAddMemFreeNode(&frees, graph, &fills, 1, address));
    OK(cudaGraphMemFreeNodeGetParams(frees, &freed));
    IS(freed == address, 1);
    run(graph);
    OK(cudaDeviceGraphMemTrim(0));
    OK(cudaDeviceSetGraphMemAttribute(0, 1, &zero));
    IS(used(0) == before && used(1) == before, 1);

    /* An allocation that is captured. */
    OK(cudaStreamBeginCapture(stream, 0));
    OK(cudaMallocAsync(&captured, BYTES, stream));
    OK(cudaMemcpyAsync(captured, input, BYTES, TO_DEVICE, stream));
    launch(captured, stream);
    OK(cudaMemcpyAsync(output, captured, BYTES, TO_HOST, stream));
    OK(cudaFreeAsync(captured, stream));
    OK(cudaStreamEndCapture(stream, &copy));
    IS(nodes_of(copy), 5);
    run(copy);
    IS(wrong(1), 0);
    OK(cudaGraphDestroy(copy));

    IS(cudaGraphAddMemFreeNode(&wrong_node, graph, NULL, 0, address), INVALID_VALUE);
    IS(cudaGraphAddMemFreeNode(&wrong_node, graph, NULL, 0, on_device), INVALID_VALUE);
    given.bytesize = 0;
    IS(cudaGraphAddMemAllocNode(&wrong_node, graph, NULL, 0, &given), INVALID_VALUE);
    IS(cudaGraphDestroyNode(frees), INVALID_VALUE);
    IS(cudaDeviceGetGraphMemAttribute(0, 9, &zero), INVALID_VALUE);
    IS(cudaDeviceGetGraphMemAttribute(7, 0, &zero), INVALID_DEVICE);
    IS(cudaDeviceSetGraphMemAttribute(0, 0, &zero), INVALID_VALUE);
    IS(cudaDeviceGraphMemTrim(7), INVALID_DEVICE);
    IS(nodes_of(graph), 3);
    OK(cudaGraphDestroy(graph));
}

static void user_objects(void) {
    cudaGraph_t graph;
    cudaUserObject_t object;
    unsigned destroyed = 0;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaUserObjectCreate(&object, &destroyed, count_call, 1, 1));
    OK(cudaUserObjectRetain(object, 2));
    OK(cudaUserObjectRelease(object, 2));
    OK(cudaGraphRetainUserObject(graph, object, 1, 1));
    OK(cudaGraphRetainUserObject(graph, object, 1, 0));
    OK(cudaGraphReleaseUserObject(graph, object, 1));
    IS(cudaGraphReleaseUserObject(graph, object, 2), INVALID_VALUE);
    IS(cudaGraphRetainUserObject(graph, object, 1, 7), INVALID_VALUE);
    IS(cudaUserObjectRetain(object, 0), INVALID_VALUE);
    IS(destroyed, 0);
    OK(cudaGraphDestroy(graph));
    IS(destroyed, 1);
    IS(cudaUserObjectRelease(object, 1), INVALID_VALUE);
    IS(cudaUserObjectCreate(&object, &destroyed, NULL, 1, 1), INVALID_VALUE);
    IS(cudaUserObjectCreate(&object, &destroyed, count_call, 1, 0), INVALID_VALUE);
}

int main(int count, char **arguments) {
    if (count != 3)
        return 91;
    void **handle = register_fat_binary(arguments[1], 0);
    __cudaRegisterFunction(handle, (const char *)scale, "scale", "scale", -1, 0, 0, 0, 0, 0);
    __cudaRegisterVar(handle, factors, "factors", "factors", 0, sizeof factors, 1, 0);
    __cudaRegisterVar(handle, launches, "launches", "launches", 0, sizeof launches, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    unsigned by[2] = {3, 7};
    for (unsigned i = 0; i < SIZE; i++)
        input[i] = 10 * i + 1;
    OK(cudaMemcpyToSymbol(factors, by, sizeof by, 0, TO_DEVICE));
    OK(cudaMalloc((void **)&on_device, BYTES));
    OK(cudaMalloc((void **)&other, BYTES));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&second));
    OK(cudaEventCreate(&event));
    OK(cudaEventCreate(&later));
    captures();
    nodes();
    symbols();
    arrays();
    any_node();
    structure(arguments[2]);
    executables();
    memory();
    user_objects();
    OK(cudaDeviceSynchronize());
    printf("%u failures\n", failures);
    __cudaUnregisterFatBinary(handle);
    return 0;
}
