// Two questions about chapter 03, `longer-runs` and `three-operands`. The kernels run from a cubin, some after a patch.
//
// instruction-cache: does the convolution with 28 outputs per thread get slower when only its code gets longer?
//   long-run-SIZE       the chapter's kernel
//   unroll-N-SIZE       its loop with N copies of its body, N = 1 to 4. Each copy has its own count and branch, so all
//                       four execute the same work with the same 72 registers, and only the size of the code differs.
//   unroll-1-blocks-B   one copy with at most B resident blocks: 10 and 8 are what 96 and 128 registers would allow
//
// register-banks: do operands from one register bank cost time?
//   ffma-A-B            a loop of FFMAs  c = a * b + c  without loads. A patch chooses a and b: A and B are their register
//                       numbers minus c's, modulo 4. So 0-0 and 0-2 read three registers of one parity; 0-1, 1-0 and 1-1
//                       read two of one parity. A square multiplies a by itself.
//   ...-reuse            every FFMA whose successor has the same a keeps it (`.reuse`, set by the patch); otherwise none does
//   split-filter        the chapter's `register_tile`: 16 outputs per thread, filter in shared memory
//   shared-R            the same in this file's version, R outputs per thread; -two-sums: one sum for even taps, one for odd
//   constant-R          filter in constant memory; -blocks-17: with as many resident blocks as shared-16
//   constant-16-loads   ... and the loads of the filter from shared memory as well, unused
//   ...-no-reuse         the same instructions with `.reuse` removed from every FFMA
//
// Compile: nvcc -std=c++17 -O3 -arch=sm_90a unroll.cu -o unroll -lnvidia-ml
//          nvcc -std=c++17 -O3 -arch=sm_90a -cubin unroll.cu -o unroll.cubin
// Run:     ./unroll FOLDER                 (reads ./unroll.cubin; prints what it finds in the machine code)
// Look:    cuobjdump -sass -fun multiply_adds unroll.cubin
//          ncu --metrics smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio -k regex:copies ./unroll
#include "../cuda/03-unroll.cu"
#include "measure.cuh"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

enum class Weights { SHARED, CONSTANT, CONSTANT_AND_LOADS };

