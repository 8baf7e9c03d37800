// How fast the module is in node beside the native build: `node speed.mjs simt.wasm SPEED`, where SPEED is what the example `speed` has written.

import { readFileSync } from "node:fs";
import { Machine } from "../js/machine.js";

const [wasm, speed] = process.argv.slice(2);
const module = await WebAssembly.compile(readFileSync(wasm));
let least = Infinity;
for (const { name, setup, launch, rounds, per_second } of JSON.parse(readFileSync(speed, "utf8"))) {
  const machine = await Machine.make(module);
  for (const request of setup) machine.ask(request);
  let best = Infinity;
  let instructions = 0;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    instructions = machine.ask(launch).report.counters.ptx_instructions;
    best = Math.min(best, performance.now() - start);
  }
  const here = (1000 * instructions) / best;
  least = Math.min(least, here / per_second);
  const millions = (rate) => `${(rate / 1e6).toFixed(1)} M/s`;
  console.log(`${name}: ${millions(here)} warp instructions, natively ${millions(per_second)}, a share of ${(here / per_second).toFixed(2)}`);
}
console.log(`the least share is ${least.toFixed(2)}; it should be 0.25 or more`);
