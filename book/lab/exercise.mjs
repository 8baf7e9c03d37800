// An exercise in a page: write a kernel or predict numbers, have it checked, ask for hints. The check is the one of the terminal: the same code,
// compiled to WebAssembly, gives the same verdict in the same words. The page compiles the text and remembers it.

import { exercises } from "./progress.mjs";
import { markPage } from "./sidebar.mjs";
import { Canceled, withSimulator } from "./simulator.mjs";
import { act, enable, failure, make } from "./ui.mjs";

const HERE = import.meta.url;
/** The first seed of random sizes and inputs; each check uses the next, as in the terminal. */
const SEED = 13;
/** What a compiler says about a text; anything else that it says is not the author's fault. */
const COMPLAINT = /^.+\(\d+\): (?:fatal )?error/m;

const button = (action, label, onclick) => make("button", { type: "button", "data-action": action, onclick }, label);

/** Asks the check. A request that is canceled before its turn never begins. */
const ask = (request, signal) =>
  withSimulator(async (simulator) => {
    signal.throwIfAborted();
    const cancel = () => simulator.cancel();
    signal.addEventListener("abort", cancel);
    try {
      return await simulator.check(request);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  });

/** Rejects when the signal aborts, whatever becomes of the promise. */
function unlessCanceled(promise, signal) {
  return Promise.race([promise, new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }))]);
}

/** What all exercises have: the verdict, the hints, the solution, and what is remembered of the reader. */
class Exercise {
  constructor(figure, data) {
    this.figure = figure;
    this.data = data;
    this.stem = figure.dataset.exercise;
    this.buttons = make("div", { class: "lab-buttons" });
    this.status = make("span", { class: "status", role: "status" });
    this.verdict = make("pre", { class: "verdict", hidden: true, tabindex: "0" });
    this.shown = make("div", { class: "shown", hidden: true });
    this.panel = make("div", { class: "exercise-panel" }, this.buttons, this.verdict, this.shown);
    this.checkButton = button("check", "Check", () => this.check());
    this.checkButton.classList.add("main");
    this.nextLink = make("a", { class: "next", hidden: true });
    this.cancelButton = button("cancel", "Cancel", () => this.aborter?.abort(new Canceled("canceled")));
    this.cancelButton.hidden = true;
    this.hints = [...figure.querySelectorAll("details.hint")];
    this.hintButton = button("hint", "", () => this.hint());
    this.solutionButton = button("solution", this.solutionLabel, () => this.solution());
    this.hideHints();
    // As in most editors, also while the text area has the focus.
    figure.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.check());
    this.mark();
  }

  get remembered() {
    return exercises.get(this.stem);
  }

  hideHints() {
    this.hints.forEach((hint) => (hint.hidden = true));
    this.hintButton.textContent = "First hint";
    this.hintButton.hidden = this.hints.length === 0;
  }

  /** Shows one hint more. */
  hint() {
    const next = this.hints.find((hint) => hint.hidden);
    if (!next) return;
    next.hidden = false;
    next.open = true;
    const left = this.hints.filter((hint) => hint.hidden).length;
    exercises.hinted(this.stem, this.hints.length - left);
    this.hintButton.textContent = left === 0 ? "No more hints" : "Next hint";
    enable(this.hintButton, left > 0);
  }

  /** Marks what is passed. */
  mark() {
    const { passed } = this.remembered;
    this.figure.toggleAttribute("data-passed", Boolean(passed));
    if (passed && !this.passedNote) {
      this.passedNote = make("span", { class: "passed" }, `passed on ${passed.slice(0, 10)}`);
      this.figure.querySelector(".title")?.append(" ", this.passedNote);
    }
    const { next } = this.data;
    if (passed && next) {
      const [stem, page] = next;
      this.nextLink.href = new URL(`../${page}#exercise-${stem.replace("/", "-")}`, HERE);
      this.nextLink.textContent = `Next exercise: ${stem}`;
      this.nextLink.hidden = false;
    }
    markPage();
  }

  /** Asks once more before it shows the solution of what is not passed. */
  async solution() {
    if (!this.shown.hidden) {
      this.shown.hidden = true;
      this.solutionButton.textContent = this.solutionLabel;
      return;
    }
    if (!this.remembered.passed && !this.asked) {
      this.asked = true;
      this.solutionButton.textContent = "Show it anyway";
      this.status.textContent = "You have not passed this exercise yet. A hint may be enough.";
      return;
    }
    this.asked = false;
    this.status.textContent = "";
    try {
      this.shown.replaceChildren(...(await this.solved()));
      this.shown.hidden = false;
      this.solutionButton.textContent = "Hide it";
      exercises.solved(this.stem);
    } catch (error) {
      this.status.textContent = error.message;
    }
  }

  /** Checks, and shows the verdict. */
  async check() {
    if (this.aborter) return;
    this.aborter = new AbortController();
    this.figure.dataset.state = "working";
    enable(this.checkButton, false);
    this.cancelButton.hidden = false;
    this.verdict.hidden = true;
    const start = performance.now();
    try {
      const answer = await this.judged(this.aborter.signal);
      if (answer.error) throw new Error(answer.error);
      this.figure.dataset.checkMs = Math.round(performance.now() - start);
      this.status.textContent = answer.passed ? "Passed." : "Not yet.";
      this.show(answer.passed ? "right" : "wrong", answer.printed ? `${answer.message}\n\nYour kernel printed:\n${answer.printed}` : answer.message);
      exercises.checked(this.stem, answer.passed);
      this.mark();
      this.judge?.(answer);
      this.figure.dataset.state = "done";
    } catch (error) {
      const isCanceled = error instanceof Canceled;
      this.status.textContent = isCanceled ? "You canceled the check." : "There is no verdict.";
      if (!isCanceled) this.show("broken", `The check could not be completed, which is not your fault:\n\n${error.message}`);
      this.figure.dataset.state = "failed";
    }
    this.aborter = undefined;
    enable(this.checkButton, true);
    if (document.activeElement === this.cancelButton) this.checkButton.focus();
    this.cancelButton.hidden = true;
  }

  show(kind, message) {
    this.verdict.className = `verdict ${kind}`;
    this.verdict.textContent = message;
    this.verdict.hidden = false;
  }
}

