// Brings to life what can move in a page. A page without such figures loads nothing more. If the scripts are not there (a book that was built
// without them, or opened from a file), the static versions stay.
(() => {
  if (!document.querySelector("[data-lab]")) return;
  // mdBook gives every page the way to the root of the site.
  const root = typeof path_to_root === "string" ? path_to_root : "";
  import(new URL(`${root}lab/page.mjs`, document.baseURI)).catch(() => {});
})();
