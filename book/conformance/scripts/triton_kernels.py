"""Kernels in Triton, compiled to PTX for two GPUs, run by the driver, and compared with numpy.

Triton's own launcher loads cubins. This loads the PTX that the cubins are made of, and launches it with the shared memory and the warps
that Triton's metadata asks for. For sm_90, the tiles of matrix products are too small for wgmma, which the driver does not have.
"""

import os
import tempfile

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="triton-cache-")

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.language.extra import libdevice

import cuda

TYPES = {
    np.dtype(np.float64): "fp64",
    np.dtype(np.float32): "fp32",
    np.dtype(np.float16): "fp16",
    np.dtype(ml_dtypes.bfloat16): "bf16",
    np.dtype(ml_dtypes.float8_e5m2): "fp8e5",
    np.dtype(ml_dtypes.float8_e4m3fn): "fp8e4nv",
    np.dtype(np.int64): "i64",
    np.dtype(np.int32): "i32",
    np.dtype(np.int16): "i16",
    np.dtype(np.int8): "i8",
    np.dtype(np.uint32): "u32",
    np.dtype(np.uint8): "u8",
}
BF16 = ml_dtypes.bfloat16
random = np.random.default_rng(2026)
tests = {}


def test(*targets, **cases):
    """Makes a test of a function for each target and each case."""

    def register(function):
        for target in targets or (80, 90):
            for case, argument in (cases or {"": None}).items():
                name = "-".join(filter(None, [function.__name__, case, f"sm_{target}"]))
                arguments = (target,) if argument is None else (target, argument)
                tests[name] = lambda arguments=arguments: function(*arguments)
        return function

    return register


def run(target, kernel, grid, *arguments, num_warps=4, num_stages=3, **constants):
    """Compiles a kernel as Triton would for these arguments, and runs it."""
    names = kernel.arg_names[: len(arguments)]
    signature, attributes, passed = {}, {}, []
    constants = dict(constants)
    for index, (name, argument) in enumerate(zip(names, arguments)):
        is_array = isinstance(argument, np.ndarray)
        # A number that is 1, and what is divisible by 16, is known to the compiler.
        if not is_array and argument.dtype.kind in "iu" and argument == 1:
            signature[name], constants[name] = "constexpr", 1
            continue
        signature[name] = ("*" if is_array else "") + TYPES[argument.dtype]
        if is_array or (argument.dtype.kind in "iu" and argument % 16 == 0):
            attributes[(index,)] = [["tt.divisibility", 16]]
        passed.append(argument)
    for name in kernel.arg_names[len(arguments) :]:
        signature[name] = "constexpr"
    source = ASTSource(kernel, signature, constants, attributes)
    options = {"num_warps": num_warps, "num_stages": num_stages}
    compiled = triton.compile(source, target=GPUTarget("cuda", target, 32), options=options)
    metadata = compiled.metadata
    if os.environ.get("TRITON_PTX"):
        open(os.environ["TRITON_PTX"], "w").write(compiled.asm["ptx"])
    assert metadata.global_scratch_size == 0, "the kernel needs memory that nobody gives it"
    # Two pointers to scratch memory follow the arguments.
    module = cuda.Module(compiled.asm["ptx"].encode())
    module.launch(metadata.name, grid, [32 * metadata.num_warps], [*passed, None, None], metadata.shared)


def normal(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask) + tl.load(y + offsets, mask), mask)


@test(f64=np.float64, f32=np.float32, f16=np.float16, bf16=BF16, i64=np.int64, i32=np.int32, i16=np.int16, i8=np.int8)
def vector_add(target, dtype):
    n = 1003
    is_float = dtype not in (np.int64, np.int32, np.int16, np.int8)
    x, y = (normal(n).astype(dtype) if is_float else random.integers(-60, 60, n).astype(dtype) for _ in range(2))
    out = np.zeros_like(x)
    run(target, add_kernel, [4], x, y, out, np.int32(n), BLOCK=256)
    cuda.equal(out, x + y)


@triton.jit
def softmax_kernel(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + offsets, mask=offsets < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + offsets, values / tl.sum(values, axis=0), mask=offsets < columns)


