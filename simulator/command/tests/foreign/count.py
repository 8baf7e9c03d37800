"""A Python program that calls the CUDA driver through ctypes: runs the kernel `count` of a PTX file and prints what it counted."""

import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result != 0:
        name = ctypes.c_char_p()
        cuda.cuGetErrorName(result, ctypes.byref(name))
        sys.exit(f"CUDA: {name.value}")


context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
address, size, value = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_uint32()
check(cuda.cuInit(0))
check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
check(cuda.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()))
check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"count"))
check(cuda.cuLaunchKernel(function, 3, 1, 1, 32, 1, 1, 0, None, None, None))
check(cuda.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, b"counter"))
check(cuda.cuMemcpyDtoH_v2(ctypes.byref(value), address, size))
print(value.value)
