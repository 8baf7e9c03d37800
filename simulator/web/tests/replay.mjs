// The differential test in node: `node replay.mjs simt.wasm CASES`. Every answer must be the same text, and every buffer the same bytes, as natively.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Machine } from "../js/machine.js";
import { replay } from "./cases.mjs";

const [wasm, folder] = process.argv.slice(2);
const module = await WebAssembly.compile(readFileSync(wasm));
const files = readdirSync(folder).filter((file) => file.endsWith(".json")).sort();
let exchanges = 0;
let failed = 0;
for (const file of files) {
  const recorded = JSON.parse(readFileSync(join(folder, file), "utf8"));
  const machine = await Machine.make(module);
  exchanges += recorded.exchanges.length;
  for (const line of replay(machine, recorded)) {
    failed += 1;
    console.log(line);
  }
}
console.log(`node: ${files.length} cases, ${exchanges} exchanges, ${failed} differences`);
process.exitCode = failed === 0 && files.length > 0 ? 0 : 1;
