// Opens every page of the book in a headless Chromium, and moves what moves in it: `node pages.mjs SITE [PICTURES]`. Each page is opened on a wide
// screen in light and on a narrow one in dark, and its figures are moved on one of the two, by turns. With UNROLLED_ALL_SCREENS, each page is also opened
// the other way round, and figures are moved on all screens. What the figures then say is tested by `lab.mjs` and `exercises.mjs`.
//
// With UNROLLED_AXE, the path of axe-core's script, axe-core judges every third page after its figures have moved, and with UNROLLED_ALL_SCREENS each page on
// all screens.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { browser, serve } from "../../../simulator/web/tests/browser.mjs";

const [site, pictures] = process.argv.slice(2);
const SCREENS = [[1280, false], [390, true]];
const ALL = Boolean(process.env.UNROLLED_ALL_SCREENS);
if (ALL) SCREENS.push([1280, true], [390, false]);
/** Pages that only repeat others, or lead to one. */
const OTHERS = ["print.html", "toc.html", "404.html", "index.html"];
const SIDE_BY_SIDE = 4;
const AXE = process.env.UNROLLED_AXE && readFileSync(process.env.UNROLLED_AXE, "utf8");

const names = readdirSync(site, { recursive: true })
  .filter((name) => name.endsWith(".html") && !OTHERS.includes(name) && !name.startsWith("lab/") && name.includes(process.env.ONLY ?? ""))
  .sort();
assert.ok(names.length > 0);

/** How a reader moves a figure of each kind, in the page; each says what is wrong, or nothing. */
const MOVES = `({
  settled: (figure) => new Promise((resolve) => { const wait = () => (["done", "failed"].includes(figure.dataset.state) ? resolve(figure.dataset.state) : setTimeout(wait, 10)); wait(); }),
  async react(figure, action) { figure.dataset.state = ""; action(); return (await this.settled(figure)) === "done" ? "" : figure.querySelector("[role=alert]")?.textContent || "it failed"; },
  async predict(figure) {
    const { answer } = figure.dataset;
    for (const [value, said] of [[10 * answer + 10, "Too high."], [answer, "Yes."]]) {
      figure.querySelector("input").value = value;
      await this.react(figure, () => figure.querySelector("form").requestSubmit());
      const verdict = figure.querySelector(".verdict").textContent;
      if (verdict !== said) return value + " is answered with " + verdict;
    }
    return figure.querySelector("details.answer").open ? "" : "the answer is not shown";
  },
  async explain(figure) {
    for (const row of figure.querySelectorAll("tr.asks")) {
      const wrong = await this.react(figure, () => row.click());
      if (wrong) return wrong;
      if (!figure.querySelector(".lab-request svg")) return "there is no drawing of a request";
    }
    const step = [...figure.querySelectorAll("button")].find(({ textContent }) => textContent.startsWith("Step through"));
    const wrong = step && (await this.react(figure, () => step.click()));
    return step ? wrong || this.steps(figure) : "";
  },
  steps(figure) {
    const slider = figure.querySelector(".lab-stepper input[type=range]");
    for (let at = 0; at <= Number(slider.max); at += at < 500 ? 1 : 17) {
      slider.value = at;
      slider.dispatchEvent(new Event("input"));
      const place = figure.querySelector(".lab-place");
      if (!place.querySelector(".line")?.textContent) return "step " + (at + 1) + " shows no line of C: " + place.textContent;
    }
    return Number(slider.max) > 0 ? "" : "there is nothing to step through";
  },
  async slide(figure) {
    for (const control of figure.querySelectorAll("[data-control]")) {
      const moved = control.querySelector("input, select, button");
      for (const end of [0, 1]) {
        const wrong = await this.react(figure, () => {
          if (moved.type === "range") { moved.value = end ? moved.max : moved.min; moved.dispatchEvent(new Event("input")); }
          else if (moved.tagName === "SELECT") { moved.selectedIndex = end * (moved.options.length - 1); moved.dispatchEvent(new Event("change")); }
          else moved.click();
        });
        if (wrong) return control.dataset.control + ": " + wrong;
      }
    }
    return figure.querySelector(".lab-drawing svg") ? "" : "there is no drawing";
  },
  roofline(figure) { return this.react(figure, () => { const slider = figure.querySelector("input"); slider.value = slider.max; slider.dispatchEvent(new Event("input")); }); },
  async exercise(figure) {
    figure.querySelector("[data-action=hint]")?.click();
    await figure.exercise.edit?.();
    if (!figure.querySelector("[data-action=check]")) return "there is nothing to check it with";
    return [...figure.querySelectorAll("details.hint")].some(({ hidden }) => !hidden) ? "" : "there is no hint";
  },
  journal(figure) { return this.react(figure, () => figure.querySelector("[data-action=forget]").click()); },
})`;