// The chapter's `convolve_runs` for a slice that fits one tile and is a multiple of SLOTS. The loop has COPIES bodies.
template <unsigned LENGTH, unsigned COPIES, unsigned SUMS, Weights WEIGHTS>
__device__ void runs(const float* __restrict__ signal, const float* __restrict__ filter, unsigned outputs, unsigned taps,
                     unsigned slice, float* __restrict__ output)
{
    constexpr unsigned OUTPUTS = RUN_THREADS * LENGTH;
    constexpr unsigned TAPS = LENGTH == RUN ? RUN_TILE : LONG_TILE;
    __shared__ float4 s_vectors[(OUTPUTS + TAPS) / VECTOR];
    __shared__ float4 s_filter[WEIGHTS == Weights::CONSTANT ? 1 : TAPS / VECTOR];
    float* s_signal = reinterpret_cast<float*>(s_vectors);
    const unsigned first = blockIdx.x * OUTPUTS, tile = blockIdx.y * slice;
    for (unsigned k = threadIdx.x; k < OUTPUTS + slice; k += RUN_THREADS) {
        const unsigned i = first + tile + k;
        s_signal[k] = i < outputs + taps - 1 ? signal[i] : 0.0f;
    }
    if (WEIGHTS != Weights::CONSTANT) {
        for (unsigned k = threadIdx.x; k < slice; k += RUN_THREADS) {
            reinterpret_cast<float*>(s_filter)[k] = filter[tile + k];
        }
    }
    // All threads have written the tile before any thread reads it.
    __syncthreads();
    float sum[SUMS][LENGTH] = {};
    float window[SLOTS];
    const float4* run = s_vectors + threadIdx.x * (LENGTH / VECTOR);
    const auto fetch = [&](unsigned k) {
        const float4 next = run[k / VECTOR];
        window[k % SLOTS] = next.x;
        window[(k + 1) % SLOTS] = next.y;
        window[(k + 2) % SLOTS] = next.z;
        window[(k + 3) % SLOTS] = next.w;
    };
#pragma unroll
    for (unsigned k = 0; k < LENGTH; k += VECTOR) {
        fetch(k);
    }
    unsigned at = WEIGHTS == Weights::SHARED ? 0 : tile / VECTOR;
    // An address of its own for the unused loads. If they used `at`, the compiler would not keep it in a uniform register.
    unsigned unused = static_cast<unsigned>(__cvta_generic_to_shared(s_filter));
    const auto body = [&] {
#pragma unroll
        for (unsigned k = 0; k < SLOTS; k += VECTOR) {
            fetch(LENGTH + k);
            const float4 four = WEIGHTS == Weights::SHARED ? s_filter[at + k / VECTOR] : c_filter[at + k / VECTOR];
            if (WEIGHTS == Weights::CONSTANT_AND_LOADS) {
                float x, y, z, w;
                asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "r"(unused + 4 * k));
            }
            const float weight[VECTOR] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (unsigned j = 0; j < VECTOR; ++j) {
#pragma unroll
                for (unsigned i = 0; i < LENGTH; ++i) {
                    sum[j % SUMS][i] += window[(k + j + i) % SLOTS] * weight[j];
                }
            }
        }
        run += SLOTS / VECTOR;
        at += SLOTS / VECTOR;
        unused += SLOTS * sizeof(float);
    };
    unsigned iterations = slice / SLOTS;
    for (bool more = true; more;) {
#pragma unroll
        for (unsigned copy = 0; copy < COPIES; ++copy) {
            body();
            more = --iterations != 0;
            if (!more) {
                break;
            }
        }
    }
    // All threads have read the tile before any thread overwrites it with its sums.
    __syncthreads();
    for (unsigned i = 0; i < LENGTH; ++i) {
        s_signal[threadIdx.x * LENGTH + i] = SUMS == 1 ? sum[0][i] : sum[0][i] + sum[SUMS - 1][i];
    }
    // All threads have written their sums before any thread reads those of others.
    __syncthreads();
    for (unsigned k = threadIdx.x; k < OUTPUTS && first + k < outputs; k += RUN_THREADS) {
        output[static_cast<size_t>(blockIdx.y) * outputs + first + k] = s_signal[k];
    }
}

#define KERNEL(NAME, ...)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(RUN_THREADS) NAME(const float* signal, const float* filter, unsigned outputs, \
                                                                   unsigned taps, unsigned slice, float* output)               \
    {                                                                                                                          \
        runs<__VA_ARGS__>(signal, filter, outputs, taps, slice, output);                                                       \
    }
KERNEL(copies_1, LONG_RUN, 1, 1, Weights::CONSTANT)
KERNEL(copies_2, LONG_RUN, 2, 1, Weights::CONSTANT)
KERNEL(copies_3, LONG_RUN, 3, 1, Weights::CONSTANT)
KERNEL(copies_4, LONG_RUN, 4, 1, Weights::CONSTANT)
KERNEL(shared_16, RUN, 1, 1, Weights::SHARED)
KERNEL(shared_16_two_sums, RUN, 1, 2, Weights::SHARED)
KERNEL(shared_28, LONG_RUN, 1, 1, Weights::SHARED)
KERNEL(shared_28_two_sums, LONG_RUN, 1, 2, Weights::SHARED)
KERNEL(constant_16, RUN, 1, 1, Weights::CONSTANT)
KERNEL(constant_16_loads, RUN, 1, 1, Weights::CONSTANT_AND_LOADS)

