#!/usr/bin/env python3
"""Walks the forms of PTX's instructions: asks ptxas which exist, and libsimcuda which of those it executes.

    python3 -m pip install --target target/ptxas --no-deps nvidia-cuda-nvcc==13.0.88
    cargo build -p simcuda-library
    python3 simulator/ptx/forms/walk.py target/ptxas/nvidia/cu13/bin/ptxas target/debug/libsimcuda.so

Prints the forms that are lacking, by instruction. Fails if one of them refuses more than its own kernel, or is refused without its name.
"""
import argparse
import collections
import ctypes
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from grammar import GRAMMAR, SETS

# The header of a module for each target, from the oldest on. A form is loaded for the first that has it.
TARGETS = {target: f".version 9.0\n.target {target}\n.address_size 64\n" for target in ("sm_75", "sm_80", "sm_90", "sm_90a")}
OLD = {"sm_13": ".version 1.3\n.target sm_13\n"}
WIDTHS = {"pred": "p"} | {f"{kind}{bits}": letter for bits, letter in ((8, "h"), (16, "h"), (32, "w"), (64, "l"), (128, "q")) for kind in "busf"}
WIDTHS |= {"bf16": "h", "f16x2": "w", "bf16x2": "w", "u16x2": "w", "s16x2": "w", "tf32": "w", "e4m3x2": "h", "e5m2x2": "h"}
WIDER = {"h": "w", "w": "l", "l": "q"}
NAMES = {"h": "%h", "w": "%r", "l": "%d", "q": "%q", "p": "%p"}
REGISTERS = ".reg .b32 %r<99>; .reg .b64 %d<99>; .reg .pred %p<9>; .reg .b16 %h<99>;"
MORE_REGISTERS = " .reg .b128 %q<9>; .reg .b8 %b<9>;"
VARIABLES = """.shared .align 16 .b8 sh[64];
.global .align 16 .b8 gl[64];
.global .texref tr;
.global .surfref su;
.func (.reg .b32 x) fun (.reg .b32 y) { mov.b32 x, y; ret; }
"""
TARGET_LISTS = " proto: .callprototype (.reg .b32 _) _ (.reg .b32 _); tlist: .branchtargets L, L;"
CHUNK = 500


def expanded(pattern):
    """Lists what a pattern with alternatives in braces spells. Text between backticks has none."""
    depth, start, quoted, parts = 0, None, False, []
    for at, c in enumerate(pattern):
        quoted ^= c == "`"
        if quoted:
            continue
        if c == "{":
            depth += 1
            if depth == 1:
                start, parts = at, [at + 1]
        elif c == "," and depth == 1:
            parts.append(at + 1)
        elif c == "}":
            depth -= 1
            if depth == 0:
                ends = [part - 1 for part in parts[1:]] + [at]
                heads = [pattern[:start] + inner for a, b in zip(parts, ends) for inner in expanded(pattern[a:b])]
                return [head + tail for head in heads for tail in expanded(pattern[at + 1 :])]
    return [pattern]


def operands(template, opcode):
    """Fills in registers."""
    types = [part for part in opcode.split(".") if part in WIDTHS]
    if any(letter in template for letter in "TW") and not types:
        return None
    used = collections.Counter()

    def register(match):
        letter, count = match.group(1), match.group(2)
        if letter in "TUVW":
            place = {"T": 1, "W": 1, "U": 2, "V": 3}[letter]
            if len(types) < place:
                raise LookupError
            width = WIDTHS[types[-place]]
            letter = WIDER[width] if letter == "W" else width
        names = []
        for _ in range(int(count or 1)):
            used[letter] += 1
            names.append(f"{NAMES[letter]}{used[letter]}")
        return "{" + ", ".join(names) + "}" if count else names[0]

    pieces = template.split("`")
    try:
        pieces[::2] = [re.sub(r"\b([hwlqpTUVW])(?:\*(\d))?(?![A-Za-z_])", register, piece) for piece in pieces[::2]]
    except (LookupError, KeyError):
        return None
    return "".join(pieces)


def forms():
    """Lists the instructions that the grammar allows, each once."""
    found = {}
    for line in GRAMMAR.splitlines():
        if not line or line.startswith("#"):
            continue
        pattern, templates = line.split(" ", 1)
        while "$" in pattern:
            pattern = re.sub(r"\$([a-z]+)", lambda match: SETS[match.group(1)], pattern)
        for opcode in expanded(pattern):
            # `{u8,.u16}`: in a set the dot is before it or in it.
            opcode = re.sub(r"\.+", ".", opcode)
            for template in templates.split(";"):
                for one in expanded(template) if template != "-" else [""]:
                    filled = operands(one, opcode)
                    if filled is not None:
                        found.setdefault(f"{opcode} {filled}".strip() + ";")
    return list(found)


def kernel(header, name, lines):
    """Spells a kernel with these lines, and one before them."""
    if is_old(header):
        return f".entry {name} {{ {REGISTERS}\n" + "\n".join(lines) + "\nret;\n}\n"
    return f".entry {name}(.param .b64 par) {{ {REGISTERS}{MORE_REGISTERS}{TARGET_LISTS}\n" + "\n".join(lines) + "\nL: ret;\n}\n"


def is_old(header):
    return ".version 1" in header


