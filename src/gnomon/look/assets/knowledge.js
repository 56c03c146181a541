/* The objects of a knowledge folder. What data say is only ever set as text. */
(() => {
  const { objects, crops } = JSON.parse(document.getElementById("found").textContent);
  const rows = [...document.querySelectorAll("#rows tr")];
  const search = document.getElementById("q"), count = document.getElementById("count"), panel = document.getElementById("object");
  const SVG = "http://www.w3.org/2000/svg";
  const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

  const make = (name, text, kind) => {
    const found = document.createElement(name);
    if (text !== undefined) found.textContent = text;
    if (kind) found.className = kind;
    return found;
  };
  const draw = (name, attributes) => {
    const found = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
    return found;
  };

  // A bar for a share, with its interval.
  const bar = ({ share, low, high }) => {
    const svg = draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(draw("rect", { class: "ground", x: 0, y: 2, width: 100, height: 6 }));
    svg.append(draw("rect", { class: "fill", x: 0, y: 2, width: 100 * share, height: 6 }));
    svg.append(draw("line", { class: "bound", x1: 100 * low, x2: 100 * high, y1: 5, y2: 5, "vector-effect": "non-scaling-stroke" }));
    return svg;
  };
  const pictures = (numbers, about) => {
    const found = make("div", undefined, "crops");
    for (const number of numbers || []) {
      const image = make("img");
      image.src = crops[number];
      image.alt = about;
      found.append(image);
    }
    return found;
  };
  const bars = (labels, typical, about) => {
    const table = make("table", undefined, "bars"), body = make("tbody");
    table.append(make("caption", about, "off"), body);
    const shown = Object.entries(labels).sort(([, a], [, b]) => b.share - a.share);
    for (const [label, found] of shown) {
      const row = make("tr", undefined, typical.includes(label) ? "strong" : "");
      const head = make("th", label);
      head.scope = "row";
      const drawn = make("td", undefined, "draw");
      drawn.append(bar(found));
      const said = make("td", `${percent(found.share)} `, "num");
      said.append(make("span", `${percent(found.low)} to ${percent(found.high)}`, "range"));
      const seen = make("td");
      seen.append(pictures(found.crops, `${about}: ${label}`));
      row.append(head, drawn, said, seen);
      body.append(row);
    }
    return table;
  };

  const TITLES = { size: "Size", elevation: "Elevation" };
  const show = (at, focus) => {
    const object = objects[at];
    panel.replaceChildren(make("h3", object.name));
    if (object.colour) {
      panel.append(make("h4", "Colour", "sort"));
      panel.append(make("p", `In ${object.colour.pictures.toLocaleString("en")} pictures. Typical: ${object.colour.typical.join(", ") || "none"}.`, "note"));
      panel.append(bars(object.colour.labels, object.colour.typical, `${object.name}, colour`));
    }
    for (const { property, pairs } of object.pairs) {
      panel.append(make("h4", TITLES[property], "sort"));
      for (const pair of pairs) {
        const part = make("div", undefined, "pair");
        const said = pair.typical.length ? `${object.name} – ${pair.typical.join(" or ")} – ${pair.other}` : `${object.name} and ${pair.other}: nothing is typical`;
        const where = pair.scene ? `, ${pair.scene.replaceAll("_", " ")}` : "";
        part.append(make("h4", said), make("p", `${pair.pictures.toLocaleString("en")} pictures${where}`, "note"));
        part.append(bars(pair.labels, pair.typical, `${object.name} and ${pair.other}`));
        panel.append(part);
      }
    }
    for (const row of rows) row.toggleAttribute("aria-current", row.dataset.at === String(at));
    if (focus) {
      panel.focus({ preventScroll: true });
      panel.scrollIntoView();
    }
  };

  const filter = () => {
    const sought = search.value.trim().toLowerCase();
    let found = 0, first = null;
    for (const row of document.querySelectorAll("#rows tr")) {
      const fits = objects[Number(row.dataset.at)].name.toLowerCase().includes(sought);
      row.hidden = !fits;
      if (fits) { found += 1; first ??= row; }
    }
    count.textContent = found === 1 ? "1 object" : `${found.toLocaleString("en")} objects`;
    return first;
  };
  search.addEventListener("input", filter);
  document.querySelector("form.controls").addEventListener("submit", (event) => {
    event.preventDefault();
    const first = filter();
    if (first) location.hash = `object-${first.dataset.at}`;
  });
  const follow = () => {
    const at = /^#object-(\d+)$/.exec(location.hash);
    if (at && objects[Number(at[1])]) show(Number(at[1]), true);
  };
  addEventListener("hashchange", follow);
  if (objects.length) show(0, false);
  follow();
})();
