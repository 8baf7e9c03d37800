// Compiles CUDA C in the page. The compiler is fetched when it is first needed; a site may leave it out.

let worker;
let next = 0;

/**
 * Compiles a text. `say` gets what is going on.
 * @returns {Promise<{ ptx: string, remarks: string }>}
 */
export function compileCuda(source, name, say) {
  worker ??= new Worker(new URL("./simt/cuda-worker.js", import.meta.url), { type: "module" });
  const id = next++;
  say("Compiling…");
  return new Promise((resolve, reject) => {
    const end = (action) => {
      worker?.removeEventListener("message", hear);
      action();
    };
    const hear = ({ data }) => {
      if (data.id !== id) return;
      const { progress, result, problem } = data;
      if (progress) say(progress.done < progress.total ? `Fetching the compiler: ${Math.round(progress.done / 1e6)} of ${Math.round(progress.total / 1e6)} MB` : "Compiling…");
      else if (result) end(() => resolve(result));
      else end(() => reject(new Error(problem)));
    };
    worker.addEventListener("message", hear);
    worker.postMessage({ id, source, name });
    worker.onerror = (event) => {
      worker.terminate();
      worker = undefined;
      reject(new Error(event.message || "the compiler could not start"));
    };
  });
}
