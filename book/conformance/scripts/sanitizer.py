"""What compute-sanitizer says about the programs of the labeled suites, on a machine with a GPU.

    sanitizer.py OUTPUT.json SUITE=SCRIPT=SOURCE…

Each tool runs many tests in one process, and goes on in a new one after a test that fails. Kernels are named after their tests, so a message
names the test. A suite of programs has a process for each.
"""

import collections
import concurrent.futures
import json
import os
import re
import runpy
import subprocess
import sys

TOOLS = {"memcheck": "memory", "racecheck": "race", "synccheck": "barrier", "initcheck": "uninitialized"}
# A line that says what was found.
FOUND = {
    "memcheck": r"Invalid __|Invalid PC|Misaligned",
    "racecheck": r"Race reported between",
    "synccheck": r"Barrier error|Divergent|Invalid arg",
    "initcheck": r"Uninitialized __",
}
SECONDS = 30
TOGETHER = 20


def tests_of(script, source):
    """The tests of a suite's script, by name."""
    import cuda

    found = {}
    cuda.main = found.update
    sys.argv[1:] = [source]
    runpy.run_path(script, run_name="__main__")
    return found


def child(script, source, names):
    import cuda

    tests = tests_of(script, source)
    cuda.start()
    for name in names:
        print("begins", name, flush=True)
        try:
            tests[name]()
        except RuntimeError as error:
            print("failed", name, error, flush=True)
            os._exit(1)


def run(tool, script, source, names):
    """Runs tests in a process; returns its output."""
    start = ["compute-sanitizer", "--tool", tool, "--print-limit", "1000000", "--destroy-on-device-error", "kernel"] if tool else []
    child = [sys.executable, __file__, "--child", script, source, *names]
    program = [f"{source}/{names[0].split(':')[0]}"]
    command = start + (program if os.path.exists(program[0]) and os.access(program[0], os.X_OK) and not os.path.isdir(program[0]) else child)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        return process.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return process.communicate()[0] + "\ntimeout"


def chunk(task):
    tool, script, source, names = task
    outputs = []
    while names:
        output = run(tool, script, source, names)
        outputs.append(output)
        begun = [line.split()[1] for line in output.split("\n") if line.startswith("begins ")]
        # A process that does not even begin is not tried again.
        last = begun[-1] if begun else names[-1]
        names = names[names.index(last) + 1 :]
    return task, outputs


def kernel_of(name):
    return re.sub(r"\W", "_", name.split(":")[0])


def main(path, suites):
    tasks = []
    for suite in suites:
        name, script, source = suite.split("=")
        names = subprocess.run([sys.executable, script, source, "--list"], capture_output=True, text=True, check=True).stdout.split()
        for tool in ["", *TOOLS]:
            size = 1 if "samples" in script else TOGETHER
            # Those that may hang are last, and alone.
            tame, wild = ([each for each in names if ("divergence" in each) == is_wild] for is_wild in (False, True))
            tasks += [(tool, script, source, tame[at : at + size]) for at in range(0, len(tame), size)]
            tasks += [(tool, script, source, [each]) for each in wild]
    tasks.sort(key=lambda task: "divergence" in task[3][0])
    found, log = collections.defaultdict(dict), []
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for (tool, script, source, names), outputs in pool.map(chunk, tasks):
            suite = next(each.split("=")[0] for each in suites if each.split("=")[1] == script)
            text = "\n".join(outputs)
            log.append(f"### {tool} {suite} {names}\n{text}")
            blocks = re.split(r"\n========= *\n", text)
            for name in names:
                kinds = found[suite].setdefault(name, set())
                if tool:
                    mine = blocks if len(names) == 1 else [block for block in blocks if re.search(rf"\b(test_)?{kernel_of(name)}\b[(+]", block)]
                    kinds |= {TOOLS[tool] for block in mine if re.search(FOUND[tool], block)}
                    kinds |= {"illegal" for block in mine if "Illegal instruction" in block}
                for line in text.split("\n"):
                    if line.startswith(f"failed {name} ") and "error 710" in line:
                        kinds.add("assertion")
    for kinds in (kinds for each in found.values() for kinds in each.values() if "illegal" in kinds):
        # It is the defect of a barrier if there is one, and otherwise the call of no function.
        kinds.remove("illegal")
        kinds |= set() if "barrier" in kinds else {"memory"}
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True).stdout.split("Version ")[-1].split()[0]
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    result = {"version": version, "device": gpu, "found": {suite: {name: sorted(kinds) for name, kinds in each.items()} for suite, each in found.items()}}
    with open(path, "w") as file:
        json.dump(result, file, indent=1)
    with open(f"{path}.log", "w") as file:
        file.write("\n".join(log))


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        main(sys.argv[1], sys.argv[2:])
