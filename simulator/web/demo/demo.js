// The page: it reads the controls, runs the kernel, and draws what the simulator reports.

import { Canceled, Simulator } from "./simt/simulator.js";
import { compileCuda } from "./compile.js";
import { draw } from "./drawing.js";
import { Stepper } from "./stepper.js";

const $ = (id) => document.getElementById(id);

/** Threads of a block. */
const THREADS = 128;
/** The most steps that are kept. */
const STEPS = 2000;

const SOURCES = {
  strided: { cuda: "kernels/strided.cu", ptx: "kernels/strided.ptx" },
  naive: { cuda: "kernels/01-conv-naive.cu", ptx: "kernels/01-conv-naive.ptx" },
  naive_strided: { cuda: "kernels/01-conv-naive.cu", ptx: "kernels/01-conv-naive.ptx" },
};

/** Samples and filter values: whole numbers, so that each sum is exact. */
const wave = (count, period) => Float32Array.from({ length: count }, (_, i) => (i * 7) % period - period / 2);

const texts = new Map();
async function text(address) {
  if (!texts.has(address)) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`cannot fetch ${address}: ${response.status} ${response.statusText}`);
    texts.set(address, await response.text());
  }
  return texts.get(address);
}

let simulator;
let loadedPtx = null;
let running = false;
let again = false;
/** The CUDA source that belongs to the PTX in the page. */
let cuda = "";
const stepper = new Stepper();

const kernelName = () => document.querySelector("input[name=kernel]:checked").value;

function wholeNumber(id, name) {
  const value = Number($(id).value);
  if (!Number.isInteger(value) || value < 1 || value > 0x7fffffff) throw new Error(`${name} must be a whole number from 1 to 2147483647`);
  return value;
}

async function launch() {
  const kernel = kernelName();
  const [outputs, taps] = [wholeNumber("outputs", "outputs"), wholeNumber("taps", "filter length")];
  const run = { strided: Number($("stride").value), naive: 1, naive_strided: 8 }[kernel];
  const first = kernel === "strided" ? Number($("first").value) : 0;
  const ptx = $("ptx").value;
  if (ptx !== loadedPtx) {
    loadedPtx = null;
    await simulator.load(ptx);
    loadedPtx = ptx;
  }
  const samples = outputs + taps - 1 + first;
  const buffers = [];
  const buffer = async (contents, label) => {
    const made = await simulator.buffer(contents, label);
    buffers.push(made);
    return made;
  };
  try {
    // Ask for the memory first: an array that is too large for the simulator may be too large for the page as well.
    const signal = await buffer(4 * samples, "signal");
    const output = await buffer(4 * outputs, "output");
    const filter = await buffer(4 * taps, "filter");
    await signal.write(wave(samples, 16));
    await filter.write(wave(taps, 6));
    const extra = kernel === "strided" ? [{ u32: run }, { u32: first }] : [];
    return await simulator.launch({
      kernel,
      grid: [Math.ceil(outputs / (THREADS * run)), 1, 1],
      block: [THREADS, 1, 1],
      arguments: [signal, filter, { u32: outputs }, { u32: taps }, ...extra, output],
      profile: $("profile").value,
      steps: { limit: STEPS },
      least_bytes: 4 * (samples + taps + outputs),
    });
  } finally {
    for (const made of buffers) await made.free().catch(() => {});
  }
}

/** Runs the kernel, and once more if the controls have changed meanwhile. */
async function run() {
  if (running) {
    again = true;
    return;
  }
  running = true;
  do {
    again = false;
    $("cancel").disabled = false;
    $("status").textContent = "Running…";
    document.body.dataset.state = "running";
    const start = performance.now();
    try {
      show(await launch());
      $("problem").hidden = true;
      $("status").textContent = `Done in ${Math.round(performance.now() - start)} ms of this computer's time`;
      document.body.dataset.state = "done";
    } catch (error) {
      complain(error);
    }
  } while (again);
  running = false;
  $("cancel").disabled = true;
}

function complain(error) {
  const lines = [error instanceof Canceled ? "You canceled the run." : error.message];
  const { help, kind, steps } = error.failure ?? {};
  if (help) lines.push(help);
  if (kind === "out-of-fuel") lines.push("Is there a loop that does not end?");
  if (kind === "memory") lines.push("Try fewer outputs.");
  if (steps) stepper.show(steps);
  const line = error.failure?.source?.line;
  if (line) $("source").tBodies[0].rows[line - 1]?.classList.add("bad");
  $("problem").textContent = lines.join("\n");
  $("problem").hidden = false;
  $("status").textContent = `${error instanceof Canceled ? "Canceled" : "Failed"}. What is below is from the last run that ended.`;
  document.body.dataset.state = "failed";
}

