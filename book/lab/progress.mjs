// What this browser remembers of a reader: answers to predictions, and exercises. Each has an entry of its own, so that two open pages do not overwrite
// what the other remembers. Where the browser may not remember (private windows, pages from files), nothing is lost but the memory.

const entry = (kind, name) => `unrolled.${kind}.${name}`;

function read(kind, name) {
  try {
    return JSON.parse(localStorage.getItem(entry(kind, name)) ?? "{}");
  } catch {
    return {};
  }
}

function write(kind, name, value) {
  try {
    localStorage.setItem(entry(kind, name), JSON.stringify(value));
  } catch {
    // See above.
  }
}

/** The first answer to each question: a second one comes after a hint. */
export const predictions = {
  get: (id) => read("prediction", id).answer,
  keep: (id, answer) => predictions.get(id) === undefined && write("prediction", id, { answer, date: new Date().toISOString() }),
};

/** By exercise, `01-conv-naive/2`: the reader's text, and what the terminal's journal has: checks, attempts (checks up to the first pass), hints, when it
 * was first passed, and whether the solution was seen before. */
export const exercises = {
  get: (stem) => read("exercise", stem),
  change: (stem, changes) => write("exercise", stem, { ...read("exercise", stem), ...changes }),
  checked(stem, isPassed) {
    const { checks = 0, attempts = 0, passed } = exercises.get(stem);
    exercises.change(stem, { checks: checks + 1, attempts: passed ? attempts : attempts + 1, passed: passed ?? (isPassed ? new Date().toISOString() : undefined) });
  },
  hinted: (stem, hints) => exercises.change(stem, { hints: Math.max(hints, exercises.get(stem).hints ?? 0) }),
  solved: (stem) => exercises.get(stem).passed || exercises.change(stem, { solution_seen: true }),
};

/** By page, `01-conv-naive/launch`: how many questions and exercises it has, and how many are done. */
export const pages = {
  get: (name) => read("page", name),
  keep: (name, value) => write("page", name, value),
};

/** Forgets everything. */
export function forget() {
  try {
    for (const key of Object.keys(localStorage).filter((key) => key.startsWith("unrolled."))) localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
}
