// Two questions about chapter 03, from `longer-runs` and `three-operands`. Some kernels run with patched machine code.
//
// instruction-cache: is the convolution with 28 outputs per thread slower if only its code is longer? All rows: 16,777,216 or
// 294,912 outputs, 1024 taps, and for the smaller number four slices, without the kernel that adds them up.
//   long-run-SIZE          the chapter's kernel
//   unroll-N-SIZE          a loop with N copies of the chapter's loop body, N = 1 to 4. Each copy has its own count and branch, so all
//                          four execute the same work, with the same 72 registers. Only the code gets longer, by 15 KB per copy.
//   unroll-1-blocks-B      one copy, with at most B resident blocks: 10 with 96 registers per thread, 8 with 128
//
// register-banks: does it take time to read three registers, or several from one bank?
//   ffma-A-B               a loop of FFMAs c = a * b + c and nothing else. A and B are the register numbers of a and b minus that of c,
//                          modulo 4. So 0-0 and 0-2 read three registers of one parity, the others two of one parity. In
//                          ffma-A-square, b is a.
//   ffma-A-B-reuse         the same with `.reuse` on a, which eight FFMAs in a row share
//   split-filter, constant-filter   the chapter's kernels (16 outputs per thread), 16,777,216 outputs x 1024 taps
//   loads-register         filter values are loaded from shared memory and multiplied from a lane's register (as in split-filter)
//   loads-immediate        the same code with the same loads, but each FFMA takes the filter value from its own bits, not from a register
//   no-loads-register      filter values from constant memory, multiplied from a lane's register
//   no-loads-uniform       filter values from constant memory, multiplied from a uniform register (as in constant-filter)
//   loads-register-same-values      loads-register with the filter of loads-immediate, in which all values are 3
//   ...-blocks-17          with as many resident blocks as loads-register
//   ...-no-reuse           the same code without `.reuse` in its FFMAs
// If registers make split-filter slower than constant-filter, loads-immediate is as fast as no-loads-uniform-blocks-17. If the loads do,
// it is as slow as loads-register, and no-loads-register-blocks-17 is fast.
//
// Compile: nvcc -std=c++17 -O3 -arch=sm_90a unroll.cu -o unroll -lnvidia-ml
// Run:     ./unroll FOLDER      It prints what the FFMAs of each kernel read after its patch.
// Look:    PATCHED=1 ./unroll FOLDER writes ROW.cubin for each row; then cuobjdump -sass ROW.cubin.
//          ncu --metrics smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio -k regex:copies ./unroll FOLDER
#include "measure.cuh"
#include "unroll-kernels.cuh"
#include "unroll-patch.cuh"

