// The stored launches of a stage: fetched once, repeated in the simulator as they were, or with another module.

import { run } from "./simulator.mjs";

const binary = (hex) => Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
const contents = ({ hex, bytes, word }) => (hex !== undefined ? binary(hex) : new Uint8Array(new Uint32Array(Math.ceil(bytes / 4)).fill(word).buffer, 0, bytes));

/** The names of a kernel's parameters in CUDA C, with their types; none if its text is not that simple. */
export function parametersOf(source, kernel) {
  const list = source.match(new RegExp(`\\b${kernel}\\s*\\(([^)]*)\\)`))?.[1];
  return list?.split(",").map((parameter) => ({ name: parameter.match(/(\w+)\s*$/)?.[1], type: parameter.match(/^\s*(?:const\s+)?(.*?)\s*(?:\*|\w+\s*$)/)?.[1], isPointer: parameter.includes("*") })) ?? [];
}

const BYTES = { char: 1, "unsigned char": 1, __half: 2, __nv_bfloat16: 2, float: 4, int: 4, unsigned: 4, "unsigned int": 4, float2: 8, double: 8, "long long": 8, float4: 16 };

/** The bytes of what a parameter points to; one if that is not known. */
export const elementOf = ({ type, isPointer }) => (isPointer && BYTES[type]) || 1;

/** Fetches the file of a stage. */
export async function stored(address) {
  const response = await fetch(new URL(address, import.meta.url));
  if (!response.ok) throw new Error(`this site has no ${address}`);
  return response.json();
}

/** The text that the compiler gets: headers are in their places, and lines keep their numbers. */
export function complete({ path, headers }, text) {
  const name = path.split("/").pop();
  return text
    .split("\n")
    .map((line, at) => {
      const header = headers.find(({ name }) => line.trim() === `#include "${name}"`);
      return header ? `#line 1 "${header.name}"\n${header.text}\n#line ${at + 2} "${name}"` : line;
    })
    .join("\n");
}

/**
 * Repeats the launches of a stage, each with the memory that it had. With `ptx`, that module takes the place of the stored one. Returns an answer for each,
 * with the bytes of all buffers.
 */
export async function repeat(file, { ptx, steps, only } = {}) {
  const answers = [];
  for (const [number, launch] of file.launches.entries()) {
    if (only !== undefined && number !== only) continue;
    const names = parametersOf(file.source.text, launch.kernel).map(({ name }) => name);
    const labels = launch.buffers.map((_, at) => {
      const parameter = launch.arguments.findIndex(({ buffer }) => buffer === at);
      return names[parameter] ?? `array ${at + 1}`;
    });
    const unique = labels.map((label, at) => (labels.indexOf(label) === at ? label : `${label} ${at}`));
    answers.push(
      await run({
        ptx: ptx ?? launch.ptx,
        kernel: launch.kernel,
        grid: launch.grid,
        block: launch.block,
        shared: launch.shared,
        cooperative: launch.cooperative,
        profile: file.profile,
        arguments: launch.arguments.map((argument) => (argument.buffer === undefined ? argument : { ...argument, buffer: unique[argument.buffer] })),
        buffers: Object.fromEntries(launch.buffers.map((buffer, at) => [unique[at], contents(buffer)])),
        variables: Object.fromEntries(launch.variables.map((variable) => [variable.name, contents(variable.contents)])),
        read: unique,
        least_bytes: file.least_bytes,
        ...(steps && { steps }),
      }),
    );
  }
  return answers;
}

/** How the contents of buffers differ from what they should be: a sentence, or nothing if they are equal. */
export function difference(expected, got) {
  for (const [name, bytes] of Object.entries(expected)) {
    const other = got[name];
    if (bytes.every((byte, at) => byte === other[at])) continue;
    const [should, is] = [new Float32Array(bytes.buffer.slice(0)), new Float32Array(other.buffer.slice(0))];
    const wrong = [...should.keys()].filter((at) => !Object.is(should[at], is[at]));
    const scale = Math.max(...should.filter(Number.isFinite).map(Math.abs), 1e-30);
    const worst = Math.max(...wrong.map((at) => (Number.isFinite(is[at]) && Number.isFinite(should[at]) ? Math.abs(should[at] - is[at]) / scale : Infinity)));
    const first = wrong[0];
    const text = `${name}[${first}] is ${Number(is[first].toPrecision(6))} instead of ${Number(should[first].toPrecision(6))}`;
    return { name, wrong: wrong.length, of: should.length, worst, text };
  }
  return undefined;
}
