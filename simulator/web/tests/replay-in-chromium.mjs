// The differential test in a headless Chromium: `node replay-in-chromium.mjs FOLDER CASES`, where FOLDER holds simt.wasm and machine.js. See
// replay.mjs.

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { browser, serve } from "./browser.mjs";

const [folder, cases] = process.argv.slice(2);
const files = readdirSync(cases).filter((file) => file.endsWith(".json")).sort();
const server = await serve({ simt: folder, cases, "": dirname(fileURLToPath(import.meta.url)) });
const chromium = await browser();
try {
  const page = await chromium.open(`${server.address}/replay.html`);
  await page.until("window.replayFile");
  let failed = 0;
  let exchanges = 0;
  for (const file of files) {
    const { differences, count } = await page.evaluate(`replayFile(${JSON.stringify(`/cases/${file}`)})`);
    exchanges += count;
    failed += differences.length;
    for (const line of differences) console.log(line);
  }
  console.log(`Chromium: ${files.length} cases, ${exchanges} exchanges, ${failed} differences`);
  process.exitCode = failed === 0 && files.length > 0 ? 0 : 1;
} finally {
  await chromium.close();
  server.close();
}
