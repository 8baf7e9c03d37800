// 03-unroll: convolution unrolled, then held in registers.
