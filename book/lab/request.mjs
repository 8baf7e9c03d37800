// Draws one request of a warp: its lanes above, the memory that they ask for below, and a line from each lane to each word. Two lanes that share a word
// both have a line to it.

import { draw, make, plural } from "./ui.mjs";

const SECTOR = 32;
const ROW = 128;
/** The widest that a drawing is. Letters keep their size on every screen, so a drawing has as many units as it has pixels. */
const WIDEST = 720;
const LANE = 20;
const TOP = 46;

/** The lanes that execute it, each with the offset of its first byte. */
const active = ({ offsets, lanes }) => offsets.map((offset, lane) => ({ offset, lane })).filter(({ lane }) => (lanes >>> lane) & 1);

/** A sample of the simulator in the form of the stored ones. */
export function fromSample({ location, space, variable, op, bytes, lanes, addresses }) {
  const asked = addresses.filter((_, lane) => (lanes >>> lane) & 1);
  const base = space === "global" ? Math.floor(Math.min(...asked) / ROW) * ROW : 0;
  const offsets = addresses.map((address, lane) => ((lanes >>> lane) & 1 ? address - base : 0));
  return { file: location.source?.file, line: location.source?.line, op, space, variable, bytes, lanes, instruction: location.instruction.trim(), offsets };
}

/** What a request costs, in words, by the rules of current GPUs. */
export function costOf(request) {
  const asks = active(request);
  const lanes = plural(asks.length, "lane");
  const words = new Set(asks.flatMap(({ offset }) => wordsOf(offset, request.bytes)));
  const distinct = new Set(asks.flatMap(({ offset }) => Array.from({ length: request.bytes }, (_, byte) => offset + byte))).size;
  if (request.space === "global") {
    const sectors = sectorsOf(request).length;
    const verb = request.op === "load" ? "read" : "written";
    return `${plural(sectors, "sector")} ${verb} for ${lanes}, ${Math.ceil(distinct / SECTOR)} at best; ${distinct} of ${sectors * SECTOR} bytes used`;
  }
  const banks = new Map();
  for (const word of words) banks.set(word % 32, (banks.get(word % 32) ?? 0) + 1);
  const most = Math.max(...banks.values());
  return `${plural(words.size, "word")} for ${lanes}; the busiest bank has ${most}`;
}

const wordsOf = (offset, bytes) => {
  const first = Math.floor(offset / 4);
  return Array.from({ length: Math.floor((offset + bytes - 1) / 4) - first + 1 }, (_, at) => first + at);
};

const sectorsOf = (request) =>
  [...new Set(active(request).flatMap(({ offset }) => [Math.floor(offset / SECTOR), Math.floor((offset + request.bytes - 1) / SECTOR)]))].sort((a, b) => a - b);

/** A word of memory, with the lanes that ask for it. */
function words(request) {
  const found = new Map();
  for (const { offset, lane } of active(request)) {
    for (const word of wordsOf(offset, request.bytes)) found.set(word, [...(found.get(word) ?? []), lane]);
  }
  return found;
}

/** How expensive a request is, to show the most expensive one of a line first. */
export const weightOf = (request) => (request.space === "global" ? sectorsOf(request).length : words(request).size);

/** Draws a request for a place of a width, and returns an element with the drawing and its cost in words. */
export function drawing(request, room = WIDEST) {
  const width = Math.max(300, Math.min(WIDEST, room));
  const { space, op, variable, instruction } = request;
  const cost = request.cost ?? costOf(request);
  const verb = { load: "load from", store: "store to", atomic: "atomic operation on" }[op];
  const title = `A ${verb} ${space} memory${variable ? ` (${variable})` : ""}`;
  const svg = draw("svg", { role: "img", "aria-label": `${title}: ${cost}` });
  svg.append(draw("text", { x: 0, y: 12 }, "lanes of the warp"));
  const lane = width / 32;
  for (let at = 0; at < 32; at++) {
    const isActive = (request.lanes >>> at) & 1;
    svg.append(draw("rect", { x: at * lane + 1, y: 20, width: lane - 2, height: LANE, rx: 3, class: isActive ? "wanted" : "idle" }));
    if (isActive && (lane >= 15 || at % 4 === 0)) svg.append(draw("text", { x: (at + 0.5) * lane, y: 34, class: "lane" }, at));
  }
  const height = space === "shared" ? banks(svg, request, lane) : sectors(svg, request, lane);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  const shared = [...words(request)].filter(([, lanes]) => lanes.length > 1).length;
  const together = shared > 0 && ` ${plural(shared, "word is", "words are")} wanted by several lanes, and read once for all of them.`;
  return make("div", { class: "lab-request" }, make("p", {}, make("strong", {}, title), ": ", cost, ".", together), make("div", { class: "lab-scroll" }, svg), make("p", { class: "lab-note" }, make("code", {}, instruction)));
}

