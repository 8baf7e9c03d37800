"""The kernels of candle, compiled with NVRTC, run by the driver, and compared with numpy.

The crate has no tests of its own: candle's are those of its whole CUDA back end. The launch shapes here are those of candle's host code.
The first argument is the folder of the crate's source.
"""

import ctypes
import math
import os
import pathlib
import re
import sys

import ml_dtypes
import numpy as np

import cuda

SOURCE = pathlib.Path(sys.argv.pop(1)) / "src"
MODULES = ["affine", "binary", "cast", "conv", "fill", "indexing", "quantized", "reduce", "sort", "ternary", "unary"]
TYPES = {
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "u8": np.dtype(np.uint8),
    "u32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64),
}
FLOATS = ["bf16", "f16", "f32", "f64"]
# Half of a unit in the last place, and a little.
ROUNDING = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-22, "f64": 2.0**-51}
random = np.random.default_rng(2026)
tests = {}

# NVRTC has the functions of these headers, but not the headers.
HEADERS = {
    "stdint.h": "typedef unsigned char uint8_t; typedef signed char int8_t; typedef unsigned short uint16_t; typedef short int16_t;"
    "typedef unsigned int uint32_t; typedef int int32_t; typedef unsigned long uint64_t; typedef long int64_t;",
    "math.h": "#pragma once\n#define M_2_SQRTPI 1.12837916709551257390\n#define M_SQRT1_2 0.70710678118654752440\n"
    "#define INFINITY __int_as_float(0x7f800000)\n",
    "cmath": '#include "math.h"\n',
}


def test(function):
    tests[function.__name__] = function
    return function


def ptx(name):
    """The PTX of a module; NVRTC makes it once, because one takes a minute."""
    options = ["--gpu-architecture=compute_80", "--std=c++17", f"-I{os.environ['CUDA_PATH']}/include", f"-I{SOURCE}"]
    source = (SOURCE / f"{name}.cu").read_text()
    return cuda.kept(SOURCE.parent / "ptx" / f"{name}.ptx", lambda: cuda.compiled(source, f"{name}.cu", options, HEADERS))


def kernels(text):
    return re.findall(r"\.entry (\w+)\(", text.decode())


def load(name):
    """A module and the names of its kernels."""
    text = ptx(name)
    return cuda.Module(text), kernels(text)


def loads(name):
    text = ptx(name)
    module = cuda.Module(text)
    for kernel in kernels(text):
        function = ctypes.c_void_p()
        cuda.call("cuModuleGetFunction", ctypes.byref(function), module.handle, kernel.encode())
    assert kernels(text)


for module_name in MODULES:
    tests[f"load_{module_name}"] = lambda module_name=module_name: loads(module_name)


def named(error, name):
    return AssertionError(f"{name}: {error}")


def each(kernels, pattern):
    """The kernels whose names match, with what the groups of the pattern matched."""
    found = [(kernel, match.groups()) for kernel in kernels if (match := re.fullmatch(pattern, kernel))]
    assert found, f"no kernel is named {pattern}"
    return found


def checked(kernel, got, expected, relative=0.0, absolute=0.0):
    try:
        cuda.close(got, expected, relative, absolute)
    except AssertionError as error:
        raise named(error, kernel) from None


def values(kind, *shape, low=-4.0, high=4.0):
    dtype = TYPES[kind]
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -50, 100, shape).astype(dtype)
    return random.uniform(low, high, shape).astype(dtype)


def size(value):
    return np.uint64(value)


def strides(array):
    return [stride // array.itemsize for stride in array.strides]


def info(*parts):
    return np.array([number for part in parts for number in part], np.uint64)


def wide(array):
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


SHAPE = (5, 12, 9)
COUNT = math.prod(SHAPE)
GRID, BLOCK = [5], [128]


@test
def affine():
    module, names = load("affine")
    for kernel, (kind,) in each(names, r"affine_(\w+)"):
        x, out = values(kind, *SHAPE), np.zeros(SHAPE, TYPES[kind])
        factor, term = (np.array(number, TYPES[kind])[()] for number in (3, 2))
        expected = (wide(x) * 3 + 2).astype(TYPES[kind])
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), None, x, out, factor, term])
        # The compiler may or may not round the product.
        tolerance = 2 * ROUNDING.get(kind, 0)
        checked(kernel, out, expected, tolerance, 16 * tolerance)
        turned = x.transpose(2, 0, 1)
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), info(turned.shape, strides(turned)), x, out, factor, term])
        checked(kernel, out.reshape(turned.shape), expected.transpose(2, 0, 1), tolerance, 16 * tolerance)
        x_in_place = x.copy()
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), None, None, x_in_place, factor, term])
        checked(kernel, x_in_place, expected, tolerance, 16 * tolerance)


