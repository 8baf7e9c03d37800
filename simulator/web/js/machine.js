// The module itself: one WebAssembly instance with one session. It runs wherever it is made, so a page makes it in a worker (simulator.js does that),
// and a test in node makes it directly.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The module ended: a panic, or memory that it could not have. Nothing can be asked of it any more. */
export class Trap extends Error {}

/** The simulator's answer to a request that failed. `failure` is what it said. */
export class SimulatorError extends Error {
  /** @param {import("./simt").Failure} failure */
  constructor(failure) {
    super(failure.message);
    this.name = "SimulatorError";
    this.failure = failure;
  }
}

/** One session of the simulator. */
export class Machine {
  #exports;
  #dead = null;

  /** @param {WebAssembly.Module} module */
  static async make(module) {
    const machine = new Machine();
    machine.#exports = (await WebAssembly.instantiate(module, {})).exports;
    return machine;
  }

  /** Sends a request as text, and returns its answer as text. */
  call(request) {
    return this.#called("call", request);
  }

  /** Sends a request about an exercise, and returns the answer. Only a module with the check of exercises (checker-web) has one. */
  check(request) {
    if (!this.#exports.check) throw new Error("this module has no check of exercises");
    return JSON.parse(this.#called("check", JSON.stringify(request)));
  }

  #called(name, request) {
    return this.#guarded(() => {
      this.#fill(encoder.encode(request));
      this.#exports[name]();
      return decoder.decode(this.#output());
    });
  }

  /** Sends a request, and returns its answer. */
  ask(request) {
    return checked(JSON.parse(this.call(JSON.stringify(request))));
  }

  /** Writes bytes into a buffer. @param {Uint8Array} bytes */
  upload(buffer, bytes, offset = 0) {
    const problem = this.#guarded(() => {
      this.#fill(bytes);
      this.#exports.upload(buffer, offset);
      return decoder.decode(this.#output());
    });
    if (problem !== "") checked(JSON.parse(problem));
  }

  /** Reads bytes of a buffer. */
  download(buffer, bytes, offset = 0) {
    return this.#guarded(() => {
      const isDone = this.#exports.download(buffer, offset, bytes);
      const output = this.#output().slice();
      return isDone ? output : checked(JSON.parse(decoder.decode(output)));
    });
  }

  /** Bytes of memory that the module has taken. */
  get memoryBytes() {
    return this.#exports.memory.buffer.byteLength;
  }

  #fill(bytes) {
    const pointer = this.#exports.input(bytes.length) >>> 0;
    new Uint8Array(this.#exports.memory.buffer, pointer, bytes.length).set(bytes);
  }

  #output() {
    const { memory, output, output_bytes } = this.#exports;
    return new Uint8Array(memory.buffer, output() >>> 0, output_bytes() >>> 0);
  }

  #guarded(action) {
    if (this.#dead) throw this.#dead;
    try {
      return action();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.#dead = new Trap(this.#lastWords(error));
      throw this.#dead;
    }
  }

  // A module that has ended still has its memory.
  #lastWords(error) {
    const { memory, last_words, last_words_bytes, bytes_refused } = this.#exports;
    const refused = bytes_refused() >>> 0;
    if (refused > 0) return `out of memory: the simulator asked the browser for ${refused} bytes more, and got none`;
    const words = decoder.decode(new Uint8Array(memory.buffer, last_words() >>> 0, last_words_bytes() >>> 0));
    return `the simulator itself failed, which is a defect of it: ${words || error.message}`;
  }
}

function checked(answer) {
  if (answer.error) throw new SimulatorError(answer.error);
  return answer;
}
