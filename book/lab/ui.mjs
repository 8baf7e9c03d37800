// Small pieces that figures share: elements, numbers in words, buttons.

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

/** An element of HTML with attributes, listeners (`onclick`), and children. */
export const make = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** An element of SVG. */
export const draw = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

export const button = (text, onclick, attributes) => make("button", { type: "button", onclick, ...attributes }, text);

/** Turns a button on or off. It keeps the focus, which a disabled one loses. */
export const enable = (button, isOn) => button.setAttribute("aria-disabled", String(!isOn));

/** Three significant digits, as the tables of the book have them. */
export function significant(value) {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  // A tie goes to the even digit, as in the press.
  const [digits, exponent] = Math.abs(value).toExponential(60).replace(".", "").split("e");
  const isTie = /^50*$/.test(digits.slice(3)) && Number(digits[2]) % 2 === 0;
  const rounded = isTie ? Math.sign(value) * Number(`${digits.slice(0, 3)}e${Number(exponent) - 2}`) : Number(value.toPrecision(3));
  const before = Math.floor(Math.log10(Math.abs(rounded))) + 1;
  return rounded.toFixed(Math.max(0, 3 - before));
}

function prefixed(value, unit) {
  const [scale, prefix] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]].find(([scale]) => Math.abs(value) >= scale * 0.9995) ?? [1, ""];
  return `${significant(value / scale)} ${prefix}${unit}`.trim();
}

/** A count: exact below ten thousand. */
export const count = (value) => (value < 10_000 ? String(value) : prefixed(value, ""));
export const flops = (value) => prefixed(value, "FLOP/s");
export const bandwidth = (value) => prefixed(value, "B/s");
export const percent = (share) => `${significant(100 * share)} %`;
export const plural = (number, one, several = `${one}s`) => `${number} ${number === 1 ? one : several}`;
export const grouped = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : value.toFixed(2));

/** What a unit needs at least, in clocks of its GPU. */
export const clocks = (value) => `${Math.ceil(value).toLocaleString("en-US")} clocks`;

/** The lanes of a mask, such as `0 to 15, 20`. */
export function lanesOf(mask) {
  const lanes = Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (mask >>> lane) & 1);
  const runs = [];
  for (const lane of lanes) {
    if (runs.at(-1)?.[1] === lane - 1) runs.at(-1)[1] = lane;
    else runs.push([lane, lane]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : last === first + 1 ? `${first}, ${last}` : `${first} to ${last}`)).join(", ");
}

/** The findings of a launch as a list; empty if there are none. */
export function findings(list) {
  return list.map(({ severity, text, help }) => make("div", { class: `lab-finding ${severity}` }, make("pre", {}, `${severity}: ${text}`), help && make("p", {}, help)));
}

/** A failure of the simulator in words, with what to do about it. */
export function failure(error) {
  const { kind, help } = error.failure ?? {};
  const lines = [error.message];
  if (help) lines.push(help);
  if (kind === "out-of-fuel") lines.push("Is there a loop that does not end?");
  if (kind === "memory") lines.push("Choose a smaller size.");
  return lines.join("\n");
}

/** Does something for a figure, one action at a time, and says in the figure's state how it went. */
export async function act(figure, action) {
  figure.dataset.state = "running";
  try {
    await action();
    figure.dataset.state = "done";
  } catch (error) {
    figure.dataset.state = "failed";
    throw error;
  }
}
