// Compiles CUDA C and runs it in node: `node compile.mjs SITE`, where SITE is what `cargo book web --compiler FOLDER` writes. Without the compiler the test
// is skipped, unless UNROLLED_REQUIRE_COMPILER is set. What readers do with it is tested in book/lab/tests.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [site] = process.argv.slice(2);
const slides = new URL("../../../book/lab/slides/", import.meta.url);
if (!existsSync(join(site, "clang/bundle.js"))) {
  console.log("SKIPPED: the site has no compiler; cargo book web --compiler adds one");
  process.exit(process.env.UNROLLED_REQUIRE_COMPILER ? 1 : 0);
}

const load = (file) => import(pathToFileURL(resolve(site, file)));
const { Compiler, CompileError } = await load("simt/cuda.js");
const { Machine, SimulatorError } = await load("simt/machine.js");
const source = readFileSync(new URL("stride.cu", slides), "utf8");
const noGuard = source.replace("if (i >= outputs)", "if (i >= outputs && outputs == 0)");
assert.notEqual(source, noGuard);

/** Runs the kernel for 100 outputs of 4 taps with a run of 3, and returns its outputs and its answer. */
async function run(ptx) {
  const machine = await Machine.make(await WebAssembly.compile(readFileSync(join(site, "simt/simt.wasm"))));
  machine.ask({ do: "load", ptx });
  const [outputs, taps, run] = [100, 4, 3];
  const sizes = [outputs + taps - 1, taps, outputs];
  const [signal, filter, output] = sizes.map((floats, at) => machine.ask({ do: "allocate", bytes: 4 * floats, label: ["signal", "filter", "output"][at] }).buffer);
  machine.upload(signal, new Uint8Array(Float32Array.from({ length: sizes[0] }, (_, i) => Math.sin(i)).buffer));
  machine.upload(filter, new Uint8Array(Float32Array.from([0.1, -2, 3.7, 11]).buffer));
  const numbers = [outputs, taps, run, 0].map((u32) => ({ u32 }));
  const answer = machine.ask({ do: "launch", kernel: "strided", grid: [2, 1, 1], block: [32, 1, 1], arguments: [{ buffer: signal }, { buffer: filter }, ...numbers, { buffer: output }] });
  return { answer, bytes: machine.download(output, 4 * outputs) };
}

async function inNode() {
  const compiler = new Compiler(await load("clang/bundle.js"), readFileSync(join(site, "simt/cuda.h"), "utf8"), await WebAssembly.compile(readFileSync(join(site, "simt/lower.wasm"))));
  const start = performance.now();
  const { ptx } = await compiler.compile(source, { name: "strided.cu" });
  const first = performance.now();
  await compiler.compile(source, { name: "strided.cu" });
  console.log(`node: the first compilation took ${Math.round(first - start)} ms, the second ${Math.round(performance.now() - first)} ms`);

  // The stored PTX is NVRTC's.
  const [ours, stored] = [await run(ptx), await run(readFileSync(new URL("stride.ptx", slides), "utf8"))];
  assert.deepEqual(ours.bytes, stored.bytes);
  assert.deepEqual(ours.answer.findings, []);
  for (const counter of ["global_load_sectors", "global_load_requests", "global_store_sectors", "f32_fma"]) {
    assert.equal(ours.answer.report.counters[counter], stored.answer.report.counters[counter], counter);
  }

  // What the reader does wrong is said with the line.
  const { ptx: broken } = await compiler.compile(noGuard, { name: "strided.cu" });
  await assert.rejects(run(broken), (error) => error instanceof SimulatorError && error.failure.kind === "fault" && error.failure.source.file.endsWith("strided.cu") && [18, 20].includes(error.failure.source.line));
  await assert.rejects(compiler.compile(source.replace("float sum", "flaot sum"), { name: "strided.cu" }), (error) => error instanceof CompileError && /^strided\.cu\(15\): error: unknown type name 'flaot'/.test(error.message));

  console.log("ok      node");
}

await inNode();