const COUNTERS = [
  ["global load requests", (c) => c.global_load_requests],
  ["sectors of global loads", (c) => c.global_load_sectors],
  ["sectors per request", (c) => (c.global_load_sectors / Math.max(1, c.global_load_requests)).toFixed(2)],
  ["bytes that lanes asked for", (c) => c.global_load_bytes],
  ["bytes that the sectors have", (c) => 32 * c.global_load_sectors],
  ["sectors of global stores", (c) => c.global_store_sectors],
  ["multiply-adds (f32)", (c) => c.f32_fma],
  ["PTX instructions of warps", (c) => c.ptx_instructions],
];

const grouped = (value) => (typeof value === "number" ? value.toLocaleString("en-US") : value);

function row(cells) {
  const line = document.createElement("tr");
  for (const [name, content, scope] of cells) {
    const cell = document.createElement(name);
    if (scope) cell.scope = scope;
    cell.textContent = content;
    line.append(cell);
  }
  return line;
}

function show({ report, findings, bound, steps }) {
  const loads = report.samples.filter(({ space, op }) => space === "global" && op === "load");
  const spread = ({ addresses, lanes }) => new Set(addresses.filter((_, lane) => (lanes >>> lane) & 1)).size;
  const sample = loads.sort((a, b) => spread(b) - spread(a))[0];
  $("drawing").replaceChildren();
  $("sentence").textContent = sample ? draw($("drawing"), sample) : "The first warp loaded nothing from global memory.";
  const rows = COUNTERS.map(([name, value]) => row([["th", name, "row"], ["td", grouped(value(report.counters))]]));
  const limit = bound?.parts[0];
  if (limit) rows.push(row([["th", `limited by ${limit.unit} (${grouped(limit.amount)} ${limit.of}), at least`, "row"], ["td", `${grouped(Math.ceil(limit.least_clocks))} clocks`]]));
  $("counters").tBodies[0].replaceChildren(...rows);
  $("findings").replaceChildren(
    ...findings.map(({ severity, text, help }) => {
      const item = document.createElement("li");
      item.textContent = [`${severity}: ${text}`, help].filter(Boolean).join("\n");
      return item;
    }),
  );
  const counts = new Map(report.lines.map(({ source, counters }) => [source?.line, counters]));
  const sourceLines = cuda.split("\n").map((line, at) => {
    const { ptx_instructions = 0, global_load_sectors = 0, global_store_sectors = 0 } = counts.get(at + 1) ?? {};
    const sectors = global_load_sectors + global_store_sectors;
    return row([["td", at + 1], ["td", grouped(ptx_instructions || "")], ["td", grouped(sectors || "")], ["td", line]]);
  });
  $("source").tBodies[0].replaceChildren(...sourceLines);
  stepper.show(steps);
}

/** Puts the stored kernel into the page. */
async function choose() {
  const { cuda: source, ptx } = SOURCES[kernelName()];
  cuda = await text(source);
  $("ptx").value = await text(ptx);
  $("cuda").value = cuda;
  for (const id of ["stride", "first"]) $(id).disabled = kernelName() !== "strided";
}

async function build() {
  $("build").disabled = true;
  $("log").textContent = "";
  try {
    const source = $("cuda").value;
    const name = SOURCES[kernelName()].cuda.split("/").pop();
    const { ptx, remarks } = await compileCuda(source, name, (progress) => ($("compiler-status").textContent = progress));
    $("compiler-status").textContent = "Compiled";
    $("log").textContent = remarks;
    [cuda, $("ptx").value] = [source, ptx];
    await run();
    // The reader is looking here.
    if (!$("problem").hidden) $("log").textContent = $("problem").textContent;
  } catch (error) {
    $("compiler-status").textContent = "Not compiled";
    $("log").textContent = error.message;
    document.body.dataset.state = "failed";
  }
  $("build").disabled = false;
}

async function start() {
  for (const id of ["stride", "first"]) {
    $(id).addEventListener("input", () => {
      $(`${id}-value`).textContent = $(id).value;
      run();
    });
  }
  $("controls").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  $("controls").addEventListener("change", async ({ target }) => {
    if (target.name === "kernel") await choose();
    if (target.type !== "range") run();
  });
  $("cancel").addEventListener("click", () => simulator.cancel());
  $("edit").addEventListener("click", () => {
    $("editor").hidden = false;
    $("cuda").focus();
  });
  $("restore").addEventListener("click", () => choose().then(run));
  $("build").addEventListener("click", build);
  try {
    simulator = await Simulator.open(new URL("./simt/simt.wasm", import.meta.url));
    const profiles = await simulator.profiles();
    $("profile").replaceChildren(...profiles.map(({ name, product }) => new Option(`${name} (${product})`, name, name === "h200", name === "h200")));
    await choose();
  } catch (error) {
    complain(error);
    return;
  }
  $("run").disabled = false;
  // How long a reader waits for the first result.
  await run();
  document.body.dataset.firstResultMs = Math.round(performance.now());
}

start();