// SUMS sums, of which neighbors have the same x. The loads put element e of a vector in a register whose number is e modulo 4.
constexpr unsigned SUMS = 32, STEPS = 8, FFMA_ITERATIONS = 256, FFMA_THREADS = 512, INPUTS = 12;
extern "C" __global__ void __launch_bounds__(FFMA_THREADS) multiply_adds(const float4* in, float4* out)
{
    const float4* mine = in + threadIdx.x * INPUTS;
    float4 sums[SUMS / 4];
    for (unsigned q = 0; q < SUMS / 4; ++q) {
        sums[q] = mine[q];
    }
    const float4 x = mine[8], y[2] = {mine[9], mine[10]};
#pragma unroll 1
    for (unsigned iteration = 0; iteration < FFMA_ITERATIONS; ++iteration) {
#pragma unroll
        for (unsigned step = 0; step < STEPS * 4; ++step) {
#pragma unroll
            for (unsigned q = 0; q < SUMS / 4; ++q) {
                // As `asm volatile`, which the compiler does not reorder.
                asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"((&sums[q].x)[step % 4]) : "f"((&x.x)[step % 4]), "f"((&y[q % 2].x)[step % 4]));
            }
        }
    }
    for (unsigned q = 0; q < SUMS / 4; ++q) {
        out[(blockIdx.x * FFMA_THREADS + threadIdx.x) * (SUMS / 4) + q] = sums[q];
    }
}

// An instruction of sm_90 has 128 bits: opcode in 0-11, Rd in 16-23, Ra in 24-31, Rb in 32-39, Rc in 64-71, and `.reuse` of
// a, b and c in 122, 123 and 124. Opcode 0x223 is an FFMA of three registers; 0xc23 takes b from a uniform register.
struct Instruction {
    uint64_t low, high;
    bool is_ffma() const { return opcode() == 0x223 || opcode() == 0xc23; }
    unsigned opcode() const { return low & 0xfff; }
    unsigned a() const { return low >> 24 & 255; }
    unsigned b() const { return low >> 32 & 255; }
    unsigned c() const { return high & 255; }
    void set_a(uint64_t r) { low = (low & ~(255ull << 24)) | r << 24; }
    void set_b(uint64_t r) { low = (low & ~(255ull << 32)) | r << 32; }
    void set_reuse(uint64_t flags) { high = (high & ~(7ull << 58)) | flags << 58; }
    unsigned reuse() const { return high >> 58 & 7; }
};
using Patch = std::function<void(std::vector<Instruction>&)>;

