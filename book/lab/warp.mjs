// A panel in which a reader chooses a warp of a launch and steps through it.

import { repeat } from "./launches.mjs";
import { mark } from "./listing.mjs";
import { Stepper } from "./stepper.mjs";
import { act, failure, make } from "./ui.mjs";

/** The most instructions of a warp that are recorded. */
const STEPS = 4000;

/** Adds the panel to a place in a figure, whose listings follow the steps. `file` has the source and its launches, as stored. */
export async function stepThrough(figure, place, file) {
  const { launches, source } = file;
  const panel = make("section", { class: "lab-panel", "aria-label": "Step through a warp" });
  const status = make("p", { class: "lab-note", role: "status" });
  const number = (label, most) => make("input", { type: "number", min: 0, max: most, value: 0, "aria-label": label });
  const [{ grid, block }] = launches;
  const warps = Math.ceil((block[0] * block[1] * block[2]) / 32);
  const which = number("warp", warps - 1);
  const axes = [0, 1, 2].filter((axis) => grid[axis] > 1 || axis === 0);
  const blocks = axes.map((axis) => number(`block ${"xyz"[axis]}`, grid[axis] - 1));
  const choice = launches.length > 1 && make("select", { "aria-label": "launch" }, launches.map(({ kernel }, at) => make("option", { value: at }, `${at + 1}: ${kernel}`)));
  panel.append(make("div", { class: "lab-buttons" }, choice && make("label", {}, "launch ", choice), make("label", {}, "block "), blocks, make("label", {}, "warp ", which), make("span", { class: "lab-note" }, `of ${warps}`)));
  panel.append(status);
  const stepper = new Stepper(panel, (source) => mark(figure, source));
  place.append(panel);
  const record = () =>
    act(figure, async () => {
      status.textContent = "Running…";
      const only = choice ? Number(choice.value) : 0;
      const context = { source, launch: launches[only], block: [0, 1, 2].map((axis) => Number(blocks[axes.indexOf(axis)]?.value ?? 0)), warp: Number(which.value) };
      // A kernel that a defect ends has steps, too.
      const [answer] = await repeat(file, { steps: { block: context.block, warp: context.warp, limit: STEPS }, only }).catch((error) => {
        if (!error.failure?.steps?.length) throw error;
        return [{ steps: error.failure.steps, places: error.places, ended: failure(error) }];
      });
      status.textContent = answer.ended ?? (answer.steps.length === STEPS ? `The first ${STEPS} instructions of the warp.` : "");
      stepper.show(answer.steps, { ...context, places: answer.places });
    }).catch((error) => (status.textContent = failure(error)));
  for (const input of [which, ...blocks, choice].filter(Boolean)) input.addEventListener("change", record);
  await record();
  stepper.element.focus();
}
