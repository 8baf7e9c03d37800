// Names of C for registers. Optimized PTX says only which line an instruction is from, so a register has a name where that line leaves no doubt:
// a parameter that is loaded; an integer whose value is that of the C expression in every lane; a float that is the last result of a line that sets one
// variable, by the operation that the expression ends with. Whatever could be false has no name.

import { parametersOf } from "./launches.mjs";

const basename = (path) => path.split("/").pop();
const bare = (text) => text.replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " ")).replaceAll(/\/\/.*/g, "");
const INTEGER = /^(?:int|unsigned|unsigned int|uint32_t|int32_t)$/;
const LONG = /^(?:size_t|long long|unsigned long long|uint64_t|int64_t)$/;
const STATEMENT = /^(?:(?:const|constexpr)\s+)*(?:((?:unsigned |long )?[A-Za-z_]\w*)\s+(?:const\s+)?)?([A-Za-z_]\w*)\s*([-+*/%&|^]|<<|>>)?=(?!=)\s*([^;]+);$/;

/** Parts of an expression that are in no parentheses. */
const outside = (expression) => {
  let depth = 0;
  return [...expression].map((letter) => (depth += "([{".includes(letter) - ")]}".includes(letter), depth > 0 || ")]}".includes(letter) ? "_" : letter)).join("");
};

/** Which instructions can end an expression on floats. */
function lastOf(operator, expression) {
  const top = outside(expression).trim();
  if (/[?<>=!&|,]/.test(top)) return undefined;
  if (/[+-]/.test(operator ?? "") || (!operator && /[\w)\]]\s*[+-]/.test(top.replaceAll(/\be[+-]\d/g, "")))) return /^(add|sub|fma)\./;
  if (operator === "*" || (!operator && top.includes("*") && !top.includes("/"))) return /^mul\./;
  if (operator || top.includes("/")) return undefined;
  if (/^[\d.]+(?:e[+-]?\d+)?f?$/.test(top)) return /^mov\./;
  if (/^\w+_+$/.test(top) && expression.trimEnd().endsWith("]")) return /^ld\./;
  return undefined;
}

/** A text with what its lines set. */
class Source {
  #lines;
  #text;
  #regions = [];

