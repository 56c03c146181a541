/* The report's item table. It is unpacked when first needed; what models said is only ever set as text.
   What it shows is in the address (#items?b=…&q=…), so that a view can be sent and the back button works. */
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
  const FIRST = 0x30, NONE = FIRST - 1, ABSENT = FIRST - 2, PAGE = 25, COLUMNS = 6;
  const packs = [...document.querySelectorAll("script[data-pack]")];
  const names = packs.map((each) => each.dataset.name);
  const ready = new Map();
  let pack = null, shown = [];
  // What is shown: benchmark, words, outcome, tags, models, order, page, and one item alone.
  const blank = () => ({ b: names[0], q: "", o: "", t: {}, m: null, s: "", d: false, p: 0, i: "" });
  let view = blank();

  const unpack = async (name) => {
    if (ready.has(name)) return ready.get(name);
    const binary = atob(packs[names.indexOf(name)].textContent.trim());
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
    ready.set(name, data);
    return data;
  };
  const run_of = (label) => pack.runs.find((run) => run.label === label);
  const was_asked = (run, i) => run.choice.charCodeAt(i) !== ABSENT;
  const right = (run, i) => run.right.charCodeAt(i) === FIRST + 1;
  const chosen = (run, i) => {
    const code = run.choice.charCodeAt(i);
    if (code === ABSENT) return "not asked";
    if (run.written[i] !== undefined) return run.written[i];
    return code === NONE ? "no answer" : pack.choices.values[pack.choices.codes[i]][code - FIRST];
  };
  const chance = (text, i) => {
    const code = text ? text.charCodeAt(i) : NONE;
    return code === NONE ? null : code - FIRST;
  };
  const of = (column, i) => column.values[column.codes[i]];
  const columns = () => {
    const wanted = view.m && pack.runs.filter((run) => view.m.includes(run.label));
    return wanted && wanted.length ? wanted : pack.runs.slice(0, COLUMNS);
  };

  // The address of a view, and the view of an address.
  const address = (of_view) => {
    const said = new URLSearchParams([["b", of_view.b]]);
    for (const key of ["q", "o", "s", "i"]) if (of_view[key]) said.set(key, of_view[key]);
    if (of_view.d) said.set("d", "1");
    if (of_view.p) said.set("p", of_view.p + 1);
    for (const label of of_view.m || []) said.append("m", label);
    for (const [tag, value] of Object.entries(of_view.t)) said.set(`t.${tag}`, value);
    return `#items?${said}`;
  };
  const read = (hash) => {
    const said = new URLSearchParams(hash.slice("#items?".length)), found = blank();
    if (names.includes(said.get("b"))) found.b = said.get("b");
    for (const key of ["q", "o", "s", "i"]) found[key] = said.get(key) || "";
    found.d = said.has("d");
    found.p = Math.max(0, (Number(said.get("p")) || 1) - 1);
    if (said.has("m")) found.m = said.getAll("m");
    for (const [key, value] of said) if (key.startsWith("t.")) found.t[key.slice(2)] = value;
    return found;
  };

  // Words that must occur, in any order; what stands in quotes must occur as it is.
  const phrases = (text) => [...text.toLowerCase().replace(/[“”„]/g, '"').matchAll(/"([^"]+)"?|(\S+)/g)]
    .map(([, quoted, word]) => (quoted ?? word).replace(/"/g, "").replace(/\s+/g, " ").trim()).filter(Boolean);
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
  const judged = (kind, run) => ({
    asked: (i) => was_asked(run, i),
    right: (i) => right(run, i),
    wrong: (i) => was_asked(run, i) && !right(run, i),
    silent: (i) => run.choice.charCodeAt(i) === NONE,
  })[kind];
  const kept = () => {
    const at = view.o.indexOf(":"), kind = at < 0 ? view.o : view.o.slice(0, at);
    const run = at < 0 ? null : run_of(view.o.slice(at + 1));
    if (run) return judged(kind, run) || (() => true);
    if (kind === "split") return (i) => pack.hits[i] > 0 && pack.hits[i] < pack.asked[i];
    if (kind === "nobody") return (i) => pack.hits[i] === 0 && pack.asked[i] > 0;
    return () => true;
  };
  const choose = () => {
    const began = performance.now();
    const tagged = Object.entries(view.t).filter(([tag]) => pack.tags[tag])
      .map(([tag, value]) => [pack.tags[tag].codes, pack.tags[tag].values.indexOf(value)]);
    const found = [], held = holding(phrases(view.q)), fits = kept();
    for (let i = 0; i < pack.n; i++) {
      if (view.i && pack.id[i] !== view.i) continue;
      if (held && !held[i]) continue;
      if (!fits(i) || !tagged.every(([codes, value]) => codes[i] === value)) continue;
      found.push(i);
    }
    const [key, label] = [view.s.split(":")[0], view.s.slice(view.s.indexOf(":") + 1)], run = run_of(label);
    const by = {
      id: (i) => pack.id[i], gold: (i) => of(pack.gold, i),
      hits: (i) => pack.asked[i] ? pack.hits[i] / pack.asked[i] : -1,
      sure: run && ((i) => was_asked(run, i) ? chance(run.gold, i) ?? 100 * right(run, i) : -1),
    }[key];
    if (by) {
      const keys = new Map(found.map((i) => [i, by(i)]));
      const compare = typeof keys.get(found[0]) === "string" ? new Intl.Collator(undefined, { numeric: true }).compare : (a, b) => a - b;
      found.sort((i, j) => (view.d ? -1 : 1) * compare(keys.get(i), keys.get(j)) || i - j);
    }
    shown = found;
    area.dataset.ms = (performance.now() - began).toFixed(1);
  };

  const swatch = (run) => {
    const drawn = $("swatches").content.querySelector(`[data-series="${run.series}"] svg`);
    return drawn ? drawn.cloneNode(true) : "";
  };
  const answer = (run, i) => {
    const box = make("span", {}), name = make("bdi", {}, chosen(run, i)), asked = was_asked(run, i);
    box.append(make("span", { class: asked ? (right(run, i) ? "yes" : "no") : "soft" },
      asked ? (right(run, i) ? "✓ " : "✗ ") : "", name));
    const sure = chance(run.sure, i);
    if (sure !== null) box.append(make("span", { class: "soft" }, ` ${sure} %`));
    return box;
  };
  const sketch = (drawn) => {
    const box = make("div", { class: "sketches" });
    const parsed = new DOMParser().parseFromString(`<div>${drawn}</div>`, "image/svg+xml");
    for (const each of [...parsed.documentElement.children]) box.append(document.importNode(each, true));
    turnable(box);
    return box;
  };
  const said = (run, i) => {
    const box = make("dd", {}, answer(run, i)), gold = chance(run.gold, i);
    const soft = (text) => box.append(make("span", { class: "soft small" }, text));
    if (gold !== null) soft(`, right answer ${gold} %`);
    if (run.reply[i] !== undefined) box.append(make("blockquote", { class: "soft small" }, make("bdi", {}, run.reply[i])));
    if (run.rule[i] !== undefined) soft(`read by the rule: ${run.rule[i]} `);
    if (run.cost && run.cost[i] !== undefined) soft(` ${run.cost[i]}`);
    const read_by = run.prompt && run.prompt.codes[i] !== undefined && of(run.prompt, i);
    if (read_by) {
      const text = make("pre", {}, make("bdi", {}, read_by));
      box.append(make("details", {}, make("summary", {}, "Prompt, as the model read it"), text));
    }
    return box;
  };
  const details = (i, width) => {
    const list = make("dl", { class: "facts" });
    const fact = (name, value) => { if (value) list.append(make("dt", {}, name), make("dd", {}, make("bdi", {}, value))); };
    fact("Item", pack.id[i]);
    fact("Group", of(pack.group, i));
    fact("Picture", of(pack.image, i));
    fact("Choices", of(pack.choices, i).join(" · "));
    for (const column of Object.values(pack.tags)) fact(column.title, column.words[column.codes[i]]);
    for (const run of pack.runs) list.append(make("dt", {}, swatch(run), make("bdi", {}, run.label)), said(run, i));
    const link = make("a", { href: address({ ...blank(), b: view.b, i: pack.id[i] }) }, "Address of this item");
    const cell = make("td", { colspan: String(width) }, list, make("p", { class: "small" }, link));
    for (const drawn of of(pack.sketches, i)) cell.prepend(sketch(drawn));
    return make("tr", { class: "more" }, cell);
  };
  const row = (i) => {
    const context = of(pack.context, i), text = make("p", { class: "said" }), runs = columns();
    for (const small of of(pack.thumbnails, i)) {
      text.append(make("img", { class: "thumb", src: small, alt: "The picture that was asked about" }));
    }
    if (context) text.append(make("bdi", { class: "premise" }, context));
    text.append(make("bdi", {}, pack.text[i]));
    const button = make("button", { type: "button", "aria-expanded": "false", "aria-label": `Details of ${pack.id[i].slice(0, 80)}` }, "+");
    const line = make("tr", {}, make("td", {}, text), make("td", { "data-name": "Right" }, make("bdi", {}, of(pack.gold, i))),
      ...runs.map((run) => make("td", { class: "answer", "data-name": run.label.slice(0, 60) }, answer(run, i))),
      pack.runs.length > 1 ? make("td", { class: "num", "data-name": "Models right" }, `${pack.hits[i]} of ${pack.asked[i]}`) : null,
      make("td", { class: "num" }, button));
    const toggle = (open) => {
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "−" : "+";
      line.classList.toggle("open", open);
      if (open) line.after(details(i, line.cells.length)); else line.nextSibling.remove();
    };
    button.addEventListener("click", () => toggle(button.getAttribute("aria-expanded") !== "true"));
    return { line, toggle };
  };

  const heads = () => {
    const head = (key, attributes, ...children) => {
      const button = make("button", { type: "button" }, ...children), cell = make("th", { scope: "col", ...attributes }, button);
      if (view.s === key) cell.setAttribute("aria-sort", view.d ? "descending" : "ascending");
      button.addEventListener("click", () => go({ s: key, d: view.s === key ? !view.d : false, p: 0 }));
      return cell;
    };
    $("heads").replaceChildren(head("id", {}, "Item"), head("gold", {}, "Right answer"),
      ...columns().map((run) => head(`sure:${run.label}`, {}, make("span", { class: "off" }, "By the probability of the right answer, "),
        swatch(run), make("bdi", {}, run.label))),
      ...(pack.runs.length > 1 ? [head("hits", { class: "num" }, "Models right")] : []),
      make("th", { scope: "col" }, make("span", { class: "off" }, "Details")));
  };
  const show = () => {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE)), page = Math.min(view.p, pages - 1);
    const rows = shown.slice(page * PAGE, page * PAGE + PAGE).map(row);
    $("rows").replaceChildren(...rows.map((each) => each.line));
    if (view.i && rows.length === 1) rows[0].toggle(true);
    const count = (n) => n.toLocaleString("en");
    $("count").textContent = `${count(shown.length)} of ${count(pack.n)} items`;
    $("page").textContent = `Page ${count(page + 1)} of ${count(pages)}`;
    for (const [id, off] of [["first", page === 0], ["previous", page === 0], ["next", page >= pages - 1]]) $(id).disabled = off;
    $("clear").hidden = !(view.q || view.o || view.i || view.s || Object.keys(view.t).length);
    heads();
  };

  const option = (value, text) => make("option", { value }, text);
  const chooser = (tag, column) => {
    const order = column.words.map((word, i) => [word, column.values[i]])
      .sort((a, b) => a[1].localeCompare(b[1], undefined, { numeric: true }));
    const select = make("select", { "data-tag": tag }, option("", "any"),
      ...order.map(([word, value]) => option(`=${value}`, value === "" ? "none" : word.slice(0, 60))));
    if (view.t[tag] !== undefined) select.value = `=${view.t[tag]}`;
    select.addEventListener("change", () => {
      const { [tag]: _, ...others } = view.t;
      go({ t: select.value ? { ...others, [tag]: select.value.slice(1) } : others, p: 0 });
    });
    return make("label", {}, column.title, select);
  };
  const controls = () => {
    $("benchmark").value = view.b;
    if ($("q").value !== view.q) $("q").value = view.q;
    $("tags").replaceChildren(...Object.entries(pack.tags).map(([tag, column]) => chooser(tag, column)));
    const outcomes = [option("", "any")], several = pack.runs.length > 1;
    if (several) outcomes.push(option("split", "models differ"), option("nobody", "no model is right"));
    for (const run of pack.runs) {
      const name = several ? `${run.label.slice(0, 40)}: ` : "";
      if (several) outcomes.push(option(`asked:${run.label}`, `${name}asked`));
      outcomes.push(option(`wrong:${run.label}`, `${name}wrong`), option(`right:${run.label}`, `${name}right`));
      if (run.choice.includes(String.fromCharCode(NONE))) outcomes.push(option(`silent:${run.label}`, `${name}no answer`));
    }
    $("outcome").replaceChildren(...outcomes);
    $("outcome").value = view.o;
    const boxes = pack.runs.map((run) => {
      const box = make("input", { type: "checkbox" });
      box.checked = columns().includes(run);
      box.addEventListener("change", () => {
        const labels = pack.runs.filter((each) => (each === run ? box.checked : columns().includes(each))).map((each) => each.label);
        go({ m: labels.length ? labels : null });
      });
      return make("label", {}, box, swatch(run), make("bdi", {}, run.label));
    });
    $("models").hidden = !several;
    $("models").querySelector("div").replaceChildren(...boxes);
  };

  // A change by the reader: a new address, and the view that it names. Typing changes the last address.
  const go = (change, typed = false) => {
    view = { ...view, ...("i" in change ? {} : { i: "" }), ...change };
    try { history[typed && location.hash.startsWith("#items?") ? "replaceState" : "pushState"](null, "", address(view)); } catch { /* some viewers have no history */ }
    refresh();
  };
  const refresh = async () => {
    const wanted = view.b;
    if (!pack || pack.name !== wanted) $("count").textContent = "Unpacking …";
    const found = await unpack(wanted);
    if (view.b !== wanted) return;
    pack = found;
    choose();
    controls();
    show();
  };
  const quoted = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const csv = () => {
    const runs = columns(), tags = Object.entries(pack.tags);
    const lines = [["benchmark", "item", "group", "context", "text", "right answer", ...tags.map(([tag]) => tag),
      ...runs.flatMap((run) => [run.label, `${run.label}: right`, `${run.label}: probability of the right answer`])]];
    for (const i of shown) lines.push([pack.name, pack.id[i], of(pack.group, i), of(pack.context, i), pack.text[i], of(pack.gold, i),
      ...tags.map(([, column]) => of(column, i)),
      ...runs.flatMap((run) => [chosen(run, i), was_asked(run, i) ? String(Number(right(run, i))) : "",
        chance(run.gold, i) === null ? "" : String(chance(run.gold, i) / 100)])]);
    const text = `\ufeff${lines.map((line) => line.map(quoted).join(",")).join("\r\n")}\r\n`;
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: `${pack.name.replace(/[^\w.-]+/g, "-")}.csv` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  let timer = 0, begun = false;
  $("q").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => go({ q: $("q").value, p: 0 }, true), 30); });
  $("outcome").addEventListener("change", () => go({ o: $("outcome").value, p: 0 }));
  $("benchmark").addEventListener("change", () => go({ ...blank(), b: $("benchmark").value }));
  $("clear").addEventListener("click", () => go({ ...blank(), b: view.b }));
  $("csv").addEventListener("click", csv);
  $("first").addEventListener("click", () => go({ p: 0 }));
  $("previous").addEventListener("click", () => go({ p: view.p - 1 }));
  $("next").addEventListener("click", () => go({ p: view.p + 1 }));
  area.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  $("explorer").hidden = false;
  const begin = () => { if (!begun) { begun = true; refresh(); } };
  const follow = () => {
    if (!location.hash.startsWith("#items?")) return;
    begun = true;
    view = read(location.hash);
    const fold = $("items-fold");
    if (fold) fold.open = true;
    refresh().then(() => area.scrollIntoView());
  };
  addEventListener("hashchange", follow);
  if ("IntersectionObserver" in window) new IntersectionObserver((seen, watch) => {
    if (seen.some((entry) => entry.isIntersecting)) { watch.disconnect(); begin(); }
  }, { rootMargin: "600px" }).observe($("explorer")); else begin();
  $("q").addEventListener("focus", begin);
  follow();
})();
