// Sends the requests of a case to a machine and compares its answers with the recorded ones. It runs in node and in a browser.

const binary = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Where two texts differ. */
function difference(expected, got) {
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  const around = (text) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
  return `at ${at}: native ${around(expected)}, WebAssembly ${around(got)}`;
}

/** FNV-1a. */
const hash = (bytes) => bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);

/** @returns what differs, one line each. */
export function replay(machine, { name, inputs, exchanges }) {
  const bytes = inputs.map(binary);
  const differences = [];
  for (const { call, upload, download } of exchanges) {
    if (call) {
      const answer = machine.call(call.request);
      if (answer !== call.answer) differences.push(`${name}: ${call.request.slice(0, 160)}: ${difference(call.answer, answer)}`);
    } else if (upload) {
      machine.upload(upload.buffer, bytes[upload.input]);
    } else {
      const got = hash(machine.download(download.buffer, download.bytes));
      if (got !== download.hash) differences.push(`${name}: buffer ${download.buffer} has other bytes: hash ${got}, natively ${download.hash}`);
    }
  }
  return differences;
}