BINARY = {
    "badd": lambda a, b: a + b,
    "bsub": lambda a, b: a - b,
    "bmul": lambda a, b: a * b,
    "bdiv": lambda a, b: a / b if a.dtype.kind == "f" else np.fix(a / b).astype(np.int64),
    "bmaximum": np.maximum,
    "bminimum": np.minimum,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@test
def binary():
    module, names = load("binary")
    assert len(names) == len(BINARY) * len(TYPES)
    for kernel, (name, kind) in each(names, r"([a-z]+)_(\w+)"):
        x, y = values(kind, *SHAPE), values(kind, *SHAPE)
        x.ravel()[::7] = y.ravel()[::7]
        y[y == 0] = 1
        logical = len(name) == 2
        dtype = np.dtype(np.uint8) if logical else TYPES[kind]
        tolerance = 0 if logical or kind not in ROUNDING else ROUNDING[kind]
        # Each view with the memory that it is of: whole arrays, a transposed one on either side, and one that repeats a row.
        whole_x, whole_y, turned_x, turned_y = (x, x), (y, y), (x.transpose(1, 2, 0), x), (y.transpose(1, 2, 0), y)
        copy_x, copy_y = ((np.ascontiguousarray(view),) * 2 for view, _ in (turned_x, turned_y))
        row = np.broadcast_to(y.ravel()[:9], SHAPE), y
        for (a, a_memory), (b, b_memory) in ((whole_x, whole_y), (turned_x, copy_y), (copy_x, turned_y), (turned_x, turned_y), (whole_x, row)):
            out = np.zeros(a.shape, dtype)
            sizes = info(a.shape, strides(a), strides(b))
            module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), sizes, a_memory, b_memory, out])
            checked(kernel, out, BINARY[name](wide(a), wide(b)).astype(dtype), tolerance)


@test
def cast():
    module, names = load("cast")
    for kernel, (source, to) in each(names, r"cast_([a-z0-9]+)_([a-z0-9]+)"):
        x = values(source, *SHAPE, low=0.0, high=200.0)
        if TYPES[source].kind == "i" and TYPES[to].kind != "i":
            x = np.abs(x)
        out = np.zeros(SHAPE, TYPES[to])
        expected = x.astype(TYPES[to]) if source != "bf16" else x.astype(np.float32).astype(TYPES[to])
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), None, x, out])
        checked(kernel, out, expected)
        turned = x.transpose(1, 2, 0)
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), info(turned.shape, strides(turned)), x, out])
        checked(kernel, out.reshape(turned.shape), expected.transpose(1, 2, 0))


@test
def fill():
    module, names = load("fill")
    for kernel, (name, kind) in each(names, r"(fill|copy2d|const_set)_(\w+)"):
        value = np.array(7, TYPES[kind])[()]
        out = np.zeros(SHAPE, TYPES[kind])
        if name == "fill":
            module.launch(kernel, GRID, BLOCK, [out, value, size(COUNT)])
            checked(kernel, out, np.full(SHAPE, 7))
        elif name == "const_set":
            half = out[:, ::2, :]
            module.launch(kernel, GRID, BLOCK, [size(half.size), size(3), info(half.shape, strides(half)), value, out])
            checked(kernel, half, np.full(half.shape, 7))
            checked(kernel, out[:, 1::2], np.zeros(out[:, 1::2].shape))
        else:
            x, copied = values(kind, 20, 30), np.zeros((20, 25), TYPES[kind])
            sizes = [np.uint32(number) for number in (20, 22, 30, 25)]
            module.launch(kernel, GRID, BLOCK, [x, copied, *sizes])
            checked(kernel, copied[:, :22], x[:, :22])
            checked(kernel, copied[:, 22:], np.zeros((20, 3)))


@test
def ternary():
    module, names = load("ternary")
    for kernel, (index, kind) in each(names, r"where_(\w+)_(\w+)"):
        condition = random.integers(0, 2, SHAPE).astype(TYPES[index])
        a, b, out = values(kind, *SHAPE), values(kind, *SHAPE), np.zeros(SHAPE, TYPES[kind])
        sizes = info(SHAPE, *[strides(array) for array in (condition, a, b)])
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), sizes, condition, a, b, out])
        checked(kernel, out, np.where(condition, a, b))
        turned = [array.transpose(2, 1, 0) for array in (condition, a, b)]
        sizes = info(turned[0].shape, *map(strides, turned))
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), sizes, condition, a, b, out])
        checked(kernel, out.reshape(turned[0].shape), np.where(*turned))


