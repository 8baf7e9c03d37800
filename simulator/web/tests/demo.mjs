// Drives the demo page in a headless Chromium: `node demo.mjs SITE [PICTURES]`. SITE is what `cargo book web --demo` writes.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { browser, serve } from "./browser.mjs";

const [site, pictures] = process.argv.slice(2);
const server = await serve({ "": site });
const chromium = await browser();
let page;

/** Waits for the end of what the page is doing, and returns its state. */
async function settled() {
  await page.until(`document.body.dataset.state !== "running" && document.getElementById("cancel").disabled`);
  return page.evaluate("document.body.dataset.state");
}

/** Sets a control and lets the page know, as a reader's hand would. */
const set = (id, value, events = ["input", "change"]) =>
  page.evaluate(`{ const control = document.getElementById("${id}"); control.value = ${JSON.stringify(value)};
    for (const name of ${JSON.stringify(events)}) control.dispatchEvent(new Event(name, { bubbles: true })); }`);
const click = (selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
const text = (id) => page.evaluate(`document.getElementById("${id}").textContent`);
const counter = (name) =>
  page.evaluate(`Number([...document.querySelectorAll("#counters tr")].find((row) => row.cells[0].textContent === "${name}").cells[1].textContent.replaceAll(",", ""))`);
const broken = (change) => page.evaluate(`{ const box = document.getElementById("ptx"); box.value = (${change})(box.value); document.getElementById("run").click(); }`);

const tests = {
  async "the first result is there within a second of loading"() {
    const milliseconds = Number(await page.evaluate("document.body.dataset.firstResultMs"));
    console.log(`    first result after ${milliseconds} ms`);
    assert.ok(milliseconds < (Number(process.env.UNROLLED_FIRST_RESULT_MS) || 1000));
  },
  async "the stride decides how many sectors a load needs"() {
    // The load of the signal needs as many as there are between the first and the last float; the filter's load needs one more.
    for (const [stride, first, sectors] of [[1, 0, 4], [1, 1, 5], [2, 0, 8], [4, 0, 16], [8, 0, 32], [32, 0, 32], [3, 5, 13]]) {
      await set("first", first);
      await set("stride", stride);
      assert.equal(await settled(), "done");
      assert.match(await text("sentence"), new RegExp(`in ${sectors} sectors of 32`), `stride ${stride}, first ${first}`);
      assert.equal(await page.evaluate(`document.querySelectorAll("#drawing .sector").length`), sectors);
    }
  },
  async "the chapter's kernels have the counters of the strides 1 and 8"() {
    for (const [kernel, stride] of [["naive", 1], ["naive_strided", 8]]) {
      await set("first", 0);
      await click("input[value=strided]");
      await set("stride", stride);
      await settled();
      const expected = await counter("bytes that lanes asked for");
      await click(`input[value=${kernel}]`);
      assert.equal(await settled(), "done");
      assert.equal(await counter("bytes that lanes asked for"), expected);
      assert.match(await text("sentence"), stride === 1 ? /in 4 sectors/ : /in 32 sectors/);
    }
    await click("input[value=strided]");
    await settled();
  },
  async "a GPU of 2008 counts by its own rules"() {
    await set("stride", 1);
    await settled();
    const now = await counter("sectors of global loads");
    await set("profile", "9800gt");
    assert.equal(await settled(), "done");
    assert.notEqual(await counter("sectors of global loads"), now);
    await set("profile", "h200");
    await settled();
  },
  async "the arrow keys step through the warp"() {
    await set("step", 0, ["input"]);
    const before = await text("instruction");
    await page.evaluate(`document.getElementById("stepper").focus()`);
    for (let at = 0; at < 12; at++) await page.press("ArrowRight");
    assert.notEqual(await text("instruction"), before);
    assert.match(await text("step-value"), /^13 of /);
    await page.press("ArrowLeft");
    assert.match(await text("step-value"), /^12 of /);
    assert.match(await text("place"), /strided\.cu:\d+/);
    assert.ok(await page.evaluate(`document.querySelectorAll("#registers td").length >= 32`));
    assert.equal(await page.evaluate(`document.querySelectorAll("#source tr.here").length`), 1);
  },
  async "broken PTX is answered with its line"() {
    await broken(`(text) => text.replace("fma.rn.f32", "fam.rn.f32")`);
    assert.equal(await settled(), "failed");
    assert.match(await text("problem"), /fam\.rn\.f32 is not supported.*PTX line \d+/s);
    await click("#restore");
    assert.equal(await settled(), "done");
  },
  async "a removed guard is found, with the line of CUDA"() {
    await set("outputs", "1000", ["input"]);
    await broken(`(text) => text.replaceAll(/setp\\.ge\\.u32[ \\t]+(%p[27]), [^;]*;/g, "setp.ne.u32 $1, 0, 0;")`);
    assert.equal(await settled(), "failed");
    assert.match(await text("problem"), /out of bounds.*strided\.cu:\d+/s);
    await set("outputs", "2048", ["input"]);
    await click("#restore");
    assert.equal(await settled(), "done");
  },
  async "an endless loop ends by itself"() {
    await broken(`(text) => text.replace(/setp\\.lt\\.u32[ \\t]+%p5, [^;]*;/, "setp.eq.u32 %p5, 0, 0;").replace("add.s64 \\t%rd17, %rd17, 4", "add.s64 \\t%rd17, %rd17, 0").replace("add.s32 \\t%r24, %r24, 1", "add.s32 \\t%r24, %r24, 0")`);
    assert.equal(await settled(), "failed");
    assert.match(await text("problem"), /does not end.*loop that does not end/s);
    await click("#restore");
    assert.equal(await settled(), "done");
  },
  async "a run can be canceled, and the page goes on"() {
    await set("taps", "4000000", ["input"]);
    await click("#run");
    await page.until(`document.body.dataset.state === "running"`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await click("#cancel");
    assert.equal(await settled(), "failed");
    assert.match(await text("problem"), /canceled/);
    await set("taps", "16", ["input", "change"]);
    assert.equal(await settled(), "done");
    assert.equal(await page.evaluate(`document.getElementById("problem").hidden`), true);
  },
  async "too much memory is refused, and the page goes on"() {
    for (const outputs of ["2000000000", "200000000"]) {
      await set("outputs", outputs, ["input"]);
      await click("#run");
      assert.equal(await settled(), "failed");
      assert.match(await text("problem"), /out of memory/);
      await set("outputs", "2048", ["input", "change"]);
      assert.equal(await settled(), "done");
    }
  },
  async "a module that ends itself is replaced"() {
    const outcome = await page.evaluate(`(async () => {
      const { Simulator } = await import("./simt/simulator.js");
      const simulator = await Simulator.open("simt/simt.wasm");
      await simulator.load(document.getElementById("ptx").value);
      const numbers = await simulator.buffer(new Float32Array([1, 2, 3]), "numbers");
      // Its list of the threads that took turns cannot have so many entries.
      const large = { kernel: "strided", grid: [0x7fffffff, 65535, 1], block: [1, 1, 1], arguments: [numbers, numbers, { u32: 0 }, { u32: 0 }, { u32: 0 }, { u32: 0 }, numbers], cooperative: true };
      const ended = await simulator.launch(large).then(() => "done", (error) => error.message);
      const read = [...(await numbers.floats())];
      simulator.close();
      return { ended, read };
    })()`);
    assert.match(outcome.ended, /out of memory|the simulator itself failed/);
    assert.deepEqual(outcome.read, [1, 2, 3]);
  },
  async "a number that is none is refused"() {
    await set("outputs", "-3");
    assert.equal(await settled(), "failed");
    assert.match(await text("problem"), /outputs must be a whole number/);
    await set("outputs", "2048");
    assert.equal(await settled(), "done");
  },
};

let failed = 0;
try {
  page = await chromium.open(`${server.address}/index.html`);
  await page.until("document.body.dataset.firstResultMs");
  const wanted = process.env.ONLY;
  for (const [name, test] of Object.entries(tests)) {
    if (wanted && !name.includes(wanted)) continue;
    try {
      await test();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack}\n${JSON.stringify(await text("problem"))}`);
    }
  }
  for (const [width, dark] of [[1280, false], [400, false], [1280, true], [400, true]]) {
    const other = await chromium.open(`${server.address}/index.html`, { width, dark });
    await other.until("document.body.dataset.firstResultMs");
    await other.evaluate(`{ const slider = document.getElementById("stride"); slider.value = 3; slider.dispatchEvent(new Event("input")); document.querySelector("#step").value = 20; document.querySelector("#step").dispatchEvent(new Event("input")); }`);
    await other.until(`document.getElementById("sentence").textContent.includes("12 sectors") || document.getElementById("sentence").textContent.includes("13 sectors")`);
    const overflow = await other.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    if (overflow > 0) {
      failed += 1;
      console.log(`FAILED  the page is ${overflow} pixels too wide at ${width}`);
    }
    if (pictures) {
      mkdirSync(pictures, { recursive: true });
      await other.picture(`${pictures}/demo-${width}${dark ? "-dark" : ""}.png`);
    }
    await other.close();
  }
} finally {
  await chromium.close();
  server.close();
}
console.log(failed === 0 ? "the demo works" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
