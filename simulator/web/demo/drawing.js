// Draws one request: lanes above, the sectors that they touch below.

const SECTOR = 32;
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, content) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (content !== undefined) made.textContent = content;
  return made;
}

/**
 * Draws a sample into a folder of the page, and returns what it shows in a sentence.
 * @param {import("../js/simt").Sample} sample
 */
export function draw(where, { addresses, lanes, bytes, location }) {
  const active = addresses.map((address, lane) => ({ address, lane })).filter(({ lane }) => (lanes >>> lane) & 1);
  const sectorOf = (address) => Math.floor(address / SECTOR);
  const touched = new Set(active.flatMap(({ address }) => [sectorOf(address), sectorOf(address + bytes - 1)]));
  const sectors = [...touched].sort((a, b) => a - b);
  const distinct = new Set(active.map(({ address }) => address)).size * bytes;
  const place = new Map(sectors.map((sector, at) => [sector, at]));
  // Letters have the same size on every screen, so the drawing has as many units as the page has pixels.
  const width = Math.max(280, where.clientWidth);
  const wide = width / 32;
  const sectorWide = Math.min(width / 8, width / sectors.length);
  const left = (width - sectorWide * sectors.length) / 2;
  const [top, bottom] = [26, 128];
  const sentence =
    `${active.length} lanes load ${bytes} bytes each, ${distinct} different bytes together. They are in ${sectors.length} ` +
    `${sectors.length === 1 ? "sector" : "sectors"} of 32 bytes, so ${SECTOR * sectors.length} bytes move.`;
  const svg = element("svg", { viewBox: `0 0 ${width} 176`, role: "img", "aria-label": sentence });
  svg.append(element("text", { x: 0, y: 12 }, "lanes 0 to 31"));
  addresses.forEach((_, lane) => {
    const isActive = (lanes >>> lane) & 1;
    svg.append(element("rect", { x: (lane + 0.08) * wide, y: top - 8, width: 0.84 * wide, height: 16, rx: 2, class: isActive ? "lane" : "lane idle" }));
  });
  for (const at of sectors.keys()) {
    svg.append(element("rect", { x: left + at * sectorWide + 0.5, y: bottom, width: sectorWide - 1, height: 22, class: "sector" }));
  }
  for (const { address, lane } of active) {
    const at = left + (place.get(sectorOf(address)) + (address % SECTOR) / SECTOR) * sectorWide;
    const word = (bytes / SECTOR) * sectorWide;
    svg.append(element("rect", { x: at + 0.5, y: bottom + 3, width: Math.max(1, word - 1), height: 16, class: "word" }));
    svg.append(element("line", { x1: (lane + 0.5) * wide, y1: top + 9, x2: at + word / 2, y2: bottom, class: "way" }));
  }
  const base = sectors[0] * SECTOR;
  const last = (sectors.at(-1) - sectors[0] + 1) * SECTOR;
  svg.append(element("text", { x: 0, y: bottom + 42 }, `${sectors.length} of the ${last / SECTOR} sectors from ${base.toString(16)} (hexadecimal) on`));
  where.replaceChildren(svg);
  return `${sentence} (${location.instruction})`;
}
