// What this browser remembers of a reader: answers to predictions, and exercises. Where it may not remember, nothing is lost but the memory.

const KEY = "unrolled.progress";

/** All of it, as it is exported. */
export function all() {
  try {
    return { exercises: {}, predictions: {}, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { exercises: {}, predictions: {} };
  }
}

/** Changes it. */
export function change(edit) {
  const progress = all();
  edit(progress);
  try {
    localStorage.setItem(KEY, JSON.stringify(progress));
  } catch {
    // Private windows and pages from files may not store anything.
  }
}

/** The first answer to each question: a second one comes after a hint. */
export const predictions = {
  get: (id) => all().predictions[id]?.answer,
  keep: (id, answer) => change(({ predictions }) => (predictions[id] ??= { answer, date: new Date().toISOString() })),
};

/** By exercise, `01-conv-naive/2`: the reader's text, how often it was checked, and when it was first passed. */
export const exercises = {
  get: (stem) => all().exercises[stem] ?? {},
  change: (stem, changes) => change(({ exercises }) => (exercises[stem] = { ...exercises[stem], ...changes })),
  pass: (stem) => exercises.get(stem).passed || exercises.change(stem, { passed: new Date().toISOString() }),
};
