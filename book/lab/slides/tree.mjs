import { plural } from "../ui.mjs";
import { range } from "./common.mjs";
import { LANES, ROUNDS, after, picture, requests, round, total } from "./sums.mjs";

const BLOCK = 256;

export const controls = [
  { name: "way", label: "a tree by", kind: "choice", options: [["halves", "halves: s[t] += s[t + h]"], ["neighbors", "neighbors: t % (2 h) == 0"]], initial: "halves" },
  { name: "round", label: "round", kind: "range", values: range(0, ROUNDS), initial: 1 },
];

export async function measure({ way, round: rounds }, ptx, room) {
  const result = await round(way, rounds, ptx);
  const { counters, adds, right } = result;
  const [halves, neighbors] = await Promise.all(["halves", "neighbors"].map(async (name) => requests((await after(name, rounds, ptx, BLOCK)).counters)));
  const h = way === "halves" ? LANES >> rounds : 2 ** (rounds - 1);
  const isUsed = (t) => (way === "halves" ? t < h : t % (2 * h) === 0);
  const done = rounds === ROUNDS ? ` ${plural(right, "thread")} of ${LANES} holds the total, ${total}.` : "";
  return {
    cells: [way, rounds, adds, right, requests(counters), way === "halves" ? halves : neighbors, counters.barriers ?? 0].map(String),
    sentence:
      rounds === 0
        ? "No thread has added yet: each holds its value."
        : `With h = ${h}, ${plural(adds, "thread adds", "threads add")} in round ${rounds}.${done} So far, the warp has made ${requests(counters)} shared memory requests and waited at ${plural(counters.barriers, "barrier")}. In a block of ${BLOCK} threads, ${plural(rounds, "round")} by halves ${rounds === 1 ? "makes" : "make"} ${halves} requests, and by neighbors ${neighbors}.`,
    drawing: picture({ name: "thread", rounds, ...result }, { isUsed, source: (t) => (isUsed(t) ? t + h : undefined) }, room),
  };
}
