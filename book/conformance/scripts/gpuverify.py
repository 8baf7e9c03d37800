"""The CUDA kernels of GPUVerify's own tests, each with what GPUVerify is to say about it.

The first argument is a checkout. The files hold kernels only, so the arguments are ours: each pointer gets an array of its own of zeros and
ones, each number is 1 or what `ARGUMENTS` says. Compiled without optimization, because what many of these kernels store is never read. A block
or grid that CUDA does not allow gets smaller. `LABELS` says which kind of defect GPUVerify's message means; `pass` means none.
"""

import os
import pathlib
import re
import sys

import numpy as np

import cuda

CHECKOUT = pathlib.Path(sys.argv.pop(1)).resolve()
SOURCE = CHECKOUT / "testsuite" / "CUDA"

# What GPUVerify says about the tests that must fail.
LABELS = {
    "memory": """
        misc/fail/miscfail5 misc/pass/misc3
        function_pointers/basic_argument_fail function_pointers/basic_assignment_fail function_pointers/constant_value
        function_pointers/pass_struct/call memset/null_dst memcpy/null_src memcpy/null_dst misc/fail/miscfail7
    """,
    "assertion": """
        atomics/test_abstraction_enforced function_pointers/soundness_issue misc/fail/miscfail8 param_values/value_in_assert
        warpsync/equality_abstraction_issue
    """,
    "race": """
        atomics/add_tid atomics/add_zero param_values/value_causing_race misc/fail/miscfail3 misc/fail/miscfail4 memcpy/fail_overstep
        memcpy/notexactdiv memcpy/fail_arrayofstruct memcpy/lentoobig memcpy/unhandled_varlen fail_tests/shared_int fail_tests/race_on_shared
        warpsync/bad_inter_group warpsync/broken_shuffle pointertests/cast cooperative_groups/fail/race loop_unwind fresh_arrays/fail/array
        fresh_arrays/fail/struct_float fresh_arrays/fail/inherit fresh_arrays/fail/struct_char fresh_arrays/fail/struct_nested
        pointeranalysistests/testbasicaliasing curand_tests/fail/init_race curand_tests/fail/curand_race
    """,
    "barrier": """
        cooperative_groups/fail/block_divergence_grid_group cooperative_groups/fail/divergence_grid_group
        cooperative_groups/fail/divergence_thread_block
    """,
}

# Not run, and why.
LEFT_OUT = {
    "it asks for what no launch can do": "annotation_tests/test_axiom annotation_tests/test_at_most_one",
    "it needs a host that passes the address of a function": """
        function_pointers/basic_argument_pass function_pointers/funcptr_lt function_pointers/funcptr_to_ptr
        function_pointers/funcptr_to_ptr_add function_pointers/pass_struct/requires_call
    """,
    "it calls a function that it does not define": """
        memcpy_simplification/array_element_passed_to_call1 memcpy_simplification/array_element_passed_to_call2
        memcpy_simplification/i8_element_global_passed_to_call1 memcpy_simplification/i8_element_global_passed_to_call2
        memcpy_simplification/i8_element_parameter_passed_to_call memcpy_simplification/parameter_passed_to_call
        memcpy_simplification/shared_element_passed_to_call memset/unhandled_varlen memset/unhandled_varval misc/pass/misc4 misc/pass/misc5
        misc/pass/misc6 predication/test1 predication/test2
    """,
    "its label is about a proof or about GPUVerify's limits": """
        misc/fail/miscfail2 function_pointers/unknown_function return_val/char return_val/longlong globalarray/fail
    """,
    "CUDA 12 has no texture references": "argument_promotion memcpy_simplification/global_passed_to_call",
    "it has more shared memory than a program may declare": "ctimeslid",
    "no compiler of CUDA takes it": "misc/fail/miscfail1 misc/fail/miscfail6",
    "it needs tables that the host makes": """
        curand_tests/fail/curand_mtgp32_block_race curand_tests/fail/curand_mtgp32_race curand_tests/pass/curand_mtgp32
    """,
}

# The numbers that show the defect or that GPUVerify's assumptions name, and pointers that must be null.
ARGUMENTS = {
    "function_pointers/basic_argument_fail": {1: None, 2: 1024},
    "function_pointers/basic_assignment_fail": {1: 1024, 2: 0},
    "function_pointers/pass_struct/call": {1: None, 2: 1024},
    "memcpy/unhandled_varlen": {2: np.uint64(12)},
    "misc/fail/miscfail7": {0: None},
    "misc/pass/misc1": {0: 143},
    "param_values/value_causing_race": {1: 185},
    "param_values/value_in_assert": {0: 12, 1: 36, 2: 48},
    "reduced_strength_with_requires": {1: 1024},
}

