import { drawing, fromSample } from "../request.mjs";
import { make } from "../ui.mjs";
import { ratio, run, tell, wave } from "./common.mjs";

const [OUTPUTS, TAPS, BLOCK, RUN] = [1000, 64, 64, 4];

export const controls = [
  { name: "tile", label: "tile, in taps", kind: "range", values: [8, 16, 32, 64], initial: 32 },
  { name: "padding", label: "words of padding after every 32", kind: "range", values: [0, 1, 2, 3, 4, 5, 6, 7, 8], initial: 0 },
  { name: "loads", label: "barrier after the loads", kind: "switch", initial: true },
  { name: "sums", label: "barrier after the sums", kind: "switch", initial: true },
  { name: "order", label: "warps take turns", kind: "choice", options: [["ascending", "in order"], ["descending", "in reverse order"]], initial: "ascending" },
];

const signal = wave(OUTPUTS + TAPS - 1, 16);
const filter = wave(TAPS, 6);
const right = Float32Array.from({ length: OUTPUTS }, (_, i) => filter.reduce((sum, value, j) => sum + signal[i + j] * value, 0));

export async function measure({ tile, padding, loads, sums, order }, ptx, room) {
  const samples = RUN * BLOCK + tile - 1;
  const answer = await run({
    ptx,
    kernel: "tiled",
    grid: [Math.ceil(OUTPUTS / (BLOCK * RUN)), 1, 1],
    block: [BLOCK, 1, 1],
    shared: 4 * (samples + Math.floor(samples / 32) * padding),
    order,
    buffers: { signal, filter, output: 4 * OUTPUTS },
    arguments: ["signal", "filter", ...[OUTPUTS, TAPS, tile, padding, Number(loads), Number(sums)].map((u32) => ({ u32 })), "output"],
    read: ["output"],
    least_bytes: 8 * (OUTPUTS + TAPS),
  });
  tell(`tile ${tile}`, answer);
  const got = new Float32Array(answer.contents.output.buffer);
  const wrong = right.reduce((sum, value, at) => sum + (got[at] === value ? 0 : 1), 0);
  const c = answer.report.counters;
  const barriers = loads ? (sums ? "both" : "only after the loads") : sums ? "only after the sums" : "none";
  const reads = answer.report.samples.filter(({ space, op }) => space === "shared" && op === "load");
  const race = answer.findings.length > 0;
  return {
    cells: [String(tile), String(padding), barriers, ratio(c.shared_load_wavefronts, c.shared_load_requests), wrong === 0 ? "right" : `${wrong} wrong`, race ? "a race" : "nothing"],
    sentence: race
      ? `${wrong === 0 ? "All outputs happen to be right in this order of the warps, and there is a race all the same" : `${wrong} of ${OUTPUTS} outputs are wrong`}. The checks say why:`
      : `All ${OUTPUTS} outputs are right, and the checks find nothing. ${!sums && TAPS <= tile ? "One tile holds all taps, so nothing is stored over it." : ""}`,
    findings: answer.findings.slice(0, 2),
    drawing: reads.length > 0 ? drawing(fromSample(reads[0]), room) : make("p", {}),
  };
}