int main(int count, char** arguments)
{
    const std::vector<char> cubin = own_cubin();
    const char* folder = count > 1 ? arguments[1] : nullptr;

    // Small integers, so that every sum is exact in any order.
    constexpr unsigned TAPS = 1024, LARGE = 16777216, SMALL = 294912;
    unsigned state = 1;
    const auto random = [&] { return static_cast<float>(static_cast<int>((state = state * 1664525u + 1013904223u) >> 28) - 8); };
    std::vector<float> signal(LARGE + TAPS - 1), varied(TAPS), flat(TAPS, VALUE), output(LARGE), varied_output(LARGE), flat_output(LARGE);
    std::generate(signal.begin(), signal.end(), random);
    std::generate(varied.begin(), varied.end(), random);
    for (unsigned block = 0; block < LARGE; block += 1024) {
        for (unsigned j = 0; j < TAPS; ++j) {
            for (unsigned i = block; i < block + 1024; ++i) {
                varied_output[i] += signal[i + j] * varied[j];
            }
        }
    }
    for (unsigned j = 0; j < TAPS; ++j) {
        flat_output[0] += VALUE * signal[j];
    }
    for (unsigned i = 1; i < LARGE; ++i) {
        flat_output[i] = flat_output[i - 1] + VALUE * (signal[i + TAPS - 1] - signal[i - 1]);
    }
    float *d_signal = to_device(signal), *d_filter = device_array<float>(TAPS), *d_output = device_array<float>(LARGE);

    // Adds a row for a kernel with `run` outputs per thread. `extra` bytes of shared memory limit the resident blocks.
    const auto convolve = [&](Experiment& experiment, const std::string& row, const std::string& name, unsigned run, unsigned outputs,
                              unsigned extra = 0, const Patch& patch = as_compiled, bool is_flat = false) {
        const std::vector<float>& filter = is_flat ? flat : varied;
        const cudaLibrary_t library = load(cubin, row, name, patch);
        cudaKernel_t kernel;
        void* constants;
        size_t bytes;
        CHECK(cudaLibraryGetKernel(&kernel, library, name.c_str()));
        CHECK(cudaLibraryGetGlobal(&constants, &bytes, library, "c_filter"));
        CHECK(cudaMemcpy(constants, filter.data(), TAPS * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_filter, filter.data(), TAPS * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(d_output, 0xff, LARGE * sizeof(float)));
        const void* launched = reinterpret_cast<const void*>(kernel);
        int resident = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launched, RUN_THREADS, extra));
        std::fprintf(stderr, "%s: at most %d resident blocks\n", row.c_str(), resident);
        unsigned slices = outputs == SMALL ? 4 : 1, taps = TAPS, slice = TAPS / slices;
        std::vector<void*> parameters = {&d_signal, &d_filter, &outputs, &taps, &slice, &d_output};
        if (name == "long_run" || name == "constant_filter") {
            parameters.erase(parameters.begin() + 1);
        }
        const dim3 grid((outputs + run * RUN_THREADS - 1) / (run * RUN_THREADS), slices);
        experiment.row(row, [&] { CHECK(cudaLaunchKernel(launched, grid, RUN_THREADS, parameters.data(), extra, nullptr)); }, [&] {
            CHECK(cudaMemcpy(output.data(), d_output, static_cast<size_t>(slices) * outputs * sizeof(float), cudaMemcpyDeviceToHost));
            for (unsigned i = 0; i < outputs; ++i) {
                for (unsigned s = 1; s < slices; ++s) {
                    output[i] += output[s * outputs + i];
                }
            }
            return std::equal(output.begin(), output.begin() + outputs, is_flat ? flat_output.begin() : varied_output.begin());
        });
        CHECK(cudaLibraryUnload(library));
    };

    Experiment cache("instruction-cache", "\"taps\": 1024, \"outputs_per_thread\": 28");
    for (unsigned outputs : {SMALL, LARGE}) {
        const std::string size = "-" + std::to_string(outputs) + "x1024";
        convolve(cache, "long-run" + size, "long_run", LONG_RUN, outputs);
        for (const char* copies : {"1", "2", "3", "4"}) {
            convolve(cache, std::string("unroll-") + copies + size, std::string("copies_") + copies, LONG_RUN, outputs);
        }
    }
    convolve(cache, "unroll-1-blocks-10", "copies_1", LONG_RUN, LARGE, 6912);
    convolve(cache, "unroll-1-blocks-8", "copies_1", LONG_RUN, LARGE, 12544);
    cache.print(folder);

    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    // Two blocks on each multiprocessor are 8 warps in each of its four sub-partitions.
    const unsigned blocks = 2 * device.multiProcessorCount;
    Experiment banks("register-banks", measure::format("\"outputs\": %u, \"taps\": %u, \"ffmas_per_sub_partition\": %u", LARGE, TAPS,
                                                       8 * ITERATIONS * STEPS * SUMS));
    std::vector<float> in(FFMA_THREADS * INPUTS);
    std::generate(in.begin(), in.end(), random);
    float *d_in = to_device(in), *d_out = device_array<float>(blocks * FFMA_THREADS * SUMS);
    const int offsets[][2] = {{0, 0}, {0, 2}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {0, SQUARE}, {1, SQUARE}};
    for (const auto& [a, b] : offsets) {
        for (const char* suffix : {"", "-reuse"}) {
            const std::string row = "ffma-" + std::to_string(a) + "-" + (b == SQUARE ? "square" : std::to_string(b)) + suffix;
            const int a_offset = a, b_offset = b;
            const cudaLibrary_t library = load(cubin, row, "multiply_adds", [=](Code& code) {
                choose_registers(code, a_offset, b_offset, *suffix != 0);
            });
            cudaKernel_t kernel;
            CHECK(cudaLibraryGetKernel(&kernel, library, "multiply_adds"));
            CHECK(cudaMemset(d_out, 0xff, blocks * FFMA_THREADS * SUMS * sizeof(float)));
            const void* launched = reinterpret_cast<const void*>(kernel);
            void* parameters[] = {&d_in, &d_out};
            banks.row(row, [&] { CHECK(cudaLaunchKernel(launched, blocks, FFMA_THREADS, parameters, 0, nullptr)); }, [&] {
                const std::vector<float> out = to_host(d_out, blocks * FFMA_THREADS * SUMS);
                for (size_t i = 0; i < out.size(); ++i) {
                    const float* mine = &in[i / SUMS % FFMA_THREADS * INPUTS];
                    const float *xs = mine + SUMS, *ys = xs + 4 + 4 * (i % SUMS / 4 % 2), x = xs[(i + a_offset) % 4];
                    const float y = b_offset == SQUARE ? x : ys[(i + b_offset) % 4];
                    if (!(out[i] == mine[i % SUMS] + STEPS * ITERATIONS * x * y)) {
                        return false;
                    }
                }
                return true;
            });
            CHECK(cudaLibraryUnload(library));
        }
    }
    for (const bool reuse : {true, false}) {
        const std::string suffix = reuse ? "" : "-no-reuse";
        const Patch patch = reuse ? as_compiled : no_reuse;
        const Patch immediate = [&](Code& code) {
            filter_immediate(code);
            patch(code);
        };
        // These bytes of shared memory make the kernels without the filter there as large as those with it.
        constexpr unsigned FILTER_BYTES = TAPS * sizeof(float);
        convolve(banks, "split-filter" + suffix, "register_tile", RUN, LARGE, 0, patch);
        convolve(banks, "constant-filter" + suffix, "constant_filter", RUN, LARGE, 0, patch);
        convolve(banks, "loads-register" + suffix, "filter_shared", RUN, LARGE, 0, patch);
        convolve(banks, "loads-register-same-values" + suffix, "filter_shared", RUN, LARGE, 0, patch, true);
        convolve(banks, "loads-immediate" + suffix, "filter_shared", RUN, LARGE, 0, immediate, true);
        convolve(banks, "no-loads-register-blocks-17" + suffix, "filter_lane", RUN, LARGE, FILTER_BYTES, patch);
        convolve(banks, "no-loads-uniform-blocks-17" + suffix, "filter_uniform", RUN, LARGE, FILTER_BYTES, patch);
        convolve(banks, "no-loads-uniform" + suffix, "filter_uniform", RUN, LARGE, 0, patch);
    }
    banks.print(folder);
    return 0;
}
