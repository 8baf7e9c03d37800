import { draw } from "../ui.mjs";
import { powers, ratio, run, tell, wave } from "./common.mjs";

const [WIDTH, OUTPUTS] = [64, 256];

export const controls = [
  { name: "window", label: "window", kind: "range", values: [1, 3, 7, 15, 31, 63, 127], initial: 15 },
  { name: "slices", label: "slices of a column", kind: "range", values: powers(1, 256), initial: 1 },
];

export async function measure({ window, slices }, ptx, room) {
  const rows = Math.ceil(OUTPUTS / slices);
  const answer = await run({
    ptx,
    kernel: "column_sums",
    grid: [1, slices, 1],
    block: [WIDTH, 1, 1],
    buffers: { image: wave(WIDTH * (OUTPUTS + window - 1), 16), sums: 4 * WIDTH * OUTPUTS },
    arguments: ["image", ...[WIDTH, OUTPUTS, window, rows].map((u32) => ({ u32 })), "sums"],
    least_bytes: 4 * WIDTH * (2 * OUTPUTS + window - 1),
  });
  tell(`window ${window}`, answer);
  const loads = answer.report.counters.global_load_bytes / 4;
  const perOutput = ratio(loads, WIDTH * OUTPUTS);
  return {
    cells: [String(window), String(slices), String(WIDTH * slices), String(rows), perOutput],
    sentence: `Each of ${WIDTH * slices} threads computes ${rows} ${rows === 1 ? "output" : "outputs"}: ${window} loads for the first, and 2 for each of the others. That is ${perOutput} loads per output.`,
    drawing: columns(window, rows, slices, room),
  };
}

/** A column of the image with its slices, and what the first slices load. */
function columns(window, rows, slices, room) {
  const width = Math.max(300, Math.min(720, room));
  const samples = OUTPUTS + window - 1;
  const scale = (width - 2) / samples;
  const svg = draw("svg", { width, height: 118, viewBox: `0 0 ${width} 118`, role: "img", "aria-label": `${slices} slices of ${rows} outputs; the first window of each is ${window} pixels` });
  svg.append(draw("text", { x: 0, y: 12 }, "outputs of a column, slice by slice"));
  svg.append(draw("text", { x: 0, y: 66 }, "pixels that each slice loads: its first window (dark), then what comes in"));
  for (let slice = 0; slice < slices; slice++) {
    const first = slice * rows;
    if (first >= OUTPUTS) break;
    const kind = slice % 2 === 0 ? "wanted" : "other";
    const gap = rows * scale > 4 ? 1 : 0;
    svg.append(draw("rect", { x: 1 + first * scale, y: 18, width: rows * scale - gap, height: 20, class: kind }));
    if (slice >= 12) continue;
    const y = 72 + (slice % 3) * 14;
    svg.append(draw("rect", { x: 1 + first * scale, y, width: window * scale, height: 11, class: kind }));
    svg.append(draw("rect", { x: 1 + (first + window) * scale, y, width: Math.max(0, (rows - 1) * scale), height: 11, class: `${kind} pale` }));
  }
  if (slices > 12) svg.append(draw("text", { x: width - 2, y: 50, style: "text-anchor: end" }, "windows of the first 12 slices"));
  return svg;
}