/** An exercise that asks for a kernel. */
class Kernel extends Exercise {
  get solutionLabel() {
    return "Solution";
  }

  constructor(figure, data) {
    super(figure, data);
    const code = [...figure.querySelectorAll("pre")].find((pre) => !pre.closest("details") && pre.querySelector("code.language-cpp"));
    // mdBook wraps a block of code with its buttons.
    this.starter = code?.closest(".code-wrapper") ?? code;
    this.editButton = button("edit", this.remembered.text === undefined ? "Edit" : "Continue", () => this.edit().then(() => this.editor?.focus?.()));
    this.resetButton = button("reset", "Start again", () => this.reset());
    this.resetButton.hidden = true;
    this.buttons.append(this.editButton, this.checkButton, this.cancelButton, this.hintButton, this.solutionButton, this.resetButton, this.status, this.nextLink);
    (this.starter ?? figure.lastElementChild).after(this.panel);
    const look = (action, label, show) => button(action, label, () => (this.looks[action].childElementCount > 0 ? this.looks[action].replaceChildren() : this.look(this.looks[action], show)));
    this.looks = { accesses: make("div", {}), steps: make("div", {}) };
    const buttons = make("div", { class: "lab-buttons" }, look("accesses", "Show my accesses", this.accesses), look("steps", "Step through it", this.steps));
    this.looking = make("div", { hidden: true }, buttons, this.looks.accesses, this.looks.steps);
    this.panel.append(this.looking);
  }

  get text() {
    return this.editor?.text ?? this.remembered.text ?? this.data.starter;
  }

