// Of the experiment `bytes`: a warp reads from global and from shared memory. Its lanes read bytes that are `apart`, or
// words side by side.
//
// Launch:  one block of one warp.

// Bytes of shared memory: 32 lanes, at most 32 bytes apart.
constexpr unsigned MOST = 32 * 32;

extern "C" __global__ void bytes(const unsigned char* in, unsigned apart, unsigned char* out)
{
    __shared__ unsigned char s_bytes[MOST];
    const unsigned mine = threadIdx.x * apart;
    s_bytes[mine] = in[mine];
    __syncwarp();
    out[threadIdx.x] = s_bytes[mine];
}

extern "C" __global__ void words(const unsigned* in, unsigned* out)
{
    __shared__ unsigned s_words[32];
    s_words[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = s_words[threadIdx.x];
}
