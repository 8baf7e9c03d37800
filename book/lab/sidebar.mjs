// Marks pages of the sidebar whose questions and exercises the reader has done. Each page knows its own; the browser remembers it for the others.

import { exercises, pages, predictions } from "./progress.mjs";

const root = new URL("../", import.meta.url).pathname;
const nameOf = (path) => path.slice(root.length).replace(/\.html$/, "");

/** Remembers how much of this page is done, and marks the sidebar. */
export function markPage() {
  const asked = [...document.querySelectorAll("figure.predict, figure.exercise")];
  const isDone = ({ dataset }) => (dataset.exercise ? exercises.get(dataset.exercise).passed : predictions.get(dataset.id) !== undefined);
  if (asked.length > 0) pages.keep(nameOf(location.pathname), { all: asked.length, done: asked.filter(isDone).length });
  for (const link of document.querySelectorAll("ol.chapter a[href]")) {
    // Not the headings of this page, which are in the list, too.
    if (new URL(link.href).hash) continue;
    const { all, done } = pages.get(nameOf(new URL(link.href).pathname));
    link.querySelector(".lab-done")?.remove();
    if (!done) continue;
    const mark = document.createElement("span");
    mark.className = "lab-done";
    mark.textContent = done === all ? " ✓" : ` ${done}/${all}`;
    mark.title = `${done} of ${all} questions and exercises done`;
    link.append(mark);
  }
}
