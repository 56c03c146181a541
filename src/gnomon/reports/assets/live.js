/* The viewer's script: progress without reloading, arrow keys between items, and copying a table. */
"use strict";
(() => {
  const count = (n) => n.toLocaleString("en");
  const set = (box, name, value) => {
    const part = box.querySelector(`[data-part=${name}]`);
    if (part && part.textContent !== value) part.textContent = value;
  };
  const show = (box, now) => {
    box.querySelector("progress").value = now.share;
    set(box, "state", now.state);
    set(box, "done", `${count(now.done)} of ${count(now.total)} items`);
    set(box, "pace", now.pace);
    set(box, "rest", `${count(now.answered)} answered, ${count(now.unread)} unreadable, ${count(now.errors)} failed`);
  };
  const ask = async (address, type) => {
    const answer = await fetch(address, { headers: { accept: type } });
    if (!answer.ok) throw new Error(answer.status);
    return type === "application/json" ? answer.json() : answer.text();
  };

  // Asks again and again, but not while nobody looks, and less often while the viewer does not answer.
  const SOON = 1000, LATER = 4000, LONGEST = 30000;
  const poll = (address, use) => {
    let wait = SOON, timer = 0, stopped = false;
    const again = () => { clearTimeout(timer); if (!stopped && !document.hidden) timer = setTimeout(look, wait); };
    const look = async () => {
      try {
        const next = await use(await ask(address, "application/json"));
        if (next === 0) { stopped = true; return; }
        wait = next;
      } catch { wait = Math.min(2 * wait, LONGEST); }
      again();
    };
    document.addEventListener("visibilitychange", again);
    again();
  };

  // The page of one run: its figures are new when it ends.
  const one = document.querySelector("[data-progress]");
  if (one && one.dataset.state !== "finished") {
    poll(one.dataset.progress, (now) => {
      show(one, now);
      if (now.state === "finished") { location.reload(); return 0; }
      return now.state === "running" ? SOON : LATER;
    });
  }

  // The list of runs: parts of the page are fetched anew when a run comes or ends.
  const list = document.querySelector("[data-live]");
  const news = document.getElementById("news");
  const replace = (old, fresh) => {
    if (!old || !fresh || old.contains(document.activeElement)) return false;
    old.replaceChildren(...fresh.childNodes);
    Object.assign(old.dataset, fresh.dataset);
    old.dispatchEvent(new Event("gnomon:replaced", { bubbles: true }));
    return true;
  };
  const renew = async () => {
    const page = new DOMParser().parseFromString(await ask(location.href, "text/html"), "text/html");
    const parts = ["#live", "[data-fresh=overview]", "[data-fresh=boards]"];
    const done = parts.map((part) => replace(document.querySelector(part), page.querySelector(part)));
    news.textContent = done.every(Boolean) ? "The list of runs has changed." : "";
    wireCopying();
    return done[0];
  };
  const rows = () => new Map([...list.querySelectorAll("[data-run]")].map((row) => [row.dataset.run, row]));
  if (list) {
    poll(list.dataset.live, async (now) => {
      if (now.version !== list.dataset.version) await renew();
      const shown = rows();
      for (const run of now.runs) if (shown.has(run.name)) show(shown.get(run.name), run);
      return now.runs.some((run) => run.state === "running") ? SOON : LATER;
    });
  }

  // Left and right lead to the items before and after, unless the keys are needed where the focus is.
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("input, textarea, select, summary, .scroll, svg, [contenteditable]")) return;
    const way = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    const link = way && document.querySelector(`nav.steps a[rel=${way}]`);
    if (link) { event.preventDefault(); link.click(); }
  });

  const wireCopying = () => {
    for (const button of document.querySelectorAll("[data-copy][hidden]")) {
      if (!navigator.clipboard) continue;
      button.hidden = false;
      button.addEventListener("click", async () => {
        const text = document.getElementById(button.dataset.copy).textContent;
        const told = button.parentElement.querySelector("[role=status]");
        try { await navigator.clipboard.writeText(text); told.textContent = "Copied."; }
        catch { told.textContent = "The browser does not allow it: select the text and copy it."; }
      });
    }
  };
  wireCopying();
})();
