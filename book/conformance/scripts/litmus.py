"""Litmus tests of the PTX memory model, from the repository of Dartagnan: small programs of a few threads, from papers and from NVIDIA.

The first argument is a checkout. A thread of a test becomes a warp, and a CTA a block. Each test runs once for each order of its threads, because
the simulator runs warps and blocks in order.

No file says whether its program has a data race, so `races` decides that: it enumerates the executions that the memory model allows (PTX ISA,
"Memory Consistency Model"), and looks for two conflicting operations that are neither morally strong nor ordered by causality. A loop that waits
is one read of the value that ends it. `--check` compares the model with what the repository expects of the outcomes.
"""

import csv
import itertools
import pathlib
import re
import sys

import numpy as np

import cuda

CHECKOUT = pathlib.Path(sys.argv.pop(1)).resolve()
TESTS = CHECKOUT / "litmus" / "PTX"
FOLDERS = ["Nvidia", "Manual", "Barrier", "CADP/*"]

# Not run, and why.
LEFT_OUT = {
    "it has two GPUs": r"gpu 1",
    "its barriers have numbers from registers, or counts": r"bar\.\w+\.\w+ *(\w+, |r)",
}
# Left out, too: a barrier at which threads of the block never arrive. Without a count, it is for all of them.


def differ(test, of_code):
    """Whether two threads of a block differ in something of their code."""
    found = list(map(of_code, test.threads))
    return any(found[a] != found[b] for a, b in itertools.combinations(range(len(found)), 2) if test.ctas[a] == test.ctas[b])


def barriers(code):
    return [words[1] for words in code if words[0].startswith("bar.")]


def label(test):
    """The kind of defect. Threads that wait at the same barriers in another order wait forever."""
    waits = all("arrive" not in words[0] for code in test.threads for words in code)
    if waits and differ(test, barriers):
        return "barrier"
    return "race" if races(test) else "none"



class Test:
    """A test: the threads as lists of instructions, each a label or a list of words, their CTAs, and the first values in memory."""

    def __init__(self, path):
        text = re.sub(r'"[^"]*"|//.*', "", path.read_text())
        self.memory = {name: int(value) for name, value in re.findall(r"(?<![:\w])([A-Za-z]\w*) *= *(\d+) *;", text[: text.index("}")])}
        body = text[text.index("}") + 1 :]
        condition = re.search(r"~? *exists|forall|filter", body).start()
        self.condition = body[condition:]
        rows = [row.split("|") for row in body[:condition].split(";") if row.strip()]
        self.ctas = [int(re.search(r"cta *(\d+)", column).group(1)) for column in rows[0]]
        cells = [[row[at].strip() if at < len(row) else "" for row in rows[1:]] for at in range(len(rows[0]))]
        words = lambda cell: [cell] if cell.endswith(":") else cell.replace(",", " ").split()
        self.threads = [[words(cell) for cell in column if cell] for column in cells]


class Event:
    def __init__(self, thread, at, kind, words, place=None, value=None):
        parts = words[0].split(".")
        self.thread, self.at, self.kind, self.place, self.value = thread, at, kind, place, value
        self.scope = next((part for part in parts if part in ("cta", "gpu", "sys")), "sys")
        sem = next((part for part in parts if part in ("weak", "relaxed", "acquire", "release", "acq_rel", "sc")), "weak")
        self.sc = sem == "sc"
        self.acquires = sem in ("acquire", "acq_rel", "sc") and kind in "RF"
        self.releases = sem in ("release", "acq_rel", "sc") and kind in "WF"
        self.strong = sem != "weak"