/**
 * What axe-core finds in a page, all its rules and the one about fingers. A shadow at the edge of a box would keep it from judging colors in the box, and so would
 * a mark for screen readers on the colored text of an editor.
 */
const JUDGE = `(async () => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: "*, *::before, *::after { background-image: none !important; transition: none !important; }" }));
  for (const text of document.querySelectorAll(".lab-editor [aria-hidden]")) text.removeAttribute("aria-hidden");
  const { violations } = await axe.run(document, { preload: false, resultTypes: ["violations"], rules: { "target-size": { enabled: true } } });
  const small = innerWidth < 600 ? [...document.querySelectorAll("input:is([type=text], [type=number]), select, textarea")].filter((field) => field.checkVisibility() && Number.parseFloat(getComputedStyle(field).fontSize) < 16) : [];
  return [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) => id + ": " + target.join(" ") + ": " + [...any, ...all, ...none].map(({ message }) => message).join("; "))),
    ...small.map(({ outerHTML }) => "a phone zooms into a field with letters of less than 16 pixels: " + outerHTML.slice(0, 120)),
  ];
})()`;

const server = await serve({ "": site });
const chromium = await browser();
const wrong = [];
const moved = {};
let judged = 0;
chromium.onEvent = (method, params) => {
  if (method === "Runtime.exceptionThrown") wrong.push(`a page threw ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`);
};

async function look(name, moves, isJudged, width, dark) {
  const at = `${name} at ${width} pixels in the ${dark ? "dark" : "light"}`;
  const page = await chromium.open(`${server.address}/${name}`, { width, dark });
  try {
    await page.until(`location.protocol === "http:" && document.readyState === "complete"`);
    // An experiment starts when it is on the screen.
    if (moves) await page.until(`(() => { const waiting = [...document.querySelectorAll("figure[data-slide]")].find(({ dataset }) => !dataset.readyMs && dataset.state !== "failed"); waiting?.scrollIntoView(); return !waiting; })()`);
    if (moves) await page.until(`[...document.querySelectorAll("figure[data-lab]")].every(({ dataset }) => dataset.readyMs || dataset.state === "failed")`);
    const said = !moves ? [] : await page.evaluate(`(async () => {
      const moves = ${MOVES};
      const said = [];
      for (const [at, figure] of document.querySelectorAll("figure[data-lab]").entries()) {
        const kind = figure.dataset.lab;
        said.push([kind, figure.dataset.state === "failed" ? "it does not start" : await moves[kind](figure)]);
      }
      return said;
    })()`);
    for (const [kind, problem] of said) {
      moved[kind] = (moved[kind] ?? 0) + 1;
      if (problem) wrong.push(`${at}: ${kind}: ${problem}`);
    }
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    if (overflow > 0) wrong.push(`${at}: ${overflow} pixels too wide`);
    if (AXE && isJudged) {
      await page.evaluate(`${AXE}; 0`);
      judged += 1;
      for (const problem of new Set(await page.evaluate(JUDGE))) wrong.push(`${at}: ${problem}`);
    }
    if (pictures) {
      mkdirSync(pictures, { recursive: true });
      await page.picture(join(pictures, `${name.replaceAll("/", ".").slice(0, -5)}-${width}${dark ? "-dark" : ""}.png`));
    }
  } catch (error) {
    wrong.push(`${at}: ${error.message}`);
  }
  await page.close();
}

const start = performance.now();
try {
  const left = names.flatMap((name, number) => SCREENS.map((screen, at) => [name, ALL || at === number % SCREENS.length, ALL || (at === number % SCREENS.length && number % 3 === 0), ...screen]));
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      while (left.length > 0) await look(...left.shift());
    }),
  );
} finally {
  await chromium.close();
  server.close();
}
const counted = Object.entries(moved).map(([kind, count]) => `${count} ${kind}`).join(", ");
console.log(`${names.length} pages on ${SCREENS.length} screens in ${Math.round((performance.now() - start) / 1000)} s; moved ${counted || "nothing"}; axe-core judged ${judged}`);
for (const problem of wrong) console.log(`FAILED  ${problem}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
