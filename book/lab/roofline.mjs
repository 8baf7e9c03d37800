// The roofline of a chapter with a point of the reader's: from two sliders, or from what was last run in this page.

import { allProfiles } from "./simulator.mjs";
import { button, draw, make, percent, significant } from "./ui.mjs";

const STEPS = 240;

/** What was last run in the page; figures tell. */
let last;
document.addEventListener("unrolled:run", ({ detail }) => {
  last = detail;
});

/** Starts a figure. */
export function start(figure) {
  const svg = figure.querySelector("svg");
  const data = figure.querySelector(".axes").dataset;
  const axes = Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Number(value)]));
  const { x0, x1, y0, y1, left, right, top, bottom, bytesPerS, mostPerS, perMultiplyAdd } = axes;
  const unit = perMultiplyAdd === 2 ? "FLOP/s" : perMultiplyAdd === 1 ? "mul-adds/s" : "pixels/s";
  const words = (rate) => {
    const [scale, prefix] = [[1e12, "T"], [1e9, "G"], [1e6, "M"]].find(([scale]) => rate >= scale * 0.9995) ?? [1, ""];
    return `${significant(rate / scale)} ${prefix}${unit}`;
  };
  const at = (low, high, part) => low * (high / low) ** part;
  const part = (low, high, value) => Math.log(value / low) / Math.log(high / low);
  const inside = (value) => Math.min(1, Math.max(0, value));

  const dot = draw("circle", { r: 7, class: "mine" });
  const cross = draw("path", { class: "mine-lines" });
  svg.append(cross, dot);
  const slider = (label, initial) => {
    const input = make("input", { type: "range", min: 0, max: STEPS, value: Math.round(initial * STEPS) });
    const output = make("output", {});
    input.addEventListener("input", () => show());
    return { input, output, element: make("label", { class: "lab-control" }, make("span", {}, label), input, output) };
  };
  // To the right means fewer bytes, as in the chart.
  const bytes = slider("bytes per multiply-add", inside(part(x0, x1, Math.sqrt(x0 * x1))));
  const rate = slider("rate", 0.5);
  const sentence = make("p", { class: "lab-sentence", role: "status" });
  const from = button("Show the last run of this page", () => takeLast(), { disabled: !last });
  document.addEventListener("unrolled:run", () => (from.disabled = false));
  figure.append(make("p", {}, make("strong", {}, "Your kernel: ")), make("div", { class: "lab-controls" }, bytes.element, rate.element), sentence, make("div", { class: "lab-buttons" }, from));

  function show(note = "") {
    const x = at(x0, x1, bytes.input.value / STEPS);
    const y = at(y0, y1, rate.input.value / STEPS);
    const roof = Math.min(mostPerS, x * bytesPerS);
    const perMultiplyAddBytes = perMultiplyAdd / x;
    bytes.output.textContent = significant(perMultiplyAddBytes);
    rate.output.textContent = words(y);
    bytes.input.setAttribute("aria-valuetext", `${significant(perMultiplyAddBytes)} bytes`);
    rate.input.setAttribute("aria-valuetext", words(y));
    const [cx, cy] = [left + part(x0, x1, x) * (right - left), bottom - part(y0, y1, y) * (bottom - top)];
    dot.setAttribute("cx", cx);
    dot.setAttribute("cy", cy);
    const roofY = bottom - inside(part(y0, y1, roof)) * (bottom - top);
    cross.setAttribute("d", `M${cx} ${bottom}V${cy}M${cx} ${cy}V${roofY}`);
    const limit = x * bytesPerS < mostPerS ? "memory" : "arithmetic";
    const reached =
      y <= roof
        ? `The rate is ${percent(y / roof)} of that.`
        : "The rate is above that: caches must serve part of the bytes.";
    sentence.textContent = `${note}At ${significant(perMultiplyAddBytes)} bytes per multiply-add, ${limit} allows ${words(roof)}. ${reached}`;
    figure.dataset.state = "done";
  }

  async function takeLast() {
    const { name, multiply_adds, bytes: moved, least_clocks, profile } = last;
    if (!multiply_adds || !moved) {
      sentence.textContent = `The last run (${name}) had no f32 multiply-adds or moved no bytes, so it has no place here.`;
      figure.dataset.state = "done";
      return;
    }
    const known = (await allProfiles()).find(({ name }) => name === profile);
    const x = (multiply_adds * perMultiplyAdd) / moved;
    const y = (multiply_adds * perMultiplyAdd * known.clock_khz * 1000) / least_clocks;
    bytes.input.value = Math.round(inside(part(x0, x1, x)) * STEPS);
    rate.input.value = Math.round(inside(part(y0, y1, y)) * STEPS);
    show(`The last run (${name}), if it took only the least time that its bound allows on the ${known.product}: `);
  }

  show();
}
