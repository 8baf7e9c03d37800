// Moves everything that moves in pages, in a headless Chromium: `node lab.mjs SITE [PICTURES]`. SITE is the book in `tests/book`, built by
// `cargo book --book` with the compiler.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browser, serve } from "../../../simulator/web/tests/browser.mjs";

const [site, pictures] = process.argv.slice(2);
/** How long a reader may wait for what moves first, in milliseconds. */
const FIRST = Number(process.env.UNROLLED_FIRST_RESULT_MS) || 1000;

const server = await serve({ "": site });
const chromium = await browser();
const exceptions = [];
chromium.onEvent = (method, params) => {
  if (method === "Runtime.exceptionThrown") exceptions.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
};

/** A page of the book with words for what a reader does. */
class Reader {
  static async open(name, options) {
    const reader = new Reader();
    reader.page = await chromium.open(`${options?.address ?? server.address}/${name}.html`, options);
    await reader.page.until(`location.protocol === "http:" && document.readyState === "complete"`);
    return reader;
  }

  evaluate = (expression) => this.page.evaluate(expression);
  until = (expression, seconds) => this.page.until(expression, seconds);
  close = () => this.page.close();

  /** An expression for a figure. */
  figure = (at) => `document.querySelectorAll("figure[data-lab]")[${at}]`;
  state = (at) => this.evaluate(`${this.figure(at)}.dataset.state`);

  /** Waits until all figures have started. An experiment does when it is on the screen. */
  async ready() {
    await this.until(`(() => { const waiting = [...document.querySelectorAll("figure[data-lab]")].find(({ dataset }) => !dataset.readyMs && dataset.state !== "failed"); waiting?.scrollIntoView(); return !waiting; })()`);
  }

  /** Does something to a figure, waits until it has reacted, and returns its state. */
  async react(at, action, seconds = 60) {
    await this.evaluate(`{ const figure = ${this.figure(at)}; figure.dataset.state = ""; ${action} }`);
    await this.until(`["done", "failed"].includes(${this.figure(at)}.dataset.state)`, seconds);
    return this.state(at);
  }

  /** Presses the button with these words. */
  press = (at, words, seconds) => this.react(at, `[...figure.querySelectorAll("button")].find(({ textContent }) => textContent.startsWith(${JSON.stringify(words)})).click();`, seconds);

  text = (at, selector) => this.evaluate(`${this.figure(at)}.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`);
  count = (at, selector) => this.evaluate(`${this.figure(at)}.querySelectorAll(${JSON.stringify(selector)}).length`);

  /** Replaces a part of the text in the editor, compiles, and runs. */
  async change(at, from, to, seconds) {
    await this.evaluate(`{ const area = ${this.figure(at)}.querySelector("textarea"); if (!area.value.includes(${JSON.stringify(from)})) throw new Error("the text is not there");
      area.value = area.value.replace(${JSON.stringify(from)}, ${JSON.stringify(to)}); area.dispatchEvent(new Event("input")); }`);
    return this.press(at, "Compile and run", seconds);
  }

  restore = (at) => this.evaluate(`[...${this.figure(at)}.querySelectorAll("button")].find(({ textContent }) => textContent === "Restore").click()`);
}

const hasCompiler = existsSync(join(site, "lab/clang/bundle.js"));

