// The compiler in a worker: it takes seconds, and what it has fetched stays in the browser's cache.

import { CompileError, Compiler } from "./cuda.js";

const CACHE = "unrolled-clang";

// The package fetches its own files, 75 MB, which is more than browsers keep by themselves.
const fetched = self.fetch.bind(self);
self.fetch = async (address, options) => {
  if (!self.caches || !String(address.url ?? address).includes("/clang/")) return fetched(address, options);
  const cache = await caches.open(CACHE);
  const known = await cache.match(address);
  if (known) return known;
  const response = await fetched(address, options);
  // A full disk is no reason to fail.
  if (response.ok) cache.put(address, response.clone()).catch(() => {});
  return response;
};

let compiler;

async function made() {
  const file = async (path) => {
    const response = await fetched(new URL(path, import.meta.url));
    if (!response.ok) throw new CompileError("this site has no compiler; you can change the PTX");
    return response;
  };
  const header = await (await file("../clang/cuda.h")).text();
  const lower = await WebAssembly.compile(await (await file("./lower.wasm")).arrayBuffer());
  return new Compiler(await import(new URL("../clang/bundle.js", import.meta.url)), header, lower);
}

self.onmessage = async ({ data: { id, source, name } }) => {
  const progress = (done, total) => self.postMessage({ id, progress: { done, total } });
  try {
    compiler ??= await made();
    self.postMessage({ id, result: await compiler.compile(source, name, progress) });
  } catch (error) {
    self.postMessage({ id, problem: error.message });
  }
};
