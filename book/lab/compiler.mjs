// The compiler of CUDA C, which all figures of a page share. Its package, 75 MB, is fetched when it is first needed and stays in the browser's cache:
// from this site if it has one, and otherwise from npm's public CDN.

/** The package that `.ci/web` builds sites with. */
const CDN = "https://cdn.jsdelivr.net/npm/@yowasp/clang@22.0.0-git20542-10/gen/";

let worker;
let place;
let next = 0;

const here = new URL("./clang/", import.meta.url);

/** Where the package is. A site may name another place in `window.unrolledClang`. */
async function found() {
  if (window.unrolledClang) return String(window.unrolledClang);
  const own = await fetch(new URL("bundle.js", here), { method: "HEAD" }).then((response) => response.ok, () => false);
  return own ? here.href : CDN;
}

/**
 * Compiles a text. `form` is "optimized", "plain" (without optimization) or "quiet" (without what it prints), `architecture` a virtual one; `progress` gets
 * what is going on, in words.
 * @returns {Promise<{ ptx: string, remarks: string }>}
 */
export async function compileCuda(source, { name, form, architecture, progress = () => {} }) {
  place ??= found();
  const clang = await place;
  worker ??= new Worker(new URL("./simt/cuda-worker.js", import.meta.url), { type: "module" });
  const mine = worker;
  const id = next++;
  progress("Compiling…");
  return new Promise((resolve, reject) => {
    const end = (action) => {
      mine.removeEventListener("message", hear);
      mine.removeEventListener("error", broken);
      action();
    };
    const hear = ({ data }) => {
      if (data.id !== id) return;
      const { progress: fetched, result, problem } = data;
      if (fetched) {
        const megabytes = (bytes) => Math.round(bytes / 1e6);
        progress(fetched.done < fetched.total ? `Fetching the compiler, only this once: ${megabytes(fetched.done)} MB` : "Compiling…");
      } else if (result) end(() => resolve(result));
      else end(() => reject(new Error(problem)));
    };
    const broken = (event) => {
      mine.terminate();
      if (worker === mine) worker = undefined;
      end(() => reject(new Error(event.message || "the compiler could not start")));
    };
    mine.addEventListener("message", hear);
    mine.addEventListener("error", broken);
    mine.postMessage({ id, source, options: { name, form, architecture }, clang });
  });
}
