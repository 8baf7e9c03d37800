// Steps through the recorded instructions of a warp: which lanes execute each one, what its registers hold, and where it is in the source.

import { elementOf, parametersOf } from "./launches.mjs";
import { Names } from "./names.mjs";
import { button, enable, lanesOf, make, plural } from "./ui.mjs";

const registersOf = (instruction) => [...new Set(instruction.match(/%[A-Za-z_$][\w$]*/g) ?? [])];

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
const wideFloat = new Float64Array(1);
const wideBits = new BigUint64Array(wideFloat.buffer);

/** The buffer that an address is in, or just after. */
const placeOf = (value, places) => places.find(({ address, bytes }) => BigInt(value) >= BigInt(address) && BigInt(value) <= BigInt(address + bytes));

/** An address as C would write it: elements from the start of a buffer. */
function address(value, { name, address, element }) {
  const offset = Number(BigInt(value) - BigInt(address));
  return offset === 0 ? name : offset % element === 0 && element > 1 ? `${name} + ${offset / element}` : `${name} + ${offset} bytes`;
}

/** A value as the instruction means it. */
function shown(value, instruction, width, register, places) {
  if (width === 1) return value ? "true" : "false";
  if (width === 32 && (/\.f32\b/.test(instruction) || /^%f\d/.test(register))) {
    bits[0] = value;
    return Number(float[0].toPrecision(6));
  }
  if (width === 64 && (/\.f64\b/.test(instruction) || /^%fd\d/.test(register))) {
    wideBits[0] = BigInt(value);
    return Number(wideFloat[0].toPrecision(6));
  }
  const place = width === 64 && placeOf(value, places);
  if (place) return address(value, place);
  if (width === 64) return BigInt(value) >= 1n << 40n ? `0x${BigInt(value).toString(16)}` : Number(value);
  return /\.s(8|16|32|64)\b/.test(instruction) ? value | 0 : value;
}

/** The values of the active lanes in few words. */
function summary(values, raw, width, lanes, element) {
  const active = values.map((value, lane) => ({ value, lane })).filter(({ lane }) => (lanes >>> lane) & 1);
  if (active.length === 0) return "";
  const [first] = active;
  if (active.every(({ value }) => value === first.value)) return `${first.value} in every lane`;
  if (width !== 1 && active.length > 2) {
    const number = (lane) => BigInt(raw[lane]);
    const step = (a, b) => (number(b.lane) - number(a.lane)) / BigInt(b.lane - a.lane);
    const by = step(first, active[1]);
    const each = element > 1 && by % BigInt(element) === 0n ? by / BigInt(element) : by;
    const isEven = active.every((entry, at) => at === 0 || number(entry.lane) - number(first.lane) === by * BigInt(entry.lane - first.lane));
    if (isEven && !(typeof first.value === "number" && !Number.isInteger(first.value))) return `${first.value}, and ${each > 0n ? "+" : ""}${each}${element === 1 ? " bytes" : ""} per lane`;
  }
  if (width === 1) return `true in lanes ${lanesOf(active.reduce((mask, { value, lane }) => (value === "true" ? mask | (1 << lane) : mask), 0))}`;
  return `${first.value}, ${active[1].value}, … ${active.at(-1).value}`;
}

export class Stepper {
  #steps = [];
  #names;
  #places = [];
  #at = 0;
  #parts;
  #show;

