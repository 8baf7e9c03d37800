// A small roofline: what memory and arithmetic allow, for kernels of a given number of multiply-adds per byte.

import { draw, flops } from "./ui.mjs";

/** The H200 of simulator/simt/src/profile.rs: bytes per second of its memory (3201 MHz, two transfers per clock, 6016 bits), and multiply-adds per second
 (132 SMs, 128 lanes, 1.98 GHz). A multiply-add counts as two operations. */
export const H200 = { bytes: (2 * 3.201e9 * 6016) / 8, multiplyAdds: 132 * 128 * 1.98e9 };

/** The most multiply-adds per second at an intensity. */
export const most = (x, { bytes, multiplyAdds } = H200) => Math.min(multiplyAdds, x * bytes);

/** Draws the roof and points under it; without a rate, a point is on the roof. */
export function roof(points, room, chip = H200) {
  const width = Math.max(300, Math.min(720, room));
  const height = 260;
  const [left, right, top, bottom] = [84, 12, 12, 40];
  const [x0, x1, y0, y1] = [1 / 16, 64, 1e11, 6e13];
  const x = (value) => left + (Math.log(value / x0) / Math.log(x1 / x0)) * (width - left - right);
  const y = (value) => height - bottom - (Math.log(value / y0) / Math.log(y1 / y0)) * (height - top - bottom);
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": points.map(({ name, x }) => `${name}: ${x.toFixed(2)} multiply-adds per byte, at most ${flops(2 * most(x, chip))}`).join("; ") });
  for (let tick = x0; tick <= x1; tick *= 4) {
    svg.append(draw("line", { x1: x(tick), x2: x(tick), y1: top, y2: height - bottom, class: "grid" }));
    svg.append(draw("text", { x: x(tick), y: height - bottom + 16, class: "middle" }, tick < 1 ? `1/${1 / tick}` : String(tick)));
  }
  for (const tick of [1e11, 1e12, 1e13]) {
    svg.append(draw("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: "grid" }));
    svg.append(draw("text", { x: left - 6, y: y(tick) + 4, class: "end" }, flops(2 * tick)));
  }
  svg.append(draw("text", { x: (left + width - right) / 2, y: height - 6, class: "middle" }, "multiply-adds per byte"));
  const knee = chip.multiplyAdds / chip.bytes;
  svg.append(draw("polyline", { points: [[x0, most(x0, chip)], [knee, chip.multiplyAdds], [x1, chip.multiplyAdds]].map(([at, rate]) => `${x(at)},${y(rate)}`).join(" "), class: "roof" }));
  for (const { name, x: at, rate = most(at, chip) } of points) {
    const [cx, cy] = [x(Math.min(x1, Math.max(x0, at))), y(Math.min(y1, Math.max(y0, rate)))];
    svg.append(draw("circle", { cx, cy, r: 6, class: "mine" }));
    const isRight = cx > width - 150;
    svg.append(draw("text", { x: isRight ? cx - 10 : cx + 10, y: cy + 18, class: isRight ? "end strong" : "strong" }, `${name}: ${flops(2 * rate)}`));
  }
  return svg;
}
