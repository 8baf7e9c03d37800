// Kernels whose loads and stores of neighboring words become wider ones in machine code, or do not. Above each: the memory
// instructions of its machine code by space and width in bits (32 where nothing is said), from the same compilers as in
// ../merging/patterns.ptx; a loop is counted once, however often it is unrolled. "model" is what the simulator counts where that is
// something else. `cargo run -p tests --bin counts` launches them on a GPU, for Nsight Compute to count what they do.
// All take an input of 65536 floats between -1 and 1, an output of as many, and a number that the compiler does not know: 64.

constexpr int TILE = 16;

// A product of 64 x 64: a thread reads a row of A in a run, which it shares with its neighbors, and a column of B word by word.
// machine: LDG 2, LDS 16, LDS.128 4, STG 1, STS 2
extern "C" __global__ void matmul_tiles(const float *in, float *out, int n)
{
    __shared__ float s_a[TILE][TILE];
    __shared__ float s_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int tile = 0; tile < n; tile += TILE) {
        s_a[threadIdx.y][threadIdx.x] = in[row * n + tile + threadIdx.x];
        s_b[threadIdx.y][threadIdx.x] = in[4096 + (tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += s_a[threadIdx.y][k] * s_b[k][threadIdx.x];
        __syncthreads();
    }
    out[row * n + column] = sum;
}

// The same with a padded tile, whose rows no longer start at multiples of 16 bytes.
// machine: LDG 2, LDS 32, STG 1, STS 2
extern "C" __global__ void matmul_padded(const float *in, float *out, int n)
{
    __shared__ float s_a[TILE][TILE + 1];
    __shared__ float s_b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int tile = 0; tile < n; tile += TILE) {
        s_a[threadIdx.y][threadIdx.x] = in[row * n + tile + threadIdx.x];
        s_b[threadIdx.y][threadIdx.x] = in[4096 + (tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += s_a[threadIdx.y][k] * s_b[k][threadIdx.x];
        __syncthreads();
    }
    out[row * n + column] = sum;
}

// Each thread has 4 x 4 outputs: rows of both tiles are read in runs of four.
// machine: LDG 14, LDS.128 4, STG 16, STS 14
extern "C" __global__ void matmul_register_tile(const float *in, float *out, int n)
{
    __shared__ float s_a[TILE][64];
    __shared__ float s_b[TILE][64];
    int thread = threadIdx.y * 16 + threadIdx.x;
    float sums[4][4] = {};
#pragma unroll 1
    for (int tile = 0; tile < n; tile += TILE) {
        for (int i = thread; i < TILE * 64; i += 256) {
            s_a[i / 64][i % 64] = in[(tile + i / 64) * 64 + i % 64];
            s_b[i / 64][i % 64] = in[4096 + (tile + i / 64) * 64 + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float a[4], b[4];
            for (int i = 0; i < 4; ++i) {
                a[i] = s_a[k][threadIdx.y * 4 + i];
                b[i] = s_b[k][threadIdx.x * 4 + i];
            }
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    sums[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            out[(threadIdx.y * 4 + i) * 64 + threadIdx.x * 4 + j] = sums[i][j];
}

// One output per thread; the signal's words are neighbors between threads, the filter's are neighbors in a thread.
template <int UNROLL> __device__ void convolve(const float *in, float *out, int taps)
{
    __shared__ float s_signal[512];
    __shared__ float s_filter[256];
    int i = threadIdx.x;
    s_signal[i] = in[blockIdx.x * 256 + i];
    s_signal[i + 256] = in[blockIdx.x * 256 + 256 + i];
    s_filter[i] = in[32768 + i];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll UNROLL
    for (int k = 0; k < taps; ++k)
        sum += s_signal[i + k] * s_filter[k];
    out[blockIdx.x * 256 + i] = sum;
}

// machine: LDG 3, LDS 2, STG 1, STS 3
extern "C" __global__ void convolution(const float *in, float *out, int) { convolve<1>(in, out, 256); }
// machine: LDG 3, LDS 4, LDS.128 1, STG 1, STS 3
extern "C" __global__ void convolution_4(const float *in, float *out, int) { convolve<4>(in, out, 256); }
// machine: LDG 3, LDS 8, LDS.128 2, STG 1, STS 3
extern "C" __global__ void convolution_8(const float *in, float *out, int) { convolve<8>(in, out, 256); }
// machine: LDG 3, LDS 16, LDS.128 4, STG 1, STS 3
extern "C" __global__ void convolution_16(const float *in, float *out, int) { convolve<16>(in, out, 256); }
// The compiler does not know how often the loop runs.
// machine: LDG 3, LDS 10, LDS.128 2, STG 1, STS 3
extern "C" __global__ void convolution_unknown(const float *in, float *out, int n) { convolve<8>(in, out, n + 3); }

// Each thread has eight neighboring outputs and reads the signal in a run.
// machine: LDG 6, LDS 11, LDS.128 1, STG 8, STS 6
extern "C" __global__ void convolution_register_tile(const float *in, float *out, int n)
{
    __shared__ float s_signal[1024 + 64];
    __shared__ float s_filter[64];
    int i = threadIdx.x;
    for (int k = i; k < 1024 + 64; k += 128)
        s_signal[k] = in[blockIdx.x * 1024 + k];
    if (i < 64)
        s_filter[i] = in[32768 + i];
    __syncthreads();
    float sums[8] = {};
#pragma unroll 1
    for (int k = 0; k < n; k += 4) {
        float signal[12];
        for (int j = 0; j < 12; ++j)
            signal[j] = j < 11 ? s_signal[8 * i + k + j] : 0.0f;
        for (int t = 0; t < 4; ++t)
            for (int j = 0; j < 8; ++j)
                sums[j] += signal[j + t] * s_filter[k + t];
    }
    for (int j = 0; j < 8; ++j)
        out[blockIdx.x * 1024 + 8 * i + j] = sums[j];
}

// Nine words from the second of a row on. The compiler makes the first one's address the base, and of that one nothing is known.
// machine: LDG 2, LDS 9, STG 1, STS 2
extern "C" __global__ void misaligned(const float *in, float *out, int)
{
    __shared__ float s_row[256 + 16];
    int i = threadIdx.x;
    s_row[i] = in[i];
    if (i < 16)
        s_row[256 + i] = in[256 + i];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 9; ++k)
        sum += s_row[4 * (i % 64) + 1 + k] * (k + 1);
    out[i] = sum;
}

// Runs of four whose threads are far apart, with conflicts.
// machine: LDG 5, LDS.128 1, STG 1, STS 5
extern "C" __global__ void strided(const float *in, float *out, int)
{
    __shared__ float s_rows[32 * 32];
    int i = threadIdx.x;
    for (int k = i; k < 32 * 32; k += 256)
        s_rows[k] = in[k];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k)
        sum += s_rows[32 * (i % 32) + k] * (k + 1);
    out[i] = sum;
}

// Bytes, which do not merge.
// machine: LDG.U8 4, LDS.U8 4, STG 1, STS.U8 4
extern "C" __global__ void bytes(const float *in, float *out, int)
{
    __shared__ unsigned char s_bytes[1024];
    const unsigned char *source = reinterpret_cast<const unsigned char *>(in);
    int i = threadIdx.x;
    for (int k = 0; k < 4; ++k)
        s_bytes[4 * i + k] = source[4 * i + k];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 4; ++k)
        sum += s_bytes[4 * (255 - i) + k] * (k + 3);
    out[i] = sum;
}

struct Pair {
    float left[64];
    float right[64];
};

// Two arrays of one variable.
// machine: LDG 2, LDS.128 2, STG 1, STS 2
extern "C" __global__ void members(const float *in, float *out, int)
{
    __shared__ Pair s_pair;
    int i = threadIdx.x;
    if (i < 64) {
        s_pair.left[i] = in[i];
        s_pair.right[i] = in[64 + i];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k)
        sum += s_pair.left[4 * (i % 16) + k] * s_pair.right[4 * (i / 16) + k];
    out[i] = sum;
}

// Dynamic shared memory starts at a multiple of 16 bytes, whatever its type.
extern __shared__ float s_dynamic[];

// machine: LDG 1, LDS.128 1, STG 1, STS 1
extern "C" __global__ void dynamic(const float *in, float *out, int)
{
    int i = threadIdx.x;
    s_dynamic[i] = in[i];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k)
        sum += s_dynamic[4 * (i % 64) + k] * (k + 1);
    out[i] = sum;
}

// Four words stored side by side, and read back in another order.
// machine: LDG 1, LDS 1, STG 1, STS.128 1
extern "C" __global__ void stores(const float *in, float *out, int)
{
    __shared__ float s_words[1024];
    int i = threadIdx.x;
    float value = in[i];
    for (int k = 0; k < 4; ++k)
        s_words[4 * i + k] = value + k;
    __syncthreads();
    out[i] = s_words[(i * 37) % 1024];
}

// Three words of four. Loads might take the fourth along, stores cannot. But the loads' address is a difference: the compiler adds the
// negative of 4 * i, which the stores need as it is, and does not know that a negative is as aligned.
// machine: LDG 1, LDS 3, STG 1, STS 1, STS.64 1
extern "C" __global__ void triples(const float *in, float *out, int)
{
    __shared__ float s_words[1024];
    int i = threadIdx.x;
    float value = in[i];
    for (int k = 0; k < 3; ++k)
        s_words[4 * i + k] = value + k;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 3; ++k)
        sum += s_words[4 * (255 - i) + k];
    out[i] = sum;
}

// Structs of three words, which start anywhere.
// machine: LDG 3, LDS 3, STG 1, STS 3
extern "C" __global__ void vectors_of_three(const float *in, float *out, int)
{
    __shared__ float3 s_points[256];
    int i = threadIdx.x;
    s_points[i] = make_float3(in[i], in[256 + i], in[512 + i]);
    __syncthreads();
    float3 point = s_points[255 - i];
    out[i] = point.x * point.y + point.z;
}

// Doubles in pairs.
// machine: LDG 1, LDS.128 2, STG 1, STS.64 1
extern "C" __global__ void doubles(const float *in, float *out, int)
{
    __shared__ double s_words[256];
    int i = threadIdx.x;
    s_words[i] = in[i];
    __syncthreads();
    double sum = 0.0;
    for (int k = 0; k < 4; ++k)
        sum += s_words[4 * (i % 64) + k] * (k + 1);
    out[i] = static_cast<float>(sum);
}

// Half of the threads read.
// machine: LDG 1, LDS.128 1, STG 1, STS 1
extern "C" __global__ void guarded(const float *in, float *out, int n)
{
    __shared__ float s_words[256];
    int i = threadIdx.x;
    s_words[i] = in[i];
    __syncthreads();
    float sum = 0.0f;
    if (i % 32 < n / 4)
        for (int k = 0; k < 4; ++k)
            sum += s_words[4 * (i % 64) + k] * (k + 1);
    out[i] = sum;
}

// Global memory: nothing is known of a parameter's alignment.
// machine: LDG 4, STG 4
extern "C" __global__ void global_runs(const float *in, float *out, int)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    for (int k = 0; k < 4; ++k)
        out[4 * i + k] = in[4 * i + k] * 2.0f;
}

// The same in vectors, as the source says.
// machine: LDG.128 1, STG.128 1
extern "C" __global__ void global_vectors(const float *in, float *out, int)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 words = reinterpret_cast<const float4 *>(in)[i];
    reinterpret_cast<float4 *>(out)[i] = make_float4(words.x * 2.0f, words.y * 2.0f, words.z * 2.0f, words.w * 2.0f);
}
