// What the theme adds to a page, made fit for those who do not see it or use no mouse: the box of the copy button of each block
// of code and the search get names, and a table that is scrolled sideways can be reached with the keyboard.
(() => {
  let count = 0;
  const fit = () => {
    for (const box of document.querySelectorAll("nav.md-code__nav:not([aria-label])")) {
      count += 1;
      box.setAttribute("aria-label", `Code block ${count}`);
    }
    document.querySelector(".md-search[role=dialog]")?.setAttribute("aria-label", "Search");
    for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
      wrap.setAttribute("tabindex", "0");
    }
  };
  fit();
  new MutationObserver(fit).observe(document.body, { childList: true, subtree: true });
})();
