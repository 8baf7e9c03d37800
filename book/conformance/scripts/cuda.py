"""The CUDA driver by ctypes: loads PTX, copies arrays, and launches kernels.

It is what our scripts need of the driver API, and nothing of the driver under test but that API.
"""

import ctypes
import os

import numpy as np

_driver = ctypes.CDLL("libcuda.so.1")

_JIT_ERROR_LOG_BUFFER = 5
_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8


def call(name, *arguments):
    """Calls a function of the driver, and raises what it returns unless that is success."""
    status = getattr(_driver, name)(*arguments)
    if status != 0:
        text = ctypes.c_char_p()
        _driver.cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{name} error {status}: {(text.value or b'').decode()}")


def start():
    """Makes the first device's context current."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)


def compiled(source, name, options, headers={}):
    """The PTX that NVRTC makes of CUDA C. `headers` are the texts of headers that it has not."""
    nvrtc = ctypes.CDLL("libnvrtc.so.12")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    names, texts = ((ctypes.c_char_p * len(headers))(*map(str.encode, each)) for each in (headers.keys(), headers.values()))
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), len(headers), texts, names) == 0
    if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*map(str.encode, options))) != 0:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(log.value.decode())
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    return text.value


def kept(path, make):
    """The bytes in a file; without the file, they are made and kept there for the next process."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(make())
        unfinished.rename(path)
    return path.read_bytes()


class Module:
    """A loaded module."""

    def __init__(self, ptx):
        self.handle = ctypes.c_void_p()
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(_JIT_ERROR_LOG_BUFFER, _JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), ctypes.sizeof(log))
        try:
            call("cuModuleLoadDataEx", ctypes.byref(self.handle), ptx, 2, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}; {log.value.decode()}") from None

    def launch(self, name, grid, block, arguments, shared=0, cooperative=False):
        """Launches a kernel and waits for its end.

        A numpy array is copied to the device and, after the kernel, back into the array. A numpy scalar is passed as it is, `None` as a null
        pointer, and a list as a structure.
        """
        function = ctypes.c_void_p()
        call("cuModuleGetFunction", ctypes.byref(function), self.handle, name.encode())
        if shared > 48 * 1024:
            call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        copied = []

        def passed(argument):
            if isinstance(argument, list):
                return b"".join(map(passed, argument))
            if argument is None:
                return bytes(8)
            if isinstance(argument, np.ndarray):
                assert argument.flags.c_contiguous
                pointer = ctypes.c_uint64()
                call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(argument.nbytes, 1)))
                call("cuMemcpyHtoD_v2", pointer, ctypes.c_void_p(argument.ctypes.data), ctypes.c_size_t(argument.nbytes))
                copied.append((argument, pointer))
                return bytes(pointer)
            return argument.tobytes()

        values = [ctypes.create_string_buffer(each, len(each)) for each in map(passed, arguments)]
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        grid, block = ([*shape, 1, 1][:3] for shape in (grid, block))
        if cooperative:
            call("cuLaunchCooperativeKernel", function, *grid, *block, shared, None, pointers)
        else:
            call("cuLaunchKernel", function, *grid, *block, shared, None, pointers, None)
        call("cuCtxSynchronize")
        for argument, pointer in copied:
            call("cuMemcpyDtoH_v2", ctypes.c_void_p(argument.ctypes.data), pointer, ctypes.c_size_t(argument.nbytes))
            call("cuMemFree_v2", pointer)


def close(got, expected, relative=0.0, absolute=0.0):
    """Checks numbers; what is not a number must be none in both."""
    got, expected = (np.asarray(array).astype(np.float64) for array in (got, expected))
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    with np.errstate(invalid="ignore"):
        good = (np.abs(got - expected) <= absolute + relative * np.abs(expected)) | (got == expected) | (np.isnan(got) & np.isnan(expected))
    if not good.all():
        where = tuple(int(index) for index in np.argwhere(~good)[0])
        raise AssertionError(f"{int((~good).sum())} of {good.size} values differ; first at {where}: {got[where]}, expected {expected[where]}")


def equal(got, expected):
    """Checks values that have to be exact."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype, f"type {got.dtype}, expected {expected.dtype}"
    close(got, expected)
    assert got.dtype.kind not in "iu" or (got == expected).all(), "integers differ"


def main(tests):
    """Prints the names of the tests, or runs those that the command line names."""
    import sys

    if sys.argv[1:] == ["--list"]:
        print(*tests, sep="\n")
        return
    start()
    for name in sys.argv[1:]:
        tests[name]()