def traces(thread, code, values):
    """All ways through a thread: its events, with pairs of one atomic operation. A read may find any of `values`."""
    labels = {words[0][:-1]: at for at, words in enumerate(code) if words[0].endswith(":")}
    done, open_ = [], [(0, {}, [], [])]
    while open_:
        at, registers, events, pairs = open_.pop()
        if at == len(code):
            done.append((events, pairs, registers))
            continue
        words = code[at]
        name = words[0].split(".")[0]
        read = lambda word: int(word) if re.fullmatch(r"-?\d+", word) else registers.get(word, 0)
        if name.endswith(":"):
            open_.append((at + 1, registers, events, pairs))
        elif name in ("goto", "beq", "bne"):
            taken = name == "goto" or (read(words[1]) == read(words[2])) == (name == "beq")
            to = labels[words[-1]] if taken else at + 1
            # A loop that waits: only its last turn counts.
            if to > at:
                open_.append((to, registers, events, pairs))
        elif name in ("mov", "add"):
            value = sum(map(read, words[2:]))
            open_.append((at + 1, {**registers, words[1]: value}, events, pairs))
        elif name == "fence":
            open_.append((at + 1, registers, events + [Event(thread, at, "F", words)], pairs))
        elif name == "bar":
            event = Event(thread, at, "B", words, words[1])
            event.arrives = "arrive" in words[0]
            open_.append((at + 1, registers, events + [event], pairs))
        elif name == "st":
            open_.append((at + 1, registers, events + [Event(thread, at, "W", words, words[1], read(words[2]))], pairs))
        elif name == "ld":
            for value in values:
                open_.append((at + 1, {**registers, words[1]: value}, events + [Event(thread, at, "R", words, words[2], value)], pairs))
        elif name in ("atom", "red"):
            words = words if name == "atom" else [words[0], "_", *words[1:]]
            change = {
                "add": lambda old: old + read(words[3]),
                "sub": lambda old: old - read(words[3]),
                "exch": lambda old: read(words[3]),
                "cas": lambda old: read(words[4]) if old == read(words[3]) else None,
            }[words[0].split(".")[-1]]
            for old in values:
                new = change(old)
                made = [Event(thread, at, "R", words, words[2], old)] + ([] if new is None else [Event(thread, at, "W", words, words[2], new)])
                pair = [] if new is None else [(len(events), len(events) + 1)]
                open_.append((at + 1, {**registers, words[1]: old}, events + made, pairs + pair))
        else:
            raise ValueError(f"{' '.join(words)} is not known")
    return done


def closure(pairs, size):
    reach = [0] * size
    for a, b in pairs:
        reach[a] |= 1 << b
    for middle in range(size):
        for a in range(size):
            if reach[a] >> middle & 1:
                reach[a] |= reach[middle]
    return reach


def is_acyclic(pairs, size):
    return not any(row >> at & 1 for at, row in enumerate(closure(pairs, size)))


def executions(test):
    """The executions that the model allows: events, whether one is before another by causality, and the last registers and memory."""
    values = {0, *test.memory.values()}
    values |= {int(word) for code in test.threads for words in code for word in words[1:] if re.fullmatch(r"\d+", word)}
    adds = sum(".add" in words[0] or ".sub" in words[0] for code in test.threads for words in code)
    values |= {base + more for base in list(values) for more in range(adds + 1)} if adds else set()
    for chosen in itertools.product(*(traces(number, code, sorted(values)) for number, code in enumerate(test.threads))):
        yield from consistent(test, chosen)