  /** Opens the editor with the reader's text, or the starter. */
  async edit() {
    if (this.editor) return;
    try {
      const { Editor } = await import("./editor.mjs");
      const place = make("div", { class: "editor" });
      this.panel.prepend(place);
      this.editor = new Editor(place, this.text, { label: `Your kernel of exercise ${this.stem}`, runs: "checks your kernel", onchange: () => this.remember() });
      place.addEventListener("input", () => this.remember());
      if (this.starter) this.starter.hidden = true;
      this.editButton.hidden = true;
      this.resetButton.hidden = false;
      this.figure.dataset.state = "done";
    } catch (error) {
      this.status.textContent = `The editor does not start: ${error.message}`;
      this.figure.dataset.state = "failed";
    }
  }

  remember() {
    this.before = undefined;
    this.asksToReset = false;
    this.resetButton.textContent = "Start again";
    exercises.change(this.stem, { text: this.editor.text });
  }

  /** Brings the starter back, after a second press; once more, what was there before. */
  reset() {
    if (this.before === undefined && this.editor.text !== this.data.starter && !this.asksToReset) {
      this.asksToReset = true;
      this.resetButton.textContent = "Replace my text";
      this.status.textContent = "This brings the starter back instead of your text.";
      return;
    }
    const [now, next] = [this.editor.text, this.before ?? this.data.starter];
    const isUndone = this.before !== undefined;
    this.editor.text = next;
    this.remember();
    this.before = isUndone ? undefined : now;
    this.resetButton.textContent = isUndone ? "Start again" : "Undo";
    this.status.textContent = isUndone ? "Your text is back." : "The starter is back.";
    this.verdict.hidden = true;
    this.looking.hidden = true;
  }

  async solved() {
    const code = make("code", { class: "language-cpp hljs" }, this.data.solution);
    try {
      globalThis.hljs?.highlightBlock?.(code);
    } catch {
      // Without colors it reads as well.
    }
    return [make("pre", {}, code)];
  }

  async judged(signal) {
    if (this.editor) exercises.change(this.stem, { text: this.editor.text });
    const checks = this.remembered.checks ?? 0;
    exercises.change(this.stem, { checks: checks + 1 });
    this.editor?.mark([]);
    // Some editors write a mark of the order of bytes.
    const text = this.text.replace(/^\uFEFF/, "");
    const { problem, manifest, starter, name } = this.data;
    const forms = await this.compiled(text, name, signal);
    this.status.textContent = "Checking…";
    const request = { do: "check", problem, manifest, starter, name, text, forms, seed: SEED + checks };
    for (const look of Object.values(this.looks)) look.replaceChildren();
    this.checked = { request };
    this.looking.hidden = !forms.optimized.ptx;
    return ask(request, signal);
  }

  /** Runs what was checked once, at a small size, and shows something of it. */
  async look(place, show) {
    // A second press closes it.
    place.replaceChildren(make("p", { class: "lab-note", role: "status" }, "Running…"));
    await act(this.figure, async () => {
      const { request } = this.checked;
      const { at, launch, message, error } = await ask({ ...request, only_shows: true }, new AbortController().signal);
      if (!launch) throw new Error(error ?? message);
      const { name, text, forms } = request;
      const file = { source: { path: name, text, headers: [] }, launches: [{ ...launch, ptx: forms.optimized.ptx }] };
      place.replaceChildren(make("p", { class: "lab-note" }, `Your kernel as it was checked, with ${at}:`));
      await show(this.figure, place, file);
    }).catch((error) => place.append(make("pre", { class: "verdict broken", role: "alert" }, failure(error))));
  }

  async accesses(figure, place, file) {
    const [{ repeat }, { listing }] = await Promise.all([import("./launches.mjs"), import("./listing.mjs")]);
    const made = listing(file.source.path.split("/").pop(), file.source.text, await repeat(file), (state) => (figure.dataset.state = state));
    const asks = made && made.querySelector("tr.asks");
    place.append(make("p", { class: "lab-note" }, asks ? "The first request of each load and store, by the first warp of block 0." : "Its first warp loads and stores nothing."), made);
    made?.openAll?.();
  }

