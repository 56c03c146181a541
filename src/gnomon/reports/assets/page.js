/* Shared by the report and the viewer: the colour theme and sortable tables. */
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);

  // Theme: the reader's system decides until the reader does.
  const root = document.documentElement;
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const told = () => $("theme") && $("theme").setAttribute("aria-label", dark() ? "Switch to light" : "Switch to dark");
  try { const kept = localStorage.getItem("gnomon-theme"); if (kept) root.dataset.theme = kept; } catch { /* from a file: no store */ }
  if ($("theme")) {
    $("theme").hidden = false;
    told();
    $("theme").addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      told();
      try { localStorage.setItem("gnomon-theme", root.dataset.theme); } catch { /* the choice lasts for this page */ }
    });
  }

  // Sortable tables: a header with data-sort becomes a button.
  const order = (a, b) => {
    const x = parseFloat(a), y = parseFloat(b);
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  const makeSortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (!head.hasAttribute("data-sort")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "descending" ? false
          : head.getAttribute("aria-sort") === "ascending" ? true : head.dataset.sort === "number";
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
        const rows = [...table.tBodies[0].rows].sort((r, s) => {
          const a = value(r), b = value(s);
          return a === "" || b === "" || !down ? order(a, b) : order(b, a);
        });
        table.tBodies[0].append(...rows);
      });
    });
  };
  const makeAllSortable = (root) => root.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  makeAllSortable(document);
  document.addEventListener("gnomon:replaced", (event) => makeAllSortable(event.target));
})();
