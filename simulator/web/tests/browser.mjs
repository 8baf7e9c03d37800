// A headless Chromium and a server for a folder, with nothing but node: the DevTools protocol goes through two pipes.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };

/** Serves folders by the first part of the path; the folder named "" serves everything else. */
export async function serve(folders) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const [, first, ...rest] = path.split("/");
    const file = folders[first] !== undefined ? join(folders[first], ...rest) : join(folders[""], path);
    try {
      const name = file.endsWith("/") ? join(file, "index.html") : file;
      const contents = readFileSync(name);
      response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream", "access-control-allow-origin": "*" }).end(contents);
    } catch {
      response.writeHead(404).end("no such file");
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

const CANDIDATES = [process.env.UNROLLED_CHROMIUM, "chromium", "chromium-browser", "google-chrome"].filter(Boolean);

/** Starts the first Chromium that there is. */
export async function browser() {
  for (const program of CANDIDATES) {
    try {
      return await Browser.start(program);
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }
  throw new Error(`no Chromium found; tried ${CANDIDATES.join(", ")}`);
}

class Browser {
  #next = 1;
  #waiting = new Map();
  #profile = mkdtempSync(join(tmpdir(), "unrolled-chromium-"));

  static async start(program) {
    const started = new Browser();
    const options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--remote-debugging-pipe", "--no-first-run", `--user-data-dir=${started.#profile}`, "about:blank"];
    const child = spawn(program, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    started.child = child;
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    // A browser that is ended while something is written to it is no error of the test.
    child.stdio[3].on("error", () => {});
    let rest = "";
    child.stdio[4].setEncoding("utf8").on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      for (const message of messages) started.#received(JSON.parse(message));
    });
    return started;
  }

  #received({ id, result, error, method, params, sessionId }) {
    if (id === undefined) return this.onEvent?.(method, params, sessionId);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }

  send(method, params = {}, sessionId = undefined) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject });
      this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** Opens a page of a size. */
  async open(address, { width = 1280, height = 900, dark = false } = {}) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank", newWindow: true });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await page.send("Page.enable");
    await page.send("Runtime.enable");
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    if (dark) await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "dark" }] });
    await page.send("Page.navigate", { url: address });
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill();
    await ended;
    try {
      rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch (error) {
      // On a busy machine, a process of the browser may still write there. That says nothing about what was tested.
      console.warn(`    ${this.#profile} was left: ${error.code}`);
    }
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId });
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  /** Evaluates an expression in the page; promises are awaited. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression, or what it promises, is true. */
  async until(expression, seconds = 60) {
    const end = Date.now() + 1000 * seconds;
    while (!(await this.evaluate(`Promise.resolve(${expression}).then(Boolean)`).catch(() => false))) {
      if (Date.now() > end) throw new Error(`after ${seconds} s it is still not true that ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Presses a key. */
  async press(key, { control = false } = {}) {
    const code = { ArrowRight: 39, ArrowLeft: 37, Tab: 9, Enter: 13, Escape: 27 }[key];
    const down = key === "Enter" ? { type: "keyDown", text: "\r" } : { type: "rawKeyDown" };
    for (const event of [down, { type: "keyUp" }]) await this.send("Input.dispatchKeyEvent", { ...event, modifiers: control ? 2 : 0, key, code: key, windowsVirtualKeyCode: code });
  }

  /** A picture of the whole page. */
  async picture(file) {
    const { cssContentSize } = await this.send("Page.getLayoutMetrics");
    const clip = { x: 0, y: 0, width: cssContentSize.width, height: Math.min(cssContentSize.height, 6000), scale: 1 };
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
    writeFileSync(file, Buffer.from(data, "base64"));
  }

  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.targetId });
  }
}
