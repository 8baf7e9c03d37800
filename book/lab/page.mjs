// Starts the figures of a page. Each kind has a script of its own, which exports start(figure).

const started = performance.now();

for (const figure of document.querySelectorAll("figure[data-lab]")) {
  // mdBook turns pages and searches at single keys, which here mean something else.
  figure.addEventListener("keydown", (event) => event.stopPropagation());
  import(`./${figure.dataset.lab}.mjs`)
    .then(({ start }) => start(figure))
    .then(() => {
      figure.dataset.state ??= "ready";
      figure.dataset.readyMs = Math.round(performance.now() - started);
    })
    .catch((error) => {
      // The static version stays as it is.
      console.warn(`${figure.dataset.lab} does not start:`, error);
      figure.dataset.state = "failed";
    });
}
