/* Dropped models: a reader's own, dropped on the workbench, kept in this browser and shown on other pages until taken out.
 *
 * Nothing leaves the browser, and where it keeps nothing for pages of a disk the workbench says so. What is kept is read as
 * numbers and text: other pages may have written there too. Tables take a row a model, figures do it themselves (figures.js).
 *
 * Processes of a browser tell each other late what is kept, other tabs change it, and a page that a reader goes back to is not
 * loaded again: whenever something else is kept the page is brought up to date, and `cogniload-dropped` tells its other scripts.
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

  const kept = () => { try { return localStorage.getItem(KEY); } catch { return null; } };

  /** The models that are kept, without any that is not as `keep` writes them. */
  function read() {
    let models = [];
    try { models = JSON.parse(kept() ?? "[]"); } catch { return []; }
    return (Array.isArray(models) ? models : []).filter((model) => typeof model?.name === "string" && Array.isArray(model.cells) && model.cells.every(isNumbers))
      .slice(0, MOST_MODELS).map(({ name, cells, whole, coef, p, aic, aicLinear, pCurve, points, products, others }) => ({
        name: name.slice(0, 200), whole: whole === true, cells: cells.map((row) => Object.fromEntries(FIELDS.map((field, at) => [field, row[at] ?? null]))),
        ...([coef, p].every(isNumbers) ? { coef, p } : {}), ...(isNumbers(products) ? { products } : {}),
        aic: Number(aic ?? NaN), aicLinear: Number(aicLinear ?? NaN), pCurve: Number(pCurve ?? NaN), points: pickNumbers(points), others: pickNumbers(others),
      }));
  }
  /** The entries of an object that are lists of numbers. */
  const pickNumbers = (lists) => Object.fromEntries(Object.entries(lists ?? {}).filter(([, list]) => isNumbers(list)));

  /** Keep models for the other pages; says whether the browser does. */
  function keep(models) {
    try {
      if (!models.length) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, JSON.stringify(models.slice(0, MOST_MODELS).map((model) => ({ ...model, cells: model.cells.map((cell) => FIELDS.map((field) => cell[field] ?? null)) }))));
      seen = kept();
      return models.length <= MOST_MODELS && read().length === models.length;
    } catch { return false; }
  }

  function takeOut(name) {
    keep(read().filter((model) => model.name !== name));
    show();
    tell();
  }

  const number = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "--");
  const stars = (p) => "*".repeat([0.05, 0.01, 0.001].filter((level) => p < level).length);
  /** Three significant digits, as Table 3 has them. */
  const pValue = (p) => (!Number.isFinite(p) ? "--" : p < 1e-4 ? Number(p.toPrecision(3)).toExponential().replace(/-(\d)$/, "-0$1") : String(Number(p.toPrecision(3))));
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
  const bySpecification = (place, digits) => (model) => (Object.keys(model.others).length ? [Object.fromEntries(Object.entries(model.others).map(([name, points]) => [name, number(points[place] ?? NaN, digits)]))] : []);
  /** Of the longest tasks, what is right among the answers that were finished. */
  const amongFinished = (model) => {
    const longest = model.cells.filter(({ N }) => N === 250), sum = (field) => longest.reduce((all, cell) => all + cell[field], 0);
    if (!longest.length || longest.some(({ ctx }) => !Number.isInteger(ctx)) || !sum("ctx")) return [];
    const [n, k, ctx] = ["n", "k", "ctx"].map(sum);
    return [[number(ctx, 0), number(k / n, 3), number(k / (n - ctx), 3), number((k + ctx) / n, 3)]];
  };
  /** What tables hold of a model: rows of cells after its name, in the order of their columns or by their names; what is not
   *  known is a dash. */
  const TABLES = {
    table2: (model) => (model.coef ? [[...model.coef.map((b, at) => `${number(b, 2)}${stars(model.p[at])}`), point(model, "ecl50", 1), point(model, "nt50", 2), point(model, "id50", 2)]] : []),
    table3: ({ products }) => (products ? [products.map((value, at) => (at % 2 ? `${pValue(value)}${stars(value)}` : number(value, 2)))] : []),
    table4: byLevel("d", ERRORS),
    table5: byLevel("N", ERRORS),
    table6: (model) => (Number.isFinite(model.aicLinear) ? [[number(model.pCurve, 3), number(model.aicLinear, 3), number(model.aic, 3)]] : []),
    "ecl50-intervals": interval("ecl50", 1),
    "nt50-intervals": interval("nt50", 2),
    "id50-intervals": interval("id50", 2),
    "alternatives-ecl50": bySpecification(0, 1),
    "alternatives-id50": bySpecification(1, 2),
    "alternatives-finished": amongFinished,
  };
  const tableOf = (id) => document.getElementById(id)?.closest("table") ?? document.querySelector(`#${CSS.escape(id)} table`);
  /** What a table or figure is called: its caption up to the first pause. */
  function nameOf(node) {
    const words = (node?.querySelector(".caption-text")?.textContent ?? "").replace(/\\[()]|\\mathrm|[${}]/g, "").trim().split(/[,.;:](?:\s|$)/)[0];
    return !words || /^(Table|Figure) \d+$/.test(words) ? words : `“${words.length > 70 ? `${words.slice(0, 69)}…` : words}”`;
  }

  /** Put rows of the kept models into a table of this page; says whether it took some. */
  function fillTable(table, id, models) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim()), right = [...(body.rows[0]?.cells ?? [])].map((cell) => cell.className);
    const rows = models.flatMap((model) => TABLES[id](model).map((cells) => [model.name, ...(Array.isArray(cells) ? cells : heads.slice(1).map((head) => cells[head]))]));
    for (const [name, ...cells] of rows.reverse()) {
      const row = make("tr", { className: "dropped" }, make("td", { className: right[0] ?? "" }, name, " ", make("small", {}, MARK)));
      for (let at = 1; at < heads.length; at++) row.append(make("td", { className: right[at] ?? "" }, cells[at - 1] ?? "--"));
      body.prepend(row);
    }
    return rows.length > 0;
  }

  /** Fill the tables of this page; one that cannot be filled is as it was, and keeps no other from it. */
  function fillTables(models) {
    return Object.keys(TABLES).map((id) => [id, tableOf(id)]).filter(([id, table]) => {
      try { return table && fillTable(table, id, models); } catch (error) {
        table.querySelectorAll("tr.dropped").forEach((row) => row.remove());
        reportError(error);
        return false;
      }
    }).map(([, table]) => table);
  }

  let seen = null;
  /** Say at the top of a chapter which kept models stand where on it and where not, with the way to take them out. */
  function show() {
    seen = kept();
    document.querySelectorAll(".dropped-models, tr.dropped").forEach((node) => node.remove());
    const models = read(), title = document.querySelector(".bd-article h1");
    if (!models.length || !title || !/\/notebooks\/[^/]*$/.test(location.pathname)) return;
    const filled = fillTables(models), without = [...document.querySelectorAll(".bd-article table.table")].filter((table) => !filled.includes(table) && /^Models?$/.test(table.tHead?.rows[0]?.cells[0]?.textContent.trim()));
    const figures = [...document.querySelectorAll(".figure-answers")].filter((home) => /"kind":"(course|spans)"/.test(home.querySelector("script")?.textContent)).map((home) => document.getElementById(home.dataset.figure));
    const list = models.map(({ name }) => {
      const button = make("button", { type: "button", className: "link", textContent: "take out" });
      button.setAttribute("aria-label", `Take out ${name}`);
      button.addEventListener("click", () => takeOut(name));
      return make("li", {}, name, " ", button);
    });
    const named = (nodes) => [...new Set(nodes.map(nameOf).filter(Boolean))].join("; ");
    const words = [
      filled.length + figures.length ? `On this page they stand in: ${named([...figures, ...filled])}; as far as their file tells.` : "",
      without.length ? `They are left out of: ${named(without)}.` : "",
      filled.length + figures.length ? "Text and everything else leave them out." : "This page leaves them out: it rests on fits or texts that only the whole book has. `make add` puts answers there.",
    ];
    const note = make("aside", { className: "dropped-models" }, make("p", {}, make("strong", {}, `${MARK[0].toUpperCase()}${MARK.slice(1)}:`)), make("ul", {}, ...list),
      ...words.filter(Boolean).map((text) => make("p", {}, text)));
    note.setAttribute("aria-label", "Models dropped by you");
    title.after(note);
  }
  /** Let the page's other scripts know; at first they read for themselves. */
  const tell = () => document.dispatchEvent(new CustomEvent("cogniload-dropped"));
  /** Bring the page up to date if something else is kept than it shows. */
  function lookAgain({ type }) {
    if (kept() === seen) return;
    show();
    if (type !== "DOMContentLoaded") tell();
  }

  return { MARK, read, keep, takeOut, lookAgain };
})();

for (const [target, type] of [[document, "DOMContentLoaded"], [globalThis, "storage"], [globalThis, "pageshow"]]) target.addEventListener(type, cogniload.dropped.lookAgain);
