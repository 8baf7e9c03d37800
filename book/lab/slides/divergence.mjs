import { draw, significant } from "../ui.mjs";
import { ratio, run, wave } from "./common.mjs";

const [STEPS, WARPS] = [16, 4];
const ALL = 0xffffffff;

export const controls = [
  { name: "lanes", label: "lanes that take the branch", kind: "mask", bits: 32, each: "lane", initial: ALL },
  { name: "warps", label: "in warps", kind: "mask", bits: WARPS, each: "warp", initial: 15 },
];

export const presets = [
  ["every second lane", { lanes: 0x55555555, warps: 15 }],
  ["every second warp", { lanes: ALL, warps: 5 }],
  ["half a warp", { lanes: 0xffff, warps: 15 }],
  ["one lane", { lanes: 1, warps: 1 }],
  ["all", { lanes: ALL, warps: 15 }],
];

function set(mask, of) {
  const members = Array.from({ length: of }, (_, member) => member).filter((member) => (mask >>> member) & 1);
  if (members.length === 0) return "none";
  if (members.length === of) return "all";
  if (members.length === 1) return `only ${members[0]}`;
  if (members.length <= 4) return members.join(", ");
  const [first, last] = [members[0], members[members.length - 1]];
  return last - first === members.length - 1 ? `${first} to ${last}` : `${members.length} of ${of}`;
}

export async function measure({ lanes, warps }, ptx, room) {
  const { report } = await run({
    ptx,
    kernel: "branch",
    grid: [1, 1, 1],
    block: [32 * WARPS, 1, 1],
    buffers: { in: wave(32 * WARPS, 16), out: 4 * 32 * WARPS },
    arguments: ["in", ...[lanes, warps, STEPS].map((u32) => ({ u32 })), "out"],
    least_bytes: 8 * 32 * WARPS,
  });
  const { ptx_instructions: all, ptx_thread_instructions: threads } = report.counters;
  const split = lanes !== 0 && lanes !== ALL ? Array.from({ length: WARPS }, (_, warp) => (warps >>> warp) & 1).filter(Boolean).length : 0;
  return {
    cells: [set(lanes, 32), set(warps, WARPS), String(all), ratio(threads, all)],
    sentence: split
      ? `${split} of ${WARPS} warps ${split === 1 ? "executes" : "execute"} both paths, one after the other. On average, ${significant(threads / all)} of 32 lanes are active.`
      : "Within each warp all lanes agree, so no warp executes both paths.",
    drawing: timeline(lanes, warps, room),
  };
}

/** Each warp over time: which lanes are active on which path. */
function timeline(lanes, warps, room) {
  const width = Math.max(300, Math.min(720, room));
  const [left, top, lane, gap] = [58, 34, 2, 24];
  const height = 32 * lane;
  const path = (width - left - 8) / 2;
  const bottom = top + WARPS * (height + gap);
  const svg = draw("svg", { width, height: bottom + 8, viewBox: `0 0 ${width} ${bottom + 8}`, role: "img", "aria-label": "Each warp over time: the lanes that are active on each path" });
  svg.append(draw("text", { x: 0, y: 12 }, "each warp over time →"));
  for (let warp = 0; warp < WARPS; warp++) {
    const y = top + warp * (height + gap);
    svg.append(draw("text", { x: 0, y: y + height / 2 + 4 }, `warp ${warp}`));
    const taken = (warps >>> warp) & 1 ? lanes : 0;
    const paths = [[taken, "wanted"], [~taken >>> 0, "other"]].filter(([mask]) => mask !== 0);
    paths.forEach(([mask, kind], at) => {
      svg.append(draw("rect", { x: left + at * path, y, width: path - 3, height, class: "idle" }));
      for (let from = 0; from < 32; from++) {
        if (!((mask >>> from) & 1)) continue;
        let to = from;
        while (to < 31 && (mask >>> (to + 1)) & 1) to += 1;
        svg.append(draw("rect", { x: left + at * path, y: y + from * lane + 0.3, width: path - 3, height: (to - from + 1) * lane - 0.6, class: kind }));
        from = to;
      }
      svg.append(draw("text", { x: left + at * path, y: y - 5 }, kind === "wanted" ? "the branch" : "the other path"));
    });
  }
  return svg;
}
