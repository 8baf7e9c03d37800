/* Pipelines with streams, events, waits of the host, graphs and pools. Of the operations that order their work, one can be left out.
   usage: orders FILE.ptx PIPELINE NUMBER
   It leaves out the operation with this number, from 0 (-1: none), and prints how many there are.
   status: 0 for the right result, 1 for a wrong one, 90 to 92 for what should not happen, 99 for an unknown pipeline */
#include <stdlib.h>

#include "streams.h"

typedef struct {
    unsigned grid[3], block[3], shared_bytes;
    Handle stream;
    const void *attributes;
    unsigned count;
} Launch;

typedef struct {
    int id;
    char padding[4];
    int value[16];
} Attribute;

typedef struct {
    Handle function;
    unsigned grid[3], block[3], shared_bytes;
    void **parameters, **extra;
} Node;

enum { PROGRAMMATIC_STREAM = 6, AT_LEAST = 0 };

static int left_out, orders;

/* Returns true for an operation that orders work, unless it is the one that is left out. */
static int kept(void) { return orders++ != left_out; }

static Handle new_event(void) {
    Handle new;
    ok(cuEventCreate(&new, 0));
    return new;
}

static void record(Handle in, Handle stream) {
    if (kept()) ok(cuEventRecord(in, stream));
}

static void await(Handle stream, Handle in) {
    if (kept()) ok(cuStreamWaitEvent(stream, in, 0));
}

/* Lets `later` wait for what is in `earlier` now, by an event of its own. */
static void order(Handle earlier, Handle later) {
    Handle own = new_event();
    record(own, earlier);
    await(later, own);
}

/* Waits for a stream, and compares what it has copied to the host. */
static int downloads(Handle stream, Address x, int expected) {
    ok(cuMemcpyDtoHAsync_v2(pinned, x, BYTES, stream));
    if (kept()) ok(cuStreamSynchronize(stream));
    return all(pinned, expected);
}

static void fork_and_join(void) {
    Handle forked = new_event();
    twice(a, s1);
    record(forked, s1);
    await(s2, forked);
    await(s3, forked);
    add(b, a, a, s2);
    add(c, a, a, s3);
    order(s2, s1);
    order(s3, s1);
    add(a, b, c, s1);
}

static void launch_graph(Handle graph, Handle stream) {
    Handle executable;
    ok(cuGraphInstantiateWithFlags(&executable, graph, 0));
    ok(cuGraphLaunch(executable, stream));
}

static void sum_up(void *sum) {
    for (int i = 0; i < N; i++)
        *(int *)sum += pinned[i];
}

