// Turns the views below an element that carry data-turn: by dragging, or with the arrow keys.
const turnable = (root) => {
  const SIDE = 384;
  const minus = (a, b) => a.map((v, i) => v - b[i]);
  const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
  const unit = (a) => a.map((v) => v / Math.sqrt(dot(a, a)));
  const cross = (a, b) =>
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

  function chain(points) {
    const found = [];
    const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    for (const point of points) {
      while (found.length > 1 && turn(found.at(-2), found.at(-1), point) <= 0) found.pop();
      found.push(point);
    }
    return found.slice(0, -1);
  }

  function hull(points) {
    points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return [...chain(points), ...chain(points.slice().reverse())];
  }

  function draw(group, about, around, above) {
    const offset = minus(about.eye, about.at);
    const distance = Math.sqrt(dot(offset, offset));
    const start = Math.atan2(offset[1], offset[0]);
    const rise = Math.min(1.5, Math.max(0.02, Math.asin(offset[2] / distance) + above));
    const flat = distance * Math.cos(rise);
    const eye = [
      about.at[0] + flat * Math.cos(start + around),
      about.at[1] + flat * Math.sin(start + around),
      about.at[2] + distance * Math.sin(rise),
    ];
    const forward = unit(minus(about.at, eye));
    const right = unit([forward[1], -forward[0], 0]);
    const up = cross(right, forward);
    const seen = [];
    for (const [colour, points] of about.shapes) {
      const places = points.map((point) => {
        const from = minus(point, eye);
        const depth = dot(from, forward);
        return [
          (dot(from, right) / (depth * about.half) + 1) * SIDE / 2,
          (1 - dot(from, up) / (depth * about.half)) * SIDE / 2,
          depth,
        ];
      });
      if (places.some((place) => place[2] <= 0)) continue;
      const far = places.reduce((sum, place) => sum + place[2], 0) / places.length;
      seen.push([far, colour, hull(places)]);
    }
    seen.sort((a, b) => b[0] - a[0]);
    group.replaceChildren(...seen.map(([, colour, outline]) => {
      const polygon = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
      const corners = outline.map((place) => place[0].toFixed(1) + "," + place[1].toFixed(1));
      polygon.setAttribute("points", corners.join(" "));
      polygon.setAttribute("fill", colour);
      polygon.setAttribute("stroke", "#222");
      polygon.setAttribute("stroke-width", "0.6");
      return polygon;
    }));
  }

  for (const view of root.querySelectorAll("svg[data-turn]")) {
    const about = JSON.parse(view.dataset.turn);
    const group = view.querySelector("g");
    let around = 0, above = 0, last = null;
    const turn = (dx, dy) => {
      around -= dx;
      above = Math.min(1.5, Math.max(-1.5, above + dy));
      draw(group, about, around, above);
    };
    view.style.touchAction = "none";
    view.style.cursor = "grab";
    view.addEventListener("pointerdown", (event) => {
      last = [event.clientX, event.clientY];
      view.setPointerCapture(event.pointerId);
    });
    view.addEventListener("pointermove", (event) => {
      if (!last) return;
      turn((event.clientX - last[0]) / 120, (event.clientY - last[1]) / 160);
      last = [event.clientX, event.clientY];
    });
    view.addEventListener("pointerup", () => { last = null; });
    view.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.08], ArrowDown: [0, 0.08] };
      if (!step[event.key]) return;
      event.preventDefault();
      turn(...step[event.key]);
    });
  }
};
turnable(document);
