// Brings to life what can move in a page. A page without such figures loads nothing more. If the scripts are not there (a book that was built
// without them, or opened from a file), the static versions stay, and a line says so.
(() => {
  if (!document.querySelector("[data-lab]")) return;
  // mdBook gives every page the way to the root of the site.
  const root = typeof path_to_root === "string" ? path_to_root : "";
  import(new URL(`${root}lab/page.mjs`, document.baseURI)).catch(() => {
    const line = document.createElement("p");
    line.className = "lab-missing";
    line.innerHTML = `The figures and exercises of this page do not run here. <a href="${root}setup.html#the-book">Set-up</a> says how to build the book with them.`;
    document.querySelector("main")?.prepend(line);
  });
})();
