// A listing with counts, whose lines show what they ask memory for.

import { drawing, fromSample, weightOf } from "./request.mjs";
import { button, make, percent, significant } from "./ui.mjs";

/** A reader's text with its own counts: the lines that ran. `answers` are those of its launches, and `done` hears when a line was opened. */
export function listing(name, text, answers, done) {
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
  const toggles = [];
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
    if (requests.has(line)) toggles.push(listenTo(row, requests.get(line).sort((a, b) => weightOf(b) - weightOf(a)), done));
    body.append(row);
  }
  const title = (text) => make("th", { scope: "col" }, text.split("\n").flatMap((part, at) => (at ? [make("br"), part] : [part])));
  const made = make("div", { class: "lab-source yours", "data-file": name }, make("table", {}, make("thead", {}, make("tr", {}, title("line"), columns.map(([text]) => title(text)), title(`your ${name}`))), body));
  // Once it is in a page, which has a width.
  made.openAll = () => toggles.forEach((toggle) => toggle());
  return made;
}

/** Marks the line of a source in the listings that have it. */
export function mark(figure, source) {
  for (const row of figure.querySelectorAll("tr.here")) row.classList.remove("here");
  if (!source) return;
  const name = (path) => path.split("/").pop();
  const tables = [...figure.querySelectorAll(".lab-source")];
  const rows = tables.filter(({ dataset }) => name(dataset.file) === name(source.file)).map((table) => table.querySelector(`tr[data-line="${source.line}"]`));
  rows.find(Boolean)?.classList.add("here");
}

/** Opens what a line asks for below it, at a click or a key. Returns what does the same. */
export function listenTo(row, asked, done) {
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
  return toggle;
}
