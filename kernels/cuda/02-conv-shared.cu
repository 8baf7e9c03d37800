// 02-conv-shared: convolution with tiles in shared memory.
