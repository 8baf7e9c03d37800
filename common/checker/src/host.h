#define CODE_OF_THE_HOST
#line 1 "unrolled-prelude.h"
// What the check puts before a text with host code, so that a compiler for GPUs compiles it. A launch becomes a call that notes its shape and
// its arguments, and one thread executes the host code.
#ifdef __clang__
// NVRTC has an option for it: a function that says nothing else is one of the device.
#pragma clang force_cuda_host_device begin
typedef struct CUstream_st *cudaStream_t;
enum cudaError_t { cudaSuccess };
#endif
#undef __host__
#define __host__
#define cudaGetLastError() cudaSuccess
#define cudaPeekAtLastError() cudaSuccess
#define cudaDeviceSynchronize() cudaSuccess

// How many launches there were, and for each: which in the text, the grid, the block, the bytes of shared memory, the arguments.
extern "C" { __device__ unsigned long long unrolled_launches[1 + 16 * 24]; }

// Kernels with these types of parameters. No function has its address taken, because pages have no calls of addresses.
template <class Kernel> struct unrolled_kernel;
template <class... Types> struct unrolled_kernel<void(Types...)> {
    unsigned number;

    static __device__ unsigned long long *note() { return unrolled_launches + 1 + unrolled_launches[0] % 16 * 24; }
    __device__ unrolled_kernel with(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0) const
    {
        const unsigned long long words[] = {number, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared};
        for (unsigned i = 0; i < 8; ++i) {
            note()[i] = words[i];
        }
        return *this;
    }
    __device__ void call(Types... arguments) const
    {
        unsigned long long *word = note() + 8;
        // Each word is zero until it is written here.
        ((*(Types *)word++ = arguments), ...);
        ++unrolled_launches[0];
    }
};
template <class Kernel, unsigned number> __device__ unrolled_kernel<Kernel> unrolled_launch() { return {number}; }

// An argument of the host code, whatever its type is.
struct unrolled_value {
    const unsigned long long *word;
    template <class Type> __device__ operator Type() const { return *(const Type *)word; }
};
