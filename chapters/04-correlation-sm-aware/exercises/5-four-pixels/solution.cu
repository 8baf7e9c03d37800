// Exercise: four pixels per instruction.
//
//     coefficient = (n ΣIT - ΣI ΣT) / sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²)),   0 where the quotient is 0/0
//
// Launch:  blocks of BLOCK_X x BLOCK_Y threads, as many as it takes to have a thread for each output.
// Sizes:   any image, and a template of LONGEST x LONGEST pixels at most that is no larger than the image.

// Threads of a block. A warp is a row of 32 of them.
constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
// The longest side of a template.
constexpr int LONGEST = 32;
// Pixels in a word.
constexpr int VECTOR = 4;
// Words of a row of the tile.
constexpr int PITCH = (BLOCK_X + LONGEST) / VECTOR;

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
            const int image_x = blockIdx.x * BLOCK_X + i;
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

    const int x = blockIdx.x * BLOCK_X + threadIdx.x;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= columns || y >= rows) {
        return;
    }
    constexpr unsigned ONES = 0x01010101u;
    // Bits of the first word that lie before the thread's window.
    const unsigned shift = 8 * (threadIdx.x % VECTOR);
    unsigned sum = 0, squares = 0, products = 0;
    for (int j = 0; j < template_height; ++j) {
        // The word in which this row of the window begins.
        const unsigned* s_row = s_image + (threadIdx.y + j) * PITCH + threadIdx.x / VECTOR;
        unsigned word = s_row[0];
        for (int i = 0; i < words; ++i) {
#ifdef SOLUTION
            const unsigned next = s_row[i + 1];
            const unsigned pixels = __funnelshift_r(word, next, shift) & counting(i, template_width);
            sum = dot(pixels, ONES, sum);
            squares = dot(pixels, pixels, squares);
            products = dot(pixels, s_template[j * words + i], products);
            word = next;
#else
            // Add the next four pixels' share to `sum`, `squares` and `products`, with one `dot` each.
#endif
        }
    }
    const long long n = template_width * template_height;
    const long long covariance = n * products - sum * template_sum;
    const long long variance = n * squares - static_cast<long long>(sum) * sum;
    float coefficient = 0.0f;
    if (variance > 0 && template_variance > 0) {
        coefficient = covariance * rsqrtf(static_cast<float>(variance) * static_cast<float>(template_variance));
    }
    output[y * columns + x] = coefficient;
}