erf = np.vectorize(math.erf, otypes=[float])
UNARY = {
    "ucopy": lambda x: x,
    "uneg": lambda x: -x,
    "urecip": lambda x: 1 / x,
    "uexp": np.exp,
    "ulog": np.log,
    "usin": np.sin,
    "ucos": np.cos,
    "utanh": np.tanh,
    "uerf": erf,
    "uceil": np.ceil,
    "ufloor": np.floor,
    "uround": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "unormcdf": lambda x: (1 + erf(x / 2**0.5)) / 2,
    "uabs": np.abs,
    "usqr": lambda x: x * x,
    "usqrt": np.sqrt,
    "ugelu": lambda x: x / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))),
    "ugelu_erf": lambda x: x * (1 + erf(x / 2**0.5)) / 2,
    "urelu": lambda x: np.maximum(x, 0),
    "uelu": lambda x: np.where(x > 0, x, 1.5 * (np.exp(x) - 1)),
    "usilu": lambda x: x / (1 + np.exp(-x)),
    "upowf": lambda x: x**1.5,
    "usign": np.sign,
    "usigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
EXACT = ["ucopy", "uneg", "uceil", "ufloor", "uround", "uabs", "urelu", "usign"]


@test
def unary():
    module, names = load("unary")
    for kernel, (name, kind) in each(names, r"(\w+)_([a-z]+[0-9]+)"):
        x = values(kind, *SHAPE, low=0.05 if name in ("ulog", "usqrt", "upowf", "urecip") else -4.0)
        out, expected = np.zeros(SHAPE, TYPES[kind]), UNARY[name](wide(x))
        parameter = [np.array(1.5, TYPES[kind])[()]] if name in ("uelu", "upowf") else []
        # Several operations, each rounded.
        tolerance = 0 if name in EXACT else 12 * ROUNDING[kind]
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), None, *parameter, x, out])
        checked(kernel, out, expected, tolerance, tolerance)
        turned = x.transpose(2, 1, 0)
        module.launch(kernel, GRID, BLOCK, [size(COUNT), size(3), info(turned.shape, strides(turned)), *parameter, x, out])
        checked(kernel, out.reshape(turned.shape), expected.transpose(2, 1, 0), tolerance, tolerance)


@test
def sort():
    module, names = load("sort")
    rows, columns, padded = 3, 50, 64
    for kernel, (order, kind) in each(names, r"asort_(asc|desc)_(\w+)"):
        x = np.stack([random.permutation(100)[:columns] for _ in range(rows)]).astype(TYPES[kind])
        out = np.zeros((rows, columns), np.uint32)
        module.launch(kernel, [1, rows], [padded], [x, out, np.int32(columns), np.int32(padded)], shared=4 * padded)
        expected = np.argsort(wide(x), axis=1)
        checked(kernel, out, expected if order == "asc" else expected[:, ::-1])


@test
def reduce():
    module, names = load("reduce")
    rows, columns = 6, 70
    functions = {"sum": np.sum, "min": np.min, "max": np.max, "argmin": np.argmin, "argmax": np.argmax}
    for kernel, (name, kind) in each(names, r"fast_([a-z]+)_(\w+)"):
        x = np.stack([random.permutation(100)[:columns] for _ in range(rows)]).astype(TYPES[kind])
        out = np.zeros(rows, np.uint32 if name.startswith("arg") else TYPES[kind])
        for array, memory in ((x, x), (np.ascontiguousarray(x.T).T, np.ascontiguousarray(x.T))):
            sizes = info(array.shape, strides(array))
            module.launch(kernel, [rows], [64], [size(x.size), size(columns), size(2), sizes, memory, out])
            tolerance = 16 * ROUNDING[kind] if name == "sum" and kind in ROUNDING else 0
            checked(kernel, out, functions[name](wide(array), 1).astype(out.dtype), tolerance)


