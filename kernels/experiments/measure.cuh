// Times rows of an experiment as the chapters time theirs, and prints a record of them that the book can read.
//
//     Experiment experiment("queues", "\"pixels\": 67108864");
//     experiment.row("constant", [&] { kernel<<<blocks, threads>>>(...); }, [&] { return is_right(); });
//     experiment.print();
//
// A row is launched for 0.1 s before it is timed. Then a sample is as many runs as take 0.2 ms, or one, enqueued behind a kernel that keeps
// the device busy meanwhile, so that no run waits for the host. The time is the median of SAMPLES. A row whose result is wrong has no time.
#pragma once

#include <cuda_runtime.h>
#include <nvml.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

inline void check(cudaError_t result, const char* what, int line)
{
    if (result != cudaSuccess) {
        std::fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(result));
        std::exit(1);
    }
}
#define CHECK(call) check((call), #call, __LINE__)

// An array in device memory, which lives as long as the program.
template <class T> T* device_array(size_t count)
{
    T* array = nullptr;
    CHECK(cudaMalloc(&array, count * sizeof(T)));
    CHECK(cudaMemset(array, 0, count * sizeof(T)));
    return array;
}

template <class T> T* to_device(const std::vector<T>& values)
{
    T* array = device_array<T>(values.size());
    CHECK(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

template <class T> std::vector<T> to_host(const T* array, size_t count)
{
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), array, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

namespace measure {

constexpr int SAMPLES = 50;
constexpr double WARM_UP_S = 0.1;
constexpr double SAMPLE_MS = 0.2;

// Runs for this many nanoseconds, with one thread.
__global__ void busy(unsigned long long nanoseconds)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}

inline std::string format(const char* pattern, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    return text;
}

// Clocks, power and temperature, as fields of a row.
inline std::string sensors()
{
    nvmlDevice_t device;
    if (nvmlInit_v2() != NVML_SUCCESS || nvmlDeviceGetHandleByIndex_v2(0, &device) != NVML_SUCCESS) {
        return "null";
    }
    unsigned sm = 0, memory = 0, celsius = 0;
    nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &sm);
    nvmlDeviceGetClockInfo(device, NVML_CLOCK_MEM, &memory);
    nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &celsius);
    nvmlFieldValue_t power = {};
    power.fieldId = NVML_FI_DEV_POWER_INSTANT;
    nvmlDeviceGetFieldValues(device, 1, &power);
    unsigned long long reasons = 0;
    nvmlDeviceGetCurrentClocksEventReasons(device, &reasons);
    std::string held;
    if (reasons & nvmlClocksEventReasonSwPowerCap) {
        held = ", \"held_by\": [\"SwPowerCap\"]";
    }
    return format("{\"sm_mhz\": %u, \"memory_mhz\": %u, \"watts\": %.2f, \"celsius\": %u%s}", sm, memory, power.value.uiVal / 1000.0,
                  celsius, held.c_str());
}

}  // namespace measure

class Experiment {
public:
    // `workload` is what the rows have in common, as fields of JSON.
    Experiment(const char* name, std::string workload) : name(name), workload(std::move(workload)) {}

    // Times `enqueue`, which works on the default stream. `is_right` looks at the result of the last run.
    void row(const std::string& row_name, const std::function<void()>& enqueue, const std::function<bool()>& is_right,
             const std::string& library = "")
    {
        cudaEvent_t start, end;
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
        // Settles the clocks, and finds the time of one run.
        float shortest = 1e9f, elapsed;
        const auto begun = std::chrono::steady_clock::now();
        const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
        for (int run = 0; run < 2 || seconds() < measure::WARM_UP_S; ++run) {
            CHECK(cudaEventRecord(start));
            enqueue();
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            CHECK(cudaEventElapsedTime(&elapsed, start, end));
            shortest = std::min(shortest, elapsed);
        }
        CHECK(cudaGetLastError());
        const int runs = std::max(1, static_cast<int>(measure::SAMPLE_MS / shortest));
        unsigned long long nanoseconds = 100000;
        std::vector<double> samples;
        std::string sensors;
        while (samples.size() < measure::SAMPLES) {
            measure::busy<<<1, 1>>>(nanoseconds);
            CHECK(cudaEventRecord(start));
            for (int run = 0; run < runs; ++run) {
                enqueue();
            }
            CHECK(cudaEventRecord(end));
            const bool is_ahead = cudaEventQuery(start) == cudaErrorNotReady;
            if (samples.size() == measure::SAMPLES * 3 / 4) {
                sensors = measure::sensors();
            }
            CHECK(cudaEventSynchronize(end));
            CHECK(cudaEventElapsedTime(&elapsed, start, end));
            if (is_ahead || nanoseconds > 100000000) {
                samples.push_back(elapsed / runs);
            } else {
                nanoseconds *= 2;
            }
        }
        keep(row_name, samples, sensors, is_right(), library);
    }

