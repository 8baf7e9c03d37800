import { drawing, fromSample } from "../request.mjs";
import { allProfiles } from "../simulator.mjs";
import { plural } from "../ui.mjs";
import { range, run, tell, wave } from "./common.mjs";

const [OUTPUTS, TAPS] = [1024, 8];

export const controls = async () => [
  { name: "stride", label: "stride, in floats", kind: "range", values: range(1, 32), initial: 1 },
  { name: "first", label: "first sample", kind: "range", values: range(0, 31), initial: 0 },
  { name: "gpu", label: "GPU", kind: "choice", options: (await allProfiles()).map(({ name, product }) => [name, product]), initial: "h200" },
];

/** The bytes that lanes ask for, each once, and the sectors that they are in. */
function touched({ addresses, lanes, bytes }) {
  const asked = new Set(addresses.filter((_, lane) => (lanes >>> lane) & 1).flatMap((address) => Array.from({ length: bytes }, (_, byte) => address + byte)));
  return [asked.size, new Set([...asked].map((byte) => Math.floor(byte / 32))).size];
}

export async function measure({ stride, first, gpu }, ptx, room) {
  const answer = await run({
    ptx,
    kernel: "strided",
    profile: gpu,
    grid: [Math.ceil(OUTPUTS / (128 * stride)), 1, 1],
    block: [128, 1, 1],
    buffers: { signal: wave(OUTPUTS + TAPS - 1 + first, 16), filter: wave(TAPS, 6), output: 4 * OUTPUTS },
    arguments: ["signal", "filter", ...[OUTPUTS, TAPS, stride, first].map((u32) => ({ u32 })), "output"],
    least_bytes: 8 * (OUTPUTS + TAPS),
  });
  tell(`stride ${stride}`, answer, gpu);
  const loads = answer.report.samples.filter(({ space, op }) => space === "global" && op === "load");
  const sample = loads.reduce((best, other) => (touched(other)[0] >= touched(best)[0] ? other : best));
  const [bytes, sectors] = touched(sample);
  const c = answer.report.counters;
  const perRequest = (c.global_load_sectors / c.global_load_requests).toFixed(2);
  return {
    cells: [stride, first, sectors, bytes, 32 * sectors].map(String),
    sentence: `The first load of a warp touches ${plural(sectors, "sector")}. All loads of the launch together, those of the filter included, move ${perRequest} sectors per request${gpu === "h200" ? "" : " on this GPU"}.`,
    drawing: drawing({ ...fromSample(sample), cost: `${bytes} different bytes in ${plural(sectors, "sector")} of 32 bytes, so ${32 * sectors} bytes move` }, room),
  };
}
