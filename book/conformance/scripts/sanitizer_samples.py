"""NVIDIA's samples for compute-sanitizer: each program has the defects that one of its tools is to show.

The first argument is a checkout. `nvcc` compiles each program as the sample's makefile does, except that the runtime is a shared library and
the code PTX, both of which the software driver needs.
"""

import os
import pathlib
import subprocess
import sys
import sysconfig

import cuda

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
CUDA = pathlib.Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13"

# The samples that only allocate, or that are clients of the sanitizer's API, are left out.
LABELS = {
    "Memcheck/memcheck_demo": "memory",
    "Racecheck/block_error": "race",
    "Racecheck/warp_error": "race",
    "Synccheck/divergent_threads": "barrier",
    "Synccheck/illegal_syncwarp": "barrier",
    "Initcheck/memset_error": "uninitialized",
    "Suppressions/suppressions_initcheck_demo": "uninitialized",
}


def program(name):
    path = SOURCE / f"{name}.cu"

    def run():
        built = path.with_suffix("")
        if not built.exists():
            # The packages have the library under its full name only.
            runtime = ["-cudart", "none", f"-L{CUDA / 'lib'}", "-Xlinker", CUDA / "lib" / "libcudart.so.13"]
            options = ["-O2", "-lineinfo", "-gencode", "arch=compute_80,code=compute_80"]
            unfinished = path.with_suffix(f".{os.getpid()}")
            subprocess.run([CUDA / "bin" / "nvcc", *options, *runtime, "-o", unfinished, path], check=True)
            unfinished.rename(built)
        # Instead of this process, whose report would replace the program's.
        os.execv(built, [built])

    return run


if __name__ == "__main__":
    cuda.main({f"{name}:{label}": program(name) for name, label in LABELS.items()})