def assembled(ptxas, header, lines, folder):
    """Returns those of the lines that ptxas takes. It names the others, and stops at some."""
    lines, file = list(lines), folder / "forms.ptx"
    arch = "compute_75" if is_old(header) else "compute_" + re.search("sm_(.*)", header).group(1)
    start = header if is_old(header) else header + VARIABLES
    first = start.count("\n") + 2
    while lines:
        file.write_text(start + kernel(header, "k", lines))
        run = subprocess.run([ptxas, "-arch", arch, "-o", "/dev/null", str(file)], capture_output=True, text=True)
        if run.returncode == 0:
            return lines
        if run.returncode < 0:
            # ptxas crashes on some forms.
            half = len(lines) // 2
            return [] if not half else [line for part in (lines[:half], lines[half:]) for line in assembled(ptxas, header, part, folder)]
        wrong = {int(line) - first for line in re.findall(r"line (\d+); (?:error|fatal)", run.stderr)}
        if not wrong & set(range(len(lines))):
            raise RuntimeError(run.stderr[:2000])
        lines = [line for at, line in enumerate(lines) if at not in wrong]
    return []


class Simulator:
    """The driver in software, by its C functions."""

    def __init__(self, library):
        self.cuda = ctypes.CDLL(library)
        context = ctypes.c_void_p()
        assert self.cuda.cuInit(0) == 0 and self.cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0

    def refused(self, header, lines):
        """Loads a kernel for each line, and one more. Returns the lines whose kernels are refused."""
        text = header if is_old(header) else header + VARIABLES
        text += ".entry fine { ret; }\n" + "".join(kernel(header, f"k{at}", [line]) for at, line in enumerate(lines))
        module = ctypes.c_void_p()
        status = self.cuda.cuModuleLoadData(ctypes.byref(module), text.encode())
        lacks = lambda name: self.cuda.cuModuleGetFunction(ctypes.byref(ctypes.c_void_p()), module, name.encode()) != 0
        if status != 0 or lacks("fine"):
            sys.exit("a line refuses its module, or another kernel than its own")
        return [line for at, line in enumerate(lines) if lacks(f"k{at}")]

    def reason(self, header, line):
        """Returns the message about a kernel with this line, and the number of the line."""
        before = header if is_old(header) else header + VARIABLES
        text, log = before + kernel(header, "k", [line]), ctypes.create_string_buffer(2000)
        # CU_JIT_ERROR_LOG_BUFFER and its size
        options = (ctypes.c_int * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), len(log))
        self.cuda.cuModuleLoadDataEx(ctypes.byref(ctypes.c_void_p()), text.encode(), 2, options, values)
        return log.value.decode(), before.count("\n") + 2


def in_chunks(forms, work):
    return [form for at in range(0, len(forms), CHUNK) for form in work(forms[at : at + CHUNK])]


def instruction(form):
    return re.split("[. ;]", form)[0]


def alike(form):
    """What forms have in common that differ in types, scopes, and numbers of registers only."""
    opcode, _, rest = form.partition(" ")
    parts = [part for part in opcode.rstrip(";").split(".") if part not in WIDTHS and part not in ("cta", "cluster", "gpu", "sys")]
    return ".".join(parts[:2]), re.sub(r"%\w\d+", "%", rest)[:12]


def main():
    arguments = argparse.ArgumentParser(description="Walks the forms of PTX's instructions.")
    arguments.add_argument("ptxas")
    arguments.add_argument("libsimcuda")
    arguments.add_argument("--save", action="store_true", help="write lacking.txt beside this file, and book/forms.json")
    arguments = arguments.parse_args()
    simulator, spelled = Simulator(arguments.libsimcuda), forms()
    taken, lacking, rest = collections.Counter(), {}, spelled
    with tempfile.TemporaryDirectory() as folder:
        for target, header in (TARGETS | OLD).items():
            if is_old(header):
                rest = [form for form in rest if "::" not in form and not re.search(r"%[hqb]\d|tr|sr|su|sh|gl", form)]
            valid = in_chunks(rest, lambda lines: assembled(arguments.ptxas, header, lines, pathlib.Path(folder)))
            taken.update(map(instruction, valid))
            for form in in_chunks(valid, lambda lines: simulator.refused(header, lines)):
                reason, line = simulator.reason(header, form)
                if re.split("[ ;]", form)[0] not in reason or f"PTX line {line}:" not in reason:
                    sys.exit(f"{form} is refused without its name and its line: {reason}")
                lacking[form] = target
            valid = set(valid)
            rest = [form for form in rest if form not in valid]
    of = collections.Counter(map(instruction, lacking))
    for name, count in sorted(of.items()):
        print(f"{name}: {count} of {taken[name]}", *(form for form in lacking if instruction(form) == name), sep="\n    ")
    version = re.search(r"V([\d.]+)", subprocess.run([arguments.ptxas, "--version"], capture_output=True, text=True).stdout).group(1)
    print(f"{len(spelled)} spelled, {taken.total()} that ptxas {version} takes, {len(lacking)} lacking")
    if arguments.save:
        here = pathlib.Path(__file__).parent
        one_of_each = {alike(form): f"{target} {form}" for form, target in reversed(lacking.items())}
        head = "# Forms that ptxas takes and the simulator lacks, one of each kind. Made by walk.py.\n"
        (here / "lacking.txt").write_text(head + "\n".join(sorted(one_of_each.values())) + "\n")
        record = {
            "ptxas": version,
            "date": datetime.date.today().isoformat(),
            "spelled": len(spelled),
            "taken": taken.total(),
            "lacking": {name: [count, taken[name]] for name, count in sorted(of.items())},
        }
        text = re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", json.dumps(record, indent=2))
        (here.parents[2] / "book/forms.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