@test
def sum_with_atomics():
    module, names = load("reduce")
    for kernel, (kind,) in each(names, r"sum_(\w+)"):
        x, out = random.integers(0, 4, (6, 10)).astype(TYPES[kind]), np.zeros(6, TYPES[kind])
        module.launch(kernel, [1], [64], [size(60), size(2), size(1), info(x.shape, strides(x), [10], [1]), x, out])
        checked(kernel, out, wide(x).sum(1))
        out[:] = 0
        turned = np.ascontiguousarray(x.T)
        module.launch(kernel, [1], [64], [size(60), size(2), size(1), info(x.shape, [1, 6], [10], [1]), turned, out])
        checked(kernel, out, wide(x).sum(1))


def normalized(kind, columns, block):
    return values(kind, 4, columns), np.zeros((4, columns), TYPES[kind]), [np.int32(columns), np.int32(block), np.float32(1e-5)]


@test
def softmax_and_norms():
    module, names = load("reduce")
    for kernel, (kind,) in each(names, r"softmax_(\w+)"):
        x, out, sizes = normalized(kind, 70, 32)
        module.launch(kernel, [4], [1, 32], [x, out, sizes[0]])
        e = np.exp(wide(x) - wide(x).max(1, keepdims=True))
        checked(kernel, out, e / e.sum(1, keepdims=True), 20 * ROUNDING[kind], ROUNDING[kind])
    for kernel, (name, kind) in each(names, r"(rmsnorm|layernorm)_(\w+)"):
        # The sums are of f32.
        tolerance = 4 * max(ROUNDING[kind], ROUNDING["f32"])
        for columns, block in ((70, 32), (1100, 1024)):
            for with_weights in (True, False):
                x, out, sizes = normalized(kind, columns, block)
                weight, bias = (values(kind, columns) if with_weights else None for _ in range(2))
                factor, term = (wide(weight), wide(bias)) if with_weights else (1, 0)
                exact = wide(x)
                if name == "layernorm":
                    module.launch(kernel, [4], [block], [x, out, weight, bias, *sizes])
                    expected = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5) * factor + term
                else:
                    module.launch(kernel, [4], [block], [x, out, weight, *sizes])
                    expected = exact / np.sqrt((exact**2).mean(1, keepdims=True) + 1e-5) * factor
                checked(kernel, out, expected, tolerance, 8 * tolerance)


@test
def rope():
    module, names = load("reduce")
    b, h, t, d = 2, 3, 5, 8
    half = d // 2
    for kernel, (name, kind) in each(names, r"(rope|rope_i|rope_thd)_(bf16|f16|f32|f64)"):
        cos, sin = (values(kind, t, half, low=-1.0, high=1.0) for _ in range(2))
        shape = (b, t, h, d) if name == "rope_thd" else (b, h, t, d)
        x, out = values(kind, *shape), np.zeros(shape, TYPES[kind])
        sizes = {"rope_i": (b * h, t * d, 0), "rope": (b * h, t * d, d, 0), "rope_thd": (b, t, h, d, 0)}[name]
        module.launch(kernel, [2], [64], [x, cos, sin, out, *map(np.uint32, sizes)])
        c, s, exact = wide(cos), wide(sin), wide(x)
        if name == "rope_thd":
            c, s = c[:, None, :], s[:, None, :]
        first, second = (exact[..., 0::2], exact[..., 1::2]) if name == "rope_i" else (exact[..., :half], exact[..., half:])
        turned = first * c - second * s, first * s + second * c
        expected = np.stack(turned, -1).reshape(shape) if name == "rope_i" else np.concatenate(turned, -1)
        checked(kernel, out, expected, 3 * ROUNDING[kind], 16 * ROUNDING[kind])


@test
def indexing():
    module, names = load("indexing")
    left, source_size, ids_size, right = 3, 11, 6, 4
    for kernel, (name, index, kind) in each(names, r"(is|gather|ia|s|sa)_([iu]\d+)_(\w+)"):
        x = values(kind, left, source_size, right)
        sizes = [size(number) for number in (left, source_size, ids_size, right)]
        ids = random.permutation(source_size)[:ids_size].astype(TYPES[index])
        every = np.stack([random.permutation(source_size)[:ids_size] for _ in range(left * right)]).astype(TYPES[index])
        every = np.ascontiguousarray(every.reshape(left, right, ids_size).swapaxes(1, 2))
        chosen = every.astype(np.int64)
        out = np.zeros((left, ids_size, right), TYPES[kind])
        count = size(out.size)
        if name == "is":
            module.launch(kernel, [1], [128], [count, size(3), info(x.shape, strides(x)), ids, x, out, *sizes])
            checked(kernel, out, x[:, ids.astype(np.int64)])
        elif name == "gather":
            module.launch(kernel, [1], [128], [count, every, x, out, *sizes])
            checked(kernel, out, np.take_along_axis(x, chosen, 1))
        else:
            small = values(kind, left, ids_size, right)
            into = values(kind, left, source_size, right)
            expected = into.copy()
            if name == "ia":
                numbers = [size(number) for number in (left, ids_size, source_size, right)]
                expected[:, ids.astype(np.int64)] += small
                module.launch(kernel, [1], [64], [ids, size(ids_size), small, into, *numbers])
            else:
                numbers = [size(number) for number in (left, ids_size, source_size, right)]
                added = small if name == "s" else np.take_along_axis(expected, chosen, 1) + small
                np.put_along_axis(expected, chosen, added, 1)
                module.launch(kernel, [1], [64], [every, small, into, *numbers])
            checked(kernel, into, expected)