  constructor(text) {
    this.#text = bare(text);
    this.#lines = this.#text.split("\n").map((line) => line.trim());
    // From the end of one function to the end of the next.
    let [depth, from] = [0, 0];
    for (const [at, letter] of [...this.#text].entries()) {
      depth += (letter === "{") - (letter === "}");
      if ((letter === "}" || letter === ";") && depth === 0) {
        this.#regions.push({ text: this.#text.slice(from, at + 1), end: this.#text.slice(0, at + 1).split("\n").length });
        from = at + 1;
      }
    }
  }

  #statement(line) {
    const [whole, type, name, operator, expression] = this.#lines[line - 1]?.match(STATEMENT) ?? [];
    const before = this.#lines.slice(0, line - 1).findLast((text) => text !== "") ?? ";";
    return whole && /[;{}:)]$|^#/.test(before) && !outside(expression).includes(",") ? { type, name, operator, expression } : undefined;
  }

  region(line) {
    return this.#regions.find(({ end }) => end >= line)?.text ?? "";
  }

  /** How often a name is assigned in a region; infinitely often if that is not sure. */
  assignments(region, name) {
    const count = (pattern) => region.match(new RegExp(pattern, "g"))?.length ?? 0;
    const hidden = count(`(?:\\+\\+|--)\\s*${name}\\b|\\b${name}\\s*(?:\\+\\+|--)|[^&\\w\\s)]\\s*&\\s*${name}\\b`);
    const canPass = /\basm\b|\w\s*&\s*\w+\s*[,)]|#\s*define\s+\w+\(/.test(this.#text) && count(`[(,]\\s*${name}\\s*[,)]`) > 0;
    return hidden > 0 || canPass ? Infinity : count(`\\b${name}\\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)`);
  }

  /** The variable that a line sets, if all else that sets it is as plain. */
  set(line) {
    const statement = this.#statement(line);
    if (!statement) return undefined;
    const { name } = statement;
    const region = this.region(line);
    const types = [...region.matchAll(new RegExp(`\\b((?:unsigned |long )?[A-Za-z_]\\w*)[\\s*&]+(?:const\\s+)?${name}\\b`, "g"))].map(([, type]) => type).filter((type) => !/^(return|else|case|typename)$/.test(type));
    const end = this.#regions.find(({ end }) => end >= line)?.end ?? 0;
    const first = end - region.split("\n").length + 1;
    const plain = Array.from({ length: end - first + 1 }, (_, at) => this.#statement(first + at)).filter((other) => other?.name === name);
    if (types.length !== 1 || this.assignments(region, name) !== plain.length) return undefined;
    return { ...statement, type: types[0], isOnly: plain.length === 1 };
  }

  /** The expression of a constant, or of an integer that is set once in the region of a line. */
  defined(name, line) {
    for (const at of this.#lines.keys()) {
      const found = this.#statement(at + 1);
      if (found?.name !== name || found.operator) continue;
      if (this.#lines[at].startsWith("constexpr")) return { ...found, line: at + 1 };
      if (line && this.region(at + 1) === this.region(line) && this.set(at + 1)?.isOnly && INTEGER.test(found.type)) return { ...found, line: at + 1 };
    }
    return undefined;
  }
}

/** Names registers in the recorded steps of a warp. `launch` is as stored. */
export class Names {
  #steps;
  #launch;
  #sources;
  #parameters;
  #first;
  #kernel;
  #made = new Map();
  #parts = new Map();
  /** The steps that set a register. */
  #written = new Map();
  #numbers = new Map();

  constructor({ source, launch, steps, block, warp }) {
    this.#steps = steps;
    this.#launch = launch;
    this.#sources = new Map([source, ...source.headers.map(({ name, text }) => ({ path: name, text }))].map(({ path, text }) => [basename(path), { text: text.split("\n"), plain: new Source(text) }]));
    this.#kernel = this.#sources.get(basename(source.path)).plain;
    const parameters = parametersOf(source.text, launch.kernel);
    const head = source.text.slice(0, source.text.search(new RegExp(`\\b${launch.kernel}\\s*\\(`))).split("\n").length;
    const region = this.#kernel.region(head);
    this.#parameters = parameters.length === launch.arguments.length ? parameters.map(({ name }) => (this.#kernel.assignments(region, name) === 0 ? name : undefined)) : [];
    for (const [at, { writes }] of steps.entries()) for (const { register } of writes) (this.#written.get(register) ?? this.#written.set(register, []).get(register)).push(at);
    this.#first = { block, thread: 32 * warp };
  }

  /** The text of a line, if it is known. */
  line({ file, line }) {
    return this.#sources.get(basename(file))?.text[line - 1]?.trim();
  }

  /** The step that set a register last, up to a step; with its name, if it has one. */
  of(register, at) {
    const from = this.#set(register, at);
    if (from < 0) return undefined;
    const named = this.#name(from, register);
    // A variable has one value at a time: an older one has no name.
    const isSame = (write, after) => write.register !== register && this.#name(from + 1 + after, write.register)?.name === named.name;
    const isOld = named && !named.isParameter && this.#steps.slice(from + 1, at + 1).some(({ writes }, after) => writes.some((write) => isSame(write, after)));
    return { step: this.#steps[from], ...(isOld ? {} : named) };
  }

  #set(register, at) {
    return this.#written.get(register)?.findLast((step) => step <= at) ?? -1;
  }

  #name(at, register) {
    const key = `${at} ${register}`;
    if (!this.#made.has(key)) this.#made.set(key, this.#found(this.#steps[at], at, register));
    return this.#made.get(key);
  }

  #found(step, at, register) {
    const instruction = step.location.instruction.trim().replace(/^@!?%\w+\s+/, "");
    const [, bits, parameter] = instruction.match(/^ld\.param\.\w(\d+)\s+%\w+,\s*\[\w+?_param_(\d+)\]/) ?? [];
    if (parameter !== undefined) {
      // Not a member of a structure.
      const { bytes } = this.#launch.arguments[parameter];
      return this.#parameters[parameter] && (!bytes || 8 * bytes.length === Number(bits)) ? { name: this.#parameters[parameter], isParameter: true } : undefined;
    }
    const same = instruction.match(/^cvta\.to\.global\.u64\s+%\w+,\s*(%\w+)/)?.[1];
    if (same) {
      const from = this.#set(same, at);
      const named = from < 0 ? undefined : this.#name(from, same);
      return named?.isParameter ? named : undefined;
    }
    const { source } = step.location;
    const set = source && this.#sources.get(basename(source.file))?.plain.set(source.line);
    if (!set || this.#isPart(step.location, register, set)) return undefined;
    const { values, bits: wide } = step.writes.find((write) => write.register === register);
    if (set.type === "float" || set.type === "double") {
      const type = set.type === "float" ? ".f32" : ".f64";
      return instruction.split(/\s/)[0].includes(type) && lastOf(set.operator, set.expression)?.test(instruction) ? { name: set.name } : undefined;
    }
    const width = INTEGER.test(set.type) ? 32 : LONG.test(set.type) ? 64 : 0;
    if (wide !== width || !set.isOnly || set.operator) return undefined;
    const expected = this.#lanes(source, set.expression);
    return expected && values.every((value, lane) => !((step.lanes >>> lane) & 1) || BigInt.asUintN(width, BigInt(value)) === BigInt.asUintN(width, expected[lane])) ? { name: set.name } : undefined;
  }

  /** What the same line reads further down is only a part of its result; further up, it is what a loop adds to. */
  #isPart({ ptx_line: at, source }, register, { name, operator, expression }) {
    const key = `${at} ${register}`;
    if (!this.#parts.has(key)) {
      const adds = operator || new RegExp(`\\b${name}\\b`).test(expression);
      const isSame = (other) => other?.line === source.line && other.file === source.file;
      const reads = (instruction) => instruction.split(",").slice(1).join().match(/%\w+/g)?.includes(register);
      this.#parts.set(key, this.#steps.some(({ location }) => (adds ? location.ptx_line > at : location.ptx_line !== at) && isSame(location.source) && reads(location.instruction)));
    }
    return this.#parts.get(key);
  }

  /** The value of an expression of integers in each lane; nothing if it has more than numbers that are known before the kernel runs. */
  #lanes(source, expression) {
    const key = `${source.file}:${source.line}`;
    if (!this.#numbers.has(key)) {
      try {
        this.#numbers.set(key, Array.from({ length: 32 }, (_, lane) => this.#number(source, expression, lane)));
      } catch {
        this.#numbers.set(key, undefined);
      }
    }
    return this.#numbers.get(key);
  }

  #number(source, expression, lane, depth = 0) {
    const { block, grid } = this.#launch;
    const thread = this.#first.thread + lane;
    const known = {
      threadIdx: [thread % block[0], Math.floor(thread / block[0]) % block[1], Math.floor(thread / block[0] / block[1])],
      blockIdx: this.#first.block,
      blockDim: block,
      gridDim: grid,
    };
    const { plain } = this.#sources.get(basename(source.file));
    const words = expression.match(/[\w.]+|<<|>>|\S/g).map((word) => {
      if (/^(?:[-+*/%&|^~()]|<<|>>)$/.test(word)) return word;
      if (/^(?:0x[\da-f]+|\d+)u?$/i.test(word)) return `${word.replace(/u$/i, "")}n`;
      const [of, axis] = word.split(".");
      if (axis) return `${known[of]["xyz".indexOf(axis)]}n`;
      const parameter = this.#parameters.indexOf(word);
      if (parameter >= 0) {
        const { u32, bytes } = this.#launch.arguments[parameter];
        return `${u32 ?? bytes.reduceRight((sum, byte) => 256n * sum + BigInt(byte), 0n)}n`;
      }
      const defined = plain.defined(word, source.line);
      if (!defined || depth > 8) throw new Error(`${word} is not known`);
      return `(${this.#number({ ...source, line: defined.line }, defined.expression, lane, depth + 1)}n)`;
    });
    // Only numbers and operators are left.
    return new Function(`return ${words.join(" ")}`)();
  }
}
