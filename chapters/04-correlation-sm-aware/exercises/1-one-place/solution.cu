// Exercise: the sums of one place.
//
//     coefficient = (n ΣIT - ΣI ΣT) / sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²)),   0 where the quotient is 0/0
//
// with the sums over the n pixels of the template, I the image's pixels under it and T its own.
//
// Launch:  blocks of 32 x 8 threads, as many as it takes to have a thread for each place.

extern "C" __global__ void correlate(const unsigned char* __restrict__ image,
                                     const unsigned char* __restrict__ template_pixels,
                                     int image_width, int template_width, int template_height, int columns, int rows,
                                     long long template_sum, long long template_variance, float* __restrict__ output)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows) {
        return;
    }
    // ΣI, ΣI², ΣIT
    unsigned sum = 0, squares = 0, products = 0;
#ifdef SOLUTION
    for (int j = 0; j < template_height; ++j) {
        for (int i = 0; i < template_width; ++i) {
            const unsigned pixel = image[(y + j) * image_width + x + i];
            sum += pixel;
            squares += pixel * pixel;
            products += pixel * template_pixels[j * template_width + i];
        }
    }
#else
    // Go through the template's pixels, and add up.
#endif
    // The sums fit 32 bits, and their products do not.
    const long long n = template_width * template_height;
    const long long covariance = n * products - sum * template_sum;
    const long long variance = n * squares - static_cast<long long>(sum) * sum;
    float coefficient = 0.0f;
    if (variance > 0 && template_variance > 0) {
        coefficient = covariance / sqrtf(static_cast<float>(variance) * static_cast<float>(template_variance));
    }
    output[y * columns + x] = coefficient;
}
