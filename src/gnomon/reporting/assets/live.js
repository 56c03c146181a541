/* The viewer's run page: asks for the progress of a run that is going on, and loads the page anew when it ends. */
"use strict";
(() => {
  const box = document.querySelector("[data-progress]");
  if (!box || box.dataset.state === "finished") return;
  const set = (name, value) => { box.querySelector(`[data-part=${name}]`).textContent = value; };
  const look = async () => {
    try {
      const answer = await fetch(box.dataset.progress, { headers: { accept: "application/json" } });
      if (!answer.ok) return;
      const now = await answer.json();
      const count = (n) => n.toLocaleString("en");
      box.querySelector("progress").value = now.share;
      set("state", now.state);
      set("done", `${count(now.done)} of ${count(now.total)} items`);
      set("pace", now.pace);
      set("rest", `${count(now.answered)} answered, ${count(now.unread)} unreadable, ${count(now.errors)} failed`);
      if (now.state === "finished") { location.reload(); return; }
    } catch { /* the viewer may be restarting: ask again */ }
    setTimeout(look, 1000);
  };
  setTimeout(look, 500);
})();
