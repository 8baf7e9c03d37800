// Changes registers and operands in the machine code of a cubin for `unroll.cu`.
#pragma once

#include "measure.cuh"
#include "unroll-kernels.cuh"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

// 128 bits: opcode in 0-11, Rd in 16-23, Ra in 24-31, Rb or an immediate from 32, Rc in 64-71, barriers to wait for in 116-121,
// `.reuse` of a, b and c in 122, 123 and 124. Checked with nvdisasm for sm_90a.
struct Instruction {
    uint64_t low, high;
    enum : unsigned { FFMA = 0x223, FFMA_IMMEDIATE = 0x823, FFMA_UNIFORM = 0xc23, LDG = 0x981, LDS = 0x984 };
    unsigned opcode() const { return low & 0xfff; }
    bool is_ffma() const { return opcode() == FFMA || opcode() == FFMA_IMMEDIATE || opcode() == FFMA_UNIFORM; }
    unsigned d() const { return low >> 16 & 255; }
    unsigned a() const { return low >> 24 & 255; }
    unsigned b() const { return low >> 32 & 255; }
    unsigned c() const { return high & 255; }
    unsigned reuse() const { return high >> 58 & 7; }
    void set(uint64_t d, uint64_t a, uint64_t b, uint64_t c)
    {
        low = (low & 0xffff) | d << 16 | a << 24 | b << 32;
        high = (high & ~255ull) | c;
    }
    void set_reuse(uint64_t operands) { high = (high & ~(7ull << 58)) | operands << 58; }
};
using Code = std::vector<Instruction>;
using Patch = std::function<void(Code&)>;

void as_compiled(Code&) {}

void no_reuse(Code& code)
{
    for (Instruction& i : code) {
        if (i.is_ffma()) {
            i.set_reuse(0);
        }
    }
}

// Replaces the filter value of each FFMA by VALUE. Filter values and samples both come into registers by LDS. The address of a filter
// value is the same for all lanes, so it has no lane's register as its base (255). Then sets `.reuse` for samples that the next
// instruction multiplies, too.
constexpr float VALUE = 3.0f;
void filter_immediate(Code& code)
{
    bool holds_filter[256] = {};
    for (Instruction& i : code) {
        if (i.opcode() == Instruction::LDS) {
            std::fill_n(holds_filter + i.d(), 4, i.a() == 255);
        } else if (i.opcode() == Instruction::FFMA) {
            if (holds_filter[i.a()] == holds_filter[i.b()]) {
                std::fprintf(stderr, "filter_immediate: an FFMA has no operand, or two, that LDS loaded from the filter\n");
                std::exit(1);
            }
            uint32_t bits;
            std::memcpy(&bits, &VALUE, sizeof bits);
            i.set(i.d(), holds_filter[i.a()] ? i.b() : i.a(), bits, i.c());
            i.low = (i.low & ~0xfffull) | Instruction::FFMA_IMMEDIATE;
            holds_filter[i.d()] = false;
        }
    }
    for (size_t i = 0; i + 1 < code.size(); ++i) {
        if (code[i].is_ffma()) {
            const bool is_kept = code[i + 1].is_ffma() && code[i + 1].a() == code[i].a() && code[i].d() != code[i].a();
            code[i].set_reuse(is_kept ? 1 : 0);
        }
    }
}

// Writes the FFMAs of `multiply_adds`: registers of x and y with numbers `a` and `b` above the sum's, modulo 4. Its first 128-bit loads
// are those of the sums, of x, and of both vectors of y.
constexpr int SQUARE = -1;
void choose_registers(Code& code, int a, int b, bool reuse)
{
    std::vector<unsigned> loaded;
    unsigned ffma = 0;
    for (Instruction& i : code) {
        if (i.opcode() == Instruction::LDG) {
            loaded.push_back(i.d());
        } else if (i.is_ffma()) {
            const unsigned q = ffma % QUADS, element = ffma / QUADS % 4, sum = loaded[q] + element, x = loaded[QUADS] + (element + a) % 4;
            i.set(sum, x, b == SQUARE ? x : loaded[QUADS + 1 + q % 2] + (element + b) % 4, sum);
            i.set_reuse(reuse && q + 1 < QUADS ? (b == SQUARE ? 3 : 1) : 0);
            // The first FFMA waits for all loads.
            i.high |= ffma == 0 ? 63ull << 52 : 0;
            ++ffma;
        }
    }
}

