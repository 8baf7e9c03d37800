// What this browser remembers of a reader's exercises, by chapter, and the file of it for whoever leads a workshop.

import { exercises, forget } from "./progress.mjs";
import { button, make } from "./ui.mjs";

export function start(figure) {
  const rows = [...figure.querySelectorAll("[data-exercises]")];
  const status = make("span", { class: "status", role: "status" });
  const forgetButton = button("Forget everything", ask, { "data-action": "forget" });
  figure.append(make("div", { class: "lab-buttons" }, button("Export", save, { "data-action": "export", class: "main" }), forgetButton, status));
  // The name of each exercise, `01-conv-naive/2-slug`, as the terminal's journal has it.
  const names = rows.flatMap((row) => row.dataset.exercises.split(" "));
  figure.journal = journal;
  show();

  /** Pages know an exercise by its chapter and its number. */
  function remembered(name) {
    const [chapter, exercise] = name.split("/");
    return exercises.get(`${chapter}/${exercise.split("-")[0]}`);
  }

  /** What is exported: the format of `exercise --export`. */
  function journal() {
    const entries = names.map((name) => [name, remembered(name)]).filter(([, { checks, hints, solution_seen }]) => checks || hints || solution_seen);
    return Object.fromEntries(
      entries.map(([name, { attempts = 0, checks = 0, hints = 0, passed = null, solution_seen }]) => [name, { attempts, checks, hints, passed, ...(solution_seen && { solution_seen }) }]),
    );
  }

  function show() {
    for (const row of rows) {
      const all = row.dataset.exercises.split(" ");
      const passed = all.filter((name) => remembered(name).passed).length;
      row.querySelector(".passed").textContent = `${passed} of ${all.length}`;
    }
  }

  function save() {
    const address = URL.createObjectURL(new Blob([`${JSON.stringify(journal(), null, 2)}\n`], { type: "application/json" }));
    make("a", { href: address, download: "unrolled-progress.json" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    status.textContent = "Saved as unrolled-progress.json.";
    figure.dataset.state = "done";
  }

  /** Asks once more, because texts are forgotten, too. */
  function ask() {
    if (!forgetButton.classList.toggle("asked")) {
      forget();
      show();
      forgetButton.textContent = "Forget everything";
      status.textContent = "Forgotten.";
    } else {
      forgetButton.textContent = "Yes, forget my kernels, too";
    }
    figure.dataset.state = "done";
  }
}
