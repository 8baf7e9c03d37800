// A return inside one side of a branch, with a barrier after it for the remaining threads. Legal since compute capability 7.0,
// where a barrier does not wait for threads that have ended.
extern "C" __global__ void early_return(const int* input, int* output)
{
    __shared__ int s_values[64];
    const int t = threadIdx.x;
    s_values[t] = 0;
    __syncthreads();
    if (input[t] > 3) {
        if (input[t] > 5) {
            output[t] = -1;
            return;
        }
        s_values[t] = 10 * input[t];
    }
    // Orders the writes above before the reads below.
    __syncthreads();
    output[t] = s_values[t ^ 1] + 1;
}