def consistent(test, chosen):
    events, rmw, first = [], [], {}
    for place, value in test.memory.items():
        first[place] = len(events)
        events.append(Event(-1, 0, "W", ["st.relaxed.sys"], place, value))
    starts = []
    for trace, pairs, _ in chosen:
        starts.append(len(events))
        rmw += [(len(events) + a, len(events) + b) for a, b in pairs]
        events += trace
    size = len(events)
    everyone = range(size)
    po = {(a, b) for a in everyone for b in range(a + 1, size) if events[a].thread == events[b].thread >= 0}
    writes = {}
    for at in everyone:
        if events[at].kind == "W":
            writes.setdefault(events[at].place, []).append(at)
    reads = [at for at in everyone if events[at].kind == "R"]
    sources = [[w for w in writes.get(events[r].place, []) if events[w].value == events[r].value and (r, w) not in po] for r in reads]
    if not all(sources):
        return

    def includes(one, other):
        same_cta = one.thread >= 0 and other.thread >= 0 and test.ctas[one.thread] == test.ctas[other.thread]
        return one.scope != "cta" or same_cta or one.thread < 0

    def morally_strong(a, b):
        one, other = events[a], events[b]
        if a == b:
            return False
        if "F" not in (one.kind, other.kind) and one.place != other.place:
            return False
        return one.thread == other.thread or (one.strong and other.strong and includes(one, other) and includes(other, one))

    strong = {(a, b) for a in everyone for b in everyone if "B" not in (events[a].kind, events[b].kind) and morally_strong(a, b)}
    same_place = lambda a, b: events[a].place == events[b].place and events[a].kind in "RW" and events[b].kind in "RW"
    # A release pattern, by its first and last operations, and an acquire pattern.
    is_strong = lambda at, kind: events[at].kind == kind and events[at].strong
    release = {(w, w) for w in everyone if events[w].kind == "W" and events[w].releases}
    release |= {(a, b) for a, b in po if is_strong(b, "W") and events[a].releases and (events[a].kind == "F" or (events[a].kind == "W" and same_place(a, b)))}
    acquire = {(r, r) for r in everyone if events[r].kind == "R" and events[r].acquires}
    acquire |= {(a, b) for a, b in po if is_strong(a, "R") and events[b].acquires and (events[b].kind == "F" or (events[b].kind == "R" and same_place(a, b)))}
    barriers = barrier_pairs(test, events)
    fences = [at for at in everyone if events[at].kind == "F" and events[at].sc]
    for chosen_sources in itertools.product(*sources):
        rf = set(zip(chosen_sources, reads))
        if not is_acyclic([(w, r) for w, r in rf] + dependencies(test, events), size):
            continue
        observation = closure([(w, r) for w, r in rf if (w, r) in strong] + [pair for pair in rmw], size)
        observed = lambda a, b: events[a].kind == "W" and events[b].kind == "R" and observation[a] >> b & 1
        sync = {(a, d) for a, b in release for c, d in acquire if (a, d) in strong and observed(b, c)}
        for order in itertools.permutations(fences):
            rank = {fence: at for at, fence in enumerate(order)}
            by_fence = {(a, b) for a in fences for b in fences if (a, b) in strong and rank[a] < rank[b] and (a, b) not in po | {(y, x) for x, y in po}}
            if any((b, a) in po and rank[a] < rank[b] for a in fences for b in fences):
                continue
            steps = sync | by_fence | barriers
            base = set()
            reach = closure(list(steps | po), size)
            # A path of program order alone orders nothing between threads.
            for a in everyone:
                for b in everyone:
                    if reach[a] >> b & 1:
                        base.add((a, b))
            cause = set(base)
            for a in everyone:
                for b in everyone:
                    if observed(a, b):
                        cause |= {(a, c) for c in everyone if (b, c) in base or ((b, c) in po and same_place(b, c))}
            # A barrier is before itself: each thread waits for the other.
            if any((a, a) in cause and events[a].kind != "B" for a in everyone):
                continue
            if any((fence, other) in cause and rank[fence] > rank[other] for fence in fences for other in fences if fence != other):
                continue
            for orders in itertools.product(*([(first[place], *rest) for rest in itertools.permutations([w for w in there if w != first[place]])] for place, there in writes.items() if place in first)):
                # Only morally strong writes and those that causality orders have an order.
                pairs = [(order, at, later) for order in orders for at in range(len(order)) for later in range(at + 1, len(order))]
                pairs = [(order[at], order[later]) for order, at, later in pairs]
                if any((b, a) in cause for a, b in pairs):
                    continue
                row = closure([(a, b) for a, b in pairs if a in first.values() or (a, b) in strong or (a, b) in cause], size)
                co = {(a, b) for a, b in pairs if row[a] >> b & 1}
                fr = {(r, b) for w, r in rf for a, b in co if a == w}
                if any((r, b) in fr and (b, w) in co and (b, w) in strong and (r, b) in strong for r, w in rmw for b in everyone):
                    continue
                local = [(a, b) for a, b in po if same_place(a, b)]
                if not is_acyclic([pair for pair in rf | co | fr if pair in strong] + local, size):
                    continue
                if any((b, a) in cause for a, b in rf | fr):
                    continue
                yield events, cause, strong, [registers for *_, registers in chosen], {place: events[order[-1]].value for place, order in zip(writes, orders)}
                # The order of writes changes outcomes, and no race.
                if not WHOLE:
                    break


def dependencies(test, events):
    """Pairs of a read and a later operation of its thread that needs its value, at least where a branch or a register says so."""
    found = []
    for number, code in enumerate(test.threads):
        tainted, guards = {}, set()
        own = {event.at: [] for event in events if event.thread == number}
        for at, event in enumerate(events):
            if event.thread == number:
                own[event.at].append(at)
        for place, words in enumerate(code):
            sources = set().union(*(tainted.get(word, set()) for word in words[1:])) if len(words) > 1 else set()
            if words[0].split(".")[0] in ("beq", "bne"):
                guards |= sources
            elif words[0].split(".")[0] in ("mov", "add"):
                tainted[words[1]] = sources
            for at in own.get(place, []):
                if events[at].kind == "W":
                    found += [(read, at) for read in (set().union(*(tainted.get(word, set()) for word in words[2:])) if len(words) > 2 else set()) | guards]
                if events[at].kind == "R":
                    tainted[words[1]] = {at}
    return found


