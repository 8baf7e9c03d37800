// Does every exercise in a headless Chromium, as a reader would: `node exercises.mjs SITE`, where SITE is the book of this folder (`book`), built with
// the compiler. The starter of each must fail with the words that its manifest promises, and its solution must pass; of predictions, a wrong and
// a right one are tried. Two pages work side by side, because each has one compiler and one check. Of the exercises that are compiled, each chapter's
// first and every sixth are done; with UNROLLED_EVERY_EXERCISE, all are.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { browser, serve } from "../../../simulator/web/tests/browser.mjs";

const [site, pictures] = process.argv.slice(2);
const lab = join(site, "lab");
if (!existsSync(join(lab, "clang/bundle.js"))) {
  console.log("SKIPPED: the book has no compiler");
  process.exit(process.env.UNROLLED_REQUIRE_COMPILER ? 1 : 0);
}
const PAGES = 2;
const EVERY = Boolean(process.env.UNROLLED_EVERY_EXERCISE || process.env.ONLY);

const wanted = process.env.ONLY ?? "";
const folders = readdirSync(join(lab, "exercises")).sort();
const exercises = folders
  .flatMap((chapter) => readdirSync(join(lab, "exercises", chapter)).map((file) => [`${chapter}/${file.slice(0, -5)}`, JSON.parse(readFileSync(join(lab, "exercises", chapter, file), "utf8"))]))
  .filter(([stem]) => stem.includes(wanted))
  .filter(([stem, { manifest }], at) => EVERY || manifest.predict || stem.endsWith("/1") || at % 6 === 0);
assert.ok(exercises.length > 0);

const server = await serve({ "": site });
const chromium = await browser();
const complaints = [];
chromium.onEvent = (method, params) => {
  if (method === "Runtime.exceptionThrown") complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === "Runtime.consoleAPICalled" && params.type === "error") complaints.push(params.args.map(({ value }) => value).join(" "));
};
const times = { check: [], optimized: [], plain: [] };
let failed = 0;

