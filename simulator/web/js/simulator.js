// The simulator for a page: it runs in a worker, can be canceled, and survives its own end.
//
// The worker's state is what the page gave it: a module, and buffers with what was uploaded. The page's side keeps both, so that a new worker can
// have them again after a launch was canceled or the module ended. What kernels had written is lost then.

import { SimulatorError } from "./machine.js";

export { SimulatorError };

/** The launch was canceled by the page. */
export class Canceled extends Error {}

/** The simulator in a worker. The types are in simt.d.ts. */
export class Simulator {
  #module;
  #worker = null;
  #starting = null;
  #waiting = new Map();
  #next = 0;
  #ptx = null;
  #buffers = [];

  /**
   * Fetches and compiles the module; `module` may be a URL, or the module's bytes.
   * @param {string | URL | BufferSource} module
   */
  static async open(module) {
    const simulator = new Simulator();
    const isAddress = typeof module === "string" || module instanceof URL;
    simulator.#module = isAddress ? await compiled(module) : await WebAssembly.compile(module);
    await simulator.#running();
    return simulator;
  }

  /** Loads PTX in place of what was loaded. Buffers stay; variables of the last module go. */
  async load(ptx) {
    const loaded = await this.#ask({ do: "load", ptx });
    this.#ptx = ptx;
    this.#buffers = this.#buffers.filter(({ variable }) => variable === undefined);
    return loaded;
  }

  /** Makes a buffer, with bytes or of a size. */
  async buffer(contents, label) {
    const bytes = typeof contents === "number" ? contents : contents.byteLength;
    const buffer = new Buffer(this, bytes, label);
    await this.#make(buffer);
    this.#buffers.push(buffer);
    if (typeof contents !== "number") await buffer.write(contents);
    return buffer;
  }

  /** A variable of the module as a buffer. */
  async variable(name) {
    const buffer = new Buffer(this, 0, undefined, name);
    await this.#make(buffer);
    this.#buffers.push(buffer);
    return buffer;
  }

  /** Launches a kernel. */
  async launch(launch) {
    const number = (argument) => (argument.buffer instanceof Buffer ? { ...argument, buffer: argument.buffer.number } : argument);
    await this.#running();
    const named = (argument) => number(argument instanceof Buffer ? { buffer: argument } : argument);
    return this.#ask({ do: "launch", ...launch, arguments: launch.arguments.map(named) });
  }

  /** Asks the check of exercises; `common/checker-web` has the requests and the answers. */
  async check(request) {
    await this.#running();
    return this.#send("check", { request });
  }

  /** The GPUs that can be simulated. */
  async profiles() {
    return (await this.#ask({ do: "profiles" })).profiles;
  }

  /** How many blocks an SM holds at once, and what limits them. */
  async occupancy(request) {
    return this.#ask({ do: "occupancy", ...request });
  }

  /** Ends what is running. Everything that waits for an answer gets `Canceled`. The next request starts a new worker. */
  cancel() {
    this.#end(new Canceled("canceled"));
  }

  /** Ends the worker for good. */
  close() {
    this.cancel();
    this.#buffers = [];
    this.#ptx = null;
  }

  async #make(buffer) {
    const { label, variable } = buffer;
    const request = variable === undefined ? { do: "allocate", bytes: buffer.bytes, label } : { do: "variable", name: variable };
    const answer = await this.#ask(request);
    buffer.number = answer.buffer;
    buffer.address = answer.address;
    buffer.bytes = answer.bytes;
  }

  async free(buffer) {
    this.#buffers = this.#buffers.filter((other) => other !== buffer);
    // A worker that starts later never makes it.
    if (this.#worker) await this.#ask({ do: "free", buffer: buffer.number });
  }

  async upload(buffer, bytes, offset) {
    await this.#running();
    await this.#send("upload", { buffer: buffer.number, bytes, offset });
  }

  async download(buffer, bytes, offset) {
    await this.#running();
    return this.#send("download", { buffer: buffer.number, bytes, offset });
  }

  async #ask(request) {
    await this.#running();
    return this.#send("ask", { request });
  }

  /** Waits for a worker that has the state of the page. */
  #running() {
    this.#starting ??= this.#start().catch((error) => {
      this.#end(error);
      throw error;
    });
    return this.#starting;
  }

  async #start() {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker = worker;
    worker.onmessage = ({ data }) => this.#answered(worker, data);
    worker.onerror = (event) => this.#end(new Error(event.message || "the worker could not start"));
    await this.#send("start", { module: this.#module });
    if (this.#ptx !== null) await this.#send("ask", { request: { do: "load", ptx: this.#ptx } });
    for (const buffer of this.#buffers) {
      const { label, variable, bytes } = buffer;
      const request = variable === undefined ? { do: "allocate", bytes, label } : { do: "variable", name: variable };
      const answer = await this.#send("ask", { request });
      buffer.number = answer.buffer;
      buffer.address = answer.address;
      for (const [offset, written] of buffer.writes) await this.#send("upload", { buffer: buffer.number, bytes: written, offset });
    }
  }

  #send(action, message) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, action, ...message });
    });
  }

  #answered(worker, { id, result, failure, message, ended }) {
    if (worker !== this.#worker) return;
    if (ended) return this.#end(new Error(message));
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failure) waiting.reject(new SimulatorError(failure));
    else if (message !== undefined) waiting.reject(new Error(message));
    else waiting.resolve(result);
  }

  #end(error) {
    this.#worker?.terminate();
    this.#worker = null;
    this.#starting = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

/** A piece of device memory. */
export class Buffer {
  #simulator;
  #writes = new Map();

  constructor(simulator, bytes, label, variable) {
    this.#simulator = simulator;
    this.bytes = bytes;
    this.label = label;
    this.variable = variable;
  }

  /** What was written, by offset: what a new worker gets. */
  get writes() {
    return this.#writes;
  }

  /** Writes bytes, or the bytes of a typed array. */
  async write(contents, offset = 0) {
    const view = ArrayBuffer.isView(contents);
    const bytes = view ? new Uint8Array(contents.buffer, contents.byteOffset, contents.byteLength) : new Uint8Array(contents);
    const copy = bytes.slice();
    await this.#simulator.upload(this, copy, offset);
    if (offset === 0 && copy.length === this.bytes) this.#writes.clear();
    this.#writes.set(offset, copy);
  }

  /** Reads bytes. */
  read(bytes = this.bytes, offset = 0) {
    return this.#simulator.download(this, bytes, offset);
  }

  /** Reads 32-bit floats. */
  async floats() {
    return new Float32Array((await this.read()).buffer);
  }

  free() {
    return this.#simulator.free(this);
  }
}

async function compiled(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`cannot fetch the simulator: ${response.status} ${response.statusText} for ${address}`);
  // A server that does not know the type of the file is no reason to fail.
  return WebAssembly.compile(await response.arrayBuffer());
}