def barrier_pairs(test, events):
    """Pairs that a barrier orders: what comes before the arrival of a thread, and what comes after the wait of another."""
    found, counts = set(), {}
    for at, event in enumerate(events):
        if event.kind == "B":
            phase = counts[event.thread, event.place] = counts.get((event.thread, event.place), 0) + 1
            for other in range(len(events)):
                one = events[other]
                if one.kind == "B" and one.thread != event.thread and one.place == event.place and test.ctas[one.thread] == test.ctas[event.thread]:
                    turn = sum(1 for each in events[: other + 1] if each.kind == "B" and each.thread == one.thread and each.place == one.place)
                    if turn == phase and not one.arrives:
                        found.add((at, other))
    return found


def races(test):
    for events, cause, strong, *_ in executions(test):
        for a, b in itertools.combinations(range(len(events)), 2):
            one, other = events[a], events[b]
            conflict = one.place == other.place and "W" in (one.kind, other.kind) and {one.kind, other.kind} <= {"R", "W"}
            if conflict and -1 not in (one.thread, other.thread) and one.thread != other.thread and (a, b) not in strong:
                if (a, b) not in cause and (b, a) not in cause:
                    return True
    return False


def holds(test, registers, memory):
    """Whether the condition's formula holds at the end."""
    formula = re.sub(r"^(~? *exists|forall)", "", test.condition.strip()).strip()
    formula = re.sub(r"P?(\d+):(\w+)", lambda match: str(registers[int(match.group(1))].get(match.group(2), 0)), formula)
    formula = re.sub(r"\b[A-Za-z]\w*\b", lambda match: str(memory.get(match.group(0), 0)), formula)
    formula = formula.replace("/\\", " and ").replace("\\/", " or ").replace("~", " not ")
    return eval(re.sub(r"(?<![=!<>])=(?!=)", "==", formula))


def program(test):
    """The kernel in PTX. A table says which thread of the test a warp is. Its first lane accesses memory, and tells the others."""
    told = lambda register: f"shfl.sync.idx.b32 {register}, {register}, 0, 31, 0xffffffff;"
    places = {name: 128 * at for at, name in enumerate(test.memory)}
    lines = []
    for number, code in enumerate(test.threads):
        register = lambda word: word if re.fullmatch(r"-?\d+", word) else f"%t{number}_{word}"
        lines.append(f"$T{number}:")
        for words in code:
            parts = words[0].split(".")
            name, end = parts[0], "global.u32"
            if name.endswith(":"):
                lines.append(f"$T{number}_{words[0]}")
            elif name == "goto":
                lines.append(f"bra $T{number}_{words[1]};")
            elif name in ("beq", "bne"):
                lines.append(f"setp.{name[1:]}.u32 %p, {register(words[1])}, {register(words[2])};\n@%p bra $T{number}_{words[3]};")
            elif name == "mov":
                lines.append(f"mov.u32 {register(words[1])}, {register(words[2])};")
            elif name == "add":
                lines.append(f"add.u32 {register(words[1])}, {register(words[2])}, {register(words[3])};")
            elif name == "fence":
                lines.append(f"@%first {words[0]};")
            elif name == "bar":
                count = ", %count" if "arrive" in words[0] else ""
                lines.append(f"barrier.cta.{parts[-1]} {words[1]}{count};")
            elif name == "st":
                lines.append(f"@%first {words[0]}.{end} [%memory+{places[words[1]]}], {register(words[2])};")
            elif name == "ld":
                lines.append(f"@%first {words[0]}.{end} {register(words[1])}, [%memory+{places[words[2]]}];\n{told(register(words[1]))}")
            else:
                result, (place, *values) = ([register(words[1])], words[2:]) if name == "atom" else ([], words[1:])
                values = [f"-{value}" if parts[-1] == "sub" else register(value) for value in values]
                how = ".".join(parts[:-1] + ["global", {"sub": "add", "exch": "exch"}.get(parts[-1], parts[-1]), "b32" if parts[-1] in ("cas", "exch") else "u32"])
                lines.append(f"@%first {how} {', '.join([*result, f'[%memory+{places[place]}]', *values])};")
                lines += map(told, result)
        lines.append("ret;")
        # A warp that fills a block takes part in its barriers.
        lines += [f"$T{len(test.threads) + number}:", *(line for line in lines[lines.index(f"$T{number}:") :] if line.startswith("barrier")), "ret;"]
    registers = sorted({f"%t{number}_{word}" for number, code in enumerate(test.threads) for words in code for word in words[1:] if re.fullmatch(r"r\d+", word)})
    declared = "".join(f".reg .u32 {register};\n" for register in registers)
    cases = "".join(f"setp.eq.u32 %p, %who, {number};\n@%p bra $T{number};\n" for number in range(2 * len(test.threads)))
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry litmus(.param .u64 memory, .param .u64 who)\n{\n.reg .pred %p, %first;\n"
        f".reg .u32 %lane, %warp, %block, %count, %who;\n.reg .u64 %memory, %table, %row;\n{declared}"
        "mov.u32 %count, %ntid.x;\nmov.u32 %lane, %tid.x;\nmov.u32 %block, %ctaid.x;\nshr.u32 %warp, %lane, 5;\nand.b32 %lane, %lane, 31;\nsetp.eq.u32 %first, %lane, 0;\n"
        "ld.param.u64 %memory, [memory];\nld.param.u64 %table, [who];\n"
        "mad.lo.u32 %who, %block, 8, %warp;\nmul.wide.u32 %row, %who, 4;\nadd.u64 %table, %table, %row;\nld.global.nc.u32 %who, [%table];\n"
        f"{cases}ret;\n" + "\n".join(lines) + "\n}\n"
    )


