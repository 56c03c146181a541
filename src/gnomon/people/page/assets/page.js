/* The page on which people answer: keys, time on the item, parts that depend on others, a list to search. All of it works without. */
"use strict";
(() => {
  document.documentElement.classList.add("js");
  const $ = (id) => document.getElementById(id);
  const form = $("item");
  const go = document.querySelector("[data-go]");
  if (!form) {
    if (go) go.focus({ preventScroll: true });
    return;
  }
  const parts = [...form.querySelectorAll("[data-part]")];
  const inputs = (part) => [...part.querySelectorAll("input[type=radio], input[type=text]")];
  const chosen = (part) => inputs(part).find((input) => input.checked || (input.type === "text" && input.value));
  const named = (name) => parts.find((part) => part.dataset.part === name);

  // Time on the item: only while the page is seen.
  let spent = 0, since = document.visibilityState === "visible" ? performance.now() : null;
  document.addEventListener("visibilitychange", () => {
    if (since !== null) { spent += performance.now() - since; since = null; }
    if (document.visibilityState === "visible") since = performance.now();
  });

  // A form is sent once; the button says so while it is on its way.
  let sending = false;
  form.addEventListener("submit", (event) => {
    if (sending) { event.preventDefault(); return; }
    sending = true;
    const total = spent + (since === null ? 0 : performance.now() - since);
    form.elements.seconds.value = (total / 1000).toFixed(1);
  });
  addEventListener("pageshow", () => { sending = false; });

  // A part that needs others shows when they have these values.
  const depend = () => {
    for (const part of parts) {
      if (!part.dataset.needs) continue;
      const holds = part.dataset.needs.split(" ").every((need) => {
        const [name, value] = need.split("=");
        const other = chosen(named(name));
        return other && other.value === value;
      });
      part.hidden = !holds;
      part.disabled = !holds;
    }
  };

  // The sentence that is being made.
  const preview = form.querySelector("[data-preview]");
  const say = () => {
    if (!preview) return;
    const relation = chosen(named("relation")), order = chosen(named("order"));
    preview.hidden = !(relation && order);
    if (preview.hidden) return;
    const pattern = order.closest("label").querySelector("bdi").textContent;
    preview.textContent = `${pattern.replace("…", relation.dataset.said)}.`;
  };
  const changed = () => { depend(); say(); };
  form.addEventListener("change", changed);
  changed();

  // A click on the picture is a point, in per cent of its width and height.
  const point = form.querySelector("[data-point]");
  const seen = form.querySelector(".pictures img");
  if (point && seen) {
    const mark = document.createElement("span");
    mark.className = "point-mark";
    seen.parentNode.classList.add("pointed");
    seen.parentNode.append(mark);
    const show = () => {
      const [x, y] = point.value.split(",").map(parseFloat);
      mark.hidden = !(x >= 0 && y >= 0);
      mark.style.left = `${seen.offsetLeft + x * seen.offsetWidth / 100}px`;
      mark.style.top = `${seen.offsetTop + y * seen.offsetHeight / 100}px`;
    };
    seen.addEventListener("click", (event) => {
      const box = seen.getBoundingClientRect();
      const share = (at, start, size) => (100 * (at - start) / size).toFixed(1);
      point.value = `${share(event.clientX, box.left, box.width)} %, ${share(event.clientY, box.top, box.height)} %`;
      show();
    });
    point.addEventListener("input", show);
    if (seen.complete) show();
    seen.addEventListener("load", show);
  }

  // A long list can be searched; Enter takes the first that is found.
  for (const field of form.querySelectorAll("[data-search]")) {
    const part = field.closest("[data-part]");
    field.closest(".search").hidden = false;
    const fits = (label) => label.textContent.toLowerCase().includes(field.value.trim().toLowerCase());
    field.addEventListener("input", () => {
      for (const label of part.querySelectorAll(".option")) label.hidden = !fits(label);
      for (const group of part.querySelectorAll(".group")) {
        group.hidden = ![...group.querySelectorAll(".option")].some(fits);
      }
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      const wanted = field.value.trim().toLowerCase();
      const labels = [...part.querySelectorAll(".option")].filter((label) => !label.hidden);
      const exact = labels.find((label) => label.querySelector("bdi").textContent.toLowerCase() === wanted);
      const found = exact || labels[0];
      if (!wanted || !found) return;
      choose(found.querySelector("input"));
    });
  }

  const choose = (input) => {
    input.checked = true;
    input.focus();
    input.dispatchEvent(new Event("change", { bubbles: true }));
    const following = current();
    if (!following || following === input.closest("[data-part]")) return;
    const search = following.querySelector("[data-search]");
    (search || inputs(following)[0]).focus();
  };
  // The part that keys answer: the one with the focus, unless it has an answer and another has none.
  const current = () => {
    const open = parts.filter((part) => !part.hidden);
    const focused = open.find((part) => part.contains(document.activeElement));
    const missing = open.find((part) => !chosen(part));
    if (focused && !chosen(focused)) return focused;
    return missing || focused || open[0];
  };

  // Keys, which can be switched off: some people speak to their computer.
  const box = $("keys");
  let on = true;
  try { on = localStorage.getItem("gnomon-keys") !== "off"; } catch { /* no store: on */ }
  box.closest(".switch").hidden = false;
  box.checked = on;
  box.addEventListener("change", () => {
    on = box.checked;
    try { localStorage.setItem("gnomon-keys", on ? "on" : "off"); } catch { /* for this page */ }
  });
  const open = (id, target) => {
    const details = $(id);
    details.open = !details.open || !details.contains(document.activeElement);
    if (details.open) (target && details.querySelector(target) || details.querySelector("summary")).focus();
  };
  const submit = (action) => form.requestSubmit(form.querySelector(`[value=${action}]`));
  const saves = (event) => {
    if (event.target.matches("textarea")) return event.ctrlKey || event.metaKey;
    return !event.target.closest("a, button, summary, input[type=search]");
  };
  addEventListener("keydown", (event) => {
    const typing = event.target.matches("textarea, input[type=search], input[type=text]");
    if (event.key === "Escape" && typing) { event.target.blur(); return; }
    if (event.key === "Enter" && saves(event)) {
      event.preventDefault();
      submit(event.target.closest("#skip") ? "skip" : "save");
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing || !on) return;
    if (event.key === "b") { const back = form.querySelector("[data-back]"); if (back) back.click(); return; }
    if (event.key === "s") { event.preventDefault(); open("skip", "input"); return; }
    if (event.key === "c") { event.preventDefault(); open("remark", "textarea"); return; }
    if (event.key === "h") { event.preventDefault(); open("help"); return; }
    const part = current();
    const wanted = part && inputs(part).find((input) => input.dataset.key === event.key.toLowerCase());
    if (wanted) { event.preventDefault(); choose(wanted); }
  });
})();