// Loads the cubin with `patch` applied to the machine code of `name`, and prints what its FFMAs read.
cudaLibrary_t load(std::vector<char> cubin, const char* name, const Patch& patch)
{
    const auto at = [&](uint64_t offset, auto value) { std::memcpy(&value, &cubin[offset], sizeof value); return value; };
    // ELF: offset of the section headers in 40, their number in 60, the section with the names in 62. A header has 64 bytes.
    const uint64_t sections = at(40, uint64_t()), names = at(sections + 64 * at(62, uint16_t()) + 24, uint64_t());
    for (unsigned s = 0; s < at(60, uint16_t()); ++s) {
        const uint64_t header = sections + 64 * s, offset = at(header + 24, uint64_t()), bytes = at(header + 32, uint64_t());
        if (std::string(&cubin[names + at(header, uint32_t())]) != std::string(".text.") + name) {
            continue;
        }
        std::vector<Instruction> code(bytes / sizeof(Instruction));
        std::memcpy(code.data(), &cubin[offset], bytes);
        patch(code);
        std::memcpy(&cubin[offset], code.data(), bytes);
        unsigned ffmas = 0, uniform = 0, one_parity = 0, reuses = 0;
        for (const Instruction& i : code) {
            ffmas += i.is_ffma();
            uniform += i.opcode() == 0xc23;
            one_parity += i.opcode() == 0x223 && i.a() % 2 == i.b() % 2 && i.a() % 2 == i.c() % 2;
            reuses += i.is_ffma() && i.reuse() != 0;
        }
        std::fprintf(stderr, "%s: %zu bytes, %u FFMAs: %u with b uniform, %u with three registers of one parity, %u with .reuse\n",
                     name, code.size() * sizeof(Instruction), ffmas, uniform, one_parity, reuses);
        cudaLibrary_t library;
        CHECK(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        return library;
    }
    std::fprintf(stderr, "the cubin has no kernel %s\n", name);
    std::exit(1);
}

void as_compiled(std::vector<Instruction>&) {}

void no_reuse(std::vector<Instruction>& code)
{
    for (Instruction& i : code) {
        if (i.is_ffma()) {
            i.set_reuse(0);
        }
    }
}

int main(int count, char** arguments)
{
    std::ifstream file(std::string(arguments[0]) + ".cubin", std::ios::binary);
    const std::vector<char> cubin((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (cubin.empty()) {
        std::fprintf(stderr, "cannot read %s.cubin; make it as the first comment in unroll.cu says\n", arguments[0]);
        return 1;
    }
    const char* folder = count > 1 ? arguments[1] : nullptr;

    // Small integers: every sum is exact in any order. The last `taps` outputs of the large problem use all samples.
    constexpr unsigned TAPS = 1024, LARGE = 16777216, SMALL = 294912, MOST_SLICES = 4;
    unsigned state = 1;
    const auto random = [&] { return static_cast<float>(static_cast<int>((state = state * 1664525u + 1013904223u) >> 28) - 8); };
    std::vector<float> signal(LARGE + TAPS - 1), filter(TAPS), expected(LARGE);
    std::generate(signal.begin(), signal.end(), random);
    std::generate(filter.begin(), filter.end(), random);
    for (unsigned block = 0; block < LARGE; block += 1024) {
        for (unsigned j = 0; j < TAPS; ++j) {
            for (unsigned i = block; i < block + 1024; ++i) {
                expected[i] += signal[i + j] * filter[j];
            }
        }
    }
    float *d_signal = to_device(signal), *d_filter = to_device(filter), *d_output = device_array<float>(LARGE);

    // Adds a row for a kernel with `run` outputs per thread. `extra` bytes of shared memory limit the resident blocks. The
    // chapter's kernels with the filter in constant memory have no parameter for it: `has_filter` is false.
    const auto convolve = [&](Experiment& experiment, const std::string& row, const char* name, unsigned run, unsigned outputs,
                              const Patch& patch = as_compiled, unsigned extra = 0, bool has_filter = true) {
        const cudaLibrary_t library = load(cubin, name, patch);
        cudaKernel_t kernel;
        void* constants;
        size_t bytes;
        CHECK(cudaLibraryGetKernel(&kernel, library, name));
        CHECK(cudaLibraryGetGlobal(&constants, &bytes, library, "c_filter"));
        CHECK(cudaMemcpy(constants, filter.data(), TAPS * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(d_output, 0xff, LARGE * sizeof(float)));
        unsigned slices = outputs == SMALL ? MOST_SLICES : 1, taps = TAPS, slice = TAPS / slices;
        int resident = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, reinterpret_cast<const void*>(kernel), RUN_THREADS, extra));
        std::fprintf(stderr, "%s: at most %d resident blocks\n", row.c_str(), resident);
        std::vector<void*> parameters = {&d_signal, &d_filter, &outputs, &taps, &slice, &d_output};
        if (!has_filter) {
            parameters.erase(parameters.begin() + 1);
        }
        const dim3 grid((outputs + run * RUN_THREADS - 1) / (run * RUN_THREADS), slices);
        experiment.row(row, [&] { CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, RUN_THREADS, parameters.data(), extra, 0)); }, [&] {
            const std::vector<float> partial = to_host(d_output, static_cast<size_t>(slices) * outputs);
            for (unsigned i = 0; i < outputs; ++i) {
                float sum = 0.0f;
                for (unsigned s = 0; s < slices; ++s) {
                    sum += partial[static_cast<size_t>(s) * outputs + i];
                }
                if (!(sum == expected[i])) {
                    return false;
                }
            }
            return true;
        });
        CHECK(cudaLibraryUnload(library));
    };

    Experiment cache("instruction-cache", "\"taps\": 1024, \"outputs_per_thread\": 28");
    for (unsigned outputs : {SMALL, LARGE}) {
        const std::string size = "-" + std::to_string(outputs) + "x1024";
        convolve(cache, "long-run" + size, "long_run", LONG_RUN, outputs, as_compiled, 0, false);
        for (unsigned copies = 1; copies <= 4; ++copies) {
            const std::string n = std::to_string(copies);
            convolve(cache, "unroll-" + n + size, ("copies_" + n).c_str(), LONG_RUN, outputs);
        }
    }
    convolve(cache, "unroll-1-blocks-10", "copies_1", LONG_RUN, LARGE, as_compiled, 6912);
    convolve(cache, "unroll-1-blocks-8", "copies_1", LONG_RUN, LARGE, as_compiled, 12544);
    cache.print(folder);

    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const unsigned blocks = 2 * device.multiProcessorCount;
    // Two blocks are 8 warps in each of the four sub-partitions.
    Experiment banks("register-banks", measure::format("\"outputs\": %u, \"taps\": %u, \"ffmas_per_sub_partition\": %u", LARGE, TAPS,
                                                       8 * FFMA_ITERATIONS * STEPS * 4 * (SUMS / 4)));
    std::vector<float> in(FFMA_THREADS * INPUTS * 4);
    std::generate(in.begin(), in.end(), random);
    float *d_in = to_device(in), *d_out = device_array<float>(blocks * FFMA_THREADS * SUMS);
    constexpr int SQUARE = -1;
    for (const auto [a, b] : {std::pair(0, 0), {0, 2}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {0, SQUARE}, {1, SQUARE}}) {
        for (const bool reuse : {false, true}) {
            const auto patch = [&, a = a, b = b](std::vector<Instruction>& code) {
                for (Instruction& i : code) {
                    if (i.is_ffma()) {
                        i.set_a((i.a() & ~3u) | ((i.c() + a) & 3));
                        i.set_b(b == SQUARE ? i.a() : (i.b() & ~3u) | ((i.c() + b) & 3));
                    }
                }
                no_reuse(code);
                for (size_t i = 0; reuse && i + 1 < code.size(); ++i) {
                    if (code[i].is_ffma() && code[i + 1].is_ffma() && code[i].a() == code[i + 1].a()) {
                        code[i].set_reuse(b == SQUARE ? 3 : 1);
                    }
                }
            };
            const cudaLibrary_t library = load(cubin, "multiply_adds", patch);
            cudaKernel_t kernel;
            CHECK(cudaLibraryGetKernel(&kernel, library, "multiply_adds"));
            CHECK(cudaMemset(d_out, 0xff, blocks * FFMA_THREADS * SUMS * sizeof(float)));
            void* parameters[] = {&d_in, &d_out};
            const std::string row = measure::format("ffma-%d-%s", a, b == SQUARE ? "square" : std::to_string(b).c_str()) + (reuse ? "-reuse" : "");
            banks.row(row, [&] { CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), blocks, FFMA_THREADS, parameters, 0, 0)); }, [&, a = a, b = b] {
                const std::vector<float> out = to_host(d_out, blocks * FFMA_THREADS * SUMS);
                for (size_t i = 0; i < out.size(); ++i) {
                    const float* mine = &in[i / SUMS % FFMA_THREADS * INPUTS * 4];
                    const float *x = mine + SUMS, *y = x + 4 + 4 * (i % SUMS / 4 % 2);
                    const float factor = b == SQUARE ? x[(i + a) % 4] : y[(i + b) % 4];
                    if (!(out[i] == mine[i % SUMS] + STEPS * FFMA_ITERATIONS * x[(i + a) % 4] * factor)) {
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
        convolve(banks, "split-filter" + suffix, "register_tile", RUN, LARGE, patch);
        convolve(banks, "shared-16" + suffix, "shared_16", RUN, LARGE, patch);
        convolve(banks, "shared-16-two-sums" + suffix, "shared_16_two_sums", RUN, LARGE, patch);
        convolve(banks, "shared-28" + suffix, "shared_28", LONG_RUN, LARGE, patch);
        convolve(banks, "shared-28-two-sums" + suffix, "shared_28_two_sums", LONG_RUN, LARGE, patch);
        convolve(banks, "constant-filter" + suffix, "constant_filter", RUN, LARGE, patch, 0, false);
        convolve(banks, "constant-16" + suffix, "constant_16", RUN, LARGE, patch);
        convolve(banks, "constant-16-blocks-17" + suffix, "constant_16", RUN, LARGE, patch, 4096);
        convolve(banks, "constant-16-loads" + suffix, "constant_16_loads", RUN, LARGE, patch);
    }
    banks.print(folder);
    return 0;
}
