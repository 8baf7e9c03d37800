"""Compiles a kernel to PTX with NVRTC, which needs no GPU: `pip install nvidia-cuda-nvrtc-cu12`, then

    python compile.py kernels/differences.cu > kernels/differences.ptx

Or use nvcc: `nvcc -ptx -lineinfo -arch=compute_70 -o kernels/differences.ptx kernels/differences.cu`
"""

import ctypes
import os
import sys


def main() -> None:
    path = sys.argv[1]
    nvrtc = ctypes.CDLL(os.environ.get("NVRTC", "libnvrtc.so.12"))
    source = open(path, "rb").read()
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    # The name goes into the line information, so that reports name this file.
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels/" + os.path.basename(path).encode(), 0, None, None)
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_70", b"-lineinfo")
    failed = nvrtc.nvrtcCompileProgram(program, 2, options)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if failed:
        sys.exit(log.value.decode())
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    # NVRTC writes the whole path. A relative one is the same on every machine.
    sys.stdout.write(ptx.value.decode().replace(os.getcwd() + "/", ""))


main()
