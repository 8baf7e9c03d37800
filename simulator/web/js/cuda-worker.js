// The compiler in a worker: it takes seconds, and what it has fetched stays in the browser's cache.

import { CompileError, Compiler } from "./cuda.js";

const CACHE = "unrolled-clang";

// The package fetches its own files, 75 MB, which is more than browsers keep by themselves.
const fetched = self.fetch.bind(self);
self.fetch = async (address, options) => {
  const name = String(address.url ?? address);
  // An archive without files in place of the headers and libraries of the C library, which CUDA C does not need.
  if (name.endsWith("/llvm-resources.tar")) return new Response(new Uint8Array(1024));
  if (!self.caches || !name.includes("/clang")) return fetched(address, options);
  const cache = await caches.open(CACHE);
  const known = await cache.match(address);
  if (known) return known;
  const response = await fetched(address, options);
  // A full disk is no reason to fail.
  if (response.ok) cache.put(address, response.clone()).catch(() => {});
  return response;
};

let compiler;

/** Makes the compiler of a package, whose files are at an address. */
async function made(clang) {
  const file = async (path) => {
    const response = await fetched(new URL(path, import.meta.url));
    if (!response.ok) throw new CompileError(`this site has no ${path}`);
    return response;
  };
  const header = await (await file("./cuda.h")).text();
  const lower = await WebAssembly.compile(await (await file("./lower.wasm")).arrayBuffer());
  const bundle = await import(new URL("bundle.js", clang)).catch(() => {
    throw new CompileError("the compiler could not be fetched; is there a network?");
  });
  return new Compiler(bundle, header, lower);
}

self.onmessage = async ({ data: { id, source, options, clang } }) => {
  const progress = (done, total) => self.postMessage({ id, progress: { done, total } });
  try {
    compiler ??= await made(clang);
    self.postMessage({ id, result: await compiler.compile(source, { ...options, progress }) });
  } catch (error) {
    self.postMessage({ id, problem: error.message });
  }
};
