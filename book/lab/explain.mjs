// A kernel's source with its counts. A click on a line shows what it asks memory for; with the simulator, a reader can step through a warp and change the
// kernel.

import { compileCuda } from "./compiler.mjs";
import { Editor } from "./editor.mjs";
import { complete, difference, repeat, stored } from "./launches.mjs";
import { drawing, fromSample, weightOf } from "./request.mjs";
import { cancel, hasSimulator } from "./simulator.mjs";
import { Stepper } from "./stepper.mjs";
import { act, button, clocks, enable, failure, findings, grouped, make, percent, significant } from "./ui.mjs";

/** The most instructions of a warp that are recorded. */
const STEPS = 4000;

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

  /** Marks the line of the source that a step is at. */
  #mark(source) {
    for (const row of this.#figure.querySelectorAll("tr.here")) row.classList.remove("here");
    if (!source) return;
    const table = this.#tables.find((table) => table.dataset.file === source.file) ?? this.#tables.find((table) => table.dataset.file.split("/").pop() === source.file.split("/").pop());
    table?.querySelector(`tr[data-line="${source.line}"]`)?.classList.add("here");
  }

  async #step(opener) {
    opener.disabled = true;
    const { launches } = await this.#load();
    const panel = make("section", { class: "lab-panel", "aria-label": "Step through a warp" });
    const status = make("p", { class: "lab-note", role: "status" });
    const number = (label, most) => make("input", { type: "number", min: 0, max: most, value: 0, "aria-label": label });
    const [{ grid, block }] = launches;
    const warps = Math.ceil((block[0] * block[1] * block[2]) / 32);
    const which = number("warp", warps - 1);
    const blocks = [number("block x", grid[0] - 1), number("block y", grid[1] - 1), number("block z", grid[2] - 1)].filter((_, axis) => grid[axis] > 1 || axis === 0);
    const choice = launches.length > 1 && make("select", { "aria-label": "launch" }, launches.map(({ kernel }, at) => make("option", { value: at }, `${at + 1}: ${kernel}`)));
    panel.append(make("div", { class: "lab-buttons" }, choice && make("label", {}, "launch ", choice), make("label", {}, "block "), blocks, make("label", {}, "warp ", which), make("span", { class: "lab-note" }, `of ${warps}`)));
    panel.append(status);
    const stepper = new Stepper(panel, (source) => this.#mark(source));
    this.#tools.append(panel);
    const record = () =>
      act(this.#figure, async () => {
        status.textContent = "Running…";
        const at = blocks.map((input) => Number(input.value));
        const steps = { block: [at[0] ?? 0, at[1] ?? 0, at[2] ?? 0], warp: Number(which.value), limit: STEPS };
        const [answer] = await repeat(this.#file, { steps, only: choice ? Number(choice.value) : 0 });
        status.textContent = answer.steps.length === STEPS ? `The first ${STEPS} instructions of the warp.` : "";
        stepper.show(answer.steps);
      }).catch((error) => (status.textContent = failure(error)));
    for (const input of [which, ...blocks, choice].filter(Boolean)) input.addEventListener("change", record);
    await record();
    stepper.element.focus();
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
      this.#listing(editor.text, after),
    );
    const c = now;
    document.dispatchEvent(
      new CustomEvent("unrolled:run", {
        detail: { name: `your ${this.#file.stage}`, multiply_adds: c.f32_fma ?? 0, bytes: 32 * ((c.global_load_sectors ?? 0) + (c.global_store_sectors ?? 0)), profile: this.#file.profile, least_clocks: after.reduce((sum, { bound }) => sum + (bound?.least_clocks ?? 0), 0) },
      }),
    );
  }

  /** The changed source with its own counts. */
  #listing(text, answers) {
    const name = this.#file.source.path.split("/").pop();
    const counters = new Map();
    const requests = new Map();
    let instructions = 0;
    for (const { report } of answers) {
      instructions += report.counters.ptx_instructions;
      for (const { source, counters: counted } of report.lines) {
        if (source?.file.split("/").pop() !== name) continue;
        const sum = counters.get(source.line) ?? {};
        for (const [key, value] of Object.entries(counted)) sum[key] = (sum[key] ?? 0) + value;
        counters.set(source.line, sum);
      }
      for (const sample of report.samples) {
        if (sample.location.source?.file.split("/").pop() !== name || !["global", "shared"].includes(sample.space)) continue;
        const { line } = sample.location.source;
        const request = fromSample(sample);
        const known = requests.get(line) ?? [];
        if (!known.some((other) => `${other.offsets}${other.op}` === `${request.offsets}${request.op}`)) requests.set(line, [...known, request]);
      }
    }
    const lines = [...counters.keys()];
    if (lines.length === 0) return "";
    const source = text.split("\n");
    const per = (c, kind, of) => {
      const sum = (what) => (c[`${kind}_load_${what}`] ?? 0) + (c[`${kind}_store_${what}`] ?? 0);
      return sum("requests") ? `${significant(sum(of) / sum("requests"))} (${significant(sum(`${of}_ideal`) / sum("requests"))})` : "";
    };
    const columns = [
      ["PTX\ninstr.", (c) => (c.ptx_instructions ? percent(c.ptx_instructions / instructions) : "")],
      ["sectors/request\n(at best)", (c) => per(c, "global", "sectors")],
      ["wavefronts/request\n(at best)", (c) => per(c, "shared", "wavefronts")],
    ].filter(([, cell]) => lines.some((line) => cell(counters.get(line))));
    const [first, last] = [Math.min(...lines), Math.max(...lines)];
    const most = Math.max(...lines.map((line) => counters.get(line).ptx_instructions ?? 0));
    const body = make("tbody", {});
    for (let line = first; line <= last; line++) {
      const counted = counters.get(line);
      // Marks for the book's own includes.
      if (source[line - 1]?.trimStart().startsWith("// ANCHOR")) continue;
      const row = make(
        "tr",
        { "data-line": line, class: [counted ? (counted.ptx_instructions === most ? "hot" : "") : "quiet", requests.has(line) ? "asks" : ""].join(" ").trim() },
        make("td", {}, String(line)),
        columns.map(([, cell]) => make("td", {}, counted ? cell(counted) : "")),
        make("td", {}, make("code", {}, source[line - 1] ?? "")),
      );
      if (requests.has(line)) listenTo(row, requests.get(line).sort((a, b) => weightOf(b) - weightOf(a)), (state) => (this.#figure.dataset.state = state));
      body.append(row);
    }
    const title = (text) => make("th", { scope: "col" }, text.split("\n").flatMap((part, at) => (at ? [make("br"), part] : [part])));
    return make("div", { class: "lab-source yours" }, make("table", {}, make("thead", {}, make("tr", {}, title("line"), columns.map(([text]) => title(text)), title(`your ${name}`))), body));
  }
}