const tests = {
  async "a page without figures loads no script"() {
    const reader = await Reader.open("index");
    assert.equal(await reader.evaluate(`performance.getEntriesByType("resource").some(({ name }) => name.endsWith("page.mjs"))`), false);
    await reader.close();
  },

  async "a page reacts within a second of loading"() {
    for (const [page, state] of [["explain", "ready"], ["stride", "done"], ["roofline", "done"]]) {
      const reader = await Reader.open(page);
      await reader.until(`${reader.figure(0)}.dataset.readyMs`);
      const waited = await reader.evaluate(`performance.now() - performance.getEntriesByType("navigation")[0].responseEnd`);
      console.log(`    ${page}: ${Math.round(waited)} ms`);
      assert.equal(await reader.state(0), state);
      assert.ok(waited < FIRST, `${page} took ${Math.round(waited)} ms`);
      await reader.close();
    }
  },

  async "without scripts, the static version stays"() {
    const bare = await serve({ lab: "/nowhere", "": site });
    const reader = await Reader.open("explain", { address: bare.address });
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(await reader.state(0), undefined);
    assert.ok((await reader.count(0, ".lab-source tr")) > 5);
    assert.match(await reader.text(0, ".lab-limit"), /^Lower bound: L1\/shared/);
    await reader.close();
    bare.close();
  },

  async "without the simulator, a line still shows what it asks for"() {
    const reader = await Reader.open("explain");
    await reader.page.send("Network.enable");
    await reader.page.send("Network.setBlockedURLs", { urls: ["*simt.wasm*"] });
    await reader.page.send("Page.reload");
    await new Promise((resolve) => setTimeout(resolve, 200));
    await reader.until(`${reader.figure(0)}.dataset.readyMs`);
    assert.equal(await reader.react(0, `figure.querySelector("tr.asks").click();`), "done");
    assert.equal(await reader.count(0, ".lab-request svg"), 1);
    assert.equal(await reader.count(0, ".lab-tools button"), 0);
    await reader.close();
  },

  async "a line shows lanes over sectors or over banks, by a click or a key"() {
    const reader = await Reader.open("explain");
    await reader.ready();
    assert.equal(await reader.react(0, `figure.querySelector("tr.hot").click();`), "done");
    assert.match(await reader.text(0, ".lab-request"), /5 sectors read for 32 lanes, 4 at best/);
    assert.equal(await reader.count(0, ".lab-request .moved"), 5);
    assert.equal(await reader.count(0, ".lab-request .way"), 32);
    await reader.press(0, "Next request");
    await reader.evaluate(`${reader.figure(0)}.querySelector("tr.hot button").focus()`);
    await reader.page.press("Enter");
    assert.equal(await reader.count(0, ".lab-request"), 0, "Enter closes what is open");
    await reader.page.press("Enter");
    assert.equal(await reader.count(0, ".lab-request"), 1);
    await reader.react(1, `figure.querySelector("tr.hot").click();`);
    assert.equal(await reader.count(1, ".lab-request .moved"), 32);
    // A row that reads from shared memory.
    await reader.react(2, `figure.querySelector("tr.hot").click();`);
    assert.match(await reader.text(2, ".lab-request"), /shared memory/);
    assert.equal(await reader.count(2, ".lab-request .way"), 32);
    await reader.close();
  },

  async "lanes that share a word both have a line to it"() {
    const reader = await Reader.open("explain");
    await reader.ready();
    const drawn = await reader.evaluate(`import("./lab/request.mjs").then(({ drawing }) => {
      const offsets = Array.from({ length: 32 }, (_, lane) => 4 * (lane >> 1));
      const box = drawing({ space: "shared", op: "load", bytes: 4, lanes: 0xffffffff, instruction: "ld", offsets });
      return [box.querySelectorAll(".way").length, box.querySelectorAll("rect.wanted").length, box.querySelectorAll("rect.clash").length, box.textContent];
    })`);
    assert.deepEqual(drawn.slice(0, 3), [32, 32 + 16, 0]);
    assert.match(drawn[3], /16 words are wanted by several lanes/);
    const conflict = await reader.evaluate(`import("./lab/request.mjs").then(({ drawing }) => {
      const offsets = Array.from({ length: 32 }, (_, lane) => 128 * (lane % 2) + 4 * (lane >> 1));
      return drawing({ space: "shared", op: "load", bytes: 4, lanes: 0xffffffff, instruction: "ld", offsets }).querySelectorAll("rect.clash").length;
    })`);
    assert.equal(conflict, 32);
    await reader.close();
  },

  async "a warp can be stepped through with buttons and arrow keys"() {
    const reader = await Reader.open("explain");
    await reader.ready();
    await reader.until(`${reader.figure(0)}.querySelector(".lab-tools button")`);
    assert.equal(await reader.press(0, "Step through a warp"), "done");
    assert.match(await reader.text(0, ".lab-stepper output"), /^1 of \d+/);
    await reader.until(`document.activeElement === ${reader.figure(0)}.querySelector(".lab-stepper")`, 5);
    for (let at = 0; at < 30; at++) await reader.page.press("ArrowRight");
    assert.match(await reader.text(0, ".lab-stepper output"), /^31 of/, "mdBook turns no page at an arrow key");
    await reader.page.press("ArrowLeft");
    assert.match(await reader.text(0, ".lab-stepper output"), /^30 of/);
    assert.equal(await reader.count(0, "tr.here"), 1);
    assert.equal(await reader.count(0, ".lab-mask span"), 32);
    assert.ok((await reader.count(0, ".lab-registers td")) >= 64);
    await reader.react(0, `const warp = figure.querySelector("input[aria-label=warp]"); warp.value = 3; warp.dispatchEvent(new Event("change"));`);
    assert.equal(await reader.state(0), "done");
    // A block that does not exist has no warp to step through.
    await reader.react(0, `const warp = figure.querySelector("input[aria-label=warp]"); warp.value = 999; warp.dispatchEvent(new Event("change"));`);
    assert.match(await reader.text(0, ".lab-place"), /executed nothing/);
    await reader.close();
  },

  async "each step shows its line of C, also outside the listing"() {
    const reader = await Reader.open("explain");
    await reader.ready();
    for (const at of [0, 1, 2]) {
      await reader.until(`${reader.figure(at)}.querySelector(".lab-tools button")`);
      await reader.press(at, "Step through a warp");
      const [steps, lines, outside] = await reader.evaluate(`(() => {
        const figure = ${reader.figure(at)};
        const slider = figure.querySelector(".lab-stepper input[type=range]");
        let [steps, lines, outside] = [0, 0, 0];
        for (slider.value = 0; steps <= Number(slider.max); slider.value = ++steps) {
          slider.dispatchEvent(new Event("input"));
          const shown = figure.querySelector(".lab-place .line")?.textContent ?? "";
          const here = figure.querySelector("tr.here");
          if (here && here.cells[here.cells.length - 1].textContent.trim() !== shown) throw new Error("the listing marks another line than " + shown);
          lines += shown !== "";
          outside += !here;
        }
        return [steps, lines, outside];
      })()`);
      assert.ok(steps > 100);
      assert.equal(lines, steps);
      // This listing has a part of its file.
      if (at === 1) assert.ok(outside > 0);
    }
    await reader.close();
  },

  async "a register has the name of its variable where it has its value"() {
    const reader = await Reader.open("explain");
    await reader.ready();
    await reader.until(`${reader.figure(0)}.querySelector(".lab-tools button")`);
    await reader.press(0, "Step through a warp");
    /** The rows of the first step from `from` on whose instruction begins so: name, register, words, and the value in lane 5. */
    const rows = (instruction, from = 0) => reader.evaluate(`(() => {
      const figure = ${reader.figure(0)};
      const slider = figure.querySelector(".lab-stepper input[type=range]");
      for (slider.value = ${from}; ; slider.value = Number(slider.value) + 1) {
        slider.dispatchEvent(new Event("input"));
        if (figure.querySelector(".lab-place code").textContent.startsWith("${instruction}")) break;
        if (slider.value === slider.max) throw new Error("there is no ${instruction}");
      }
      return [...figure.querySelectorAll(".lab-registers tr:not(.lanes)")].map(({ cells }) => [cells[0].textContent, cells[1].textContent, cells[7].textContent]);
    })()`);
    assert.match((await rows("ld.param.u64"))[0].join(), /^signal %rd\d+,signal in every lane/);
    assert.match((await rows("mad.lo"))[0].join(), /^i %r\d+,0, and \+1 per lane.*set in line \d+,5$/);
    // The index of the thread is the same number in block 0, but it is a part of `i`.
    assert.match((await rows("mov.u32 %r15, %tid.x"))[0].join(), /^%r15,0, and \+1 per lane.*,5$/);
    assert.match((await rows("ld.global.nc.f32 %f13"))[1].join(), /^%rd\d+,signal, and \+1 per lane.*,signal \+ 5$/);
    // Of four multiply-adds of an iteration, the last one makes the new sum.
    assert.match((await rows("fma.rn.f32"))[0][0], /^%f/);
    assert.match((await rows("fma.rn.f32 %f29"))[0][0], /^sum %f29$/);
    const [stored] = (await rows("st.global.f32")).filter(([name]) => name.startsWith("sum "));
    assert.match(stored[1], /set in line \d+: sum \+= window\[j\] \* filter\[j\];/);
    await reader.react(0, `const block = figure.querySelector('input[aria-label="block x"]'); block.value = 1; block.dispatchEvent(new Event("change"));`);
    assert.match((await rows("mad.lo"))[0].join(), /^i %r\d+,256, and \+1 per lane.*,261$/);
    await reader.close();
  },

  async "a name that could be false is not shown"() {
    const reader = await Reader.open("explain");
    const named = (text, line, instruction, { file = "k.cu", writes = ["%f1", 32, Array(32).fill(0)], more = [] } = {}) => {
      const step = (instruction, [register, bits, values], at) => ({ location: { instruction, ptx_line: at, source: { file, line } }, lanes: 0xffffffff, writes: [{ register, bits, values }] });
      const steps = [step(instruction, writes, 1), ...more.map((other, at) => step(other, ["%f9", 32, writes[2]], at + 2))];
      return reader.evaluate(`import("./lab/names.mjs").then(({ Names }) => new Names({ source: { path: "k.cu", text: ${JSON.stringify(`__global__ void k(float* a, unsigned n)\n{\n${text}\n}`)}, headers: [] },
        launch: { kernel: "k", grid: [1, 1, 1], block: [32, 1, 1], arguments: [{ buffer: 0 }, { u32: 7 }] }, block: [0, 0, 0], warp: 0, steps: ${JSON.stringify(steps)} }).of("${writes[0]}", 0)?.name)`);
    };
    const lanes = (of) => ["%r1", 32, Array.from({ length: 32 }, (_, lane) => of(lane))];
    assert.equal(await named("float x = a[1] * 2.0f;", 3, "mul.f32 %f1, %f2, %f3;"), "x");
    // A product that is fused with a sum of another line leaves only a part here.
    assert.equal(await named("float x = (a[0] - a[1]) * a[2];", 3, "sub.f32 %f1, %f2, %f3;"), undefined);
    assert.equal(await named("float x = a[1] + a[2] + a[3];", 3, "add.f32 %f1, %f2, %f3;", { more: ["add.f32 %f9, %f4, %f1;"] }), undefined);
    // It is changed where no register tells.
    assert.equal(await named("float x = a[1] * 2.0f;\nif (n > 3) x = 1.0f;", 3, "mul.f32 %f1, %f2, %f3;"), undefined);
    assert.equal(await named("float x = a[1] * 2.0f;\n{ float x = 3.0f; }", 3, "mul.f32 %f1, %f2, %f3;"), undefined);
    assert.equal(await named("unsigned i = threadIdx.x * 3 + n;", 3, "mad.lo.s32 %r1, %r2, 3, %r3;", { writes: lanes((lane) => 3 * lane + 7) }), "i");
    assert.equal(await named("unsigned i = threadIdx.x * 3 + n;", 3, "mul.lo.s32 %r1, %r2, 3;", { writes: lanes((lane) => 3 * lane) }), undefined);
    await reader.close();
  },

  async "a change is compiled, run, and compared"() {
    if (!hasCompiler) return "skipped: the site has no compiler";
    const reader = await Reader.open("explain");
    await reader.ready();
    await reader.until(`${reader.figure(0)}.querySelector(".lab-tools button")`);
    await reader.evaluate(`[...${reader.figure(0)}.querySelectorAll("button")].find(({ textContent }) => textContent === "Edit").click()`);
    await reader.until(`${reader.figure(0)}.querySelector("textarea")`);
    const start = performance.now();
    assert.equal(await reader.press(0, "Compile and run", 120), "done");
    console.log(`    from the button to the result: ${Math.round(performance.now() - start)} ms, with the compiler fetched from this machine`);
    assert.match(await reader.text(0, ".lab-verdict"), /equal to the stored kernel's/);
    assert.equal(await reader.count(0, ".lab-result tr.changed"), 0, "an unchanged text has the same counts");
    await reader.change(0, "window[j] * filter[j]", "2 * window[j] * filter[j]");
    assert.match(await reader.text(0, ".lab-verdict"), /512 of 512 differ.*output\[0\]/);
    await reader.react(0, `figure.querySelector(".yours tr.asks").click();`);
    assert.equal(await reader.count(0, ".yours .lab-request"), 1);
    await reader.restore(0);
    assert.equal(await reader.change(0, "float sum", "flaot sum"), "failed");
    assert.match(await reader.text(0, ".lab-result"), /01-conv-naive\.cu\(\d+\): error: unknown type name 'flaot'/);
    assert.equal(await reader.count(0, ".lab-editor-numbers .marked"), 1);
    await reader.restore(0);
    assert.equal(await reader.change(0, "const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;", "const unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 8;"), "done");
    assert.match(await reader.text(0, ".lab-verdict"), /differ/);
    await reader.restore(0);
    // Without the guard, and with an index past the end.
    assert.equal(await reader.change(0, "if (i >= outputs) {", "if (i >= 2 * outputs) {"), "done", "as many threads as outputs need no guard");
    await reader.restore(0);
    assert.equal(await reader.change(0, "output[i] = sum;", "output[i + 1] = sum;"), "failed");
    assert.match(await reader.text(0, ".lab-result"), /out of bounds.*output.*01-conv-naive\.cu:\d+/s);
    await reader.restore(0);
    assert.equal(await reader.change(0, "++j", "j += 0"), "failed");
    assert.match(await reader.text(0, ".lab-result"), /does not end.*loop that does not end/s);
    await reader.restore(0);
    // A long run is canceled. A block has fuel for it, and there are many iterations.
    await reader.evaluate(`{ const area = ${reader.figure(0)}.querySelector("textarea"); area.value = area.value.replace("j < taps; ++j) {", "j < 600000; ++j) {").replaceAll("window[j] * filter[j]", "window[j % taps] * filter[j % taps]"); area.dispatchEvent(new Event("input")); }`);
    await reader.evaluate(`[...${reader.figure(0)}.querySelectorAll("button")].find(({ textContent }) => textContent === "Compile and run").click()`);
    await reader.until(`${reader.figure(0)}.querySelector(".lab-panel [role=status]").textContent === "Running…"`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await reader.evaluate(`[...${reader.figure(0)}.querySelectorAll("button")].find(({ textContent }) => textContent === "Cancel").click()`);
    await reader.until(`${reader.figure(0)}.dataset.state === "failed"`, 5);
    assert.match(await reader.text(0, ".lab-result"), /canceled/);
    await reader.restore(0);
    assert.equal(await reader.press(0, "Compile and run"), "done", "the page goes on");
    // The next visit finds the compiler in the browser's cache. Chromium empties it on a disk that has less than a tenth of its room left.
    const disk = statfsSync(tmpdir());
    if (disk.bavail > 0.12 * disk.blocks) await reader.until(`caches.open("unrolled-clang").then((cache) => cache.keys()).then((keys) => keys.length >= 4)`, 10);
    else console.log("    the disk is too full for the browser's cache, which was not tested");
    await reader.close();
  },

  async "the compiler can come from another site"() {
    if (!hasCompiler) return "skipped: the site has no compiler";
    const other = await serve({ "": join(site, "lab/clang") });
    const reader = await Reader.open("explain");
    const made = await reader.evaluate(`(async () => {
      window.unrolledClang = "${other.address}/";
      const { compileCuda } = await import("./lab/compiler.mjs");
      return (await compileCuda("extern \\"C\\" __global__ void k(int* a) { a[threadIdx.x] = 1; }", { name: "k.cu" })).ptx;
    })()`);
    assert.match(made, /\.entry k\(/);
    await reader.close();
    other.close();
  },

  async "an experiment fetches the simulator when it is on the screen"() {
    const reader = await Reader.open("slides");
    const last = `[...document.querySelectorAll("figure[data-slide]")].at(-1)`;
    await reader.until(`${last}.tabIndex === 0`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(await reader.evaluate(`${last}.dataset.readyMs ?? ""`), "");
    // The focus brings it there, too.
    await reader.evaluate(`${last}.focus()`);
    await reader.until(`${last}.dataset.readyMs`);
    await reader.page.press("Tab");
    assert.equal(await reader.evaluate(`document.activeElement.closest("[data-control]")?.closest("figure") === ${last}`), true);
    await reader.close();
  },

  async "every row of every experiment has the same numbers in the page as in the press"() {
    const reader = await Reader.open("slides");
    await reader.ready();
    const figures = await reader.evaluate(`[...document.querySelectorAll("figure[data-slide]")].map((figure) => figure.dataset.slide)`);
    assert.ok(figures.length >= 9);
    for (const [at, name] of figures.entries()) {
      assert.equal(await reader.state(at), "done", name);
      const rows = await reader.count(at, "tr[data-settings]");
      for (let row = 0; row < rows; row++) {
        assert.equal(await reader.react(at, `figure.querySelectorAll("tr[data-settings]")[${row}].click();`), "done", `${name}, row ${row + 1}: ${await reader.text(at, "[role=alert]")}`);
        const [now, stored] = await reader.evaluate(`["tr.now", "tr[data-settings]:nth-child(${row + 2})"].map((selector) => [...${reader.figure(at)}.querySelector(\`.lab-settings \${selector}\`).cells].map(({ textContent }) => textContent))`);
        assert.deepEqual(now, stored, `${name}, row ${row + 1}`);
      }
    }
    await reader.close();
  },

  async "every control of every experiment is moved and answers"() {
    const reader = await Reader.open("slides");
    await reader.ready();
    const figures = await reader.evaluate(`document.querySelectorAll("figure[data-slide]").length`);
    for (let at = 0; at < figures; at++) {
      const controls = await reader.evaluate(`[...${reader.figure(at)}.querySelectorAll("[data-control]")].map((control) => control.dataset.control)`);
      assert.ok(controls.length >= 2);
      for (const name of controls) {
        for (const end of ["first", "last"]) {
          const moved = await reader.react(at, `
            const control = figure.querySelector('[data-control="${name}"]').querySelector("input, select, button");
            if (control.type === "range") { control.value = ${end === "first" ? "control.min" : "control.max"}; control.dispatchEvent(new Event("input")); }
            else if (control.tagName === "SELECT") { control.selectedIndex = ${end === "first" ? "0" : "control.options.length - 1"}; control.dispatchEvent(new Event("change")); }
            else control.click();`);
          assert.equal(moved, "done", `${name} of figure ${at + 1}: ${await reader.text(at, "[role=alert]")}`);
          assert.ok((await reader.text(at, ".lab-sentence")).length > 20);
          assert.ok((await reader.count(at, ".lab-drawing svg")) >= 1);
        }
      }
    }
    await reader.close();
  },

  async "a round shows the sums that the total needs, and those that nobody needs"() {
    const reader = await Reader.open("slides");
    await reader.ready();
    const cells = async (name, row) => {
      const at = await reader.evaluate(`[...document.querySelectorAll("figure[data-slide]")].findIndex((figure) => figure.dataset.slide === "${name}")`);
      await reader.react(at, `figure.querySelectorAll("tr[data-settings]")[${row}].click();`);
      return [await reader.count(at, "svg .wanted"), await reader.count(at, "svg .moved"), await reader.count(at, "svg .way")];
    };
    assert.deepEqual(await cells("shuffle", 1), [8, 24, 32]);
    assert.deepEqual(await cells("shuffle", 6), [32, 0, 32]);
    assert.deepEqual(await cells("tree", 1), [8, 0, 8]);
    assert.deepEqual(await cells("tree", 6), [1, 0, 1]);
    await reader.close();
  },

  async "a barrier that is left out is reported as the race that it is"() {
    const reader = await Reader.open("slides");
    await reader.ready();
    const at = 0;
    const toggle = (name) => reader.react(at, `figure.querySelector('[data-control="${name}"] input').click();`);
    assert.equal(await reader.count(at, ".lab-finding"), 0);
    await toggle("loads");
    assert.match(await reader.text(at, ".lab-finding"), /race.*barriers\.cu:\d+/s);
    assert.match(await reader.text(at, ".lab-sentence"), /outputs are wrong/);
    await toggle("loads");
    assert.equal(await reader.count(at, ".lab-finding"), 0);
    await toggle("sums");
    assert.match(await reader.text(at, ".lab-finding"), /race/);
    await reader.close();
  },

  async "the roofline takes a point from sliders and from the last run"() {
    const reader = await Reader.open("roofline");
    await reader.ready();
    const place = () => reader.evaluate(`["cx", "cy"].map((name) => Number(${reader.figure(0)}.querySelector("circle.mine").getAttribute(name)))`);
    const before = await place();
    await reader.react(0, `const slider = figure.querySelector("input"); slider.value = slider.max; slider.dispatchEvent(new Event("input"));`);
    assert.ok((await place())[0] > before[0]);
    assert.match(await reader.text(0, ".lab-sentence"), /arithmetic allows .*FLOP\/s/);
    await reader.react(0, `const slider = figure.querySelector("input"); slider.value = 0; slider.dispatchEvent(new Event("input"));`);
    assert.match(await reader.text(0, ".lab-sentence"), /memory allows/);
    await reader.until(`${reader.figure(1)}.dataset.state === "done"`);
    await reader.press(0, "Show the last run");
    assert.match(await reader.text(0, ".lab-sentence"), /The last run \(2 x 2\)/);
    await reader.close();
  },

  async "broken PTX, too much memory, and a module that ends itself leave the page usable"() {
    const reader = await Reader.open("stride");
    await reader.ready();
    const outcome = await reader.evaluate(`(async () => {
      const { run, withSimulator } = await import("./lab/simulator.mjs");
      const ptx = await (await fetch("lab/slides/stride.ptx")).text();
      const said = (promise) => promise.then(() => "done", (error) => error.message);
      const launch = { ptx, kernel: "strided", grid: [1, 1, 1], block: [32, 1, 1], buffers: { a: new Float32Array(64), b: new Float32Array(1), c: 128 }, arguments: ["a", "b", { u32: 32 }, { u32: 1 }, { u32: 1 }, { u32: 0 }, "c"] };
      const broken = await said(run({ ...launch, ptx: ptx.replace("fma.rn.f32", "fam.rn.f32") }));
      const large = await said(run({ ...launch, buffers: { ...launch.buffers, a: 8e9 } }));
      const guard = await said(run({ ...launch, arguments: ["a", "b", { u32: 33 }, { u32: 1 }, { u32: 2 }, { u32: 0 }, "c"] }));
      const ended = await said(run({ ...launch, grid: [0x7fffffff, 65535, 1], block: [1, 1, 1], arguments: ["a", "b", { u32: 0 }, { u32: 0 }, { u32: 0 }, { u32: 0 }, "c"], cooperative: true }));
      const again = await said(run(launch));
      return { broken, large, guard, ended, again };
    })()`);
    assert.match(outcome.broken, /fam\.rn\.f32 is not supported.*PTX line \d+/s);
    assert.match(outcome.large, /out of memory/);
    assert.match(outcome.guard, /out of bounds.*stride\.cu:\d+/s);
    assert.match(outcome.ended, /out of memory|the simulator itself failed/);
    assert.equal(outcome.again, "done");
    assert.equal(await reader.react(0, `figure.querySelectorAll("tr[data-settings]")[2].click();`), "done");
    // The old rules.
    await reader.react(0, `const gpu = figure.querySelector("select"); gpu.selectedIndex = gpu.options.length - 1; gpu.dispatchEvent(new Event("change"));`);
    assert.match(await reader.text(0, ".lab-sentence"), /on this GPU/);
    await reader.close();
  },

  async "nothing is wider than the page, on a wide and on a narrow screen, in light and in dark"() {
    for (const page of ["explain", "slides", "roofline"]) {
      for (const [width, dark] of [[1280, false], [400, false], [1280, true], [400, true]]) {
        const reader = await Reader.open(page, { width, dark });
        await reader.ready();
        if (page === "explain") {
          await reader.react(0, `figure.querySelector("tr.hot").click();`);
          await reader.react(2, `figure.querySelector("tr.hot").click();`);
          await reader.until(`${reader.figure(0)}.querySelector(".lab-tools button")`);
          await reader.press(0, "Step through a warp");
          await reader.evaluate(`[...${reader.figure(0)}.querySelectorAll("button")].find(({ textContent }) => textContent === "Edit").click()`);
          await reader.until(`${reader.figure(0)}.querySelector("textarea")`);
        }
        const overflow = await reader.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert.ok(overflow <= 0, `${page} is ${overflow} pixels too wide at ${width}`);
        const theme = await reader.evaluate("document.documentElement.className");
        assert.match(theme, dark ? /navy/ : /light/);
        if (pictures) {
          mkdirSync(pictures, { recursive: true });
          await reader.page.picture(`${pictures}/${page}-${width}${dark ? "-dark" : ""}.png`);
        }
        await reader.close();
      }
    }
  },
};

let failed = 0;
try {
  for (const [name, test] of Object.entries(tests)) {
    if (process.env.ONLY && !name.includes(process.env.ONLY)) continue;
    try {
      const start = performance.now();
      const note = await test();
      console.log(`ok      ${name} (${note ?? `${((performance.now() - start) / 1000).toFixed(1)} s`})`);
      if (note && process.env.UNROLLED_REQUIRE_COMPILER) throw new Error(note);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
  if (exceptions.length > 0) {
    failed += 1;
    console.log(`FAILED  pages threw: ${exceptions.join("\n")}`);
  }
} finally {
  await chromium.close();
  server.close();
}
console.log(failed === 0 ? "everything moves" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
