// An experiment: controls, one run of its kernel for every change of them, and what came of it. What differs from one experiment to the next is in
// slides/NAME.mjs, which exports
//
//   controls   what a reader sets: { name, label, kind: "range", values } or { kind: "choice", options: [[value, text]] } or { kind: "mask", bits, label of
//              each } or { kind: "switch" }
//   measure    runs the kernel with some settings; returns { cells, sentence, drawing, more, findings }
//   presets    optional: [text, settings] of buttons
//
// The rows of the static table are settings, too: a click chooses them.

import { button, failure, findings, make } from "./ui.mjs";
import { hasSimulator } from "./simulator.mjs";

/** Starts a figure. */
export async function start(figure) {
  const name = figure.dataset.slide;
  if (!(await hasSimulator())) throw new Error("this site has no simulator");
  await seen(figure);
  const [experiment, ptx] = await Promise.all([
    import(`./slides/${name}.mjs`),
    fetch(new URL(`slides/${name}.ptx`, import.meta.url)).then((response) => {
      if (!response.ok) throw new Error(`cannot fetch slides/${name}.ptx`);
      return response.text();
    }),
  ]);
  const slide = new Slide(figure, experiment, ptx);
  await slide.start();
}

/** Waits until a figure is on the screen. The simulator weighs more than all else in a page, which may be opened for its text. */
function seen(figure) {
  // The focus stops here on its way, which brings the figure to the screen, and finds the controls next.
  figure.tabIndex = 0;
  return new Promise((resolve) => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      figure.tabIndex = -1;
      resolve();
    });
    observer.observe(figure);
  });
}

class Slide {
  #figure;
  #experiment;
  #ptx;
  #settings;
  #controls = new Map();
  #running = false;
  #again = false;
  #parts;

  constructor(figure, experiment, ptx) {
    this.#figure = figure;
    this.#experiment = experiment;
    this.#ptx = ptx;
  }

  async start() {
    const figure = this.#figure;
    const rows = [...figure.querySelectorAll(".lab-settings tbody tr")];
    const controls = await (typeof this.#experiment.controls === "function" ? this.#experiment.controls() : this.#experiment.controls);
    this.#settings = { ...Object.fromEntries(controls.map(({ name, initial }) => [name, initial])), ...JSON.parse(rows[0].dataset.settings) };
    const now = make("tr", { class: "now" });
    const table = figure.querySelector(".lab-settings");
    const box = table.parentElement;
    this.#parts = {
      now,
      sentence: make("p", { class: "lab-sentence", role: "status" }),
      drawing: make("div", { class: "lab-drawing" }),
      problem: make("div", { role: "alert" }),
      rows,
    };
    table.tBodies[0].prepend(now);
    for (const row of rows) {
      const choose = () => this.set(JSON.parse(row.dataset.settings));
      const first = row.cells[0];
      first.replaceChildren(make("button", { type: "button", class: "plain", "aria-label": `set this: ${first.textContent}` }, first.textContent));
      row.addEventListener("click", choose);
      row.classList.add("choose");
    }
    const panel = make("div", { class: "lab-controls" }, controls.map((control) => this.#control(control)));
    const presets = this.#experiment.presets?.map(([text, settings]) => button(text, () => this.set(settings)));
    box.before(panel, presets ? make("div", { class: "lab-buttons" }, presets) : "", this.#parts.sentence, this.#parts.drawing, this.#parts.problem);
    await this.run();
  }

  #control(control) {
    const { name, label, kind } = control;
    const changed = (value) => this.set({ [name]: value });
    if (kind === "switch") {
      const box = make("input", { type: "checkbox", onchange: () => changed(box.checked) });
      this.#controls.set(name, (value) => (box.checked = value));
      return make("label", { class: "lab-switch", "data-control": name }, box, " ", label);
    }
    if (kind === "choice") {
      const select = make("select", { onchange: () => changed(control.options[select.selectedIndex][0]) }, control.options.map(([, text]) => make("option", {}, text)));
      this.#controls.set(name, (value) => (select.selectedIndex = control.options.findIndex(([known]) => known === value)));
      return make("label", { class: "lab-control", "data-control": name }, make("span", {}, label), select);
    }
    if (kind === "mask") {
      const boxes = Array.from({ length: control.bits }, (_, bit) =>
        button(String(bit), () => changed((this.#settings[name] ^ (1 << bit)) >>> 0), { "aria-label": `${control.each} ${bit}`, "aria-pressed": "false" }),
      );
      this.#controls.set(name, (value) => boxes.forEach((box, bit) => box.setAttribute("aria-pressed", String(Boolean((value >>> bit) & 1)))));
      return make("div", { class: "lab-control", role: "group", "aria-label": label, "data-control": name }, make("span", {}, label), make("div", { class: "lab-bits" }, boxes));
    }
    const { values, words = String } = control;
    const slider = make("input", { type: "range", min: 0, max: values.length - 1, oninput: () => changed(values[slider.value]) });
    const output = make("output", {});
    this.#controls.set(name, (value) => {
      slider.value = values.indexOf(value);
      output.textContent = words(value);
      slider.setAttribute("aria-valuetext", words(value));
    });
    return make("label", { class: "lab-control", "data-control": name }, make("span", {}, label), slider, output);
  }

  /** Changes settings, and runs the kernel. */
  set(settings) {
    Object.assign(this.#settings, settings);
    return this.run();
  }

  /** Runs the kernel, and once more if the settings have changed meanwhile. */
  async run() {
    for (const [name, show] of this.#controls) show(this.#settings[name]);
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    const { now, sentence, drawing, problem, rows } = this.#parts;
    this.#figure.dataset.state = "running";
    let state;
    do {
      this.#again = false;
      const settings = { ...this.#settings };
      try {
        const result = await this.#experiment.measure(settings, this.#ptx, drawing.clientWidth || 680);
        now.replaceChildren(...result.cells.map((cell) => make("td", {}, cell)));
        sentence.textContent = result.sentence ?? "";
        drawing.replaceChildren(result.drawing ?? "");
        problem.replaceChildren(...findings(result.findings ?? []), result.more ?? "");
        for (const row of rows) row.classList.toggle("same", Object.entries(JSON.parse(row.dataset.settings)).every(([name, value]) => settings[name] === value));
        // A row of the table that has these settings says the same.
        now.hidden = rows.some((row) => row.classList.contains("same"));
        state = "done";
      } catch (error) {
        problem.replaceChildren(make("div", { class: "lab-finding error" }, make("pre", {}, failure(error))));
        state = "failed";
      }
    } while (this.#again);
    this.#running = false;
    this.#figure.dataset.state = state;
  }
}
