// Exercise: a tile with a halo.
//
//     coefficient = (n ΣIT - ΣI ΣT) / sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²)),   0 where the quotient is 0/0
//
// Launch:  blocks of 32 x 8 threads, as many as it takes to have a thread for each place.
// Sizes:   a template of 32 x 32 pixels at most, no larger than the image.

// Bytes of a row of the tile.
constexpr int PITCH = 64;
// Rows of the tile at most.
constexpr int ROWS = 8 + 31;

extern "C" __global__ void correlate(const unsigned char* __restrict__ image,
                                     const unsigned char* __restrict__ template_pixels,
                                     int image_width, int image_height, int template_width, int template_height, int columns,
                                     int rows, long long template_sum, long long template_variance,
                                     float* __restrict__ output)
{
    __shared__ unsigned char s_image[ROWS * PITCH];
    const int tile_x = blockIdx.x * 32;
    const int tile_y = blockIdx.y * 8;
#ifdef SOLUTION
    for (int j = threadIdx.y; j < 8 + template_height - 1; j += 8) {
        for (int i = threadIdx.x; i < 32 + template_width - 1; i += 32) {
            if (tile_x + i < image_width && tile_y + j < image_height) {
                s_image[j * PITCH + i] = image[(tile_y + j) * image_width + tile_x + i];
            }
        }
    }
    __syncthreads();
#else
    // Copy the tile. All threads of the block help.
#endif
    const int x = tile_x + threadIdx.x;
    const int y = tile_y + threadIdx.y;
    if (x >= columns || y >= rows) {
        return;
    }
    unsigned sum = 0, squares = 0, products = 0;
    for (int j = 0; j < template_height; ++j) {
        for (int i = 0; i < template_width; ++i) {
            const unsigned pixel = s_image[(threadIdx.y + j) * PITCH + threadIdx.x + i];
            sum += pixel;
            squares += pixel * pixel;
            products += pixel * template_pixels[j * template_width + i];
        }
    }
    const long long n = template_width * template_height;
    const long long covariance = n * products - sum * template_sum;
    const long long variance = n * squares - static_cast<long long>(sum) * sum;
    float coefficient = 0.0f;
    if (variance > 0 && template_variance > 0) {
        coefficient = covariance / sqrtf(static_cast<float>(variance) * static_cast<float>(template_variance));
    }
    output[y * columns + x] = coefficient;
}
