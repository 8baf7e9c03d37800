// What all kernels of chapter 04 share: the shape of the computation, and the coefficient that follows from three sums.
#pragma once

// Threads of a block. A warp is one row of 32 of them.
constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;

// ANCHOR: shape
// Passed to every kernel by value.
struct Shape {
    int image_width, image_height;
    int template_width, template_height;
    // Position in the image of the template's upper left corner for output (0, 0); negative where the template can
    // extend past the edge.
    int corner_x, corner_y;
    // Outputs.
    int columns, rows;
    // ΣT and n ΣT² - (ΣT)², the same for every output.
    long long template_sum, template_variance;
};
// ANCHOR_END: shape

// The sums over one window of the image. For a template of up to 65536 pixels they are below 2^32.
struct Sums {
    unsigned image, squares, products;
};

// ANCHOR: coefficient
// Exact until the conversions to f32: n times a sum, and the product of two sums, are below 2^48.
__device__ inline float coefficient(const Sums& sums, const Shape& shape)
{
    const long long pixels = static_cast<long long>(shape.template_width) * shape.template_height;
    const long long image = sums.image;
    const long long image_variance = pixels * sums.squares - image * image;
    if (image_variance == 0 || shape.template_variance == 0) {
        return 0.0f;
    }
    const long long covariance = pixels * sums.products - image * shape.template_sum;
    return static_cast<float>(covariance)
         * rsqrtf(static_cast<float>(image_variance) * static_cast<float>(shape.template_variance));
}
// ANCHOR_END: coefficient

// The nearest position on a side of this length: beyond its edges, the image continues with its edge pixels.
__device__ inline int clamped(int position, int length)
{
    return min(max(position, 0), length - 1);
}

// ANCHOR: tile
// Copies `width` x `height` pixels of the image, starting at (left, top), into rows of `pitch` bytes. The edge is
// handled here, once per pixel, so the loops over the template need not know about it.
__device__ inline void load_tile(unsigned char* s_image, int pitch, const unsigned char* __restrict__ image,
                                 const Shape& shape, int left, int top, int width, int height)
{
    for (int j = threadIdx.y; j < height; j += BLOCK_Y) {
        const unsigned char* row = image + static_cast<size_t>(clamped(top + j, shape.image_height)) * shape.image_width;
        for (int i = threadIdx.x; i < width; i += BLOCK_X) {
            s_image[j * pitch + i] = row[clamped(left + i, shape.image_width)];
        }
    }
    // All threads have written the tile before any thread reads it.
    __syncthreads();
}
// ANCHOR_END: tile