# GPUVerify's annotations. Those that only guide a proof vanish.
PRELUDE = """
typedef unsigned int uint;
#define __requires(e)
#define __ensures(e)
#define __assume(e)
#define __requires_fresh_array(p)
#define __invariant(e) true
#define __global_invariant(e) true
#define __implies(a, b) (!(a) || (b))
#define __mod_pow2(a, b) ((a) & ((b) - 1))
#define __all(e) (e)
#define __no_read(p) true
#define __builtin_memcpy memcpy
#define __builtin_memset memset
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
#define __assert(e) ((e) ? (void)0 : __assertfail(#e, "kernel.cu", __LINE__, "", 1))
"""
GROUPS = """
#include <cooperative_groups.h>
template <class Group> __device__ void synchronize(Group group) { group.sync(); }
"""


def compiled(name, path):
    text = path.read_text()
    before = PRELUDE + (GROUPS if "cooperative_groups" in text else "") + ("#include <curand_kernel.h>\n" if "curand" in text else "")
    # A kernel is named after its test, so that messages name the test.
    kernel = re.search(r"__global__\s+void\s+(\w+)", text).group(1)
    text = re.sub(rf"\b{kernel}\b(?=\s*\()", "test_" + re.sub(r"\W", "_", name), text)
    options = ["--gpu-architecture=compute_80", "--std=c++17", "--device-debug", "--device-as-default-execution-space", f"-I{os.environ['CUDA_PATH']}/include"]
    return cuda.compiled(f'{before}#line 1 "kernel.cu"\n{text}', "kernel.cu", options + re.findall(r"-D\S+", text.split("\n")[1]), {"cuda.h": ""})


def shape(options, name, most):
    """A size that the second line asks for, halved in its largest dimension until CUDA allows it."""
    sizes = [int(size) for size in re.search(rf"--{name}=\[?([\d,]+)", options).group(1).split(",")]
    while np.prod(sizes) > most:
        sizes[sizes.index(max(sizes))] //= 2
    return sizes


def argument(declaration, random):
    """A value for a parameter, which PTX declares by its type, or by its alignment and size if it is a structure."""
    structure = re.search(r"\.align (\d+) \.b8 \w+\[(\d+)\]", declaration)
    if structure:
        align, size = map(int, structure.groups())
        return [argument(".u64", random) for _ in range(size // 8)] if align == 8 else np.ones(size, np.uint8).view(f"V{size}")[0]
    kind, bits = re.search(r"\.([usbf])(\d+)", declaration).groups()
    if (kind, bits) == ("u", "64"):
        return random.integers(0, 2, 1 << 20).astype(np.int32)
    return np.ones(1, f"{'f' if kind == 'f' else 'i'}{int(bits) // 8}")[0]


def program(name, path):
    def run():
        ptx = cuda.kept(CHECKOUT / "ptx" / f"{name}.ptx", lambda: compiled(name, path))
        kernel, parameters = re.search(r"\.entry (\w+)\(([^)]*)\)", ptx.decode().replace("\0", "") + ".entry none()").groups()
        random = np.random.default_rng(2026)
        arguments = [argument(declaration, random) for declaration in parameters.split(",") if declaration.strip()]
        for index, value in ARGUMENTS.get(name, {}).items():
            arguments[index] = type(arguments[index])(value) if isinstance(value, int) else value
        options = path.read_text().split("\n")[1]
        sizes = shape(options, "gridDim", 1 << 20), shape(options, "blockDim", 1024)
        cuda.Module(ptx).launch(kernel, *sizes, arguments, cooperative="grid_group" in path.read_text())

    return run


def label(name, text):
    found = [kind for kind, names in LABELS.items() if name in names.split()]
    assert text.lower().startswith("//pass") != bool(found), name
    return found[0] if found else "none"


if __name__ == "__main__":
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    tests = {}
    for path in sorted(SOURCE.rglob("*.cu")):
        name = str(path.parent.relative_to(SOURCE))
        if name not in left_out:
            tests[f"{name}:{label(name, path.read_text())}"] = program(name, path)
    cuda.main(tests)