    // Times `enqueue` with an idle device, by the host's clock: from the call to the end of the wait for its work.
    void host_row(const std::string& row_name, const std::function<void()>& enqueue, const std::function<bool()>& is_right)
    {
        std::vector<double> samples;
        std::string sensors;
        for (int run = -measure::SAMPLES; run < measure::SAMPLES; ++run) {
            CHECK(cudaDeviceSynchronize());
            const auto begun = std::chrono::steady_clock::now();
            enqueue();
            CHECK(cudaDeviceSynchronize());
            const double elapsed = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
            if (run >= 0) {
                samples.push_back(elapsed);
            }
            if (run == measure::SAMPLES / 2) {
                sensors = measure::sensors();
            }
        }
        keep(row_name, samples, sensors, is_right(), "");
    }

    // Adds a row that could not be had, with the reason.
    void skip(const std::string& row_name, const std::string& reason)
    {
        rows.push_back("{\"name\": \"" + row_name + "\", \"place\": \"device\", \"verified\": false, \"skipped\": \"" + reason +
                       "\", \"failure\": null, \"kernels\": {}, \"median_ms\": null, \"p10_ms\": null, \"p90_ms\": null, "
                       "\"max_error\": null, \"tolerance\": null, \"counters\": {}, \"findings\": []}");
    }

    // Writes the record to FOLDER/experiment-NAME.json, where FOLDER is the program's first argument, or to standard output.
    void print(const char* folder = nullptr)
    {
        cudaDeviceProp device;
        CHECK(cudaGetDeviceProperties(&device, 0));
        char driver[96] = "unknown", date[32];
        if (nvmlInit_v2() == NVML_SUCCESS) {
            nvmlSystemGetDriverVersion(driver, sizeof driver);
        }
        const std::time_t now = std::time(nullptr);
        std::strftime(date, sizeof date, "%FT%TZ", std::gmtime(&now));
        const char* commit = std::getenv("UNROLLED_COMMIT");
        std::FILE* file = folder == nullptr ? stdout : std::fopen((std::string(folder) + "/experiment-" + name + ".json").c_str(), "w");
        if (file == nullptr) {
            std::perror(folder);
            std::exit(1);
        }
        std::fprintf(file,
                     "{\n  \"chapter\": \"experiment-%s\",\n  \"commit\": \"%s\",\n  \"date\": \"%s\",\n  \"device\": {\"kind\": \"gpu\", "
                     "\"name\": \"%s\", \"compute_capability\": \"%d.%d\", \"profile\": null, \"driver\": \"%s\", \"compiler\": \"nvcc "
                     "%d.%d\"},\n  \"workload\": {%s},\n  \"ceilings\": null,\n  \"ceiling_kernels\": {},\n  \"stages\": [\n",
                     name.c_str(), commit == nullptr ? "unknown" : commit, date, device.name, device.major, device.minor, driver,
                     __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, workload.c_str());
        for (size_t row = 0; row < rows.size(); ++row) {
            std::fprintf(file, "    %s%s\n", rows[row].c_str(), row + 1 < rows.size() ? "," : "");
        }
        std::fprintf(file, "  ]\n}\n");
        if (file != stdout) {
            std::fclose(file);
        }
    }

private:
    // Keeps a timed row.
    void keep(const std::string& row_name, std::vector<double>& samples, const std::string& sensors, bool verified,
              const std::string& library)
    {
        std::sort(samples.begin(), samples.end());
        const auto quantile = [&](double q) { return samples[static_cast<size_t>(q * (samples.size() - 1) + 0.5)]; };
        const std::string median = verified ? measure::format("%.6f", quantile(0.5)) : "null";
        std::fprintf(stderr, "%-24s %s %-28s %10s ms  %s\n", name.c_str(), workload.c_str(), row_name.c_str(), median.c_str(),
                     verified ? sensors.c_str() : "WRONG");
        rows.push_back(measure::format("{\"name\": \"%s\", \"place\": \"device\", \"verified\": %s, \"skipped\": null, \"failure\": %s, "
                                       "\"kernels\": {}, \"median_ms\": %s, ",
                                       row_name.c_str(), verified ? "true" : "false", verified ? "null" : "\"wrong\"", median.c_str()) +
                       (verified ? measure::format("\"p10_ms\": %.6f, \"p90_ms\": %.6f, ", quantile(0.1), quantile(0.9))
                                 : std::string("\"p10_ms\": null, \"p90_ms\": null, ")) +
                       (library.empty() ? "" : "\"library\": \"" + library + "\", ") +
                       "\"sensors\": " + sensors + ", \"max_error\": null, \"tolerance\": null, \"counters\": {}, \"findings\": []}");
    }

    std::string name, workload;
    std::vector<std::string> rows;
};
