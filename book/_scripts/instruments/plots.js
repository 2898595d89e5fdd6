/* Plots: curves with points, and estimates with intervals, as SVG that takes its colours from the page.
 *
 * Every picture has a title for readers who do not see it; the numbers themselves stand in a table of the page.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.plots = (() => {
  const { el, svg, number } = cogniload.dom;

  /** Draw accuracy against one load: points with intervals, and lines {name, class, values}. */
  function curve({ title, label, levels, points, dots, lines }) {
    const [width, height, left, bottom, top, right] = [300, 220, 34, 34, 20, 8];
    const x = (at) => left + ((at + 0.5) / levels.length) * (width - left - right);
    const y = (p) => top + (1 - p) * (height - top - bottom);
    const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((p) => [
      svg("line", { class: p === 0.5 ? "half" : "grid", x1: left, x2: width - right, y1: y(p), y2: y(p) }),
      svg("text", { x: left - 5, y: y(p) + 3.5, "text-anchor": "end" }, p === 0 || p === 1 ? p : p.toString().slice(1)),
    ]);
    const names = levels.map((level, at) => svg("text", { x: x(at), y: height - bottom + 14, "text-anchor": "middle" }, level));
    const cloud = dots.map(({ at, p, shift, text }) =>
      svg("circle", { class: "dot", cx: x(at + 0.34 * shift), cy: y(p), r: 2 }, svg("title", {}, text)));
    const whiskers = points.map(({ at, low, high }) =>
      svg("line", { class: "whisker", x1: x(at), x2: x(at), y1: y(low), y2: y(high) }));
    const marks = points.map(({ at, p, text }) =>
      svg("circle", { class: "mark", cx: x(at), cy: y(p), r: 4 }, svg("title", {}, text)));
    const courses = lines.map(({ name, kind, values }) =>
      svg("polyline", { class: kind, points: values.map((p, at) => `${x(at)},${y(p)}`).join(" ") }, svg("title", {}, name)));
    return svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
      svg("title", {}, title), ticks, names, cloud, courses, whiskers, marks,
      svg("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, label));
  }

  /** Draw estimates with intervals, one row a model: rows {name, own, other}, each with estimate, low, high. */
  function forest({ title, rows, label, width = 640, line = 18, note }) {
    const [left, right, top, bottom] = [width < 500 ? 150 : 190, 14, 6, 34], letters = width < 500 ? 20 : 30, height = top + rows.length * line + bottom;
    const all = rows.flatMap(({ own, other }) => [own, other]).filter(Boolean).filter(({ low, high }) => Number.isFinite(low + high));
    const ends = all.flatMap(({ low, high }) => [low, high]).sort((a, b) => a - b);
    // a few very wide intervals must not press the others together: they run out of the picture
    const estimates = all.map(({ estimate }) => estimate).sort((a, b) => a - b);
    const spread = (estimates.at(-1) ?? 1) - (estimates[0] ?? 0) || 1;
    const least = Math.min(0, Math.max(ends[0] ?? 0, (estimates[0] ?? 0) - 0.25 * spread));
    const most = Math.max(0, Math.min(ends.at(-1) ?? 1, (estimates.at(-1) ?? 1) + 0.25 * spread)) || 1e-9;
    const x = (value) => left + ((Math.min(Math.max(value, least), most) - least) / (most - least)) * (width - left - right);
    const y = (row) => top + (row + 0.5) * line;
    const bar = (one, row, kind, shift) => one && Number.isFinite(one.estimate) && svg("g", { class: kind },
      svg("line", { x1: x(one.low), x2: x(one.high), y1: y(row) + shift, y2: y(row) + shift }),
      svg("circle", { cx: x(one.estimate), cy: y(row) + shift, r: kind === "own" ? 3.6 : 3 },
        svg("title", {}, `${rows[row].name}: ${number(one.estimate)} (${number(one.low)} to ${number(one.high)})`)));
    const marks = rows.flatMap(({ own, other }, row) => [bar(other, row, "other", 4), bar(own, row, "own", -2)].filter(Boolean));
    const names = rows.map(({ name, strong }, row) =>
      svg("text", { x: left - 8, y: y(row) + 3.5, "text-anchor": "end", class: strong ? "strong" : null },
        shorten(name, letters), svg("title", {}, name)));
    const ticks = steps(least, most).flatMap((at) => [
      svg("line", { class: at === 0 ? "half" : "grid", x1: x(at), x2: x(at), y1: top, y2: height - bottom }),
      svg("text", { x: x(at), y: height - bottom + 14, "text-anchor": "middle" }, String(at).replace("-", "−")),
    ]);
    const picture = svg("svg", { class: "plot forest", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
      svg("title", {}, title), ticks, names, marks,
      svg("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, label));
    return el("div", { class: "plot-box" }, picture, note && el("p", { class: "note" }, note));
  }

  /** Leave out the middle of a long name: models of one family differ at the end. */
  const shorten = (name, most) => (name.length > most ? `${name.slice(0, most / 2 - 1)}…${name.slice(-most / 2)}` : name);

  /** Round numbers between two ends, about five of them. */
  function steps(low, high) {
    const rough = (high - low) / 5 || 1, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
    const first = Math.ceil(low / step), last = Math.floor(high / step);
    return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(6)));
  }

  return { curve, forest };
})();