function verdict(differences) {
  if (differences.length === 0) return "Outputs: equal to the stored kernel's, bit by bit.";
  const [{ wrong, of, worst, text }] = differences;
  if (worst <= 1e-5) return `Outputs: equal to the stored kernel's but for rounding (${wrong} of ${of} differ, by ${significant(worst)} of the largest value at most).`;
  return `Outputs: ${wrong} of ${of} differ from the stored kernel's. ${text}.`;
}

/** Opens what a line asks for below it, at a click or a key. */
function listenTo(row, asked, done) {
  let opened;
  const number = row.cells[0];
  const opener = make("button", { type: "button", "aria-expanded": "false", "aria-label": `line ${row.dataset.line}: show what it asks memory for` }, number.textContent);
  number.replaceChildren(opener);
  const toggle = () => {
    if (opened) {
      opened.remove();
      opened = undefined;
    } else {
      const box = make("div", { class: "lab-asked" });
      let at = 0;
      const show = () => {
        const next = asked.length > 1 && button(`Next request of this line (${at + 1} of ${asked.length})`, () => {
          at = (at + 1) % asked.length;
          show();
          box.querySelector("button")?.focus();
          done("done");
        });
        box.replaceChildren(drawing(asked[at], row.closest(".lab-source").clientWidth - 30), next || "");
      };
      show();
      opened = make("tr", { class: "opened" }, make("td", { colspan: row.cells.length }, box));
      row.after(opened);
    }
    opener.setAttribute("aria-expanded", String(Boolean(opened)));
    row.classList.toggle("open", Boolean(opened));
    done("done");
  };
  row.addEventListener("click", () => {
    // Who selects text does not want the drawing.
    if (String(getSelection()).length === 0) toggle();
  });
}
