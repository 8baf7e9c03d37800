import { H200, roof } from "../roof.mjs";
import { bandwidth, count, flops, make } from "../ui.mjs";
import { powers, ratio, run, tell, wave } from "./common.mjs";

const [SIDE, DEPTH] = [64, 32];
const a = wave(SIDE * DEPTH, 16);
const b = wave(SIDE * DEPTH, 6);

export const controls = [
  { name: "rows", label: "rows of the tile", kind: "range", values: powers(2, 64), initial: 2 },
  { name: "columns", label: "columns of the tile", kind: "range", values: powers(2, 64), initial: 2 },
];

export async function measure({ rows, columns }, ptx, room) {
  const answer = await run({
    ptx,
    kernel: "product",
    grid: [SIDE / columns, SIDE / rows, 1],
    block: [64, 1, 1],
    shared: 4 * DEPTH * (rows + columns),
    buffers: { a, b, c: 4 * SIDE * SIDE },
    arguments: ["a", "b", ...[SIDE, rows, columns].map((u32) => ({ u32 })), "c"],
    least_bytes: 4 * SIDE * (SIDE + 2 * DEPTH),
  });
  tell(`${rows} x ${columns}`, answer);
  const { global_load_bytes: asked, global_load_sectors: sectors, f32_fma: multiplyAdds } = answer.report.counters;
  const intensity = multiplyAdds / asked;
  const perLoad = ratio(asked / 4, multiplyAdds);
  return {
    cells: [String(rows), String(columns), perLoad, ratio(multiplyAdds, asked), ratio(32 * sectors, multiplyAdds)],
    sentence: `(${rows} + ${columns}) / (${rows} × ${columns}) = ${perLoad} loads per multiply-add. ${count(asked)} bytes are asked for, and ${count(32 * sectors)} move in whole sectors.`,
    drawing: make("div", {}, roof([{ name: `${rows} × ${columns}`, x: intensity }], room), make("p", { class: "lab-note" }, `The roof follows from the clocks and widths of an H200: ${bandwidth(H200.bytes)} of memory, ${flops(2 * H200.multiplyAdds)}. The dot is the most that the roof allows if every load came from memory; L1 and L2 serve some.`)),
  };
}
