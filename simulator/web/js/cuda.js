// CUDA C to PTX, wherever it runs: clang's front end (npm's @yowasp/clang) makes LLVM IR, and lower.wasm makes PTX of it.

/** The text is not CUDA C that can be compiled. The message is what the compiler says, in NVRTC's form: `file(line): error: …`. */
export class CompileError extends Error {}

/** The header that gives clang the names of CUDA. A learner may include a cuda.h, which is another file. */
const PRELUDE = "unrolled-prelude.h";

// As common/compilers calls a clang that has the back end. Its driver does not start in WebAssembly, so these are arguments of the front end.
const ARGUMENTS = [
  ["-triple", "nvptx64-nvidia-cuda", "-aux-triple", "x86_64-unknown-linux-gnu", "-fcuda-is-device"],
  ["-target-feature", "+ptx80", "-target-sdk-version=12.0"],
  ["-std=c++17", "-ffp-contract=fast", "-fdeclspec", "-fno-finite-loops", "-relaxed-aliasing"],
  ["-nostdsysteminc", "-nobuiltininc", "-I."],
  ["-fdiagnostics-format", "msvc", "-fno-show-column", "-fno-diagnostics-show-line-numbers", "-fno-diagnostics-show-option"],
  ["-Wunused-variable", "-Wuninitialized", "-Wno-pass-failed", "-Wno-unknown-pragmas"],
  ["-mllvm", "-inline-threshold=1000000", "-mllvm", "-disable-licm-promotion", "-mllvm", "-sink-common-insts=false"],
  ["-mllvm", "-hoist-common-insts=false", "-mllvm", "-enable-load-in-loop-pre=false"],
  ["-debug-info-kind=line-directives-only", "-include", PRELUDE, "-emit-llvm", "-o", "kernel.ll"],
].flat();

/** What differs between the forms of a text: what a GPU would run, without optimization, and without what it prints. */
const FORMS = {
  optimized: ["-O3"],
  plain: ["-O0"],
  quiet: ["-O3", "-include", "quiet.h"],
};

/** Headers that people include by habit, as in common/compilers/src/habits.rs: a kernel needs nothing of most of them. */
const NAMES = ["cuda_runtime.h", "cuda.h", "device_launch_parameters.h", "stdio.h", "cstdio", "stdlib.h", "assert.h", "cassert", "math.h", "cmath"];
const INTEGERS = `#pragma once
typedef signed char int8_t; typedef unsigned char uint8_t;
typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned uint32_t;
typedef long long int64_t; typedef unsigned long long uint64_t;
`;
const HEADERS = { ...Object.fromEntries(NAMES.map((name) => [name, ""])), "stdint.h": INTEGERS, cstdint: INTEGERS, "quiet.h": "#define printf(...) 0\n" };

const decoder = new TextDecoder();

/** What clang said in NVRTC's form, as common/compilers/src/clang/messages.rs does it: no sum of warnings, and one of errors that names the text. */
function likeNvrtc(said, name) {
  const lines = said.split("\n").flatMap((line) => {
    if (line.startsWith("In file included from ")) return [];
    const counted = line.match(/^(.*) generated when compiling for /)?.[1];
    if (counted === undefined) return [line.trimEnd()];
    return counted.includes("error") ? ["", `${counted} detected in the compilation of "${name}".`] : [];
  });
  return lines.join("\n").trim();
}

/** A compiler: clang's package, the header that gives it the names of CUDA, and the module that lowers. */
export class Compiler {
  #clang;
  #header;
  #lower;

  /**
   * @param {{ runLLVM: Function }} clang the package's module
   * @param {string} header the text of cuda.h
   * @param {WebAssembly.Module} lower
   */
  constructor(clang, header, lower) {
    this.#clang = clang;
    this.#header = `#line 1 "cuda.h"\n${header}`;
    this.#lower = lower;
  }

  /**
   * Compiles a text, and returns PTX and what the compiler remarks on it. `form` is "optimized", "plain" or "quiet"; `architecture` is a virtual one,
   * such as "compute_90"; `progress` gets the bytes fetched and those to fetch.
   */
  async compile(source, { name = "kernel.cu", form = "optimized", architecture = "compute_80", progress } = {}) {
    const target = Number(architecture.match(/^compute_(\d+)$/)?.[1]);
    if (!target) throw new CompileError(`this compiler knows no ${architecture}`);
    const files = { ...HEADERS, [PRELUDE]: this.#header, "kernel.cu": `#line 1 ${JSON.stringify(name)}\n${source}` };
    const said = [];
    const listen = (bytes) => bytes && said.push(decoder.decode(bytes));
    const fetchProgress = ({ totalLength, doneLength }) => progress?.(doneLength, totalLength);
    const remarks = () => likeNvrtc(said.join(""), name);
    let made;
    try {
      made = await this.#clang.runLLVM(["clang", "-cc1", ...ARGUMENTS, "-target-cpu", `sm_${target}`, ...FORMS[form], "-x", "cuda", "kernel.cu"], files, { stdout: listen, stderr: listen, fetchProgress });
    } catch (error) {
      throw new CompileError(remarks() || `the compiler failed: ${error.message}`);
    }
    return { ptx: await this.#lowered(made["kernel.ll"], name, target), remarks: remarks() };
  }

  async #lowered(ir, name, target) {
    // A module for each text: one that has failed is of no use to the next.
    const { memory, input, ptx, output, output_bytes } = (await WebAssembly.instantiate(this.#lower, {})).exports;
    const bytes = typeof ir === "string" ? new TextEncoder().encode(ir) : ir;
    let isDone;
    try {
      const pointer = input(bytes.length) >>> 0;
      new Uint8Array(memory.buffer, pointer, bytes.length).set(bytes);
      isDone = ptx(target);
    } catch (error) {
      throw new CompileError(`the back end failed, which is a defect of it: ${error.message}`);
    }
    const text = decoder.decode(new Uint8Array(memory.buffer, output() >>> 0, output_bytes() >>> 0));
    if (!isDone) throw new CompileError(text.replaceAll("kernel.cu(", `${name}(`));
    return text;
  }
}
