/* Mistakes with streams, each with a correct twin. Each program makes 64 numbers, lets the device work with them, and checks the result.
   usage: streams FILE.ptx CASE wrong|right
   status: 0 for the right result, 1 for a wrong one, 90 to 92 for what should not happen, 99 for an unknown case */
#include "streams.h"

static int is_right;

/* Lets `later` wait for what is in `earlier` now. */
static void order(Handle earlier, Handle later) {
    ok(cuEventRecord(event, earlier));
    ok(cuStreamWaitEvent(later, event, 0));
}

/* Downloads when everything is over. */
static int device_has(Address x, int expected) {
    ok(cuCtxSynchronize());
    ok(cuMemcpyDtoH_v2(results, x, BYTES));
    return all(results, expected);
}

static void sum_up(void *sum) {
    for (int i = 0; i < N; i++)
        *(int *)sum += pinned[i];
}

static void tell(Handle stream, int result, void *told) {
    (void)stream;
    *(volatile int *)told = 1 + result;
}

static int run(const char *name) {
#define CASE(text) if (!strcmp(name, text))
    CASE("no event between streams") {
        twice(a, s1);
        if (is_right) order(s1, s2);
        add(c, a, b, s2);
        return device_has(c, 5);
    }
    CASE("event recorded before the work") {
        if (!is_right) ok(cuEventRecord(event, s1));
        twice(a, s1);
        if (is_right) ok(cuEventRecord(event, s1));
        ok(cuStreamWaitEvent(s2, event, 0));
        add(c, a, b, s2);
        return device_has(c, 5);
    }
    CASE("wait before the record") {
        if (!is_right) ok(cuStreamWaitEvent(s2, event, 0));
        twice(a, s1);
        ok(cuEventRecord(event, s1));
        if (is_right) ok(cuStreamWaitEvent(s2, event, 0));
        add(c, a, b, s2);
        return device_has(c, 5);
    }
    CASE("one event for two streams") {
        twice(a, s1);
        ok(cuEventRecord(event, s1));
        twice(b, s3);
        ok(cuEventRecord(is_right ? other_event : event, s3));
        ok(cuStreamWaitEvent(s2, event, 0));
        ok(cuStreamWaitEvent(s2, other_event, 0));
        add(c, a, b, s2);
        return device_has(c, 8);
    }
    CASE("memset in another stream") {
        ok(cuMemsetD32Async(c, 7, N, s2));
        if (is_right) order(s2, s1);
        twice(c, s1);
        return device_has(c, 14);
    }
    CASE("copy in another stream") {
        twice(a, s1);
        if (is_right) order(s1, s2);
        ok(cuMemcpyDtoDAsync_v2(c, a, BYTES, s2));
        return device_has(c, 2);
    }
    CASE("pinned memory changed too early") {
        set(pinned, 10);
        ok(cuMemcpyHtoDAsync_v2(a, pinned, BYTES, s1));
        if (is_right) ok(cuStreamSynchronize(s1));
        set(pinned, 20);
        return device_has(a, 10);
    }
    CASE("pinned memory read too early") {
        set(pinned, 0);
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        if (is_right) ok(cuStreamSynchronize(s1));
        return all(pinned, 3);
    }
    CASE("pinned memory that has the right bytes already read too early") {
        set(pinned, 3);
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        if (is_right) ok(cuStreamSynchronize(s1));
        return all(pinned, 3);
    }
    CASE("wait for the wrong stream") {
        set(pinned, 0);
        twice(b, s1);
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        ok(cuStreamSynchronize(is_right ? s1 : s2));
        return all(pinned, 6);
    }
    CASE("wait for the wrong event") {
        set(pinned, 0);
        ok(cuEventRecord(event, s1));
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        if (is_right) ok(cuEventRecord(event, s1));
        ok(cuEventSynchronize(event));
        return all(pinned, 3);
    }
    CASE("default stream and a stream that does not block") {
        Handle stream;
        ok(cuStreamCreate(&stream, is_right ? 0 : NON_BLOCKING));
        twice(a, NULL);
        add(c, a, b, stream);
        return device_has(c, 5);
    }
    CASE("upload and a stream that does not block") {
        set(pageable, 10);
        ok(cuMemcpyHtoD_v2(a, pageable, BYTES));
        if (is_right) ok(cuStreamSynchronize(NULL));
        twice(a, s1);
        return device_has(a, 20);
    }
    CASE("copy on the device and a stream that does not block") {
        ok(cuMemcpyDtoD_v2(c, b, BYTES));
        if (is_right) ok(cuCtxSynchronize());
        twice(c, s1);
        return device_has(c, 6);
    }
    CASE("memset and a stream that does not block") {
        ok(cuMemsetD32_v2(c, 4, N));
        if (is_right) order(NULL, s1);
        twice(c, s1);
        return device_has(c, 8);
    }
    CASE("memory freed in another stream") {
        Address x;
        ok(cuMemAllocAsync(&x, BYTES, s1));
        ok(cuMemsetD32Async(x, 4, N, s1));
        add(c, x, b, s1);
        if (is_right) order(s1, s2);
        ok(cuMemFreeAsync(x, s2));
        return device_has(c, 7);
    }
    CASE("memory allocated in another stream") {
        Address x;
        ok(cuMemAllocAsync(&x, BYTES, s1));
        if (is_right) order(s1, s2);
        ok(cuMemsetD32Async(x, 4, N, s2));
        add(c, x, b, s2);
        return device_has(c, 7);
    }
    CASE("an answer that is not looked at") {
        set(pinned, 0);
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        ok(cuEventRecord(event, s1));
        while (cuEventQuery(event) == NOT_READY && is_right) {}
        return all(pinned, 3);
    }
    CASE("a function of the host in another stream") {
        int sum = 0;
        set(pinned, 0);
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        if (is_right) order(s1, s2);
        ok(cuLaunchHostFunc(s2, sum_up, &sum));
        ok(cuCtxSynchronize());
        return sum != 3 * N;
    }
    CASE("one buffer for two chunks") {
        set(pinned, 10);
        set(more, 20);
        ok(cuMemcpyHtoDAsync_v2(a, pinned, BYTES, s1));
        order(s1, s2);
        add(c, a, a, s2);
        if (is_right) order(s2, s1);
        ok(cuMemcpyHtoDAsync_v2(a, more, BYTES, s1));
        return device_has(c, 20);
    }
    CASE("a join of one of two") {
        twice(a, s1);
        twice(b, s2);
        order(s1, s3);
        if (is_right) order(s2, s3);
        add(c, a, b, s3);
        return device_has(c, 8);
    }
    CASE("a graph and a copy") {
        Handle graph, executable;
        ok(cuStreamBeginCapture_v2(s1, 0));
        twice(a, s1);
        ok(cuStreamEndCapture(s1, &graph));
        ok(cuGraphInstantiateWithFlags(&executable, graph, 0));
        ok(cuGraphLaunch(executable, s1));
        if (is_right) order(s1, s2);
        ok(cuMemcpyDtoDAsync_v2(c, a, BYTES, s2));
        return device_has(c, 2);
    }
    CASE("an event that a graph records") {
        Handle graph, executable;
        ok(cuStreamBeginCapture_v2(s1, 0));
        twice(a, s1);
        if (is_right) ok(cuEventRecordWithFlags(event, s1, EXTERNAL));
        ok(cuStreamEndCapture(s1, &graph));
        ok(cuGraphInstantiateWithFlags(&executable, graph, 0));
        ok(cuGraphLaunch(executable, s1));
        ok(cuStreamWaitEvent(s2, event, 0));
        add(c, a, b, s2);
        return device_has(c, 5);
    }
    CASE("an event that a graph waits for") {
        Handle graph, executable;
        ok(cuStreamBeginCapture_v2(s2, 0));
        if (is_right) ok(cuStreamWaitEvent(s2, event, EXTERNAL));
        add(c, a, b, s2);
        ok(cuStreamEndCapture(s2, &graph));
        ok(cuGraphInstantiateWithFlags(&executable, graph, 0));
        twice(a, s1);
        ok(cuEventRecord(event, s1));
        ok(cuGraphLaunch(executable, s2));
        return device_has(c, 5);
    }
    CASE("nodes of a graph without an edge") {
        Handle graph, executable;
        ok(cuStreamBeginCapture_v2(s1, 0));
        order(s1, s2);
        twice(a, s1);
        if (is_right) order(s1, s2);
        add(c, a, b, s2);
        order(s2, s1);
        ok(cuStreamEndCapture(s1, &graph));
        ok(cuGraphInstantiateWithFlags(&executable, graph, 0));
        ok(cuGraphLaunch(executable, s3));
        return device_has(c, 5);
    }
    CASE("results downloaded before they are there") {
        twice(b, s1);
        if (is_right) ok(cuStreamSynchronize(s1));
        ok(cuMemcpyDtoH_v2(results, b, BYTES));
        return all(results, 6);
    }
    CASE("a download to pageable memory, which waits") {
        ok(cuMemcpyDtoHAsync_v2(results, b, BYTES, s1));
        twice(b, s2);
        return all(results, 3) || device_has(b, 6);
    }
    CASE("both handles of the default stream") {
        twice(a, NULL);
        twice(a, LEGACY);
        add(c, a, b, NULL);
        return device_has(c, 7);
    }
    CASE("work that reads pinned memory before a copy overwrites it") {
        int sum = 0;
        set(pinned, 2);
        ok(cuLaunchHostFunc(s1, sum_up, &sum));
        add(c, (Address)pinned, b, s1);
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        ok(cuMemcpyDtoHAsync_v2(pinned, c, BYTES, s1));
        ok(cuStreamSynchronize(s1));
        return sum != 2 * N || all(pinned, 5);
    }
    CASE("a callback that tells the host") {
        volatile int told = 0;
        twice(a, s1);
        ok(cuStreamAddCallback(s1, tell, (void *)&told, 0));
        while (!told) {}
        add(c, a, b, s2);
        return device_has(c, 5);
    }
    CASE("an argument too few") {
        void *parameters[] = {&c, &a, is_right ? &b : NULL};
        int result = cuLaunchKernel(add_kernel, 1, 1, 1, N, 1, 1, 0, NULL, parameters, NULL);
        return result ? 1 : device_has(c, 4);
    }
    return 99;
}

int main(int count, char **arguments) {
    if (count < 4)
        return 90;
    is_right = !strcmp(arguments[3], "right");
    int failed = start(arguments[1]);
    return failed ? failed : run(arguments[2]);
}
