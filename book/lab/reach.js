// Makes reachable by keyboard what mdBook leaves to the mouse: the button that opens the list of pages, and boxes that scroll sideways.
(() => {
  const BOXES = "pre, pre > code, .table-wrapper, .drawing, .lab-scroll, .lab-drawing";

  document.getElementById("mdbook-menu-bar")?.setAttribute("role", "banner");

  // mdBook's is the label of a hidden checkbox, which takes no focus. A button takes its place and presses it.
  const label = document.getElementById("mdbook-sidebar-toggle");
  if (label) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "icon-button";
    button.title = "Show or hide the list of pages";
    button.setAttribute("aria-label", button.title);
    button.setAttribute("aria-controls", "mdbook-sidebar");
    button.append(...label.childNodes);
    button.addEventListener("click", () => label.click());
    const tell = () => button.setAttribute("aria-expanded", String(document.getElementById("mdbook-sidebar-toggle-anchor").checked));
    new MutationObserver(tell).observe(label, { attributes: true });
    tell();
    label.style.display = "none";
    label.before(button);
  }

  const main = document.querySelector("main");
  if (!main) return;
  // An arrow key scrolls the box that has the focus, and turns no page.
  main.addEventListener("keydown", (event) => {
    if (/^Arrow(Left|Right)$/.test(event.key) && event.target.matches(BOXES)) event.stopPropagation();
  });

  const reach = (boxes) => {
    const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible");
    boxes.forEach((box, at) => {
      if (scrolls[at] && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.dataset.scrolls = "";
      } else if (!scrolls[at] && "scrolls" in box.dataset) {
        box.removeAttribute("tabindex");
        delete box.dataset.scrolls;
      }
    });
  };
  // Boxes change their size when a window or a closed part of the page does, and figures bring new ones.
  const sizes = new ResizeObserver((entries) => reach(entries.map(({ target }) => target)));
  const known = new WeakSet();
  const find = () => {
    const boxes = [...main.querySelectorAll(BOXES)];
    for (const box of boxes) {
      if (!known.has(box)) sizes.observe(box);
      known.add(box);
    }
    return boxes;
  };
  reach(find());
  let isDue = false;
  new MutationObserver(() => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      reach(find());
    });
  }).observe(main, { childList: true, subtree: true });
})();
