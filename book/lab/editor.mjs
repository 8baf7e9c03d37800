// The code editor of all figures: a text area over colored text, with line numbers. The colors are those of the book's own code.

import { make } from "./ui.mjs";

const INDENT = "    ";
/** People who use the keyboard only must be able to leave. */
const LEAVING = "Tab indents. To leave the editor, press Escape, then Tab.";

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function colored(text) {
  const { hljs } = globalThis;
  if (!hljs?.highlight) return escaped(text);
  try {
    // The order of arguments differs between versions.
    return Number.parseInt(hljs.versionString ?? "10", 10) >= 11 ? hljs.highlight(text, { language: "cpp" }).value : hljs.highlight("cpp", text).value;
  } catch {
    return escaped(text);
  }
}

export class Editor {
  #area;
  #colors;
  #numbers;
  #marked = new Set();
  #leaves = false;

  /**
   * @param {Element} parent
   * @param {string} text
   * @param {{ label: string, runs: string, onchange?: () => void }} options `runs` says what Ctrl+Enter does
   */
  constructor(parent, text, { label, runs, onchange }) {
    this.#area = make("textarea", { "aria-label": label, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-description": LEAVING });
    this.#colors = make("code", { class: "hljs", "aria-hidden": "true" });
    this.#numbers = make("div", { class: "lab-editor-numbers", "aria-hidden": "true" });
    this.element = make("div", { class: "lab-editor" }, this.#numbers, make("div", { class: "lab-editor-text" }, make("pre", {}, this.#colors), this.#area));
    parent.append(this.element, make("p", { class: "lab-note lab-leaving", "aria-hidden": "true" }, `${LEAVING} Ctrl+Enter ${runs}. The first time, a compiler is fetched, about 25 MB.`));
    this.#area.addEventListener("input", () => {
      this.#show();
      onchange?.();
    });
    this.#area.addEventListener("keydown", (event) => this.#key(event));
    this.text = text;
  }

  get text() {
    return this.#area.value;
  }

  set text(text) {
    this.#area.value = text;
    this.#marked.clear();
    this.#show();
  }

  /** Marks lines, from 1; an empty list removes the marks. */
  mark(lines) {
    this.#marked = new Set(lines);
    this.#show();
  }

  focus() {
    this.#area.focus();
  }

  /** Scrolls to a line. */
  show(line) {
    const number = this.#numbers.children[line - 1];
    if (number) this.element.scrollTop = Math.max(0, number.offsetTop - 24);
  }

  #show() {
    const lines = this.text.split("\n");
    this.#colors.innerHTML = `${colored(this.text)}\n`;
    this.#numbers.replaceChildren(...lines.map((_, at) => make("span", { class: this.#marked.has(at + 1) && "marked" }, String(at + 1))));
    // The area is as large as its text; the box around it scrolls.
    this.#area.style.height = `${lines.length * 1.5}em`;
    this.#area.style.width = `${Math.max(20, ...lines.map((line) => line.replaceAll("\t", INDENT).length)) + 2}ch`;
  }

  #key(event) {
    const { selectionStart: start, selectionEnd: end, value } = this.#area;
    if (event.key === "Escape") {
      this.#leaves = true;
      return;
    }
    if (event.key === "Tab" && !this.#leaves && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      const from = value.lastIndexOf("\n", start - 1) + 1;
      if (start === end && !event.shiftKey) this.#insert(INDENT);
      else {
        const block = value.slice(from, end);
        const changed = event.shiftKey ? block.replaceAll(/^ {1,4}/gm, "") : block.replaceAll(/^(?=.)/gm, INDENT);
        this.#area.setSelectionRange(from, end);
        this.#insert(changed);
        this.#area.setSelectionRange(from, from + changed.length);
      }
    } else if (event.key === "Enter" && start === end && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
      this.#insert(`\n${line.match(/^ */)[0]}${line.trimEnd().endsWith("{") ? INDENT : ""}`);
    }
    if (event.key !== "Shift") this.#leaves = false;
  }

  // This way the browser's own undo still works.
  #insert(text) {
    if (!document.execCommand("insertText", false, text)) this.#area.setRangeText(text, this.#area.selectionStart, this.#area.selectionEnd, "end");
    this.#show();
  }
}
