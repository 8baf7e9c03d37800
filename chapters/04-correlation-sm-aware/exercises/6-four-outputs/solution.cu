// Exercise: four outputs of a word.
//
//     coefficient = (n ΣIT - ΣI ΣT) / sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²)),   0 where the quotient is 0/0
//
// Launch:  blocks of BLOCK_X x BLOCK_Y threads with VECTOR neighboring outputs each, as many as it takes.
// Sizes:   any image, and a template of LONGEST x LONGEST pixels at most that is no larger than the image.

// Threads of a block. A warp is a row of 32 of them.
constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
// The longest side of a template.
constexpr int LONGEST = 32;
// Pixels in a word, and outputs of a thread.
constexpr int VECTOR = 4;
// Outputs of a row of threads.
constexpr int WIDE_X = BLOCK_X * VECTOR;
// Words of a row of the tile.
constexpr int PITCH = (WIDE_X + LONGEST) / VECTOR;

// The sums over one window of the image.
struct Sums {
    unsigned image, squares, products;
};

// Four products of bytes and their sum: a.0 * b.0 + a.1 * b.1 + a.2 * b.2 + a.3 * b.3 + sum.
__device__ unsigned dot(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

// The pixels that count in word `i` of a row of the template, each as a byte of all ones.
__device__ unsigned counting(int i, int template_width)
{
    const int left = template_width - i * VECTOR;
    return left >= VECTOR ? 0xffffffffu : 0xffffffffu >> 8 * (VECTOR - left);
}

// A word's share of the three sums. `mask` has the pixels that count.
__device__ void accumulate(Sums& sums, unsigned pixels, unsigned wanted, unsigned mask)
{
    constexpr unsigned ONES = 0x01010101u;
    pixels &= mask;
    sums.image = dot(pixels, ONES, sums.image);
    sums.squares = dot(pixels, pixels, sums.squares);
    sums.products = dot(pixels, wanted, sums.products);
}

extern "C" __global__ void correlate(const unsigned char* __restrict__ image,
                                     const unsigned char* __restrict__ template_pixels,
                                     int image_width, int image_height, int template_width, int template_height, int columns,
                                     int rows, long long template_sum, long long template_variance,
                                     float* __restrict__ output)
{
    __shared__ unsigned s_image[(BLOCK_Y + LONGEST - 1) * PITCH];
    // Each row of the template filled up with zeros to whole words.
    __shared__ unsigned s_template[LONGEST * LONGEST / VECTOR];

    const int words = (template_width + VECTOR - 1) / VECTOR;
    const int row_bytes = words * VECTOR;
    unsigned char* s_pixels = reinterpret_cast<unsigned char*>(s_image);
    for (int j = threadIdx.y; j < BLOCK_Y + template_height - 1; j += BLOCK_Y) {
        const int image_y = blockIdx.y * BLOCK_Y + j;
        for (int i = threadIdx.x; i < PITCH * VECTOR; i += BLOCK_X) {
            const int image_x = blockIdx.x * WIDE_X + i;
            const bool there = image_x < image_width && image_y < image_height;
            s_pixels[j * PITCH * VECTOR + i] = there ? image[image_y * image_width + image_x] : 0;
        }
    }
    unsigned char* s_wanted = reinterpret_cast<unsigned char*>(s_template);
    for (int j = threadIdx.y; j < template_height; j += BLOCK_Y) {
        for (int i = threadIdx.x; i < row_bytes; i += BLOCK_X) {
            s_wanted[j * row_bytes + i] = i < template_width ? template_pixels[j * template_width + i] : 0;
        }
    }
    // The tile is written, by all threads, before any thread reads it.
    __syncthreads();

    const int x = blockIdx.x * WIDE_X + threadIdx.x * VECTOR;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= columns || y >= rows) {
        return;
    }
    Sums sums[VECTOR] = {};
    for (int j = 0; j < template_height; ++j) {
        // The word in which this row of the thread's first window begins.
        const unsigned* s_row = s_image + (threadIdx.y + j) * PITCH + threadIdx.x;
#ifdef SOLUTION
        unsigned word = s_row[0];
        for (int i = 0; i < words; ++i) {
            const unsigned next = s_row[i + 1];
            const unsigned wanted = s_template[j * words + i];
#pragma unroll
            for (int output_x = 0; output_x < VECTOR; ++output_x) {
                const unsigned pixels = __funnelshift_r(word, next, 8 * output_x);
                accumulate(sums[output_x], pixels, wanted, counting(i, template_width));
            }
            word = next;
        }
#else
#pragma unroll
        for (int output_x = 0; output_x < VECTOR; ++output_x) {
            unsigned word = s_row[0];
            for (int i = 0; i < words; ++i) {
                const unsigned next = s_row[i + 1];
                const unsigned wanted = s_template[j * words + i];
                const unsigned pixels = __funnelshift_r(word, next, 8 * output_x);
                accumulate(sums[output_x], pixels, wanted, counting(i, template_width));
                word = next;
            }
        }
#endif
    }
    const long long n = template_width * template_height;
#pragma unroll
    for (int output_x = 0; output_x < VECTOR; ++output_x) {
        if (x + output_x >= columns) {
            break;
        }
        const Sums of = sums[output_x];
        const long long covariance = n * of.products - of.image * template_sum;
        const long long variance = n * of.squares - static_cast<long long>(of.image) * of.image;
        float coefficient = 0.0f;
        if (variance > 0 && template_variance > 0) {
            coefficient = covariance * rsqrtf(static_cast<float>(variance) * static_cast<float>(template_variance));
        }
        output[y * columns + x + output_x] = coefficient;
    }
}
