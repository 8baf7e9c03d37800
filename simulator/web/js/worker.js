// The worker: it has the module and does what simulator.js asks of it, one message after the other.

import { Machine, SimulatorError, Trap } from "./machine.js";

let machine;

const actions = {
  start: async ({ module }) => {
    machine = await Machine.make(module);
  },
  ask: ({ request }) => machine.ask(request),
  check: ({ request }) => machine.check(request),
  upload: ({ buffer, bytes, offset }) => machine.upload(buffer, bytes, offset),
  download: ({ buffer, bytes, offset }) => machine.download(buffer, bytes, offset),
};

self.onmessage = async ({ data: { id, action, ...rest } }) => {
  try {
    self.postMessage({ id, result: await actions[action](rest) });
  } catch (error) {
    const failure = error instanceof SimulatorError ? error.failure : undefined;
    self.postMessage({ id, failure, message: error.message, ended: error instanceof Trap });
  }
};
