// What experiments share.

import { significant } from "../ui.mjs";

export { run } from "../simulator.mjs";

/** Whole numbers, so that each sum is exact. */
export const wave = (count, period) => Float32Array.from({ length: count }, (_, at) => ((at * 7) % period) - Math.floor(period / 2));

/** `a / b`, as tables have it. */
export const ratio = (a, b) => significant(a / Math.max(1, b));

export const powers = (first, last) => Array.from({ length: Math.log2(last / first) + 1 }, (_, at) => first * 2 ** at);

export const range = (first, last, step = 1) => Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, at) => first + at * step);

/** Tells other figures of the page what was run. */
export function tell(name, { report, bound }, profile = "h200") {
  const c = report.counters;
  const bytes = 32 * ((c.global_load_sectors ?? 0) + (c.global_store_sectors ?? 0));
  document.dispatchEvent(new CustomEvent("unrolled:run", { detail: { name, multiply_adds: c.f32_fma ?? 0, bytes, profile, least_clocks: bound?.least_clocks } }));
}
