// Steps through the recorded instructions of a warp.

const $ = (id) => document.getElementById(id);

/** The names of registers in an instruction. */
const registersOf = (instruction) => [...new Set(instruction.match(/%[A-Za-z_$][\w$]*/g) ?? [])];

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
const wideFloat = new Float64Array(1);
const wideBits = new BigUint64Array(wideFloat.buffer);

/** A value as the instruction means it. */
function shown(value, instruction, width) {
  if (width === 1) return value;
  if (/\.f32\b/.test(instruction) && width === 32) {
    bits[0] = value;
    return Number(float[0].toPrecision(6));
  }
  if (/\.f64\b/.test(instruction) && width === 64) {
    wideBits[0] = BigInt(value);
    return Number(wideFloat[0].toPrecision(6));
  }
  if (width === 64) return BigInt(value) >= 1n << 40n ? `0x${BigInt(value).toString(16)}` : value;
  return /\.s(8|16|32|64)\b/.test(instruction) ? value | 0 : value;
}

export class Stepper {
  #steps = [];
  #at = 0;

  constructor() {
    $("back").addEventListener("click", () => this.#go(this.#at - 1));
    $("forward").addEventListener("click", () => this.#go(this.#at + 1));
    $("step").addEventListener("input", () => this.#go(Number($("step").value)));
    $("stepper").addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || event.target === $("step")) return;
      event.preventDefault();
      this.#go(this.#at + by);
    });
  }

  show(steps) {
    this.#steps = steps;
    $("step").max = Math.max(0, steps.length - 1);
    $("step").disabled = steps.length === 0;
    this.#go(Math.min(this.#at, steps.length - 1));
  }

  #go(to) {
    const steps = this.#steps;
    this.#at = Math.max(0, Math.min(to, steps.length - 1));
    $("back").disabled = this.#at === 0;
    $("forward").disabled = this.#at >= steps.length - 1;
    const step = steps[this.#at];
    for (const line of document.querySelectorAll("#source tr.here")) line.classList.remove("here");
    if (!step) return;
    $("step").value = this.#at;
    $("step-value").textContent = `${this.#at + 1} of ${steps.length}`;
    const { instruction, ptx_line, source } = step.location;
    $("instruction").textContent = instruction;
    $("place").textContent = `PTX line ${ptx_line}${source ? `, ${source.file.split("/").pop()}:${source.line}` : ""}`;
    if (source) $("source").tBodies[0].rows[source.line - 1]?.classList.add("here");
    const active = Array.from({ length: 32 }, (_, lane) => (step.lanes >>> lane) & 1);
    $("mask").setAttribute("aria-label", `${active.filter(Boolean).length} of 32 lanes execute it`);
    $("mask").replaceChildren(
      ...active.map((isActive) => {
        const cell = document.createElement("span");
        if (!isActive) cell.className = "idle";
        return cell;
      }),
    );
    this.#registers(step, instruction);
  }

  /** The registers that the instruction names, as they are after it. */
  #registers(step, instruction) {
    const written = new Set(step.writes.map(({ register }) => register));
    const rows = registersOf(instruction).map((name) => {
      const write = this.#steps.slice(0, this.#at + 1).findLast(({ writes }) => writes.some(({ register }) => register === name));
      const found = write?.writes.find(({ register }) => register === name);
      const line = document.createElement("tr");
      line.className = written.has(name) ? "written" : "";
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      line.append(head);
      const values = found?.values ?? [];
      const width = found?.bits ?? 32;
      for (const value of values) {
        const cell = document.createElement("td");
        cell.textContent = shown(value, instruction, width);
        line.append(cell);
      }
      return line;
    });
    $("registers").tBodies[0].replaceChildren(...rows.filter((line) => line.cells.length > 1));
  }
}
