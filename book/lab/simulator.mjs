// The simulator that the figures of a page share. It is fetched when a figure first needs it, and serves one figure at a time.

import { Canceled, Simulator } from "./simt/simulator.js";

export { Canceled };

let opened;
let turn = Promise.resolve();

const open = () => (opened ??= Simulator.open(new URL("./simt/simt.wasm", import.meta.url)).catch((error) => {
  opened = undefined;
  throw error;
}));

/** Whether this site has the simulator. */
export async function hasSimulator() {
  return fetch(new URL("./simt/simt.wasm", import.meta.url), { method: "HEAD" }).then((response) => response.ok, () => false);
}

/** Calls `use` with the simulator when no other figure uses it. */
export function withSimulator(use) {
  const mine = turn.then(open).then(use);
  turn = mine.catch(() => {});
  return mine;
}

/** Ends what the simulator is doing. */
export async function cancel() {
  (await opened)?.cancel();
}

let profiles;

/** The GPUs that can be simulated. */
export const allProfiles = () => (profiles ??= withSimulator((simulator) => simulator.profiles()));

/** How many blocks an SM holds. */
export const occupancy = (request) => withSimulator((simulator) => simulator.occupancy(request));

let loaded;

/**
 * Runs a kernel once. Buffers are named; an argument that is the name of a buffer stands for it. Returns the answer, the contents of the buffers
 * that `read` names, and where all of them were, which an error says, too.
 * @param {{ ptx: string, kernel: string, buffers: Record<string, ArrayBufferView | number>, arguments: (string | object)[], read?: string[] }} launch
 */
export function run({ ptx, buffers = {}, variables = {}, read = [], ...launch }) {
  return withSimulator(async (simulator) => {
    if (ptx !== loaded) {
      loaded = undefined;
      await simulator.load(ptx);
      loaded = ptx;
    }
    const made = {};
    let places = {};
    try {
      for (const [name, contents] of Object.entries(buffers)) made[name] = await simulator.buffer(contents, name);
      for (const [name, contents] of Object.entries(variables)) {
        const variable = await simulator.variable(name);
        await variable.write(contents);
      }
      const given = launch.arguments.map((argument) => {
        if (typeof argument === "string") return made[argument];
        return typeof argument.buffer === "string" ? { ...argument, buffer: made[argument.buffer] } : argument;
      });
      places = Object.fromEntries(Object.entries(made).map(([name, { address, bytes }]) => [name, { address, bytes }]));
      const answer = await simulator.launch({ ...launch, arguments: given });
      const contents = {};
      for (const name of read) contents[name] = await made[name].read();
      return { ...answer, contents, places };
    } catch (error) {
      throw Object.assign(error, { places });
    } finally {
      for (const buffer of Object.values(made)) await buffer.free().catch(() => {});
    }
  });
}