def run(test):
    """Runs a test once for each order of its threads."""
    module = cuda.Module(program(test).encode())
    largest = max(map(test.ctas.count, test.ctas))
    for order in itertools.permutations(range(len(test.threads))):
        # Blocks come in the order of their first threads.
        blocks = list(dict.fromkeys(test.ctas[thread] for thread in order))
        who = np.zeros((len(blocks), 8), np.uint32)
        for row, cta in enumerate(blocks):
            of_block = [thread for thread in order if test.ctas[thread] == cta]
            who[row] = len(test.threads) + of_block[0]
            who[row, : len(of_block)] = of_block
        memory = np.zeros(32 * max(len(test.memory), 1), np.uint32)
        memory[: 32 * len(test.memory) : 32] = list(test.memory.values())
        module.launch("litmus", [len(blocks)], [32 * largest], [memory, who.reshape(-1)])


def tests():
    """The names and files of the tests that run. Of the programs in CADP, those that end if each thread gets its turns."""
    ends = {row[0] for row in expectations("PTXv6_0-Liveness-expected") if row[1] == "1"}
    for folder in FOLDERS:
        for path in sorted(TESTS.glob(f"{folder}/*.litmus")):
            text = path.read_text()
            is_left_out = any(re.search(pattern, text) for pattern in LEFT_OUT.values()) or differ(Test(path), lambda code: sorted(barriers(code)))
            if not is_left_out and ("CADP" not in folder or str(path.relative_to(CHECKOUT)) in ends):
                yield f"{path.parent.name}/{path.stem}", path


def expectations(name):
    """The rows of a table of the repository: a test, and 1 for yes."""
    with open(CHECKOUT / f"dartagnan/src/test/resources/{name}.csv") as file:
        return [row for row in csv.reader(file) if len(row) > 1 and row[1]]


WHOLE = "--check" in sys.argv

if __name__ == "__main__":
    if WHOLE:
        expected = dict(map(tuple, expectations("PTXv6_0-expected")))
        right = wrong = 0
        for name, path in tests():
            key = str(path.relative_to(CHECKOUT))
            if key not in expected:
                continue
            test = Test(path)
            outcomes = [holds(test, registers, memory) for *_, registers, memory in executions(test)]
            kind = test.condition.strip().split()[0].split("(")[0]
            found = all(outcomes) if kind == "forall" else not any(outcomes) if kind.startswith("~") else any(outcomes)
            if found == (expected[key] == "1"):
                right += 1
            else:
                wrong += 1
                print(name, kind, found, expected[key])
        print(right, wrong)
    elif sys.argv[1:] == ["--list"]:
        for name, path in tests():
            print(f"{name}:{label(Test(path))}")
    else:
        cuda.start()
        paths = dict(tests())
        for name in sys.argv[1:]:
            run(Test(paths[name.rsplit(":", 1)[0]]))
