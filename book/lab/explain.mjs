// A kernel's source with its counts. A click on a line shows what it asks memory for; with the simulator, a reader can step through a warp and change the
// kernel.

import { compileCuda } from "./compiler.mjs";
import { Editor } from "./editor.mjs";
import { complete, difference, repeat, stored } from "./launches.mjs";
import { listenTo, listing } from "./listing.mjs";
import { cancel, hasSimulator } from "./simulator.mjs";
import { act, button, clocks, enable, failure, findings, grouped, make, percent, significant } from "./ui.mjs";

/** Starts a figure. */
export async function start(figure) {
  new Explain(figure).start();
}

class Explain {
  #figure;
  #data;
  #file;
  /** PTX of the unchanged source. */
  #unchanged;
  #tools;
  #sources;
  #tables;

  constructor(figure) {
    this.#figure = figure;
    this.#data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    this.#tables = [...figure.querySelectorAll(".lab-source")];
  }

  start() {
    for (const table of this.#tables) this.#listen(table);
    const asks = this.#figure.querySelector("tr.asks");
    if (asks) this.#figure.querySelector(".lab-limit")?.before(make("p", { class: "lab-hint" }, "Click a line with a mark, or its number, to see what its first warp asks memory for."));
    this.#tools = make("div", { class: "lab-tools" });
    this.#figure.append(this.#tools);
    hasSimulator().then((has) => {
      if (has) this.#offer();
    });
  }

  /** Makes the lines of a table that ask memory for something react. */
  #listen(table) {
    const requests = this.#data.kernels.find(({ name }) => name === table.dataset.kernel)?.requests ?? [];
    for (const row of table.querySelectorAll("tr[data-line]")) {
      const line = Number(row.dataset.line);
      const asked = requests.filter((request) => request.line === line && request.file === table.dataset.file);
      if (asked.length > 0) listenTo(row, asked, (state) => (this.#figure.dataset.state = state));
    }
  }

  #offer() {
    const step = button("Step through a warp", () => this.#step(step));
    const edit = button("Edit", () => this.#edit(edit));
    this.#tools.append(make("div", { class: "lab-buttons" }, step, edit));
  }

  async #load() {
    this.#file ??= await stored(this.#figure.dataset.launch);
    return this.#file;
  }

  async #step(opener) {
    opener.disabled = true;
    const { stepThrough } = await import("./warp.mjs");
    await stepThrough(this.#figure, this.#tools, await this.#load());
  }

  async #edit(opener) {
    opener.disabled = true;
    const file = await this.#load();
    const { source } = file;
    const name = source.path.split("/").pop();
    const panel = make("section", { class: "lab-panel", "aria-label": "Change the kernel" });
    this.#tools.append(panel);
    const editor = new Editor(panel, source.text, { label: `CUDA C of ${name}`, runs: "compiles and runs" });
    const status = make("p", { class: "lab-note", role: "status" });
    const stop = button("Cancel", () => cancel(), { "aria-disabled": "true" });
    const result = make("div", { class: "lab-result" });
    const go = button("Compile and run", () => this.#build({ editor, status, stop, go, result }), { class: "main" });
    const restore = button("Restore", () => {
      editor.text = source.text;
      result.replaceChildren();
    });
    editor.element.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && go.click());
    panel.append(make("div", { class: "lab-buttons" }, go, stop, restore, status), result);
    const kernel = source.text.split("\n").findIndex((line) => new RegExp(`\\b${file.launches[0].kernel}\\s*\\(`).test(line));
    editor.focus();
    editor.show(Math.max(1, kernel));
  }

  async #build({ editor, status, stop, go, result }) {
    if (go.ariaDisabled === "true") return;
    const file = this.#file;
    const name = file.source.path.split("/").pop();
    enable(go, false);
    enable(stop, true);
    editor.mark([]);
    await act(this.#figure, async () => {
      const compile = (text) => compileCuda(complete(file.source, text), { name, progress: (words) => (status.textContent = words) });
      const { ptx, remarks } = await compile(editor.text);
      // Compilers differ, so a change is compared with what the same compiler makes of the unchanged text.
      this.#unchanged ??= (await compile(file.source.text)).ptx;
      status.textContent = "Running…";
      const right = await repeat(file);
      const before = await repeat(file, { ptx: this.#unchanged });
      const after = await repeat(file, { ptx });
      status.textContent = "";
      this.#compare({ editor, result, right, before, after, remarks });
    }).catch((error) => {
      status.textContent = "";
      const line = error.failure?.source?.line ?? Number(error.message.match(/^[^\s(]+\((\d+)\)/)?.[1]);
      if (line) editor.mark([line]);
      result.replaceChildren(make("div", { class: "lab-finding error", role: "alert" }, make("pre", {}, failure(error))));
    });
    enable(go, true);
    enable(stop, false);
  }

  /** Shows what a changed kernel does beside what the stored one does. */
  #compare({ editor, result, right, before, after, remarks }) {
    const total = (answers) => {
      const sum = {};
      for (const { report } of answers) for (const [name, value] of Object.entries(report.counters)) sum[name] = (sum[name] ?? 0) + value;
      return sum;
    };
    const [old, now] = [total(before), total(after)];
    const bounds = (answers, of) => answers.map(({ bound }) => (bound?.parts[0] ? of(bound) : "")).join("; ");
    const said = (name, of) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, bounds(before, of)), make("td", {}, bounds(after, of)), make("td", {}));
    const rows = [
      ["PTX instructions of warps", (c) => c.ptx_instructions],
      ["lanes active, on average", (c) => c.ptx_thread_instructions / Math.max(1, c.ptx_instructions)],
      ["multiply-adds (f32)", (c) => c.f32_fma],
      ["sectors per global load", (c) => c.global_load_requests && c.global_load_sectors / c.global_load_requests],
      ["sectors of global memory", (c) => (c.global_load_sectors ?? 0) + (c.global_store_sectors ?? 0)],
      ["wavefronts of shared memory", (c) => (c.shared_load_wavefronts ?? 0) + (c.shared_store_wavefronts ?? 0)],
    ].map(([name, of]) => [name, of(old) ?? 0, of(now) ?? 0]);
    const differences = right.map((answer, at) => difference(answer.contents, after[at].contents)).filter(Boolean);
    const row = ([name, was, is]) => make("tr", { class: was !== is && "changed" }, make("th", { scope: "row" }, name), make("td", {}, grouped(was)), make("td", {}, grouped(is)), make("td", {}, was && is !== was ? `${is > was ? "+" : "−"}${percent(Math.abs(is / was - 1))}` : ""));
    const found = after.flatMap((answer) => answer.findings);
    const printed = after.map(({ report }) => report.printed).join("");
    result.replaceChildren(
      make("p", { class: `lab-verdict ${differences.length > 0 && differences[0].worst > 1e-5 ? "wrong" : "right"}`, role: "status" }, verdict(differences)),
      ...findings(found),
      remarks ? make("pre", { class: "lab-printed" }, remarks) : "",
      printed ? make("pre", { class: "lab-printed" }, printed) : "",
      make(
        "div",
        { class: "lab-scroll" },
        make(
          "table",
          { class: "lab-numbers" },
          make("thead", {}, make("tr", {}, ["count", "unchanged", "yours", "change"].map((title) => make("th", { scope: "col" }, title)))),
          make("tbody", {}, rows.filter(([, was, is]) => was || is).map(row), said("limited by", ({ parts }) => parts[0].unit), said("which needs at least", ({ least_clocks }) => clocks(least_clocks))),
        ),
      ),
      listing(this.#file.source.path.split("/").pop(), editor.text, after, (state) => (this.#figure.dataset.state = state)),
    );
    const c = now;
    document.dispatchEvent(
      new CustomEvent("unrolled:run", {
        detail: { name: `your ${this.#file.stage}`, multiply_adds: c.f32_fma ?? 0, bytes: 32 * ((c.global_load_sectors ?? 0) + (c.global_store_sectors ?? 0)), profile: this.#file.profile, least_clocks: after.reduce((sum, { bound }) => sum + (bound?.least_clocks ?? 0), 0) },
      }),
    );
  }
}

function verdict(differences) {
  if (differences.length === 0) return "Outputs: equal to the stored kernel's, bit by bit.";
  const [{ wrong, of, worst, text }] = differences;
  if (worst <= 1e-5) return `Outputs: equal to the stored kernel's but for rounding (${wrong} of ${of} differ, by ${significant(worst)} of the largest value at most).`;
  return `Outputs: ${wrong} of ${of} differ from the stored kernel's. ${text}.`;
}
