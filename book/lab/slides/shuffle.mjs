import { plural } from "../ui.mjs";
import { range } from "./common.mjs";
import { LANES, ROUNDS, picture, requests, round, total } from "./sums.mjs";

const NAMES = { down: "down", exchange: "xor" };

export const controls = [
  { name: "way", label: "shuffle", kind: "choice", options: [["down", "__shfl_down_sync"], ["exchange", "__shfl_xor_sync"]], initial: "down" },
  { name: "round", label: "round", kind: "range", values: range(0, ROUNDS), initial: 1 },
];

export async function measure({ way, round: rounds }, ptx, room) {
  const result = await round(way, rounds, ptx);
  const { counters, adds, right } = result;
  const h = LANES >> rounds;
  const isUsed = (lane) => way === "exchange" || lane < h;
  const source = way === "exchange" ? (lane) => lane ^ h : (lane) => (lane + h < LANES ? lane + h : lane);
  const [exchanges, barriers] = [counters.warp_exchanges ?? 0, counters.barriers ?? 0];
  const unread = way === "down" ? ` Nobody needs the sums of lanes ${h} to ${LANES - 1}.` : "";
  const done = rounds === ROUNDS ? ` ${plural(right, "lane holds", "lanes hold")} the total, ${total}.` : "";
  return {
    cells: [NAMES[way], rounds, adds, right, exchanges, requests(counters), barriers].map(String),
    sentence:
      rounds === 0
        ? "No lane has added yet: each holds its value in a register."
        : `In round ${rounds}, ${adds} lanes add what they get from a shuffle by ${h}.${done}${unread} So far, the warp has executed ${plural(exchanges, "shuffle")}, with ${plural(requests(counters), "shared memory request")} and ${plural(barriers, "barrier")}.`,
    drawing: picture({ name: "lane", rounds, ...result }, { isUsed, source }, room),
  };
}
