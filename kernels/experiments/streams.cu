// What does it cost to launch a kernel that depends on the one before, and what do graphs, dependent launches and second streams save?
//
// A step is a kernel that smooths 65,536 values on a circle: each thread reads three values and writes one. STEPS steps follow each other, and
// each reads what the one before has written. The result of every row is compared with the host's.
//
// Record `streams`:
//     step              one step
//     launches          STEPS launches on one stream
//     graph             one graph with STEPS nodes in a row, made by capturing `launches`
//     dependent         `launches` with programmatic stream serialization: the next grid may start when every block of this one has begun. It
//                       waits for the data with cudaGridDependencySynchronize.
//     graph-dependent   a graph made by capturing `dependent`
//     two-in-a-row      two chains of STEPS small steps (4,096 values each), one after the other on one stream
//     two-streams       each chain on a stream of its own: a fork and a join with events
//     graph-two         a graph made by capturing `two-streams`
// These rows are enqueued behind a kernel that keeps the device busy, so the host is always ahead. The rows with -host begin with an idle
// device, and their time is the host's: from the first call to the end of the wait for the last step.
//     launches-host, graph-host, dependent-host
//
// Compile: nvcc -std=c++17 -O3 -arch=sm_90a streams.cu -o streams -lnvidia-ml
// Run:     ./streams FOLDER

#include "measure.cuh"

#include <cmath>

constexpr int VALUES = 1 << 16;
constexpr int SMALL = 1 << 12;
constexpr int STEPS = 20;
constexpr int THREADS = 256;

__device__ void smooth(const float* in, float* out, int values)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = 0.25f * in[(i + values - 1) % values] + 0.5f * in[i] + 0.25f * in[(i + 1) % values];
}

__global__ void step(const float* in, float* out, int values)
{
    smooth(in, out, values);
}

// ANCHOR: dependent-step
__global__ void dependent_step(const float* in, float* out, int values)
{
    // The next grid may start now. It waits at the next line until this one has ended.
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    smooth(in, out, values);
}
// ANCHOR_END: dependent-step

// Two arrays that take turns.
struct Chain {
    int values;
    std::vector<float> start;
    float* arrays[2];

    explicit Chain(int values) : values(values), start(values)
    {
        for (int i = 0; i < values; ++i) {
            start[i] = static_cast<float>((i * 37) % 101);
        }
        arrays[0] = to_device(start);
        arrays[1] = to_device(start);
    }

    // ANCHOR: launches
    void enqueue(cudaStream_t stream, int steps = STEPS) const
    {
        for (int at = 0; at < steps; ++at) {
            step<<<values / THREADS, THREADS, 0, stream>>>(arrays[at % 2], arrays[1 - at % 2], values);
        }
    }

    // ANCHOR_END: launches
    // ANCHOR: dependent
    void enqueue_dependent(cudaStream_t stream) const
    {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = values / THREADS;
        config.blockDim = THREADS;
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
        for (int at = 0; at < STEPS; ++at) {
            CHECK(cudaLaunchKernelEx(&config, dependent_step, static_cast<const float*>(arrays[at % 2]), arrays[1 - at % 2], values));
        }
    }

    // ANCHOR_END: dependent
    // Starts again, runs once, and compares with the host.
    bool is_right(const std::function<void()>& run, int steps = STEPS) const
    {
        std::vector<float> now = start, next(values);
        for (int at = 0; at < steps; ++at) {
            for (int i = 0; i < values; ++i) {
                next[i] = 0.25f * now[(i + values - 1) % values] + 0.5f * now[i] + 0.25f * now[(i + 1) % values];
            }
            now.swap(next);
        }
        CHECK(cudaMemcpy(arrays[0], start.data(), values * sizeof(float), cudaMemcpyHostToDevice));
        run();
        CHECK(cudaDeviceSynchronize());
        const std::vector<float> got = to_host(arrays[steps % 2], values);
        for (int i = 0; i < values; ++i) {
            if (!(std::fabs(got[i] - now[i]) <= 1e-3f)) {
                return false;
            }
        }
        return true;
    }
};

// ANCHOR: graph
// Captures what a function enqueues on a stream.
cudaGraphExec_t graph_of(cudaStream_t stream, const std::function<void()>& enqueue)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    enqueue();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    return executable;
}
// ANCHOR_END: graph

int main(int count, char** arguments)
{
    Experiment experiment("streams", measure::format("\"values\": %d, \"steps\": %d", VALUES, STEPS));
    const Chain chain(VALUES), one(SMALL), two(SMALL);
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

    // ANCHOR: side-by-side
    const auto side_by_side = [&](cudaStream_t stream) {
        CHECK(cudaEventRecord(fork, stream));
        CHECK(cudaStreamWaitEvent(second, fork, 0));
        one.enqueue(stream);
        two.enqueue(second);
        CHECK(cudaEventRecord(join, second));
        CHECK(cudaStreamWaitEvent(stream, join, 0));
    };
    // ANCHOR_END: side-by-side
    const cudaGraphExec_t graph = graph_of(first, [&] { chain.enqueue(first); });
    const cudaGraphExec_t graph_dependent = graph_of(first, [&] { chain.enqueue_dependent(first); });
    const cudaGraphExec_t graph_two = graph_of(first, [&] { side_by_side(first); });

    // `row` times the default stream.
    const auto row = [&](const char* name, const Chain& of, const std::function<void()>& run, int steps = STEPS) {
        experiment.row(name, run, [&] { return of.is_right(run, steps); });
    };
    row("step", chain, [&] { chain.enqueue(nullptr, 1); }, 1);
    row("launches", chain, [&] { chain.enqueue(nullptr); });
    row("graph", chain, [&] { CHECK(cudaGraphLaunch(graph, nullptr)); });
    row("dependent", chain, [&] { chain.enqueue_dependent(nullptr); });
    row("graph-dependent", chain, [&] { CHECK(cudaGraphLaunch(graph_dependent, nullptr)); });
    row("two-in-a-row", one, [&] {
        one.enqueue(nullptr);
        two.enqueue(nullptr);
    });
    row("two-streams", two, [&] { side_by_side(nullptr); });
    row("graph-two", two, [&] { CHECK(cudaGraphLaunch(graph_two, nullptr)); });

    const auto host_row = [&](const char* name, const std::function<void()>& run) {
        experiment.host_row(name, run, [&] { return chain.is_right(run); });
    };
    host_row("launches-host", [&] { chain.enqueue(nullptr); });
    host_row("graph-host", [&] { CHECK(cudaGraphLaunch(graph, nullptr)); });
    host_row("dependent-host", [&] { chain.enqueue_dependent(nullptr); });
    experiment.print(count > 1 ? arguments[1] : nullptr);
}
