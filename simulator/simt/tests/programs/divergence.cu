// Divergence and reconvergence: nested branches in loops, different trip counts, early returns, switch, break, continue.

// Collatz steps below a limit: every lane leaves the loop at its own trip count.
extern "C" __global__ void trip_counts(const unsigned* start, unsigned limit, unsigned* steps, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = start[i];
    unsigned count = 0;
    while (value != 1 && count < limit) {
        if (value & 1)
            value = 3 * value + 1;
        else
            value /= 2;
        ++count;
    }
    steps[i] = count;
}

// Ifs in loops in ifs, with break and continue, so that lanes wait for each other at several depths.
extern "C" __global__ void nested(const int* input, int* output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int seed = input[i];
    int sum = 0;
    for (int outer = 0; outer < (seed & 7); ++outer) {
        if ((seed >> outer) & 1) {
            for (int inner = outer; inner < 10; ++inner) {
                if (inner == (seed & 3) + 4)
                    break;
                if ((inner ^ seed) & 1)
                    continue;
                sum += inner * 3;
            }
        } else if (outer == 5) {
            sum ^= 0x55;
            continue;
        } else {
            sum -= outer;
        }
        sum = sum * 2 + 1;
    }
    output[i] = sum;
}

extern "C" __global__ void switches(const int* input, int* output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = input[i];
    int result = 0;
    switch (value % 9) {
    case 0:
        result = value + 1;
        break;
    case 1:
        result = value * 2;
    case 2: // falls through
        result += 7;
        break;
    case 3:
        result = -value;
        break;
    case 4:
        output[i] = 12345;
        return;
    case 5:
        result = value << 3;
        break;
    case 6:
        result = value ^ 0x0f0f;
        break;
    case 7:
        for (int k = 0; k < value % 5; ++k)
            result += k * value;
        break;
    default:
        result = -1;
    }
    output[i] = result;
}

// After the branch all lanes of the warp are together again: the vote sees all that are left.
extern "C" __global__ void reconverge(unsigned* inside, unsigned* after)
{
    unsigned lane = threadIdx.x;
    unsigned here;
    if (lane % 3 == 0)
        here = __activemask() ^ 1;
    else if (lane % 3 == 1)
        here = __activemask() ^ 2;
    else
        here = __activemask() ^ 4;
    inside[lane] = here;
    __syncwarp();
    after[lane] = __activemask();
}

// A failed check inside a branch must not keep the lanes from the barrier after it.
extern "C" __global__ void checked(const int* input, int* output)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    int value = input[threadIdx.x];
    for (int round = 0; round < 3; ++round) {
        if ((value + round) & 1) {
            if (value < 0)
                __trap();
            atomicAdd(&sum, value);
        } else {
            atomicAdd(&sum, 2 * value);
        }
        __syncthreads();
    }
    output[threadIdx.x] = sum;
}