def convolved(x, weight, stride, padding, dilation):
    """Cross-correlation of (batch, channels, h, w) with (filters, channels, kh, kw); a pair of paddings."""
    x = np.pad(x, ((0, 0), (0, 0), *((side, side) for side in padding)))
    kh, kw = weight.shape[2:]
    h, w = ((size - dilation * (k - 1) - 1) // stride + 1 for size, k in zip(x.shape[2:], (kh, kw)))
    out = np.zeros((x.shape[0], weight.shape[0], h, w), x.dtype)
    for i in range(kh):
        for j in range(kw):
            part = x[:, :, i * dilation :, j * dilation :][:, :, : h * stride : stride, : w * stride : stride]
            out += np.einsum("bchw,fc->bfhw", part, weight[:, :, i, j])
    return out


def spread(x, weight, stride, padding, dilation, out_padding):
    """Transposed convolution of (batch, channels, h, w) with (channels, filters, kh, kw); pairs of paddings."""
    kh, kw = weight.shape[2:]
    h, w = ((size - 1) * stride + dilation * (k - 1) + 1 + more for size, k, more in zip(x.shape[2:], (kh, kw), out_padding))
    out = np.zeros((x.shape[0], weight.shape[1], h, w), x.dtype)
    for i in range(kh):
        for j in range(kw):
            to = out[:, :, i * dilation :, j * dilation :][:, :, : (x.shape[2] - 1) * stride + 1 : stride, : (x.shape[3] - 1) * stride + 1 : stride]
            to += np.einsum("bchw,cf->bfhw", x, weight[:, :, i, j])
    return out[:, :, padding[0] : h - padding[0], padding[1] : w - padding[1]]


def small(kind, *shape):
    """Numbers whose sums of products are exact in all types."""
    dtype = TYPES[kind]
    return random.integers(0 if dtype.kind == "u" else -2, 3, shape).astype(dtype)


@test
def convolutions():
    module, names = load("conv")
    for kernel, (name, kind) in each(names, r"(conv1d|conv2d|conv_transpose1d|conv_transpose2d)_(\w+)"):
        one = name.endswith("1d")
        # With a dilation, `conv1d` stretches the steps as well.
        for stride, padding, dilation in ((1, 1, 1), (2, 1, 1), (1, 0, 1 if name == "conv1d" else 2)):
            x = small(kind, 2, 3, 10) if one else small(kind, 2, 3, 7, 8)
            transposed = "transpose" in name
            shape = (3, 4) if transposed else (4, 3)
            weight = small(kind, *shape, 3) if one else small(kind, *shape, 3, 2)
            # One dimension is a picture of one row.
            planes = [wide(array)[:, :, None] if one else wide(array) for array in (x, weight)]
            paddings, extra = ((0, padding), (0, stride - 1)) if one else ((padding, padding), (stride - 1, stride - 1))
            if transposed:
                expected = spread(*planes, stride, paddings, dilation, extra)
            else:
                expected = convolved(*planes, stride, paddings, dilation)
            if one:
                expected = expected[:, :, 0]
            out = np.zeros(expected.shape, TYPES[kind])
            outputs = [size(out.shape[-1])] if one else [size(out.shape[3]), size(out.shape[2])]
            more = [size(stride), size(padding), *([size(stride - 1)] if transposed else []), size(dilation)]
            sizes = info(x.shape, strides(x), weight.shape, strides(weight))
            module.launch(kernel, [-(-out.size // 64)], [64], [size(x.size), *outputs, *more, sizes, x, weight, out])
            checked(f"{kernel} stride {stride} padding {padding} dilation {dilation}", out, expected.astype(TYPES[kind]))


@test
def pools_and_columns():
    module, names = load("conv")
    for kernel, (name, kind) in each(names, r"(avg_pool2d|max_pool2d|upsample_nearest2d|im2col|im2col1d|col2im1d)_(\w+)"):
        x = small(kind, 2, 3, 6, 8)
        exact = wide(x)
        sizes = info(x.shape, strides(x))
        if name in ("avg_pool2d", "max_pool2d"):
            windows = np.lib.stride_tricks.sliding_window_view(exact, (3, 2), (2, 3))[:, :, ::1, ::2]
            expected = windows.max((4, 5)) if name == "max_pool2d" else windows.sum((4, 5)) * np.float32(1 / 6)
            arguments = [size(x.size), *map(size, (3, 2, 1, 2)), sizes, x]
        elif name == "upsample_nearest2d":
            rows, columns = (np.arange(9) * (6 / 9)).astype(int), (np.arange(12) * (8 / 12)).astype(int)
            expected = exact[:, :, rows][:, :, :, columns]
            # The first of the two sizes that the kernel calls width is the first of the array.
            arguments = [size(9), size(12), np.float64(6 / 9), np.float64(8 / 12), sizes, x]
        elif name == "im2col":
            padded = np.pad(exact, ((0, 0), (0, 0), (1, 1), (1, 1)))
            windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), (2, 3))[:, :, ::2, ::2]
            expected = windows.transpose(0, 2, 3, 1, 4, 5)
            arguments = [size(expected.size), *map(size, (*expected.shape[1:3], 3, 2, 2, 1, 1)), sizes, x]
        elif name == "im2col1d":
            x = np.ascontiguousarray(x[:, :, 0])
            padded = np.pad(wide(x), ((0, 0), (0, 0), (1, 1)))
            expected = np.lib.stride_tricks.sliding_window_view(padded, 3, 2)[:, :, ::2].transpose(0, 2, 1, 3)
            arguments = [size(expected.size // 3), *map(size, (expected.shape[1], 3, 2, 1, 1)), info(x.shape, strides(x)), x]
        else:
            batch, length, filters, taps, stride = 2, 5, 3, 4, 2
            x = small(kind, batch, length, filters, taps)
            expected = np.zeros((batch, filters, (length - 1) * stride + taps))
            for place in range(length):
                expected[:, :, place * stride : place * stride + taps] += wide(x)[:, place]
            arguments = [*map(size, (expected.size, expected.shape[2], length, filters, taps, stride)), x]
        out = np.zeros(expected.shape, TYPES[kind])
        module.launch(kernel, [-(-out.size // 64)], [64], [*arguments, out])
        with np.errstate(invalid="ignore"):
            checked(kernel, out, expected.astype(TYPES[kind]), ROUNDING.get(kind, 0))


# Blocks of quantized numbers as llama.cpp defines them: bytes of a block, numbers in it, and what the bytes mean.


def halves(blocks, start, count=1):
    return np.ascontiguousarray(blocks[:, start : start + 2 * count]).view(np.float16).astype(np.float64)


def nibbles(data):
    return np.concatenate([data & 15, data >> 4], -1).astype(np.int64)


def fifth_bits(blocks, start):
    return np.unpackbits(np.ascontiguousarray(blocks[:, start : start + 4]), axis=1, bitorder="little").astype(np.int64)


def scales_of_six_bits(data):
    """Eight scales and eight minima of `q4_K` and `q5_K`."""
    low, high, rest = data[:, :4].astype(np.int64), data[:, 4:8].astype(np.int64), data[:, 8:12].astype(np.int64)
    scales = np.concatenate([low & 63, (rest & 15) | (low >> 6) << 4], 1)
    return scales, np.concatenate([high & 63, (rest >> 4) | (high >> 6) << 4], 1)


def crumbs(data):
    """Pairs of bits: first the lowest of 32 bytes, then the next, as in `q2_K` and `q3_K`."""
    parts = data.reshape(len(data), -1, 1, 32) >> np.array([0, 2, 4, 6], np.uint8)[:, None] & 3
    return parts.reshape(len(data), -1).astype(np.int64)


def q2_k(b):
    scales, q = b[:, :16].astype(np.int64), crumbs(b[:, 16:80])
    return halves(b, 80) * np.repeat(scales & 15, 16, 1) * q - halves(b, 82) * np.repeat(scales >> 4, 16, 1)


def q3_k(b):
    high = (b[:, None, :32] >> np.arange(8, dtype=np.uint8)[None, :, None] & 1).reshape(len(b), 256).astype(np.int64)
    s = b[:, 96:108].astype(np.int64)
    low = np.concatenate([s[:, :8] & 15, s[:, :8] >> 4], 1)
    top = np.concatenate([s[:, 8:12] >> shift & 3 for shift in (0, 2, 4, 6)], 1)
    return halves(b, 108) * np.repeat((low | top << 4) - 32, 16, 1) * (crumbs(b[:, 32:96]) - 4 * (1 - high))


def q4_k(b):
    scales, minima = scales_of_six_bits(b[:, 4:16])
    q = nibbles(b[:, 16:].reshape(len(b), 4, 32)).reshape(len(b), 256)
    return halves(b, 0) * np.repeat(scales, 32, 1) * q - halves(b, 2) * np.repeat(minima, 32, 1)


def q5_k(b):
    scales, minima = scales_of_six_bits(b[:, 4:16])
    high = (b[:, None, 16:48] >> np.arange(8, dtype=np.uint8)[None, :, None] & 1).reshape(len(b), 256).astype(np.int64)
    q = nibbles(b[:, 48:].reshape(len(b), 4, 32)).reshape(len(b), 256) + 16 * high
    return halves(b, 0) * np.repeat(scales, 32, 1) * q - halves(b, 2) * np.repeat(minima, 32, 1)


def q6_k(b):
    low = nibbles(b[:, :128].reshape(len(b), 2, 64)).reshape(len(b), 256)
    scales = b[:, 192:208].view(np.int8).astype(np.int64)
    return halves(b, 208) * np.repeat(scales, 16, 1) * ((low | crumbs(b[:, 128:192]) << 4) - 32)


FORMATS = {
    "q4_0": (18, 32, lambda b: halves(b, 0) * (nibbles(b[:, 2:]) - 8)),
    "q4_1": (20, 32, lambda b: halves(b, 0) * nibbles(b[:, 4:]) + halves(b, 2)),
    "q5_0": (22, 32, lambda b: halves(b, 0) * (nibbles(b[:, 6:]) + 16 * fifth_bits(b, 2) - 16)),
    "q5_1": (24, 32, lambda b: halves(b, 0) * (nibbles(b[:, 8:]) + 16 * fifth_bits(b, 4)) + halves(b, 2)),
    "q8_0": (34, 32, lambda b: halves(b, 0) * b[:, 2:].view(np.int8).astype(np.int64)),
    "q2_K": (84, 256, q2_k),
    "q3_K": (110, 256, q3_k),
    "q4_K": (144, 256, q4_k),
    "q5_K": (176, 256, q5_k),
    "q6_K": (210, 256, q6_k),
}
PLACES_OF_HALVES = {"q2_K": (80, 82), "q3_K": (108,), "q6_K": (208,), "q4_0": (0,), "q5_0": (0,), "q8_0": (0,)}


def quantized(form, rows, columns):
    """A matrix in this format: its bytes, and its numbers."""
    length, numbers, meaning = FORMATS[form]
    blocks = random.integers(0, 256, (rows * columns // numbers, length), np.uint8)
    for place in PLACES_OF_HALVES.get(form, (0, 2)):
        blocks[:, place : place + 2] = random.uniform(0.01, 0.1, (len(blocks), 1)).astype(np.float16).view(np.uint8)
    return blocks, meaning(blocks).reshape(rows, columns)


def q8_1(y):
    """What `quantize_q8_1` makes of rows: the blocks, and the numbers that they stand for."""
    parts = y.reshape(-1, 32).astype(np.float32)
    scale = np.abs(parts).max(1, keepdims=True) / np.float32(127)
    # Away from zero at a half, as `roundf`.
    q = (np.sign(parts) * np.floor(np.abs(parts / scale) + np.float32(0.5))).astype(np.int8)
    blocks = np.concatenate([scale.astype(np.float16).view(np.uint8), parts.sum(1, keepdims=True).astype(np.float16).view(np.uint8), q.view(np.uint8)], 1)
    return blocks, (scale.astype(np.float16).astype(np.float64) * q).reshape(y.shape)


@test
def dequantize():
    module, names = load("quantized")
    for kernel, (form, kind) in each(names, r"dequantize_block_(q[2-8]_[01K])_(f32|f16)"):
        if form == "q8_K":
            continue
        columns = 1024
        blocks, expected = quantized(form, 1, columns)
        out = np.zeros(columns, TYPES[kind])
        if form in ("q5_0", "q5_1"):
            grid, block, more = columns // 512, 256, [np.int32(columns)]
        else:
            grid, block = columns // 256, 64 if form in ("q2_K", "q3_K", "q5_K", "q6_K") else 32
            more = [] if form.endswith("K") else [np.int32(columns // 32)]
        module.launch(kernel, [grid], [block], [blocks, out, *more])
        checked(kernel, out, expected[0], 4 * ROUNDING[kind], 64 * ROUNDING[kind])


@test
def quantize():
    module, names = load("quantized")
    rows, columns, padded = 3, 200, 256
    y = values("f32", rows, columns)
    out = np.zeros((rows * padded // 32, 36), np.uint8)
    module.launch("quantize_q8_1", [1, rows], [256], [y, out, np.int32(columns), np.int32(padded)])
    filled = np.pad(y, ((0, 0), (0, padded - columns)))
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.nan_to_num(q8_1(filled)[0])
    checked("scales", halves(out, 0), halves(expected, 0))
    checked("sums", halves(out, 2), halves(expected, 2), 2.0**-10, 2.0**-8)
    # A quotient near a half may be rounded to either side.
    checked("numbers", out[:, 4:].view(np.int8)[expected[:, 0] != 0], expected[:, 4:].view(np.int8)[expected[:, 0] != 0], absolute=1)


@test
def dequantized_matrix_times_vector():
    module, names = load("quantized")
    rows, columns = 5, 512
    for kernel, (form,) in each(names, r"dequantize_mul_mat_vec_(q\d_\w)(?:_cuda)?"):
        blocks, matrix = quantized(form.replace("k", "K"), rows, columns)
        y, out = values("f32", columns), np.zeros(rows, np.float32)
        more = [np.int32(columns)] if kernel.endswith("q5_k") else [np.int32(columns), np.int32(rows)]
        module.launch(kernel, [rows], [32, 1], [blocks, y, out, *more])
        sizes = np.abs(matrix) @ np.abs(wide(y))
        checked(kernel, out / sizes, matrix @ wide(y) / sizes, absolute=1e-5)


@test
def quantized_matrix_times_vectors():
    module, names = load("quantized")
    rows, columns = 6, 512
    for kernel, (form, count) in each(names, r"mul_mat_vec_(q\d_\w)_q8_1_cuda(\d)"):
        count = int(count)
        blocks, matrix = quantized(form, rows, columns)
        vectors, exact = q8_1(values("f32", count, columns))
        out = np.zeros((count, rows), np.float32)
        grid, warps = (rows, 4) if count == 1 else ((rows + 1) // 2, 4 if count <= 4 else 2)
        module.launch(kernel, [grid], [32, warps], [blocks, vectors, out, *map(np.int32, (columns, rows, columns, rows))])
        sizes = np.abs(exact) @ np.abs(matrix).T
        # The sums of q8_1 are halves.
        checked(kernel, out / sizes, exact @ matrix.T / sizes, absolute=2e-3)


def matrix_product(rows, count):
    module, names = load("quantized")
    text = (SOURCE / "quantized.cu").read_text()
    columns = 512
    for kernel, (form,) in each(names, r"mul_mat_(q\d_\w)"):
        blocks, matrix = quantized(form, rows, columns)
        vectors, exact = q8_1(values("f32", count, columns))
        out = np.zeros((count, rows), np.float32)
        # The last of the alternatives is the one without tensor cores, which the crate compiles.
        tile_x, tile_y, warps = (
            int(re.findall(rf"#define\s+{name}_{form.upper()}_AMPERE\s+(\d+)", text)[-1]) for name in ("MMQ_X", "MMQ_Y", "NWARPS")
        )
        grid = [-(-rows // tile_y), -(-count // tile_x)]
        module.launch(kernel, grid, [32, warps], [blocks, vectors, out, *map(np.int32, (columns, rows, count, columns, rows))])
        sizes = np.abs(exact) @ np.abs(matrix).T
        checked(kernel, out / sizes, exact @ matrix.T / sizes, absolute=2e-3)


@test
def quantized_matrix_product():
    matrix_product(128, 9)


@test
def quantized_matrix_product_of_part_of_a_tile():
    matrix_product(40, 9)


if __name__ == "__main__":
    cuda.main(tests)
