// What the experiments `tree` and `shuffle` share: 32 values, a run for each round, and a picture of the last one.

import { draw } from "../ui.mjs";
import { run, wave } from "./common.mjs";

export const LANES = 32;
export const ROUNDS = 5;

/** Small whole numbers, so that each sum is exact. With this period no wrong sum happens to be the total. */
const values = (count) => wave(count, 17).map((value) => value + 8);

export const total = values(LANES).reduce((sum, value) => sum + value, 0);

/** Runs some rounds. Returns the counts, and what each thread holds. */
export async function after(way, rounds, ptx, block = LANES) {
  const { report, contents } = await run({
    ptx,
    kernel: way,
    grid: [1, 1, 1],
    block: [block, 1, 1],
    buffers: { values: values(block), held: 4 * block },
    arguments: ["values", { u32: rounds }, "held"],
    read: ["held"],
  });
  return { counters: report.counters, held: [...new Float32Array(contents.held.buffer)] };
}

/** The last round of some: what threads hold before it and after it, how many add in it, and how many have the total. */
export async function round(way, rounds, ptx) {
  const last = await after(way, rounds, ptx);
  const before = rounds === 0 ? last : await after(way, rounds - 1, ptx);
  return {
    counters: last.counters,
    before: before.held,
    held: last.held,
    adds: (last.counters.f32_other ?? 0) - (before.counters.f32_other ?? 0),
    right: last.held.filter((sum) => sum === total).length,
  };
}

/** Shared memory requests of a run. */
export const requests = (counters) => (counters.shared_load_requests ?? 0) + (counters.shared_store_requests ?? 0);

/**
 * Draws a round: what each thread holds before and after it, and a line from each sum to where it is added. Threads are side by side, or below each other
 * where that is too wide. `source` says whose sum a thread adds, if it adds; `isUsed`, whether its sum becomes a part of the total.
 */
export function picture({ name, rounds, before, held }, { source, isUsed }, room) {
  const isWide = room >= 620;
  const width = Math.max(280, Math.min(720, room));
  const step = isWide ? width / LANES : 19;
  const across = isWide ? step - 2 : 40;
  const [first, second] = isWide ? [38, 130] : [46, width - across - 8];
  const height = isWide ? 168 : 24 + LANES * step;
  const sums = held.flatMap((sum, at) => (rounds === 0 ? `${name} ${at} holds ${sum}` : isUsed(at) ? `${name} ${at} adds the sum of ${name} ${source(at)} and holds ${sum}` : []));
  const label = `${rounds === 0 ? "At the start" : `In round ${rounds}`}, ${sums.join("; ")}. ${sums.length < LANES ? "No other sum is used." : ""}`.trim();
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  /** Where a thread's cell in a row begins. */
  const place = (at, row) => (isWide ? [at * step + 1, row] : [row, 22 + at * step]);
  const cell = (at, row, sum, kind) => {
    const [x, y] = place(at, row);
    svg.append(draw("rect", { x, y, width: across, height: isWide ? 20 : step - 3, rx: 3, class: kind }));
    const text = { wanted: "lane", moved: "middle strong" }[kind] ?? "middle";
    svg.append(draw("text", { x: x + across / 2, y: y + (isWide ? 14 : 12), class: text, style: `font-weight: 400; font-size: ${isWide ? 9.5 : 10.5}px` }, sum));
  };
  const line = ([x, y], [toX, toY], used) => {
    const [a, b, c, d] = isWide ? [x + across / 2, y + 21, toX + across / 2, toY - 1] : [x + across + 1, y + step / 2 - 1, toX - 1, toY + step / 2 - 1];
    svg.append(draw("path", { d: `M${a.toFixed(1)} ${b.toFixed(1)}L${c.toFixed(1)} ${d.toFixed(1)}`, class: used ? "way" : "way pale" }));
  };
  const now = rounds === 0 ? first : second;
  const titles = rounds === 0 ? [["at the start", now]] : [[`before round ${rounds}`, first], [`after round ${rounds}`, now]];
  for (const [title, row] of titles) {
    svg.append(isWide ? draw("text", { x: 1, y: row === first ? 12 : 164 }, title) : draw("text", row === first ? { x: 20, y: 12 } : { x: width - 8, y: 12, class: "end" }, title));
  }
  for (let at = 0; at < LANES; at++) {
    const [x, y] = place(at, first);
    svg.append(draw("text", isWide ? { x: x + across / 2, y: first - 6, class: "middle", style: "font-size: 10.5px" } : { x: 18, y: y + 12, class: "end", style: "font-size: 10.5px" }, at));
    if (rounds === 0) {
      cell(at, now, held[at], "wanted");
      continue;
    }
    cell(at, first, before[at], "idle");
    const from = source(at);
    const sum = from === undefined ? before[at] : before[at] + before[from];
    if (sum !== held[at]) throw new Error(`${name} ${at} holds ${held[at]} and not ${sum}: the picture shows another kernel`);
    cell(at, now, held[at], isUsed(at) ? "wanted" : from === undefined ? "idle" : "moved");
    if (from !== undefined) line(place(from, first), place(at, now), isUsed(at));
  }
  return svg;
}
