"""The CUDA programs of the Indigo suite: patterns of irregular code, most with planted defects that their names tell.

The first argument is a checkout of the suite. Its own generator makes the programs, with the options of its `configure.txt`. Their host code
is one file that reads a graph; here, the kernels run on two small graphs, in which each planted defect shows:

- one without empty vertices, with exactly as many threads as the kernel needs, where only races show;
- one whose first and last vertices have no edges, with more threads than the kernel needs, where missing guards show, too.

Kernels that loop over vertices (`persistent`) get two blocks.
"""

import pathlib
import subprocess
import sys

import numpy as np

import cuda

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve() / "Generators"
PROGRAMS = SOURCE.parent / "programs"
THREADS = 64
VERTICES = 128
DEFECTS = {"atomicBug": "race", "guardBug": "race", "raceBug": "race", "syncBug": "race", "boundsBug": "memory"}


def generate():
    for pattern in sorted((SOURCE / "CUDA_sources").glob("*.idg")):
        command = [sys.executable, "generate_CUDA_codes.py", str(pattern), "../copyright.txt", str(PROGRAMS)]
        subprocess.run(command, cwd=SOURCE, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def graph(random, vertices, empty):
    """Offsets of the vertices and the neighbors of each; the first and the last `empty` vertices have none."""
    degrees = random.integers(1, 9, vertices)
    # More than the threads of a block.
    degrees[vertices // 2] = 100
    if empty:
        degrees[:empty] = degrees[-empty:] = 0
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return offsets, random.integers(0, vertices, offsets[-1]).astype(np.int32)


def blocks(name, vertices):
    """As many blocks as the vertices need, by what the pattern gives to a vertex: a block, a warp, or a thread."""
    if "persistent" in name:
        return 2
    if "_block" in name:
        return vertices
    return vertices * (32 if "_warp" in name else 1) // THREADS


def program(path):
    name = path.stem

    def compiled():
        # The rest is host code.
        kernel = path.read_text().split("void serial_code")[0]
        kernel = kernel.replace("__global__ void test_kernel", f'extern "C" __global__ void {name}')
        return cuda.compiled(kernel, path.name, ["--gpu-architecture=compute_80", "--generate-line-info"], {"indigo_cuda.h": ""})

    def run():
        module = cuda.Module(cuda.kept(path.with_suffix(".ptx"), compiled))
        for empty, more in [(0, 0), (3, 2)]:
            random = np.random.default_rng(2026)
            offsets, neighbors = graph(random, VERTICES, empty)
            # As its host code does.
            size = max(VERTICES, len(neighbors))
            data = [random.integers(0, limit, size).astype(np.int32) for limit in (VERTICES, len(neighbors))]
            data[0][0] = data[1][0] = 0
            module.launch(name, [blocks(name, VERTICES) + more], [THREADS], [offsets, neighbors, *data, np.int32(VERTICES)])

    return run


if __name__ == "__main__":
    if not PROGRAMS.exists():
        PROGRAMS.mkdir()
        generate()
    found = sorted(PROGRAMS.glob("*/*.cu"))
    kinds = {path: sorted({kind for bug, kind in DEFECTS.items() if bug in path.stem}) or ["none"] for path in found}
    cuda.main({f"{path.stem}:{'+'.join(kinds[path])}": program(path) for path in found})