@test(narrow=(7, 50, 1), wide=(3, 781, 4), very_wide=(2, 4099, 8))
def softmax(target, case):
    rows, columns, warps = case
    x = normal(rows, columns)
    out = np.zeros_like(x)
    run(target, softmax_kernel, [rows], x, out, np.int32(columns), np.int32(columns), num_warps=warps, BLOCK=triton.next_power_of_2(columns))
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    cuda.close(out, e / e.sum(1, keepdims=True), relative=1e-5, absolute=1e-9)


@triton.jit
def layer_norm_kernel(x, out, weight, bias, mean_out, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
        squares += tl.where(columns < n, (value - mean) * (value - mean), 0.0)
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(mean_out + row, mean)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        value = tl.load(x + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
        value = (value - mean) * scale * tl.load(weight + columns, mask=mask) + tl.load(bias + columns, mask=mask)
        tl.store(out + row * stride + columns, value, mask=mask)


@test(f32=np.float32, f16=np.float16, bf16=BF16)
def layer_norm(target, dtype):
    rows, columns = 5, 777
    x = normal(rows, columns, dtype=dtype)
    weight, bias, means = normal(columns), normal(columns), np.zeros(rows, np.float32)
    out = np.zeros_like(x)
    shape = np.int32(columns), np.int32(columns), np.float32(1e-5)
    run(target, layer_norm_kernel, [rows], x, out, weight, bias, means, *shape, BLOCK=256)
    exact = x.astype(np.float64)
    mean = exact.mean(1, keepdims=True)
    expected = (exact - mean) / np.sqrt(exact.var(1, keepdims=True) + 1e-5) * weight + bias
    cuda.close(means, mean[:, 0], absolute=1e-6)
    cuda.close(out, expected, *{np.float32: (1e-5, 1e-5), np.float16: (1e-3, 1e-3), BF16: (8e-3, 1e-3)}[dtype])


@triton.jit
def locked_sum_kernel(x, total, lock, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + tl.program_id(0) * n + offsets, mask=offsets < n, other=0.0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    values += tl.load(total + offsets, mask=offsets < n, other=0.0)
    tl.store(total + offsets, values, mask=offsets < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@test()
def sum_of_rows_under_a_lock(target):
    rows, columns = 12, 200
    x, total, lock = normal(rows, columns), np.zeros(columns, np.float32), np.zeros(1, np.int32)
    run(target, locked_sum_kernel, [rows], x, total, lock, np.int32(columns), BLOCK=256)
    cuda.close(total, x.astype(np.float64).sum(0), absolute=1e-5)
    assert lock[0] == 0


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    accumulator = tl.zeros((BM, BN), c.dtype.element_ty)
    for k in range(0, K, BK):
        a_mask = (rows[:, None] < M) & (k + depth[None, :] < K)
        b_mask = (k + depth[:, None] < K) & (columns[None, :] < N)
        a_tile = tl.load(a + rows[:, None] * stride_am + (k + depth[None, :]) * stride_ak, mask=a_mask, other=0.0)
        b_tile = tl.load(b + (k + depth[:, None]) * stride_bk + columns[None, :] * stride_bn, mask=b_mask, other=0.0)
        accumulator = tl.dot(a_tile, b_tile, accumulator, input_precision=PRECISION, out_dtype=c.dtype.element_ty)
    tl.store(c + rows[:, None] * N + columns[None, :], accumulator, mask=(rows[:, None] < M) & (columns[None, :] < N))


def product(target, dtype, tolerance, precision="ieee", shape=(70, 50, 90), tile=(32, 32, 32), transposed=False, out=np.float32, **options):
    m, n, k = shape
    if np.dtype(dtype).kind == "i":
        a, b = random.integers(-100, 100, (m, k)).astype(dtype), random.integers(-100, 100, (k, n)).astype(dtype)
    else:
        a, b = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)
    stored = np.ascontiguousarray(b.T) if transposed else b
    strides = (1, k) if transposed else (n, 1)
    c = np.zeros((m, n), out)
    bm, bn, bk = tile
    sizes = [np.int32(size) for size in (m, n, k, k, 1, *strides)]
    run(target, matmul_kernel, [-(-m // bm), -(-n // bn)], a, stored, c, *sizes, BM=bm, BN=bn, BK=bk, PRECISION=precision, **options)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    # The error of a sum of products is a share of the sum of their sizes.
    sizes = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    cuda.close((c.astype(np.float64) - exact) / sizes, np.zeros_like(exact), absolute=tolerance)


E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
EVEN = {"shape": (64, 64, 128)}


@test(
    f16=dict(dtype=np.float16, tolerance=1e-6),
    f16_whole_tiles=dict(dtype=np.float16, tolerance=1e-6, **EVEN),
    f16_transposed=dict(dtype=np.float16, tolerance=1e-6, transposed=True, **EVEN),
    f16_sum_in_f16=dict(dtype=np.float16, tolerance=2e-3, out=np.float16, **EVEN),
    f16_five_stages=dict(dtype=np.float16, tolerance=1e-6, shape=(64, 64, 256), num_stages=5),
    f16_two_warps=dict(dtype=np.float16, tolerance=1e-6, num_warps=2),
    f16_eight_warps=dict(dtype=np.float16, tolerance=1e-6, tile=(32, 128, 32), shape=(70, 200, 90), num_warps=8),
    bf16=dict(dtype=BF16, tolerance=1e-6),
    bf16_transposed=dict(dtype=BF16, tolerance=1e-6, transposed=True, **EVEN),
    tf32=dict(dtype=np.float32, tolerance=1e-3, precision="tf32"),
    tf32_whole_tiles=dict(dtype=np.float32, tolerance=1e-3, precision="tf32", **EVEN),
    tf32x3=dict(dtype=np.float32, tolerance=1e-6, precision="tf32x3", **EVEN),
    f32=dict(dtype=np.float32, tolerance=1e-6),
    f64=dict(dtype=np.float64, tolerance=1e-14, out=np.float64, tile=(16, 16, 16)),
    i8=dict(dtype=np.int8, tolerance=0.0, out=np.int32),
    i8_transposed=dict(dtype=np.int8, tolerance=0.0, out=np.int32, transposed=True, **EVEN),
    e5m2=dict(dtype=E5M2, tolerance=1e-6, **EVEN),
)
def matmul(target, case):
    product(target, **case)


@test(90, e4m3=dict(dtype=E4M3, tolerance=1e-6, **EVEN), e4m3_transposed=dict(dtype=E4M3, tolerance=1e-6, transposed=True, **EVEN))
def matmul_fp8(target, case):
    product(target, **case)


@test(
    80,
    f16=dict(dtype=np.float16, tolerance=1e-6, tile=(128, 128, 32), shape=(200, 150, 90), num_warps=8),
    f16_whole_tiles=dict(dtype=np.float16, tolerance=1e-6, tile=(64, 128, 64), shape=(128, 256, 192)),
    tf32=dict(dtype=np.float32, tolerance=1e-3, precision="tf32", tile=(64, 64, 32)),
    i8=dict(dtype=np.int8, tolerance=0.0, out=np.int32, tile=(64, 64, 64)),
)
def matmul_in_large_tiles(target, case):
    product(target, **case)


@triton.jit
def split_k_kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PARTS: tl.constexpr):
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    a_tile = tl.make_block_ptr(a, (BM, K), (K, 1), (0, tl.program_id(0) * BK), (BM, BK), (1, 0))
    b_tile = tl.make_block_ptr(b, (K, BN), (BN, 1), (tl.program_id(0) * BK, 0), (BK, BN), (1, 0))
    accumulator = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK * PARTS):
        accumulator = tl.dot(tl.load(a_tile, boundary_check=(1,)), tl.load(b_tile, boundary_check=(0,)), accumulator)
        a_tile = tl.advance(a_tile, (0, BK * PARTS))
        b_tile = tl.advance(b_tile, (BK * PARTS, 0))
    tl.atomic_add(c + rows[:, None] * BN + columns[None, :], accumulator, sem="relaxed")


@test()
def split_k_with_atomics(target):
    a, b, c = normal(32, 250, dtype=np.float16), normal(250, 32, dtype=np.float16), np.zeros((32, 32), np.float32)
    run(target, split_k_kernel, [3], a, b, c, np.int32(250), BM=32, BN=32, BK=32, PARTS=3)
    cuda.close(c, a.astype(np.float64) @ b.astype(np.float64), absolute=1e-4)


@triton.jit
def attention_kernel(q, k, v, out, N, scale, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * N * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    lanes = tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + lanes[None, :], mask=rows[:, None] < N, other=0.0)
    highest = tl.full([BM], -1.0e30, tl.float32)
    total = tl.zeros([BM], tl.float32)
    accumulator = tl.zeros([BM, D], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BM, N) if CAUSAL else N
    for start in range(0, end, BN):
        columns = start + tl.arange(0, BN)
        keys = tl.load(k + head + columns[None, :] * D + lanes[:, None], mask=columns[None, :] < N, other=0.0)
        scores = tl.dot(queries, keys) * scale
        visible = columns[None, :] < N
        if CAUSAL:
            visible = visible & (columns[None, :] <= rows[:, None])
        scores = tl.where(visible, scores, -1.0e30)
        new_highest = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp2((scores - new_highest[:, None]) * 1.4426950408889634)
        shrink = tl.exp2((highest - new_highest) * 1.4426950408889634)
        total = total * shrink + tl.sum(weights, 1)
        values = tl.load(v + head + columns[:, None] * D + lanes[None, :], mask=columns[:, None] < N, other=0.0)
        accumulator = accumulator * shrink[:, None]
        accumulator = tl.dot(weights.to(values.dtype), values, accumulator)
        highest = new_highest
    tl.store(out + head + rows[:, None] * D + lanes[None, :], (accumulator / total[:, None]).to(out.dtype.element_ty), mask=rows[:, None] < N)


@test(f16=(np.float16, False), f16_causal=(np.float16, True), bf16_causal=(BF16, True), f32_causal=(np.float32, True))
def flash_attention(target, case):
    dtype, causal = case
    heads, n, depth = 2, 100, 64
    q, k, v = (normal(heads, n, depth, dtype=dtype) for _ in range(3))
    out = np.zeros_like(q)
    sizes = np.int32(n), np.float32(depth**-0.5)
    run(target, attention_kernel, [-(-n // 32), heads], q, k, v, out, *sizes, CAUSAL=causal, BM=32, BN=32, D=depth)
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    scores = q @ k.swapaxes(1, 2) * depth**-0.5
    if causal:
        scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    cuda.close(out, expected, absolute={np.float16: 4e-3, BF16: 3e-2, np.float32: 4e-3}[dtype])


@triton.jit
def dropout_kernel(x, out, raw, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    chance = tl.rand(seed, offsets)
    tl.store(raw + offsets, tl.randint(seed, offsets), mask=mask)
    tl.store(out + offsets, tl.where(chance > p, tl.load(x + offsets, mask=mask) / (1 - p), 0.0), mask=mask)


def philox(seed, offsets):
    """The first word of Philox-4x32-10, as its authors define it."""
    low, word = np.uint64(0xFFFFFFFF), np.uint64
    c0, c1, c2, c3 = offsets.astype(word), *(np.zeros(len(offsets), word) for _ in range(3))
    k0, k1 = word(seed), word(0)
    for _ in range(10):
        first, second = c0 * word(0xD2511F53), c2 * word(0xCD9E8D57)
        c0, c1, c2, c3 = (second >> word(32)) ^ c1 ^ k0, second & low, (first >> word(32)) ^ c3 ^ k1, first & low
        k0, k1 = (k0 + word(0x9E3779B9)) & low, (k1 + word(0xBB67AE85)) & low
    return c0.astype(np.uint32)


@test()
def dropout_with_philox(target):
    n, seed, p = 1000, 4242, 0.3
    x, out, raw = normal(n), np.zeros(n, np.float32), np.zeros(n, np.int32)
    run(target, dropout_kernel, [2], x, out, raw, np.int32(n), np.float32(p), np.int32(seed), BLOCK=512)
    drawn = philox(seed, np.arange(n)).view(np.int32)
    cuda.equal(raw, drawn)
    positive = np.where(drawn < 0, -(drawn.astype(np.int64)) - 1, drawn)
    chance = positive * 4.6566127342e-10
    sure = np.abs(chance - p) > 1e-6
    cuda.close(out[sure], np.where(chance > p, x.astype(np.float64) / (1 - p), 0)[sure], relative=1e-6)
    assert 0.6 < (out != 0).mean() < 0.8


@triton.jit
def highest(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def reduce_kernel(x, sums, largest, smallest, positions, xors, custom, ROWS: tl.constexpr, COLUMNS: tl.constexpr, AXIS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    values = tl.load(x + rows[:, None] * COLUMNS + columns[None, :])
    kept = columns if AXIS == 0 else rows
    tl.store(sums + kept, tl.sum(values, AXIS))
    tl.store(largest + kept, tl.max(values, AXIS))
    tl.store(smallest + kept, tl.min(values, AXIS))
    tl.store(positions + kept, tl.argmax(values, AXIS))
    tl.store(xors + kept, tl.xor_sum((values * 1000).to(tl.int32), AXIS))
    tl.store(custom + kept, tl.reduce(values, AXIS, highest))


@test(rows=(0, 16, 64, 4), columns=(1, 16, 64, 4), tall=(0, 256, 4, 8), flat=(1, 2, 1024, 8), one_warp=(1, 8, 8, 1))
def reduce(target, case):
    axis, rows, columns, warps = case
    x = random.permutation(rows * columns).astype(np.float32).reshape(rows, columns)
    kept = columns if axis == 0 else rows
    outs = [np.zeros(kept, dtype) for dtype in (np.float32, np.float32, np.float32, np.int32, np.int32, np.float32)]
    run(target, reduce_kernel, [1], x, *outs, num_warps=warps, ROWS=rows, COLUMNS=columns, AXIS=axis)
    whole = (x * 1000).astype(np.int32)
    expected = x.sum(axis), x.max(axis), x.min(axis), x.argmax(axis), np.bitwise_xor.reduce(whole, axis), x.max(axis)
    for got, wanted in zip(outs, expected):
        cuda.close(got, wanted)


@triton.jit
def scan_kernel(x, sums, products, sorted_out, counts, flipped, N: tl.constexpr, REVERSE: tl.constexpr):
    offsets = tl.arange(0, N)
    values = tl.load(x + offsets)
    tl.store(sums + offsets, tl.cumsum(values, 0, reverse=REVERSE))
    tl.store(products + offsets, tl.cumprod((values % 3) - 1, 0, reverse=REVERSE))
    tl.store(sorted_out + offsets, tl.sort(values))
    tl.store(flipped + offsets, tl.flip(values, 0))
    tl.store(counts + tl.arange(0, 16), tl.histogram(values, 16))


@test(short=(64, False, 2), long=(1024, False, 4), backwards=(512, True, 8))
def scan_sort_histogram(target, case):
    n, backwards, warps = case
    x = random.integers(0, 16, n).astype(np.int32)
    sums, products, ordered, flipped = (np.zeros(n, np.int32) for _ in range(4))
    counts = np.zeros(16, np.int32)
    run(target, scan_kernel, [1], x, sums, products, ordered, counts, flipped, num_warps=warps, N=n, REVERSE=backwards)
    turn = (lambda array: array[::-1]) if backwards else (lambda array: array)
    for got, expected in (
        (sums, turn(np.cumsum(turn(x)))),
        (products, turn(np.cumprod(turn(x % 3 - 1)))),
        (ordered, np.sort(x)),
        (counts, np.bincount(x, minlength=16)),
        (flipped, x[::-1]),
    ):
        cuda.close(got, expected)


@triton.jit
def atomics_kernel(x, keys, add, most, least, both, either, exclusive, last, swapped, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask)
    key = tl.load(keys + offsets, mask=mask)
    tl.atomic_add(add + key, value, mask=mask)
    tl.atomic_max(most + key, value, mask=mask)
    tl.atomic_min(least + key, value, mask=mask)
    bits = value.to(tl.int32)
    tl.atomic_and(both + key, bits, mask=mask, sem="relaxed")
    tl.atomic_or(either + key, bits, mask=mask, sem="acquire")
    tl.atomic_xor(exclusive + key, bits, mask=mask, sem="release", scope="sys")
    tl.atomic_xchg(last + offsets, value, mask=mask, scope="cta")
    tl.atomic_cas(swapped + offsets, offsets, bits)


@test(f32=np.float32, i32=np.int32, i64=np.int64, f64=np.float64)
def atomics(target, dtype):
    n, groups = 500, 7
    x, keys = random.integers(-1000, 1000, n).astype(dtype), random.integers(0, groups, n).astype(np.int32)
    add, most, least = np.zeros(groups, dtype), np.full(groups, -2000, dtype), np.full(groups, 2000, dtype)
    both, either, exclusive = np.full(groups, -1, np.int32), np.zeros(groups, np.int32), np.zeros(groups, np.int32)
    last, swapped = np.zeros(n, dtype), np.arange(512, dtype=np.int32)
    padded = np.zeros(512, dtype)
    padded[:n] = x
    swapped[::2] = -5
    before = swapped.copy()
    run(target, atomics_kernel, [2], padded, keys, add, most, least, both, either, exclusive, last, swapped, np.int32(n), BLOCK=256)
    for group in range(groups):
        chosen = x[keys == group]
        bits = chosen.astype(np.int32)
        got = [array[group] for array in (add, most, least, both, either, exclusive)]
        wanted = [chosen.sum(), chosen.max(), chosen.min(), *(f.reduce(bits) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor))]
        cuda.close(got, wanted)
    cuda.equal(last, x)
    cuda.close(swapped[:n], np.where(before[:n] == np.arange(n), x.astype(np.int32), before[:n]))


@triton.jit
def half_atomics_kernel(x, keys, add, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.atomic_add(add + tl.load(keys + offsets, mask=mask), tl.load(x + offsets, mask=mask), mask=mask)


@test(f16=(np.float16, 9), bf16=(BF16, 10), bf16_odd=(BF16, 9))
def atomic_adds_of_halves(target, case):
    dtype, groups = case
    n = 200
    x, keys, add = random.integers(-3, 4, n).astype(dtype), random.integers(0, groups, n).astype(np.int32), np.zeros(groups, dtype)
    run(target, half_atomics_kernel, [1], x, keys, add, np.int32(n), BLOCK=256)
    cuda.close(add, [x[keys == group].astype(np.float64).sum() for group in range(groups)])


@triton.jit
def convert_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask).to(out.dtype.element_ty), mask=mask)


FLOATS = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": BF16}
WHOLES = {"i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8, "u32": np.uint32}
NARROW = {"e5m2": E5M2, "e4m3": E4M3}


@test(90, **FLOATS, **WHOLES, **NARROW)
def convert(target, source):
    wide = {name: dtype for name, dtype in FLOATS.items() if name != "f64"}
    if source in NARROW.values():
        others = wide
    else:
        others = FLOATS | WHOLES | (NARROW if source in wide.values() else {})
    for name, to in others.items():
        if to != source:
            try:
                convert_to(target, source, to)
            except (AssertionError, RuntimeError) as error:
                raise AssertionError(f"to {name}: {error}") from None


def convert_to(target, source, to):
    n = 600
    to_whole = np.dtype(to).kind in "iu"
    if np.dtype(source).kind not in "iu":
        limit = 50 if to_whole else 300
        x = (random.standard_normal(n) * limit).clip(0 if to in (np.uint8, np.uint32) else -120, 120).astype(source)
    elif to_whole:
        x = random.integers(0, 256, n * np.dtype(source).itemsize, np.uint8).view(source)
    else:
        x = random.integers(0, 100, n).astype(source)
    out = np.zeros(n, to)
    run(target, convert_kernel, [3], x, out, np.int32(n), BLOCK=256)
    if np.dtype(source).itemsize == 8 and to == BF16:
        # Triton rounds twice, to f32 first, and so may numpy.
        cuda.close(out, x.astype(np.float64), relative=2.0**-8)
    else:
        cuda.equal(out, x.astype(to))


@triton.jit
def math_kernel(x, outs, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask, other=1.0)
    tl.store(outs + 0 * n + i, tl.exp(v), mask=mask)
    tl.store(outs + 1 * n + i, tl.log(v), mask=mask)
    tl.store(outs + 2 * n + i, tl.sin(v), mask=mask)
    tl.store(outs + 3 * n + i, tl.cos(v), mask=mask)
    tl.store(outs + 4 * n + i, tl.sqrt(v), mask=mask)
    tl.store(outs + 5 * n + i, tl.rsqrt(v), mask=mask)
    tl.store(outs + 6 * n + i, tl.erf(v), mask=mask)
    tl.store(outs + 7 * n + i, tl.exp2(v), mask=mask)
    tl.store(outs + 8 * n + i, tl.log2(v), mask=mask)
    tl.store(outs + 9 * n + i, tl.floor(v), mask=mask)
    tl.store(outs + 10 * n + i, tl.ceil(v), mask=mask)
    tl.store(outs + 11 * n + i, tl.fma(v, v, v), mask=mask)
    tl.store(outs + 12 * n + i, tl.sigmoid(v), mask=mask)
    tl.store(outs + 13 * n + i, libdevice.tanh(v), mask=mask)
    tl.store(outs + 14 * n + i, libdevice.pow(v, v), mask=mask)
    tl.store(outs + 15 * n + i, libdevice.lgamma(v), mask=mask)
    tl.store(outs + 16 * n + i, libdevice.atan2(v, v * 0 + 2.0), mask=mask)
    tl.store(outs + 17 * n + i, libdevice.cbrt(v), mask=mask)
    tl.store(outs + 18 * n + i, libdevice.rint(v), mask=mask)
    tl.store(outs + 19 * n + i, tl.abs(1.0 - v), mask=mask)
    tl.store(outs + 20 * n + i, tl.clamp(v, 0.5, 2.0), mask=mask)
    tl.store(outs + 21 * n + i, libdevice.fmod(v, v * 0 + 0.75), mask=mask)
    tl.store(outs + 22 * n + i, libdevice.j0(v), mask=mask)


@test(f32=(np.float32, 1e-5), f64=(np.float64, 1e-12))
def mathematics(target, case):
    import math

    dtype, tolerance = case
    x = random.uniform(0.1, 6, 250).astype(dtype)
    outs = np.zeros((23, 250), dtype)
    run(target, math_kernel, [1], x, outs, np.int32(250), BLOCK=256)
    v = x.astype(np.float64)
    each = lambda function: np.array([function(value) for value in v])
    j0 = each(lambda t: np.cos(t * np.sin((np.arange(2000) + 0.5) * np.pi / 2000)).mean())
    expected = [np.exp(v), np.log(v), np.sin(v), np.cos(v), np.sqrt(v), v**-0.5, each(math.erf), 2**v, np.log2(v), np.floor(v), np.ceil(v)]
    expected += [v * v + v, 1 / (1 + np.exp(-v)), np.tanh(v), v**v, each(math.lgamma), np.arctan2(v, 2), np.cbrt(v), np.rint(v), np.abs(1 - v)]
    expected += [v.clip(0.5, 2), np.fmod(v, 0.75), j0]
    for index, (got, wanted) in enumerate(zip(outs, expected)):
        try:
            cuda.close(got, wanted, relative=tolerance, absolute=tolerance)
        except AssertionError as error:
            raise AssertionError(f"row {index}: {error}") from None


@triton.jit
def integers_kernel(x, y, outs, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    a, b = tl.load(x + i, mask=mask, other=1), tl.load(y + i, mask=mask, other=1)
    tl.store(outs + 0 * n + i, a // b, mask=mask)
    tl.store(outs + 1 * n + i, a % b, mask=mask)
    tl.store(outs + 2 * n + i, a * b, mask=mask)
    tl.store(outs + 3 * n + i, a & b, mask=mask)
    tl.store(outs + 4 * n + i, (a | b) ^ (a << 3), mask=mask)
    tl.store(outs + 5 * n + i, a >> 2, mask=mask)
    tl.store(outs + 6 * n + i, tl.umulhi(a, b), mask=mask)
    tl.store(outs + 7 * n + i, libdevice.popc(a) + libdevice.clz(b), mask=mask)
    tl.store(outs + 8 * n + i, tl.cdiv(a, b), mask=mask)
    tl.store(outs + 9 * n + i, tl.where((a < b) | (a > 2 * b), tl.minimum(a, b), tl.maximum(a, b)), mask=mask)


@test()
def whole_numbers(target):
    n = 200
    x, y = random.integers(1, 2**31 - 1, n).astype(np.int32), random.integers(1, 2**20, n).astype(np.int32)
    outs = np.zeros((10, n), np.int32)
    run(target, integers_kernel, [1], x, y, outs, np.int32(n), BLOCK=256)
    a, b = x.astype(np.int64), y.astype(np.int64)
    ones = np.array([bin(value).count("1") + 32 - int(other).bit_length() for value, other in zip(a, b)])
    expected = [a // b, a % b, a * b, a & b, (a | b) ^ (a << 3), a >> 2, (a * b) >> 32, ones, (a + b - 1) // b]
    doubled = (2 * b).astype(np.int32)
    expected += [np.where((a < b) | (a > doubled), np.minimum(a, b), np.maximum(a, b))]
    # `tl.cdiv` adds before it divides, in 32 bits.
    expected[8] = np.fix((a + b - 1).astype(np.int32) / b)
    for got, wanted in zip(outs, expected):
        cuda.equal(got, wanted.astype(np.int32))


@triton.jit
def shapes_kernel(x, transposed, joined, gathered, N: tl.constexpr):
    rows, columns = tl.arange(0, N), tl.arange(0, N)
    values = tl.load(x + rows[:, None] * N + columns[None, :])
    tl.store(transposed + rows[:, None] * N + columns[None, :], tl.trans(values))
    even, odd = tl.split(tl.reshape(values, (N, N // 2, 2)))
    mixed = tl.interleave(odd, even)
    tl.store(joined + rows[:, None] * N + columns[None, :], mixed)
    turned = tl.broadcast_to(((columns * 5 + 3) % N)[None, :], (N, N))
    tl.store(gathered + rows[:, None] * N + columns[None, :], tl.gather(values, turned, 1))


@test(f32=(np.float32, 4), f16=(np.float16, 2), i8=(np.int8, 8))
def shapes(target, case):
    dtype, warps = case
    n = 32
    x = random.integers(-100, 100, (n, n)).astype(dtype)
    transposed, joined, gathered = (np.zeros_like(x) for _ in range(3))
    run(target, shapes_kernel, [1], x, transposed, joined, gathered, num_warps=warps, N=n)
    cuda.equal(transposed, np.ascontiguousarray(x.T))
    cuda.equal(joined, x.reshape(n, -1, 2)[:, :, ::-1].reshape(n, n))
    cuda.equal(gathered, x[:, (np.arange(n) * 5 + 3) % n])


@triton.jit(noinline=True)
def collatz(value):
    steps = 0
    while value != 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    return steps


@triton.jit
def control_kernel(x, out, packed, n):
    i = tl.program_id(0)
    value = tl.load(x + i)
    tl.store(out + i, collatz(value))
    if i % 3 == 0:
        tl.store(packed + i, tl.inline_asm_elementwise("prmt.b32 $0, $1, $1, 0x0123;", "=r,r", [value], dtype=tl.int32, is_pure=True, pack=1))
    tl.device_assert(value > 0, "positive")


@test()
def control_flow_and_calls(target):
    n = 30
    x, out, packed = np.arange(1, n + 1, dtype=np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    run(target, control_kernel, [n], x, out, packed, np.int32(n))

    def steps(value):
        return 0 if value == 1 else 1 + steps(value // 2 if value % 2 == 0 else 3 * value + 1)

    cuda.equal(out, np.array([steps(int(value)) for value in x], np.int32))
    cuda.equal(packed, np.where(np.arange(n) % 3 == 0, x.byteswap(), 0).astype(np.int32))


@triton.jit
def convolution_kernel(x, weight, out, H, W, OH, OW, C: tl.constexpr, F: tl.constexpr, KERNEL: tl.constexpr, BP: tl.constexpr):
    place = tl.program_id(0) * BP + tl.arange(0, BP)
    filters = tl.arange(0, F)
    channels = tl.arange(0, C)
    row, column = place // OW, place % OW
    accumulator = tl.zeros((BP, F), tl.float32)
    for dy in tl.static_range(KERNEL):
        for dx in tl.static_range(KERNEL):
            y, z = row + dy - KERNEL // 2, column + dx - KERNEL // 2
            inside = (y >= 0) & (y < H) & (z >= 0) & (z < W) & (place < OH * OW)
            values = tl.load(x + ((y * W + z) * C)[:, None] + channels[None, :], mask=inside[:, None], other=0.0)
            taps = tl.load(weight + (dy * KERNEL + dx) * C * F + channels[:, None] * F + filters[None, :])
            accumulator = tl.dot(values, taps, accumulator)
    tl.store(out + place[:, None] * F + filters[None, :], accumulator, mask=(place < OH * OW)[:, None])


@test()
def convolution_on_tensor_cores(target):
    height, width, channels, filters = 9, 11, 32, 16
    x, weight = normal(height, width, channels, dtype=np.float16), normal(3, 3, channels, filters, dtype=np.float16)
    out = np.zeros((height, width, filters), np.float32)
    sizes = [np.int32(size) for size in (height, width, height, width)]
    run(target, convolution_kernel, [-(-height * width // 32)], x, weight, out, *sizes, C=channels, F=filters, KERNEL=3, BP=32)
    padded = np.pad(x.astype(np.float64), ((1, 1), (1, 1), (0, 0)))
    expected = sum(padded[dy : dy + height, dx : dx + width] @ weight[dy, dx].astype(np.float64) for dy in range(3) for dx in range(3))
    cuda.close(out, expected, absolute=1e-3)


if __name__ == "__main__":
    cuda.main(tests)
