/* What is folded opens for an address that leads into it, and on paper. */
"use strict";
(() => {
  const open = (target) => {
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };
  const follow = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    open(target);
    if (target.matches("details")) target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();

  // A link to where one is already changes no address, and must open what it names all the same.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) follow();
    const menu = document.querySelector(".bar details[open]");
    if (menu && (link || !menu.contains(event.target))) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && document.querySelector(".bar details[open]");
    if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
  });

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.fold:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of opened) fold.open = false; });
})();
