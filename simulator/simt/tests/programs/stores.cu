// `stmatrix`, which only GPUs of compute capability 9.0 have: four 8 x 8 matrices from registers, by rows and by columns.
typedef unsigned int word;

extern "C" __global__ void store_matrices(const word* input, unsigned short* output, int by_columns)
{
    __shared__ __align__(16) unsigned short s_rows[32 * 8];
    int lane = threadIdx.x;
    unsigned row = __cvta_generic_to_shared(s_rows + lane * 8);
    word held[4];
    for (int i = 0; i < 4; ++i)
        held[i] = input[i * 32 + lane];
    if (by_columns)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(row), "r"(held[0]), "r"(held[1]), "r"(held[2]), "r"(held[3]) : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(row), "r"(held[0]), "r"(held[1]), "r"(held[2]), "r"(held[3]) : "memory");
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        output[i] = s_rows[i];
}
