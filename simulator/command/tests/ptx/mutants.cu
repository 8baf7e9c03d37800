// A kernel whose mutants have every verdict. `mutants.ptx` is written by hand, with the lines of this file.
__global__ void mutants(const int* input, int* output, int n, int mode)
{
    __shared__ int s_values[64];
    int i = threadIdx.x;
    s_values[i] = input[i];
    __syncthreads();
    int value = -s_values[63 - i];
    int rounds = 0;
    do {
        rounds += 1;
    } while (rounds < 4);
    if (i >= n) {
        return;
    }
    output[i] = value + rounds;
    if (mode == 7) {
        output[i] = 0;
    }
}
