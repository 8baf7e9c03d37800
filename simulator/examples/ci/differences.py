"""Differences of neighbors, computed by a CUDA kernel. Only the driver API is used, through ctypes."""

import ctypes
from pathlib import Path
from typing import Sequence

THREADS = 256
KERNEL = Path(__file__).with_name("kernels") / "differences.ptx"


class CudaError(Exception):
    """A call of the CUDA driver failed."""


class Cuda:
    """The CUDA driver, with a context on the first device."""

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuCtxCreate_v2", ctypes.byref(self._context), 0, 0)

    def call(self, function: str, *arguments: object) -> None:
        code = getattr(self._driver, function)(*arguments)
        if code != 0:
            raise CudaError(f"{function} returned {code}")

    def function(self, ptx: bytes, name: str) -> ctypes.c_void_p:
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def allocate(self, size: int) -> ctypes.c_uint64:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address


def differences(cuda: Cuda, values: Sequence[float]) -> list[float]:
    """Returns each value minus the one before it."""
    count = len(values)
    host = (ctypes.c_float * count)(*values)
    size = ctypes.c_size_t(ctypes.sizeof(host))
    source, target = cuda.allocate(size.value), cuda.allocate(size.value)
    cuda.call("cuMemcpyHtoD_v2", source, host, size)
    kernel = cuda.function(KERNEL.read_bytes(), "differences")
    n = ctypes.c_int(count)
    arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(argument) for argument in (source, target, n)))
    blocks = (count + THREADS - 1) // THREADS
    cuda.call("cuLaunchKernel", kernel, blocks, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    cuda.call("cuMemcpyDtoH_v2", host, target, size)
    for buffer in (source, target):
        cuda.call("cuMemFree_v2", buffer)
    return list(host)