static int run(const char *name) {
#define PIPELINE(text) if (!strcmp(name, text))
    PIPELINE("chunks in two streams") {
        Handle streams[] = {s1, s2}, done[] = {new_event(), new_event()};
        Address chunks[] = {a, b};
        int *in[] = {pinned, more}, *out[2];
        for (int i = 0; i < 2; i++)
            ok(cuMemHostAlloc(&out[i], BYTES, 0));
        for (int i = 0; i < 6; i++) {
            int of = i % 2;
            if (i >= 2) {
                if (kept()) ok(cuEventSynchronize(done[of]));
                if (all(out[of], 2 * (i - 1))) return 1;
            }
            if (i >= 4) continue;
            set(in[of], i + 1);
            ok(cuMemcpyHtoDAsync_v2(chunks[of], in[of], BYTES, streams[of]));
            twice(chunks[of], streams[of]);
            ok(cuMemcpyDtoHAsync_v2(out[of], chunks[of], BYTES, streams[of]));
            record(done[of], streams[of]);
        }
        return 0;
    }
    PIPELINE("a ring of buffers") {
        Address ring[] = {b, c};
        Handle full[] = {new_event(), new_event()}, empty[] = {new_event(), new_event()};
        for (int i = 0; i < 4; i++) {
            int of = i % 2;
            if (i >= 2) await(s1, empty[of]);
            ok(cuMemsetD32Async(ring[of], i + 1, N, s1));
            record(full[of], s1);
            await(s2, full[of]);
            add(a, a, ring[of], s2);
            if (i < 2) record(empty[of], s2);
        }
        return downloads(s2, a, 11);
    }
    PIPELINE("a fork and a join") {
        fork_and_join();
        return downloads(s1, a, 8);
    }
    PIPELINE("a fork and a join, captured") {
        Handle graph;
        ok(cuStreamBeginCapture_v2(s1, 0));
        fork_and_join();
        ok(cuStreamEndCapture(s1, &graph));
        launch_graph(graph, s1);
        return downloads(s1, a, 8);
    }
    PIPELINE("a graph with edges") {
        Handle graph, nodes[4];
        void *doubled[] = {&a}, *sums[][3] = {{&b, &a, &a}, {&c, &a, &a}, {&a, &b, &c}};
        static const int EDGES[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
        ok(cuGraphCreate(&graph, 0));
        for (int i = 0; i < 4; i++) {
            Node node = {i ? add_kernel : twice_kernel, {1, 1, 1}, {N, 1, 1}, 0, i ? sums[i - 1] : doubled, NULL};
            ok(cuGraphAddKernelNode(&nodes[i], graph, NULL, 0, &node));
        }
        for (int i = 0; i < 4; i++)
            if (kept()) ok(cuGraphAddDependencies(graph, &nodes[EDGES[i][0]], &nodes[EDGES[i][1]], 1));
        launch_graph(graph, s1);
        order(s1, s2);
        return downloads(s2, a, 8);
    }
    PIPELINE("memory of a pool") {
        Address x;
        ok(cuMemAllocAsync(&x, BYTES, s1));
        ok(cuMemsetD32Async(x, 4, N, s1));
        order(s1, s2);
        add(c, x, b, s2);
        order(s2, s3);
        ok(cuMemFreeAsync(x, s3));
        return downloads(s2, c, 7);
    }
    PIPELINE("a value in memory") {
        ok(cuMemsetD32_v2(c, 0, 1));
        if (kept()) ok(cuCtxSynchronize());
        twice(a, s1);
        if (kept()) ok(cuStreamWriteValue32_v2(s1, c, 1, 0));
        if (kept()) ok(cuStreamWaitValue32_v2(s2, c, 1, AT_LEAST));
        add(b, a, b, s2);
        return downloads(s2, b, 5);
    }
    PIPELINE("a function of the host") {
        int sum = 0;
        set(pinned, 0);
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        order(s1, s2);
        ok(cuLaunchHostFunc(s2, sum_up, &sum));
        order(s2, s3);
        ok(cuMemcpyDtoHAsync_v2(pinned, a, BYTES, s3));
        if (kept()) ok(cuStreamSynchronize(s3));
        return sum != 3 * N || all(pinned, 1);
    }
    PIPELINE("a question that is asked until the answer is yes") {
        set(pinned, 0);
        twice(b, s1);
        ok(cuMemcpyDtoHAsync_v2(pinned, b, BYTES, s1));
        record(event, s1);
        if (kept())
            while (cuEventQuery(event) == NOT_READY) {}
        return all(pinned, 6);
    }
    PIPELINE("the default stream") {
        set(pageable, 10);
        ok(cuMemcpyHtoD_v2(a, pageable, BYTES));
        order(NULL, s1);
        twice(a, s1);
        order(s1, NULL);
        add(c, a, b, NULL);
        ok(cuMemcpyDtoH_v2(results, c, BYTES));
        return all(results, 23);
    }
    PIPELINE("a launch that begins early") {
        Attribute early = {.id = PROGRAMMATIC_STREAM, .value = {1}};
        Launch first = {{1, 1, 1}, {N, 1, 1}, 0, s1, NULL, 0}, second = {{1, 1, 1}, {N, 1, 1}, 0, s1, &early, 1};
        void *parameters[] = {&a};
        Handle lets_begin, waits, does_not, module;
        ok(cuModuleLoad(&module, getenv("EARLY_PTX")));
        ok(cuModuleGetFunction(&lets_begin, module, "twice_and_let_begin"));
        ok(cuModuleGetFunction(&waits, module, "wait_and_twice"));
        ok(cuModuleGetFunction(&does_not, module, "twice"));
        ok(cuLaunchKernelEx(&first, lets_begin, parameters, NULL));
        ok(cuLaunchKernelEx(&second, kept() ? waits : does_not, parameters, NULL));
        return downloads(s1, a, 4);
    }
    return 99;
}

int main(int count, char **arguments) {
    if (count < 4)
        return 90;
    left_out = atoi(arguments[3]);
    int failed = start(arguments[1]);
    int status = failed ? failed : run(arguments[2]);
    printf("%d\n", orders);
    return status;
}
