import { drawing, fromSample } from "../request.mjs";
import { allProfiles } from "../simulator.mjs";
import { make } from "../ui.mjs";
import { run } from "./common.mjs";

const WORDS = 0;
const layout = (apart) => (apart === WORDS ? "words, side by side" : apart === 1 ? "bytes, side by side" : `bytes, ${apart} apart`);

export const controls = async () => [
  { name: "apart", label: "lanes read", kind: "choice", options: [1, WORDS, 2, 4, 8, 16, 32].map((apart) => [apart, layout(apart)]), initial: 1 },
  { name: "gpu", label: "GPU", kind: "choice", options: (await allProfiles()).map(({ name, product }) => [name, product]), initial: "h200" },
];

const memory = Uint8Array.from({ length: 1024 }, (_, byte) => byte);

const launch = (apart, profile, ptx) =>
  run({
    ptx,
    kernel: apart === WORDS ? "words" : "bytes",
    profile,
    grid: [1, 1, 1],
    block: [32, 1, 1],
    buffers: { in: memory, out: apart === WORDS ? 128 : 32 },
    arguments: apart === WORDS ? ["in", "out"] : ["in", { u32: apart }, "out"],
    least_bytes: 64,
  });

const numbers = ({ report: { counters: c } }) => [c.global_load_transactions, 32 * c.global_load_sectors, c.shared_load_wavefronts].map(String);

export async function measure({ apart, gpu }, ptx, room) {
  const answer = await launch(apart, gpu, ptx);
  const profiles = await allProfiles();
  const rows = [];
  for (const { name, product, compute_capability } of profiles) rows.push([product, compute_capability.join("."), ...numbers(await launch(apart, name, ptx)), name]);
  const [transactions, bytes, wavefronts] = numbers(answer);
  const useful = apart === WORDS ? 128 : 32;
  const sample = answer.report.samples.find(({ space, op }) => space === "shared" && op === "load");
  const table = make(
    "table",
    { class: "lab-numbers" },
    make("thead", {}, make("tr", {}, ["GPU", "compute capability", "transactions with memory", "bytes moved", "wavefronts in shared memory"].map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, rows.map((row) => make("tr", { class: row.at(-1) === gpu && "now" }, row.slice(0, -1).map((cell) => make("td", {}, cell))))),
  );
  return {
    cells: [layout(apart), gpu, transactions, bytes, wavefronts],
    sentence: `${bytes} bytes move for ${useful} that are wanted. In shared memory the same layout takes ${wavefronts} ${wavefronts === "1" ? "wavefront" : "wavefronts"}.`,
    drawing: drawing({ ...fromSample(sample), cost: `${wavefronts} ${wavefronts === "1" ? "wavefront" : "wavefronts"} on this GPU` }, room),
    more: make("details", { open: true }, make("summary", {}, "The same on every GPU"), make("div", { class: "lab-scroll" }, table)),
  };
}
