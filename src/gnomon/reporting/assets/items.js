/* The report's item table. It is unpacked when first needed; what models said is only ever set as text. */
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const make = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) if (value !== undefined) node.setAttribute(key, value);
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  };

  const area = $("items");
  if (!area) return;
  const FIRST = 0x30, NONE = FIRST - 1, ABSENT = FIRST - 2, PAGE = 25;
  const packs = [...document.querySelectorAll("script[data-pack]")];
  const ready = new Map();
  let pack = null, shown = [], page = 0, sort = { key: "order", down: false };

  const unpack = async (at) => {
    if (ready.has(at)) return ready.get(at);
    const binary = atob(packs[at].textContent.trim());
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const data = JSON.parse(await new Response(stream).text());
    const { context, group, gold } = data;
    const contexts = context.values.map((c) => c.toLowerCase()), groups = group.values.map((g) => g.toLowerCase());
    // One long text of all items and where each begins: a search runs through it once, from hit to hit.
    const golds = gold.values.map((g) => g.toLowerCase());
    const parts = data.text.map((text, i) => [data.id[i].toLowerCase(), contexts[context.codes[i]], text.toLowerCase(),
      groups[group.codes[i]], golds[gold.codes[i]]].join("\n"));
    data.start = new Uint32Array(data.n + 1);
    parts.forEach((part, i) => { data.start[i + 1] = data.start[i] + part.length + 1; });
    data.sought = parts.join("\0");
    data.hits = new Uint16Array(data.n);
    data.asked = new Uint16Array(data.n);
    for (const run of data.runs) for (let i = 0; i < data.n; i++) {
      if (run.choice.charCodeAt(i) !== ABSENT) data.asked[i]++;
      if (run.right.charCodeAt(i) === FIRST + 1) data.hits[i]++;
    }
    ready.set(at, data);
    return data;
  };
  const chosen = (run, i) => {
    const code = run.choice.charCodeAt(i);
    if (code === ABSENT) return "not asked";
    return code === NONE ? "no answer" : pack.choices.values[pack.choices.codes[i]][code - FIRST];
  };
  const chance = (text, i) => {
    const code = text ? text.charCodeAt(i) : NONE;
    return code === NONE ? null : code - FIRST;
  };
  const right = (run, i) => run.right.charCodeAt(i) === FIRST + 1;

  // Which items hold all the words: null for all items, else a flag for each.
  const holding = (words) => {
    if (!words.length) return null;
    const [first, ...rest] = [...words].sort((a, b) => b.length - a.length);
    const { sought, start, n } = pack, found = new Uint8Array(n);
    for (let at = sought.indexOf(first), i = 0; at >= 0; at = sought.indexOf(first, start[i])) {
      while (start[i + 1] <= at) i++;
      const text = rest.length ? sought.slice(start[i], start[i + 1]) : "";
      if (rest.every((word) => text.includes(word))) found[i] = 1;
      if (++i >= n) break;
    }
    return found;
  };
  const choose = () => {
    const began = performance.now();
    const words = $("q").value.toLowerCase().split(/\s+/).filter(Boolean);
    const outcome = $("outcome").value, tagged = [...area.querySelectorAll("select[data-tag]")].filter((s) => s.value !== "")
      .map((s) => [pack.tags[s.dataset.tag].codes, Number(s.value)]);
    const [kind, which] = outcome.split(":");
    const run = which === undefined ? null : pack.runs[Number(which)];
    const found = [], held = holding(words);
    for (let i = 0; i < pack.n; i++) {
      if (held && !held[i]) continue;
      if (run) {
        const code = run.choice.charCodeAt(i);
        if (kind === "right" && !right(run, i)) continue;
        if (kind === "wrong" && (code === ABSENT || right(run, i))) continue;
        if (kind === "silent" && code !== NONE) continue;
      } else if (kind === "split" && (pack.hits[i] === 0 || pack.hits[i] === pack.asked[i])) continue;
      else if (kind === "nobody" && (pack.hits[i] > 0 || pack.asked[i] === 0)) continue;
      if (!tagged.every(([codes, value]) => codes[i] === value)) continue;
      found.push(i);
    }
    const by = {
      id: (i) => pack.id[i], gold: (i) => pack.gold.values[pack.gold.codes[i]],
      hits: (i) => pack.asked[i] ? pack.hits[i] / pack.asked[i] : -1,
      sure: (i) => chance(focus().gold, i) ?? -1,
    }[sort.key];
    if (by) {
      const keys = new Map(found.map((i) => [i, by(i)]));
      const compare = typeof keys.get(found[0]) === "string" ? new Intl.Collator(undefined, { numeric: true }).compare : (a, b) => a - b;
      found.sort((i, j) => (sort.down ? -1 : 1) * compare(keys.get(i), keys.get(j)) || i - j);
    }
    shown = found;
    area.dataset.ms = (performance.now() - began).toFixed(1);
  };
  const focus = () => pack.runs[Number($("focus").value) || 0];

  const answer = (run, i) => {
    const box = make("span", {}), name = make("bdi", {}, chosen(run, i));
    const asked = run.choice.charCodeAt(i) !== ABSENT;
    box.append(make("span", { class: asked ? (right(run, i) ? "yes" : "no") : "soft" },
      asked ? (right(run, i) ? "✓ " : "✗ ") : "", name));
    const sure = chance(run.sure, i);
    if (sure !== null) box.append(make("span", { class: "soft" }, ` ${sure} %`));
    return box;
  };
  const sketch = (drawn) => {
    const box = make("div", { class: "sketches" });
    const parsed = new DOMParser().parseFromString(`<div>${drawn}</div>`, "image/svg+xml");
    for (const view of [...parsed.documentElement.children]) box.append(document.importNode(view, true));
    turnable(box);
    return box;
  };
  const details = (i) => {
    const list = make("dl", { class: "facts" });
    const fact = (name, value) => { if (value) list.append(make("dt", {}, name), make("dd", {}, make("bdi", {}, value))); };
    fact("Item", pack.id[i]);
    fact("Group", pack.group.values[pack.group.codes[i]]);
    fact("Picture", pack.image.values[pack.image.codes[i]]);
    fact("Choices", pack.choices.values[pack.choices.codes[i]].join(" · "));
    for (const [tag, column] of Object.entries(pack.tags)) fact(tag, column.values[column.codes[i]]);
    for (const run of pack.runs) {
      const said = make("dd", {}, answer(run, i));
      const gold = chance(run.gold, i);
      if (gold !== null) said.append(make("span", { class: "soft" }, `, right answer ${gold} %`));
      if (run.reply[i] !== undefined) said.append(make("blockquote", { class: "soft small" }, make("bdi", {}, run.reply[i])));
      if (run.rule[i] !== undefined) said.append(make("span", { class: "soft small" }, `read by the rule: ${run.rule[i]}`));
      list.append(make("dt", {}, make("bdi", {}, run.label)), said);
    }
    const cell = make("td", { colspan: "5" }, list);
    for (const drawn of pack.sketches.values[pack.sketches.codes[i]]) cell.prepend(sketch(drawn));
    return make("tr", { class: "more" }, cell);
  };
  const row = (i) => {
    const context = pack.context.values[pack.context.codes[i]];
    const said = make("p", { class: "said" });
    for (const small of pack.thumbnails.values[pack.thumbnails.codes[i]]) {
      said.append(make("img", { class: "thumb", src: small, alt: "The picture that was asked about" }));
    }
    if (context) said.append(make("bdi", { class: "premise" }, context));
    said.append(make("bdi", {}, pack.text[i]));
    const button = make("button", { type: "button", "aria-expanded": "false", "aria-label": `Details of ${pack.id[i].slice(0, 80)}` }, "+");
    const line = make("tr", {},
      make("td", {}, said),
      make("td", { "data-name": "Right" }, make("bdi", {}, pack.gold.values[pack.gold.codes[i]])),
      make("td", { "data-name": focus().label.slice(0, 60) }, answer(focus(), i)),
      make("td", { class: "num", "data-name": "Models right" }, `${pack.hits[i]} of ${pack.asked[i]}`),
      make("td", { class: "num" }, button));
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      button.textContent = open ? "+" : "−";
      line.classList.toggle("open", !open);
      if (open) line.nextSibling.remove(); else line.after(details(i));
    });
    return line;
  };
  const show = () => {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    page = Math.min(page, pages - 1);
    $("rows").replaceChildren(...shown.slice(page * PAGE, page * PAGE + PAGE).map(row));
    $("count").textContent = `${shown.length.toLocaleString("en")} of ${pack.n.toLocaleString("en")} items`;
    $("page").textContent = `Page ${(page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
    for (const [id, off] of [["first", page === 0], ["previous", page === 0], ["next", page >= pages - 1]]) $(id).disabled = off;
    $("who").textContent = focus().label;
    for (const head of area.querySelectorAll("th[data-key]")) {
      if (head.dataset.key === sort.key) head.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  };
  const refresh = () => { if (!pack) return; page = 0; choose(); show(); };
  const option = (value, text) => make("option", { value }, text);
  const open = async (at) => {
    $("count").textContent = "Unpacking …";
    pack = await unpack(at);
    const tags = Object.entries(pack.tags).map(([tag, column]) => {
      const values = column.values.map((v, i) => [v, i]).sort((a, b) => a[0].localeCompare(b[0], undefined, { numeric: true }));
      const select = make("select", { "data-tag": tag }, option("", "any"), ...values.map(([v, i]) => option(i, v === "" ? "none" : v.slice(0, 60))));
      select.addEventListener("change", refresh);
      return make("label", {}, tag.replaceAll("_", " "), select);
    });
    $("tags").replaceChildren(...tags);
    $("focus").replaceChildren(...pack.runs.map((run, i) => option(i, run.label.slice(0, 80))));
    $("focus").closest("label").hidden = pack.runs.length < 2;
    const outcomes = [option("", "any")];
    if (pack.runs.length > 1) outcomes.push(option("split", "models differ"), option("nobody", "no model is right"));
    pack.runs.forEach((run, i) => {
      const name = pack.runs.length > 1 ? `${run.label.slice(0, 40)}: ` : "";
      outcomes.push(option(`wrong:${i}`, `${name}wrong`), option(`right:${i}`, `${name}right`));
      if (run.choice.includes(String.fromCharCode(NONE))) outcomes.push(option(`silent:${i}`, `${name}no answer`));
    });
    $("outcome").replaceChildren(...outcomes);
    sort = { key: "order", down: false };
    refresh();
  };
  for (const head of area.querySelectorAll("th[data-key]")) {
    const button = make("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const key = head.dataset.key;
      sort = { key, down: sort.key === key ? !sort.down : false };
      refresh();
    });
  }
  let timer = 0;
  $("q").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(refresh, 30); });
  for (const id of ["outcome", "focus"]) $(id).addEventListener("change", refresh);
  $("benchmark").addEventListener("change", () => open(Number($("benchmark").value)));
  $("first").addEventListener("click", () => { page = 0; show(); });
  $("previous").addEventListener("click", () => { page--; show(); });
  $("next").addEventListener("click", () => { page++; show(); });
  $("explorer").hidden = false;
  let begun = false;
  const begin = () => { if (!begun) { begun = true; open(0); } };
  if ("IntersectionObserver" in window) new IntersectionObserver((seen, watch) => {
    if (seen.some((entry) => entry.isIntersecting)) { watch.disconnect(); begin(); }
  }, { rootMargin: "600px" }).observe(area); else begin();
  $("q").addEventListener("focus", begin);
})();