async function tested(name, test) {
  try {
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

/** What a test does with one figure of a page. */
function handle(page, stem) {
  const element = `document.querySelector('[data-exercise="${stem}"]')`;
  const press = (action) => page.evaluate(`${element}.querySelector('[data-action=${action}]').click()`);
  const settled = async () => {
    await page.until(`["done", "failed"].includes(${element}.dataset.state)`, 180);
    return page.evaluate(`({ ...${element}.dataset, text: ${element}.querySelector(".verdict").textContent, kind: ${element}.querySelector(".verdict").className, passed: "passed" in ${element}.dataset })`);
  };
  return {
    press,
    /** Has a text checked, and returns the verdict. */
    async check(text) {
      if (text !== undefined) {
        await page.evaluate(`${element}.exercise.edit().then(() => { ${element}.exercise.editor.text = ${JSON.stringify(text)}; })`);
      }
      await press("check");
      return settled();
    },
    async answer(numbers) {
      await page.evaluate(`${element}.querySelectorAll(".answer input").forEach((field, at) => { field.value = ${JSON.stringify(numbers.map(String))}[at]; })`);
      await press("check");
      return settled();
    },
    evaluate: (expression) => page.evaluate(expression.replaceAll("$figure", element)),
  };
}

async function kernel(page, stem, { manifest, starter, solution }) {
  const exercise = handle(page, stem);
  const first = await exercise.check(starter);
  assert.equal(first.kind, "verdict wrong", first.text);
  assert.ok(first.text.includes(manifest.starter_says), `expected "${manifest.starter_says}", got\n${first.text}`);
  assert.ok(!first.text.includes("does not compile"), first.text);
  const second = await exercise.check(solution);
  assert.equal(second.kind, "verdict right", second.text);
  assert.match(second.text, /^passed: right at all \d+ sizes/);
  assert.ok(second.passed);
  for (const [name, list] of Object.entries(times)) list.push(Number(second[`${name}Ms`]));
}

async function prediction(page, stem, { manifest, counted }) {
  const exercise = handle(page, stem);
  const near = manifest.predict.questions.flatMap(({ near }, at) => (near ?? []).map((wrong) => [at, wrong]));
  for (const [at, { value, says }] of near) {
    const wrong = await exercise.answer(counted.map((number, place) => (place === at ? value : number)));
    assert.equal(wrong.kind, "verdict wrong", wrong.text);
    assert.ok(wrong.text.includes(says.trim()), `expected "${says}", got\n${wrong.text}`);
  }
  const right = await exercise.answer(counted);
  assert.equal(right.kind, "verdict right", right.text);
  assert.ok(right.text.includes("passed. "));
}

/** What a reader can do besides: hints, solution, starting again, cancel, a text that does not compile, one that does not end. */
async function behavior(page) {
  const [stem, { solution, manifest }] = exercises.find(([, { manifest }]) => manifest.kernel);
  const exercise = handle(page, stem);
  const { evaluate, press, check } = exercise;
  const visible = () => evaluate(`[...$figure.querySelectorAll("details.hint")].filter((hint) => !hint.hidden).length`);
  assert.equal(await visible(), 0);
  await press("hint");
  assert.equal(await visible(), 1);
  await evaluate("localStorage.clear()");
  await press("solution");
  assert.equal(await evaluate(`$figure.querySelector(".shown").hidden`), true, "it asks first");
  await press("solution");
  await page.until(`!document.querySelector('[data-exercise="${stem}"] .shown').hidden`);
  assert.ok((await evaluate(`$figure.querySelector(".shown").textContent`)).includes(solution.split("\n").at(-2)));

  const broken = await check(solution.replace("__global__ void", "__global__ viod"));
  assert.match(broken.text, /^it does not compile:/);
  assert.ok(!broken.text.includes("sm_80"), broken.text);
  assert.ok((await evaluate(`JSON.parse(localStorage.getItem("unrolled.exercise.${stem}")).text`)).includes("viod"), "the text is remembered");
  const brace = solution.indexOf("{", solution.indexOf(manifest.kernel.name));
  const endless = await check(`${solution.slice(0, brace + 1)}\nfor (volatile int i = 0; i < 1; i += 0) {}\n${solution.slice(brace + 1)}`);
  assert.match(endless.text, /does not end/);
  await press("reset");
  assert.ok((await evaluate("$figure.exercise.editor.text")).includes("volatile int i"), "it asks first");
  await press("reset");
  assert.equal(await evaluate("$figure.exercise.editor.text === $figure.exercise.data.starter"), true);
  await press("reset");
  assert.ok((await evaluate("$figure.exercise.editor.text")).includes("volatile int i"));

  // With the keyboard only: Tab indents, Ctrl+Enter checks and changes nothing, Escape and Tab leave the text.
  await evaluate("$figure.exercise.editor.text = $figure.exercise.data.starter; $figure.exercise.editor.focus()");
  await page.press("Tab");
  assert.equal(await evaluate("$figure.exercise.editor.text.length - $figure.exercise.data.starter.length"), 4);
  await evaluate(`$figure.exercise.editor.text = ${JSON.stringify(solution)}; delete $figure.dataset.state`);
  await page.press("Enter", { control: true });
  await page.until(`["done", "failed"].includes(document.querySelector('[data-exercise="${stem}"]').dataset.state)`, 180);
  assert.equal(await evaluate(`$figure.querySelector(".verdict").className`), "verdict right");
  assert.equal(await evaluate("$figure.exercise.editor.text"), solution);
  await page.press("Escape");
  await page.press("Tab");
  assert.equal(await evaluate("document.activeElement.closest('.lab-editor') === null && document.activeElement !== document.body"), true);

  // Canceled at once, while it compiles; then the check works again.
  await evaluate(`$figure.exercise.editor.text = ${JSON.stringify(solution)}`);
  await press("check");
  await press("cancel");
  await page.until(`document.querySelector('[data-exercise="${stem}"]').dataset.state === "failed"`);
  assert.match(await evaluate(`$figure.querySelector(".status").textContent`), /canceled/);
  assert.equal((await check()).kind, "verdict right");
}

/** A reader looks at the requests of what they wrote, and steps through it. Returns the sectors of each line's drawing. */
async function looked(page, stem, text) {
  const { check, press, evaluate } = handle(page, stem);
  await check(text);
  const shown = async (action) => {
    await evaluate(`$figure.dataset.state = ""`);
    await press(action);
    await page.until(`["done", "failed"].includes(document.querySelector('[data-exercise="${stem}"]').dataset.state)`);
    assert.equal(await evaluate(`$figure.dataset.state`), "done", await evaluate(`$figure.querySelector("[role=alert]")?.textContent`));
  };
  await shown("accesses");
  await shown("steps");
  assert.match(await evaluate(`$figure.querySelector(".lab-stepper output").textContent`), /^1 of \d\d+/);
  assert.notEqual(await evaluate(`$figure.querySelector(".lab-place .line").textContent`), "");
  const drawn = await evaluate(`[...$figure.querySelectorAll(".lab-request svg")].map((svg) => [svg.getAttribute("aria-label"), svg.querySelectorAll(".moved").length])`);
  for (const [label, sectors] of drawn) assert.ok(label.includes(`${sectors} sector`), label);
  await press("accesses");
  assert.equal(await evaluate(`$figure.querySelectorAll(".lab-request").length`), 0, "a second press closes it");
  await press("accesses");
  return drawn.map(([, sectors]) => sectors);
}

const start = performance.now();
try {
  const opened = await Promise.all(Array.from({ length: PAGES }, () => chromium.open(`${server.address}/exercises.html`)));
  const all = `document.readyState === "complete" && document.querySelector("[data-lab]") && [...document.querySelectorAll("[data-lab]")].every((figure) => figure.dataset.state === "ready")`;
  await Promise.all(opened.map((page) => page.until(all)));
  const shown = await opened[0].evaluate(`[...document.querySelectorAll("[data-exercise]")].map((figure) => figure.dataset.exercise)`);
  const missing = exercises.map(([stem]) => stem).filter((stem) => !shown.includes(stem));
  await tested("the page has every exercise", () => assert.deepEqual(missing, [], "`.ci/web` adds them to the page"));
  if (exercises.some(([, { manifest }]) => manifest.kernel)) await tested("hints, solution, mistakes, cancel", () => behavior(opened[0]));
  const left = [...exercises];
  await Promise.all(
    opened.map(async (page) => {
      while (left.length > 0) {
        const [stem, data] = left.shift();
        await tested(stem, () => (data.manifest.predict ? prediction : kernel)(page, stem, data));
      }
    }),
  );
  // Both pages remember in the same place.
  const page = await chromium.open(`${server.address}/progress.html`);
  const journal = `document.querySelector("[data-lab=journal]")`;
  await page.until(`${journal}?.dataset.state === "ready"`);
  await tested("all of it is in the file that a leader gets, and is forgotten on demand", async () => {
    const read = () => page.evaluate(`${journal}.journal()`);
    const written = Object.entries(await read());
    assert.deepEqual(written.map(([name]) => name.replace(/(\d)-[^/]*$/, "$1")).sort(), exercises.map(([stem]) => stem).sort());
    for (const [name, { attempts, checks, passed }] of written) assert.ok(attempts >= 1 && checks >= attempts && !Number.isNaN(Date.parse(passed)), name);
    const rows = await page.evaluate(`[...${journal}.querySelectorAll(".passed")].map(({ textContent }) => textContent)`);
    if (EVERY && !wanted) rows.forEach((row) => assert.match(row, /^(\d+) of \1$/));
    await page.evaluate(`${journal}.querySelector("[data-action=export]").click()`);
    assert.match(await page.evaluate(`${journal}.textContent`), /Saved as/);
    await page.evaluate(`${journal}.querySelector("[data-action=forget]").click()`);
    assert.equal(Object.keys(await read()).length, written.length, "it asks first");
    await page.evaluate(`${journal}.querySelector("[data-action=forget]").click()`);
    assert.deepEqual(await read(), {});
  });
  await page.close();
  const data = (stem) => JSON.parse(readFileSync(join(lab, `exercises/${stem}.json`), "utf8"));
  for (const [width, theme] of [[1280, "light"], [390, "navy"]]) {
    const page = await chromium.open(`${server.address}/exercises.html`, { width });
    await page.until(all);
    await page.evaluate(`document.documentElement.className = "${theme}"`);
    if ("01-conv-naive/2".includes(wanted)) await tested(`readers see what their kernel asks memory for, at ${width} pixels`, async () => {
      assert.deepEqual(await looked(page, "01-conv-naive/2", data("01-conv-naive/2").solution), [4, 4]);
      assert.deepEqual(await looked(page, "01-conv-naive/7", data("01-conv-naive/7").starter), [32, 32]);
      // Of a kernel that a defect ends, there are the steps up to the defect.
      const { check, press, evaluate } = handle(page, "01-conv-naive/3");
      assert.match((await check(data("01-conv-naive/3").starter)).text, /out of bounds/);
      await press("steps");
      await page.until(`document.querySelector('[data-exercise="01-conv-naive/3"] .lab-stepper output')?.textContent`);
      assert.match(await evaluate(`$figure.querySelector(".lab-panel [role=status]").textContent`), /out of bounds/);
    });
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    await tested(`nothing is wider than ${width} pixels`, () => assert.ok(overflow <= 0, `${overflow} pixels too wide`));
    if (pictures) await page.picture(join(pictures, `exercises-${width}-${theme}.png`));
    await page.close();
  }
  await tested("no page complains", () => assert.deepEqual(complaints, []));
} finally {
  await chromium.close();
  server.close();
}
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
if (times.check.length > 0) {
  const [check, optimized, plain] = [times.check, times.optimized, times.plain].map(median);
  console.log(`a check that passes takes ${check} ms in the middle, ${times.check.at(-1)} ms at most; compiling takes ${optimized} ms, and ${plain} ms without optimization`);
}
console.log(`${Math.round((performance.now() - start) / 1000)} s in all; ${failed === 0 ? "every exercise works" : `${failed} failed`}`);
process.exitCode = failed === 0 ? 0 : 1;