const way = (svg, from, to, bottom, isClash) =>
  svg.append(draw("path", { d: `M${from.toFixed(1)} ${TOP - 5}C${from.toFixed(1)} ${TOP + 40} ${to.toFixed(1)} ${bottom - 45} ${to.toFixed(1)} ${bottom - 2}`, class: isClash ? "way clash" : "way" }));

/** Sectors in a row, side by side; what is between them in memory is left out. */
function sectors(svg, request, lane) {
  const touched = sectorsOf(request);
  const bottom = TOP + 100;
  const width = 32 * lane;
  const wide = Math.min(width / 4, width / touched.length);
  const left = (width - wide * touched.length) / 2;
  const place = new Map(touched.map((sector, at) => [sector, left + at * wide]));
  touched.forEach((sector, at) => {
    const isApart = at > 0 && touched[at - 1] !== sector - 1;
    svg.append(draw("rect", { x: place.get(sector) + (isApart ? 2.5 : 0.5), y: bottom, width: wide - (isApart ? 3 : 1), height: 26, rx: 3, class: "moved" }));
  });
  const drawn = new Set();
  for (const { offset, lane: at } of active(request)) {
    const sector = Math.floor(offset / SECTOR);
    const x = place.get(sector) + ((offset % SECTOR) / SECTOR) * wide;
    const size = (request.bytes / SECTOR) * wide;
    if (!drawn.has(offset)) svg.append(draw("rect", { x: x + 0.8, y: bottom + 3, width: Math.max(1.2, Math.min(size, wide) - 1.6), height: 20, rx: 1.5, class: "wanted" }));
    drawn.add(offset);
    way(svg, (at + 0.5) * lane, x + size / 2, bottom);
  }
  const span = touched.at(-1) - touched[0] + 1;
  const apart = span === 1 ? "one sector of 32 bytes" : touched.length === span ? `${plural(span, "sector")} of 32 bytes, side by side` : `${touched.length} of the ${span} sectors from the first to the last`;
  svg.append(draw("text", { x: 0, y: bottom + 44 }, apart));
  return bottom + 54;
}

/** The 32 banks, with the words that are asked of each below each other. */
function banks(svg, request, lane) {
  const wanted = words(request);
  const bottom = TOP + 100;
  const stacks = Array.from({ length: 32 }, () => []);
  for (const word of [...wanted.keys()].sort((a, b) => a - b)) stacks[word % 32].push(word);
  const most = Math.max(1, ...stacks.map((stack) => stack.length));
  // A vector of a lane lies in several banks without a conflict.
  const conflicts = request.bytes <= 4;
  const high = most > 8 ? 10 : 20;
  for (const [bank, stack] of stacks.entries()) {
    const x = bank * lane;
    svg.append(draw("rect", { x: x + 1, y: bottom, width: lane - 2, height: most * high, rx: 2, class: "idle" }));
    stack.forEach((word, at) => {
      const isClash = conflicts && stack.length > 1;
      svg.append(draw("rect", { x: x + 2, y: bottom + at * high + 1, width: lane - 4, height: high - 2, rx: 2, class: isClash ? "clash" : "wanted" }));
      for (const from of wanted.get(word)) way(svg, (from + 0.5) * lane, x + lane / 2, bottom + at * high + 2, isClash);
    });
    if (bank % 4 === 0 || bank === 31) svg.append(draw("text", { x: x + lane / 2, y: bottom + most * high + 15, class: "middle" }, bank));
  }
  svg.append(draw("text", { x: 0, y: bottom + most * high + 32 }, most > 1 && conflicts ? `the 32 banks; each serves one word at a time: ${most} wavefronts` : "the 32 banks of shared memory"));
  return bottom + most * high + 42;
}
