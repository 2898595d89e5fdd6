/* Dropped models: a reader's own, dropped on the workbench, kept in this browser and shown on other pages until taken out.
 *
 * Nothing leaves the browser, and where it keeps nothing for pages of a disk the workbench says so. What is kept is read as
 * numbers and text: other pages may have written there too. Tables take a row a model, figures do it themselves (figures.js).
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.dropped = (() => {
  const MOST_MODELS = 12, MARK = "dropped by you, in this browser only";
  const here = document.currentScript?.src ?? location.href;
  /** One book on a disk does not see what was dropped on another. */
  const KEY = `cogniload dropped ${new URL("../", here).pathname}`;
  const FIELDS = ["N", "d", "ratio_pct", "rho", "n", "k", "ctx", "valid_logic", "poi_logic", "last_logic", "other"];
  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const isNumbers = (list) => Array.isArray(list) && list.every((one) => one === null || typeof one === "number");

  /** The models that are kept, without any that is not as `keep` writes them. */
  function read() {
    let kept = [];
    try { kept = JSON.parse(localStorage.getItem(KEY) ?? "[]"); } catch { return []; }
    return (Array.isArray(kept) ? kept : []).filter((model) => typeof model?.name === "string" && Array.isArray(model.cells) && model.cells.every(isNumbers))
      .slice(0, MOST_MODELS).map(({ name, cells, whole, coef, se, p, aic, aicLinear, pCurve, points }) => ({
        name: name.slice(0, 200), whole: whole === true, cells: cells.map((row) => Object.fromEntries(FIELDS.map((field, at) => [field, row[at] ?? null]))),
        ...([coef, se, p].every(isNumbers) ? { coef, se, p } : {}), aic: Number(aic ?? NaN), aicLinear: Number(aicLinear ?? NaN), pCurve: Number(pCurve ?? NaN),
        points: Object.fromEntries(["ecl50", "nt50", "id50"].flatMap((point) => (isNumbers(points?.[point]) ? [[point, points[point].slice(0, 3)]] : []))),
      }));
  }

  /** Keep models for the other pages; says whether the browser does. */
  function keep(models) {
    try {
      if (!models.length) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, JSON.stringify(models.slice(0, MOST_MODELS).map((model) => ({ ...model, cells: model.cells.map((cell) => FIELDS.map((field) => cell[field] ?? null)) }))));
      return models.length <= MOST_MODELS && read().length === models.length;
    } catch { return false; }
  }

  function takeOut(name) {
    keep(read().filter((model) => model.name !== name));
    location.reload();
  }

  const number = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "--");
  const stars = (p) => "*".repeat([0.05, 0.01, 0.001].filter((level) => p < level).length);
  const point = (model, name, digits) => number(model.points[name]?.[0] ?? NaN, digits);
  /** Accuracy and errors of a model's cells by level of a load, as Tables 4 and 5 have them. */
  const byLevel = (load, columns) => (model) => [...new Set(model.cells.map((cell) => cell[load]))].sort((a, b) => a - b).map((level) => {
    const own = model.cells.filter((cell) => cell[load] === level);
    const sum = (field) => (own.every((cell) => Number.isInteger(cell[field])) ? own.reduce((all, cell) => all + cell[field], 0) : NaN);
    return [String(level), ...columns.map((field) => (field === "accuracy" ? number((100 * sum("k")) / sum("n"), 1) : number(sum(field), 0)))];
  });
  const ERRORS = ["n", "accuracy", "ctx", "valid_logic", "poi_logic", "last_logic", "other"];
  const interval = (name, digits) => (model) => {
    const [estimate, low, high] = model.points[name] ?? [];
    return Number.isFinite(estimate) ? [[number(estimate, digits), "--", [low, high].map((end) => (Number.isFinite(end) ? number(end, digits) : "no limit")).join(" to ")]] : [];
  };
  /** What tables hold of a model: rows of cells after its name, in the order of their columns; what is not known is a dash. */
  const TABLES = {
    table2: (model) => (model.coef ? [[...model.coef.map((b, at) => `${number(b, 2)}${stars(model.p[at])}`), point(model, "ecl50", 1), point(model, "nt50", 2), point(model, "id50", 2)]] : []),
    table4: byLevel("d", ERRORS),
    table5: byLevel("N", ERRORS),
    table6: (model) => (Number.isFinite(model.aicLinear) ? [[number(model.pCurve, 3), number(model.aicLinear, 3), number(model.aic, 3)]] : []),
    "ecl50-intervals": interval("ecl50", 1),
    "nt50-intervals": interval("nt50", 2),
    "id50-intervals": interval("id50", 2),
  };

  /** Put rows of the kept models into the tables of this page, and return the words for those that took some. */
  function fillTables(models) {
    return Object.keys(TABLES).flatMap((id) => {
      const table = document.getElementById(id)?.closest("table") ?? document.querySelector(`#${CSS.escape(id)} table`), body = table?.tBodies[0];
      if (!body) return [];
      const width = table.tHead.rows[0].cells.length, right = [...(body.rows[0]?.cells ?? [])].map((cell) => cell.className);
      const rows = models.flatMap((model) => TABLES[id](model).map((cells) => [model.name, ...cells]));
      for (const [name, ...cells] of rows.reverse()) {
        const row = make("tr", { className: "dropped" }, make("td", { className: right[0] ?? "" }, name, " ", make("small", {}, MARK)));
        for (let at = 1; at < width; at++) row.append(make("td", { className: right[at] ?? "" }, cells[at - 1] ?? "--"));
        body.prepend(row);
      }
      return rows.length ? [id.startsWith("table") ? id.replace("table", "Table ") : `the table of ${id.split("-")[0].toUpperCase()}`] : [];
    });
  }

  /** Say at the top of a chapter which kept models stand where on it, with the way to take them out. */
  function announce() {
    const models = read(), title = document.querySelector(".bd-article h1");
    if (!models.length || !title || !/\/notebooks\/[^/]*$/.test(location.pathname)) return;
    const tables = fillTables(models), figures = [...document.querySelectorAll(".figure-answers")].filter((home) => home.querySelector("script")?.textContent.includes('"kind":"course"') || home.querySelector("script")?.textContent.includes('"kind":"spans"'));
    const names = [...tables, ...figures.map((home) => (/^figure\d+$/.test(home.dataset.figure) ? home.dataset.figure.replace("figure", "Figure ") : "the figure of " + (home.dataset.figure === "fingerprints" ? "capacity points" : "errors")))];
    const list = models.map(({ name }) => {
      const button = make("button", { type: "button", className: "link", textContent: "take out" });
      button.setAttribute("aria-label", `Take out ${name}`);
      button.addEventListener("click", () => takeOut(name));
      return make("li", {}, name, " ", button);
    });
    const note = make("aside", { className: "dropped-models" }, make("p", {}, make("strong", {}, `${MARK[0].toUpperCase()}${MARK.slice(1)}:`)), make("ul", {}, ...list), make("p", {},
      names.length ? `On this page they stand in ${[...new Set(names)].join(", ")}, as far as their file tells. Text and everything else leave them out.`
        : "This page leaves them out: it rests on fits or texts that only the whole book has. `make add` puts answers there."));
    note.setAttribute("aria-label", "Models dropped by you");
    title.after(note);
  }

  return { MARK, read, keep, takeOut, announce };
})();

document.addEventListener("DOMContentLoaded", cogniload.dropped.announce);