template <class T> T value_at(const std::vector<char>& bytes, uint64_t offset)
{
    T value;
    std::memcpy(&value, &bytes[offset], sizeof value);
    return value;
}

// Returns the cubin that nvcc has put into the program: an ELF file in an ELF file, for machine 190. In an ELF file, the offsets of the
// program headers and the section headers are in bytes 32 and 40, and their numbers in 56 and 60. A cubin ends with one of them.
std::vector<char> own_cubin()
{
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::vector<char> program((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const char magic[] = {0x7f, 'E', 'L', 'F'}, name[] = ".text.multiply_adds";
    for (auto found = program.begin() + 1; (found = std::search(found, program.end(), magic, magic + 4)) != program.end(); ++found) {
        const std::vector<char> rest(found, program.end());
        if (rest.size() < 64 || value_at<uint16_t>(rest, 18) != 190) {
            continue;
        }
        const uint64_t end = std::max(value_at<uint64_t>(rest, 32) + 56 * value_at<uint16_t>(rest, 56),
                                      value_at<uint64_t>(rest, 40) + 64 * value_at<uint16_t>(rest, 60));
        if (end <= rest.size() && std::search(rest.begin(), rest.begin() + end, name, name + sizeof name) != rest.begin() + end) {
            return {rest.begin(), rest.begin() + end};
        }
    }
    std::fprintf(stderr, "the program holds no readable cubin; compile with -no-compress for the architecture of this GPU\n");
    std::exit(1);
}

// Loads the cubin with `patch` applied to the machine code of `name`, and prints what its FFMAs read.
cudaLibrary_t load(std::vector<char> cubin, const std::string& row, const std::string& name, const Patch& patch)
{
    // Byte 62 has the index of the section with the names. A section's header has its name, its offset and its size in 0, 24 and 32.
    const uint64_t sections = value_at<uint64_t>(cubin, 40);
    const uint64_t names = value_at<uint64_t>(cubin, sections + 64 * value_at<uint16_t>(cubin, 62) + 24);
    for (unsigned section = 0; section < value_at<uint16_t>(cubin, 60); ++section) {
        const uint64_t header = sections + 64 * section;
        const uint64_t offset = value_at<uint64_t>(cubin, header + 24), bytes = value_at<uint64_t>(cubin, header + 32);
        if (&cubin[names + value_at<uint32_t>(cubin, header)] != ".text." + name) {
            continue;
        }
        Code code(bytes / sizeof(Instruction));
        std::memcpy(code.data(), &cubin[offset], bytes);
        patch(code);
        std::memcpy(&cubin[offset], code.data(), bytes);
        unsigned all = 0, three = 0, one_parity = 0, reuses = 0;
        for (const Instruction& i : code) {
            const bool lanes = i.opcode() == Instruction::FFMA;
            all += i.is_ffma();
            three += lanes;
            one_parity += lanes && i.a() % 2 == i.b() % 2 && i.a() % 2 == i.c() % 2;
            reuses += i.is_ffma() && i.reuse() != 0;
        }
        std::fprintf(stderr, "%s: %s, %zu bytes, %u FFMAs, of which %u read three lanes' registers, %u of one parity, %u with .reuse\n",
                     row.c_str(), name.c_str(), bytes, all, three, one_parity, reuses);
        if (std::getenv("PATCHED") != nullptr) {
            std::ofstream(row + ".cubin", std::ios::binary).write(cubin.data(), cubin.size());
        }
        cudaLibrary_t library;
        CHECK(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        return library;
    }
    std::fprintf(stderr, "the cubin has no kernel %s\n", name.c_str());
    std::exit(1);
}