  /** @param {(source: { file: string, line: number } | null) => void} show marks a line of the source */
  constructor(parent, show) {
    this.#show = show;
    const back = button("← Back", () => this.go(this.#at - 1));
    const forward = button("Forward →", () => this.go(this.#at + 1));
    const line = button("Next line ⇥", () => this.#nextLine());
    const slider = make("input", { type: "range", min: 0, "aria-label": "instruction", oninput: () => this.go(Number(slider.value)) });
    const at = make("output", {});
    const place = make("p", { class: "lab-place", role: "status" });
    const mask = make("div", { class: "lab-mask", role: "img" });
    const lanes = make("p", { class: "lab-note" });
    const registers = make("tbody", {});
    this.#parts = { back, forward, line, slider, at, place, mask, lanes, registers };
    this.element = make(
      "div",
      { class: "lab-stepper", tabindex: 0, role: "group", "aria-label": "Step through a warp; the arrow keys step, too" },
      make("div", { class: "lab-buttons" }, back, forward, line, slider, at),
      place,
      mask,
      lanes,
      make("div", { class: "lab-scroll" }, make("table", { class: "lab-registers" }, registers)),
    );
    this.element.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      // The slider has arrow keys of its own, and so has the box of registers, which scrolls.
      if (!by || event.target === slider || event.target.matches(".lab-scroll")) return;
      event.preventDefault();
      this.go(this.#at + by);
    });
    parent.append(this.element);
  }

  /** Shows the steps of a warp. `source` is a file with its headers, `launch` as it is stored, and `places` are the buffers that it got. */
  show(steps, { source, launch, block, warp, places = {} }, at = 0) {
    this.#steps = steps;
    this.#names = new Names({ source, launch, steps, block, warp });
    const parameters = parametersOf(source.text, launch.kernel);
    this.#places = Object.entries(places).map(([name, place]) => ({ name, ...place, element: elementOf(parameters.find((parameter) => parameter.name === name) ?? {}) }));
    this.#parts.slider.max = Math.max(0, steps.length - 1);
    this.go(at);
  }

  #nextLine() {
    const line = (step) => step?.location.source?.line;
    let to = this.#at + 1;
    while (to < this.#steps.length && line(this.#steps[to]) === line(this.#steps[this.#at])) to += 1;
    this.go(to);
  }

  go(to) {
    const steps = this.#steps;
    const { back, forward, line, slider, at, place, mask, lanes, registers } = this.#parts;
    this.#at = Math.max(0, Math.min(to, steps.length - 1));
    enable(back, this.#at > 0);
    for (const next of [forward, line]) enable(next, this.#at < steps.length - 1);
    const step = steps[this.#at];
    if (!step) {
      place.textContent = "This warp executed nothing.";
      return;
    }
    slider.value = this.#at;
    at.textContent = `${this.#at + 1} of ${steps.length}`;
    const { instruction, ptx_line, source } = step.location;
    // The compiler names no line for some instructions.
    const before = !source && steps.slice(0, this.#at).findLast(({ location }) => location.source);
    const from = source ?? (before || steps.slice(this.#at).find(({ location }) => location.source))?.location.source;
    const text = from && this.#names.line(from);
    const words = source ? "" : `PTX line ${ptx_line}${from ? `, with no line of C; ${before ? "after" : "before"} ` : ""}`;
    place.replaceChildren(
      make("code", {}, instruction.trim()),
      make("span", {}, words, from ? `${from.file.split("/").pop()}, line ${from.line}${text ? ":" : ""}` : ""),
      text ? make("code", { class: "line" }, text) : "",
    );
    const active = Array.from({ length: 32 }, (_, lane) => (step.lanes >>> lane) & 1);
    const number = active.filter(Boolean).length;
    lanes.textContent = number === 32 ? "All 32 lanes execute it." : number === 0 ? "No lane takes this path." : `${plural(number, "lane executes", "lanes execute")} it: ${lanesOf(step.lanes)}.`;
    mask.setAttribute("aria-label", lanes.textContent);
    mask.replaceChildren(...active.map((isActive, lane) => make("span", { class: isActive ? "" : "idle" }, String(lane))));
    registers.replaceChildren(...this.#registers(step));
    this.#show(source);
  }

  /** The registers that the instruction names, as they are after it. */
  #registers(step) {
    const { instruction, source } = step.location;
    const written = new Set(step.writes.map(({ register }) => register));
    const rows = registersOf(instruction).map((register) => {
      const known = this.#names.of(register, this.#at);
      if (!known) return undefined;
      const found = known.step.writes.find((write) => write.register === register);
      const values = found.values.map((value) => shown(value, instruction, found.bits, register, this.#places));
      const first = found.values[31 - Math.clz32(step.lanes & -step.lanes)];
      const place = found.bits === 64 && step.lanes !== 0 && placeOf(first, this.#places);
      const { source: from } = known.step.location;
      const line = from && this.#names.line(from);
      const isHere = from && from.line === source?.line && from.file === source.file;
      const set = known.isParameter ? "a parameter" : line ? [`set in line ${from.line}`, isHere ? "" : [": ", make("code", {}, line)]] : undefined;
      return make(
        "tr",
        { class: written.has(register) && "written" },
        make("th", { scope: "row" }, known.name ? [known.name, " ", make("small", {}, register)] : register),
        make("td", { class: "summary" }, summary(values, found.values, found.bits, step.lanes, place?.element), set && make("div", { class: "lab-note" }, [set].flat(2))),
        values.map((value, lane) => make("td", { class: !((step.lanes >>> lane) & 1) && "idle" }, found.bits === 1 ? (value === "true" ? "1" : "0") : String(value))),
      );
    });
    const lanes = make("tr", { class: "lanes" }, make("th", { scope: "row" }, "lane"), make("td", { class: "summary" }, ""), Array.from({ length: 32 }, (_, lane) => make("td", {}, String(lane))));
    const known = rows.filter(Boolean);
    return known.length > 0 ? [lanes, ...known] : [];
  }
}
