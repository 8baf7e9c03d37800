// A question that a reader answers with a number. The page answers with the hint that fits, and remembers the answer.

import { button, make } from "./ui.mjs";
import { predictions } from "./progress.mjs";
import { markPage } from "./sidebar.mjs";

export function start(figure) {
  const { id, unit, within, off, answer } = figure.dataset;
  const right = Number(answer);
  const answered = figure.querySelector("details.answer");
  const input = make("input", { type: "text", inputmode: "decimal", size: 10, "aria-label": `Your prediction, in ${unit}`, autocomplete: "off" });
  const verdict = make("p", { class: "verdict", role: "status" });
  const form = make("form", { class: "lab-row", onsubmit: judge }, make("label", {}, "Your prediction: ", input, ` ${unit}`), button("Check", undefined, { type: "submit" }));
  answered.before(form, verdict);
  const earlier = predictions.get(id);
  if (earlier !== undefined) {
    input.value = earlier;
    say(`Your first answer was ${earlier} ${unit}.`);
  }

  // What changed is not told before the reader has said what to expect, or has asked for the answer.
  markPage();
  const curtain = earlier === undefined && curtainAfter(figure);
  const reveal = () => curtain && curtain.open();
  answered.addEventListener("toggle", () => answered.open && reveal());

  function say(text) {
    verdict.textContent = text;
  }

  function hint(kind) {
    for (const box of figure.querySelectorAll("div.hint")) box.hidden = !box.classList.contains(kind);
  }

  function judge(event) {
    event.preventDefault();
    // Thousands may be apart, and a comma may stand for the point.
    const text = input.value.trim().replaceAll(/[\s_]/g, "");
    const value = Number(/^\d{1,3}(,\d{3})+$/.test(text) ? text.replaceAll(",", "") : text.replace(",", "."));
    if (text === "" || !Number.isFinite(value)) {
      say("Enter a number.");
      figure.dataset.state = "failed";
      return;
    }
    predictions.keep(id, value);
    markPage();
    const isNear = value > 0 && right > 0 && Math.max(value / right, right / value) <= Number(within);
    const isRight = value === right || isNear || Math.abs(value - right) <= Number(off);
    hint(isRight ? "none" : value < right ? "low" : "high");
    say(value === right ? "Yes." : isRight ? `Close: it is ${answer} ${unit}.` : value < right ? "Too low." : "Too high.");
    verdict.className = `verdict ${isRight ? "right" : "wrong"}`;
    answered.open = isRight;
    if (isRight) reveal();
    figure.dataset.state = "done";
  }
}

/** Hides the section "What changed" after a question, behind a button. */
function curtainAfter(figure) {
  let heading = figure.nextElementSibling;
  while (heading && !(heading.tagName === "H2" && /^what-(changed|happened)/.test(heading.id))) {
    // The next question has a section of its own.
    if (heading.matches("figure.predict")) return undefined;
    heading = heading.nextElementSibling;
  }
  if (!heading || location.hash === `#${heading.id}`) return undefined;
  const hidden = [];
  for (let next = heading.nextElementSibling; next && next.tagName !== "H2" && !next.textContent.startsWith("Next:"); next = next.nextElementSibling) hidden.push(next);
  const open = () => {
    hidden.forEach((element) => (element.hidden = false));
    note.remove();
  };
  const note = make("p", { class: "curtain" }, "Answer the question above first, or ", button("show it now", () => {
    open();
    // The button is gone, and the focus goes on from here.
    heading.tabIndex = -1;
    heading.focus();
  }));
  hidden.forEach((element) => (element.hidden = true));
  heading.after(note);
  return { open };
}
