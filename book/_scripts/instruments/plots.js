/* Plots: curves with points, as SVG that takes its colours from the page.
 *
 * Every picture has a title for readers who do not see it; the numbers themselves stand in a table of the page.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.plots = (() => {
  const { svg } = cogniload.dom;

  /** Draw accuracy against one load: points with intervals, and lines {name, kind, values} of {middle, low, high}. */
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
    const whiskers = points.map(({ at, low, high, range }) =>
      svg("line", { class: range ? "whisker range" : "whisker", x1: x(at), x2: x(at), y1: y(low), y2: y(high) }));
    const marks = points.map(({ at, p, text }) =>
      svg("circle", { class: "mark", cx: x(at), cy: y(p), r: 4 }, svg("title", {}, text)));
    const path = (values) => values.map(([p, at]) => `${x(at)},${y(p)}`).join(" ");
    const courses = lines.flatMap(({ name, kind, values }) => [
      svg("polygon", { class: kind, points: path([...values.map(({ low }, at) => [low, at]), ...values.map(({ high }, at) => [high, at]).reverse()]) }),
      svg("polyline", { class: kind, points: path(values.map(({ middle }, at) => [middle, at])) }, svg("title", {}, name)),
    ]);
    return svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
      svg("title", {}, title), ticks, names, cloud, courses, whiskers, marks,
      svg("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, label));
  }

  return { curve };
})();
