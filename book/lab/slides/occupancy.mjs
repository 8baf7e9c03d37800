import { occupancy } from "../simulator.mjs";
import { clocks, draw } from "../ui.mjs";
import { powers, ratio, run, tell, wave } from "./common.mjs";

const [OUTPUTS, TAPS] = [4096, 32];

export const controls = [
  { name: "run", label: "outputs per thread", kind: "range", values: powers(1, 16), initial: 1 },
  { name: "block", label: "threads per block", kind: "range", values: powers(32, 256), initial: 128 },
  { name: "registers", label: "registers per thread", kind: "range", values: [0, ...Array.from({ length: 30 }, (_, at) => 16 + 8 * at), 255], words: (value) => (value ? String(value) : "as compiled"), initial: 0 },
];

/** What NVIDIA's compiler said of each kernel, for compute capability 9.0. */
const compiled = (ptx, kernel) => Number(ptx.match(/^\/\/ registers sm_90: (.*)$/m)?.[1].split(", ").find((entry) => entry.startsWith(`${kernel} `))?.split(" ")[1]);

const LIMITS = { warps: "warps", blocks: "blocks", registers: "registers", "shared-memory": "shared memory" };

export async function measure({ run: length, block, registers }, ptx, room) {
  const kernel = `run_${length}`;
  const answer = await run({
    ptx,
    kernel,
    grid: [OUTPUTS / (block * length), 1, 1],
    block: [block, 1, 1],
    buffers: { signal: wave(OUTPUTS + TAPS + length, 16), filter: wave(TAPS, 6), output: 4 * OUTPUTS },
    arguments: ["signal", "filter", { u32: TAPS }, "output"],
    least_bytes: 8 * (OUTPUTS + TAPS),
  });
  tell(`run ${length}`, answer);
  const perThread = registers || compiled(ptx, kernel);
  const held = await occupancy({ threads: block, registers: perThread });
  const c = answer.report.counters;
  const { active_warps: active, max_warps: most, blocks_per_multiprocessor: blocks } = held;
  const limits = held.limits.map((limit) => LIMITS[limit]).join(", ");
  const limit = answer.bound.parts[0];
  return {
    cells: [String(length), String(block), String(perThread), `${active} of ${most}`, limits, ratio(c.global_load_bytes / 4, c.f32_fma)],
    sentence:
      blocks === 0
        ? "Not even one block fits: it needs more registers than an SM may give to a block."
        : `${blocks} blocks are resident on an SM, ${active} of ${most} warps: limited by ${limits}. The bound counts work only and knows no waiting: ${limit.unit} needs at least ${clocks(limit.least_clocks)}.`,
    drawing: slots(active, most, Math.max(1, Math.ceil(block / 32)), room),
  };
}

/** The places for warps of an SM, in the colors of their blocks. */
function slots(active, most, perBlock, room) {
  const width = Math.max(300, Math.min(720, room));
  const columns = width < 500 ? 16 : 32;
  const cell = Math.min(22, width / columns);
  const rows = Math.ceil(most / columns);
  const height = 20 + rows * cell + 4;
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${active} of ${most} places for warps are taken` });
  svg.append(draw("text", { x: 0, y: 12 }, "places for warps on an SM, shaded by block"));
  for (let at = 0; at < most; at++) {
    const kind = at >= active ? "idle" : Math.floor(at / perBlock) % 2 === 0 ? "wanted" : "other";
    svg.append(draw("rect", { x: (at % columns) * cell + 1, y: 20 + Math.floor(at / columns) * cell + 1, width: cell - 2, height: cell - 2, rx: 2, class: kind }));
  }
  return svg;
}
