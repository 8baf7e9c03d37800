// Is the clock of chapter 06's products on tensor cores held down by power?
//
// Rows: the product of 8192 x 8192 matrices by cuBLAS, in tf32 and in f32, each with inputs of zeros, of ones, and of random numbers. Only
// the inputs differ, so the instructions are the same. Numbers that are the same everywhere toggle few wires, so they take less power.
// tf32-zeros-again is the first row once more, on a chip that is as warm as for the others.
//
// The limit of power acts slowly, so each row runs for 3 s before it is timed. Before the rows, each product runs for another 3 s, and
// every multiprocessor reads its counter of clocks and the time before and after the last third. That gives clocks per product, and the
// mean clock, which is more exact than the one that NVML reads once per row. Both are printed, and are in the record's workload as
// clocks_ROW and mhz_ROW. If zeros and random numbers need the same clocks and not the same time, the clock makes the difference.
//
//     nvcc -std=c++17 -O3 -arch=sm_90a power.cu -o power -lcublas -lnvidia-ml
//     ./power FOLDER       writes experiment-power.json; takes about 50 s

#include "matmul.cuh"

#include <map>

constexpr unsigned N = 8192;
constexpr double WARM_S = 3;

// What a multiprocessor's counters say.
struct Counters {
    unsigned long long clocks, nanoseconds;
};

// With more blocks than fit at once, every multiprocessor gets some. The last of them to write leaves its counters.
__global__ void read_counters(Counters* counters)
{
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    unsigned long long clocks, nanoseconds;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clocks));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    if (threadIdx.x == 0) {
        counters[multiprocessor] = {clocks, nanoseconds};
    }
}

// Enqueues runs for that many seconds, without a pause. Returns how many.
int run_for(double seconds, const std::function<void()>& enqueue)
{
    constexpr int BATCH = 4;
    // While a batch runs, the next one is already in the queue.
    cudaEvent_t ends[2];
    CHECK(cudaEventCreate(&ends[0]));
    CHECK(cudaEventCreate(&ends[1]));
    const auto begun = std::chrono::steady_clock::now();
    int batches = 0;
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() < seconds) {
        for (int run = 0; run < BATCH; ++run) {
            enqueue();
        }
        CHECK(cudaEventRecord(ends[batches % 2]));
        ++batches;
        if (batches > 1) {
            CHECK(cudaEventSynchronize(ends[batches % 2]));
        }
    }
    return batches * BATCH;
}

struct Pace {
    double clocks, mhz;
};

// Measures clocks per product in steady work. The median of all multiprocessors.
Pace pace_of(const std::function<void()>& enqueue)
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const int multiprocessors = device.multiProcessorCount;
    static Counters* const before = device_array<Counters>(multiprocessors);
    static Counters* const after = device_array<Counters>(multiprocessors);
    // Blocks of 1024 threads, of which two fit: the grid is sixteen times as large as the chip.
    const int blocks = 32 * multiprocessors;

    run_for(WARM_S * 2 / 3, enqueue);
    read_counters<<<blocks, 1024>>>(before);
    const int runs = run_for(WARM_S / 3, enqueue);
    read_counters<<<blocks, 1024>>>(after);
    const std::vector<Counters> first = to_host(before, multiprocessors), last = to_host(after, multiprocessors);
    std::vector<double> clocks, mhz;
    for (int i = 0; i < multiprocessors; ++i) {
        const double elapsed = static_cast<double>(last[i].clocks - first[i].clocks);
        clocks.push_back(elapsed / runs);
        mhz.push_back(1000 * elapsed / static_cast<double>(last[i].nanoseconds - first[i].nanoseconds));
    }
    std::sort(clocks.begin(), clocks.end());
    std::sort(mhz.begin(), mhz.end());
    std::fprintf(stderr, "    least and most of the multiprocessors: %.0f and %.0f clocks, %.1f and %.1f MHz\n", clocks.front(),
                 clocks.back(), mhz.front(), mhz.back());
    return {clocks[clocks.size() / 2], mhz[mhz.size() / 2]};
}

struct Row {
    const char* name;
    Arithmetic arithmetic;
    Input input;
};

constexpr Row ROWS[] = {
    {"tf32-zeros", Arithmetic::TF32, Input::ZEROS},   {"tf32-ones", Arithmetic::TF32, Input::ONES},
    {"tf32-random", Arithmetic::TF32, Input::RANDOM}, {"f32-zeros", Arithmetic::F32, Input::ZEROS},
    {"f32-ones", Arithmetic::F32, Input::ONES},       {"f32-random", Arithmetic::F32, Input::RANDOM},
    {"tf32-zeros-again", Arithmetic::TF32, Input::ZEROS},
};

int main(int count, char** arguments)
{
    const Cublas cublas;
    float* const c = device_array<float>(static_cast<size_t>(N) * N);
    std::map<Input, std::pair<const float*, const float*>> factors;
    std::map<Input, Reference> references;
    for (const Input input : {Input::ZEROS, Input::ONES, Input::RANDOM}) {
        factors[input] = {matrix_of(N, input, 0), matrix_of(N, input, 1)};
        references.emplace(input, Reference(N, input));
    }
    const auto product = [&](const Row& row) {
        const auto type = row.arithmetic == Arithmetic::F32 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32;
        const auto [a, b] = factors.at(row.input);
        return [&cublas, c, a = a, b = b, type] { cublas.multiply(N, a, b, c, type); };
    };

    std::string workload = measure::format("\"m\": %u, \"n\": %u, \"k\": %u", N, N, N);
    for (const Row& row : ROWS) {
        const Pace pace = pace_of(product(row));
        std::fprintf(stderr, "%-18s %10.0f clocks per product at %6.1f MHz, %.4f ms  %s\n", row.name, pace.clocks, pace.mhz,
                     pace.clocks / pace.mhz / 1000, measure::sensors().c_str());
        std::string name = row.name;
        std::replace(name.begin(), name.end(), '-', '_');
        workload += measure::format(", \"clocks_%s\": %.0f, \"mhz_%s\": %.1f", name.c_str(), pace.clocks, name.c_str(), pace.mhz);
    }

    Experiment experiment("power", workload);
    for (const Row& row : ROWS) {
        const auto enqueue = product(row);
        poison(c, N);
        run_for(WARM_S, enqueue);
        experiment.row(row.name, enqueue, [&] { return references.at(row.input).agrees(c, row.arithmetic); }, cublas.version());
    }
    experiment.print(count > 1 ? arguments[1] : nullptr);
}