  async steps(figure, place, file) {
    const { stepThrough } = await import("./warp.mjs");
    await stepThrough(figure, place, file);
  }

  /** Compiles the forms that the check needs. */
  async compiled(text, name, signal) {
    const { compileCuda } = await import("./compiler.mjs");
    const { manifest } = this.data;
    const { architecture } = manifest.kernel;
    const { source, error } = await ask({ do: "source", manifest, name, text }, signal);
    if (error) throw new Error(error);
    const forms = {};
    for (const form of ["optimized", "plain", ...(text.includes("printf") ? ["quiet"] : [])]) {
      const start = performance.now();
      const say = (words) => {
        if (!signal.aborted) this.status.textContent = words;
      };
      try {
        const { ptx, remarks } = await unlessCanceled(compileCuda(source, { name, form, architecture, progress: say }), signal);
        forms[form] = { ptx, remarks };
      } catch (error) {
        if (signal.aborted || !COMPLAINT.test(error.message)) throw error;
        forms[form] = { log: error.message };
        break;
      } finally {
        this.figure.dataset[`${form}Ms`] = Math.round(performance.now() - start);
      }
    }
    return forms;
  }

  /** Shows the lines that the verdict names. */
  async judge({ lines }) {
    if (lines.length === 0) return;
    await this.edit();
    this.editor?.mark(lines);
    this.editor?.show?.(lines[0]);
  }
}

/** An exercise that asks for numbers. */
class Predict extends Exercise {
  get solutionLabel() {
    return "Show the answers";
  }

  constructor(figure, data) {
    super(figure, data);
    const { questions } = data.manifest.predict;
    const items = [...figure.querySelectorAll("ol > li")].filter((item) => !item.closest("details"));
    this.fields = questions.map((question, at) => {
      const field = make("input", { type: "text", inputmode: "decimal", autocomplete: "off", size: "12", "aria-label": `Your answer: ${question.ask}` });
      field.addEventListener("keydown", ({ key }) => key === "Enter" && this.check());
      const place = items.length === questions.length ? items[at] : this.panel;
      place.append(make("div", { class: "answer" }, field));
      return field;
    });
    this.buttons.append(this.checkButton, this.cancelButton, this.hintButton, this.solutionButton, this.status, this.nextLink);
    (items.at(-1)?.parentElement ?? figure.lastElementChild).after(this.panel);
  }

  ask(answers, signal) {
    const { manifest, counted, arithmetic } = this.data;
    return ask({ do: "predict", manifest, counted, arithmetic, answers }, signal);
  }

  async solved() {
    const { message, error } = await this.ask(null, new AbortController().signal);
    if (error) throw new Error(error);
    return [make("p", { class: "answers" }, message)];
  }

  async judged(signal) {
    const typed = this.fields.map((field) => field.value.replaceAll(/[\s,]/g, ""));
    const answers = typed.map(Number);
    const missing = answers.findIndex((answer, at) => typed[at] === "" || !Number.isFinite(answer));
    if (missing >= 0) {
      this.fields[missing].focus();
      return { passed: false, message: `Question ${missing + 1} needs a number.` };
    }
    return this.ask(answers, signal);
  }
}

function styled() {
  if (document.querySelector("link[data-exercise-style]")) return;
  document.head.append(make("link", { rel: "stylesheet", href: new URL("./exercise.css", HERE), "data-exercise-style": true }));
}

/** Brings an exercise to life. */
export async function start(figure) {
  const response = await fetch(new URL(`./exercises/${figure.dataset.exercise}.json`, HERE));
  if (!response.ok) throw new Error(`this site has no exercise ${figure.dataset.exercise}`);
  const data = await response.json();
  styled();
  const exercise = data.manifest.predict ? new Predict(figure, data) : new Kernel(figure, data);
  // For tests.
  figure.exercise = exercise;
  figure.dataset.state = "ready";
}
