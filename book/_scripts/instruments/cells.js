/* Cells: counts by model and configuration, as the build wrote them or as a reader's file has them.
 *
 * A cell is {N, d, ratio_pct, rho, n, k, ctx}: statements, difficulty, nominal and actual needle ratio, answers, correct ones, and
 * those that ran out of context (null where nobody counted them).
 */
"use strict";

cogniload.cells = (() => {
  const MOST_BYTES = 64 * 2 ** 20, MOST_MODELS = 100, MOST_CELLS = 2_000;
  /** Columns of a reader's file, with the form of their numbers. */
  const COLUMNS = ["model", "N", "d", "ratio_pct", "total", "correct"], WHOLE = /^(0|[1-9]\d{0,11})$/, DECIMAL = /^\d{1,3}(\.\d+)?$/;

  /** The models of the build: {name, family, color, paper, cells, tables}; tables are other counts of correct answers. */
  function unpack({ grid, models }) {
    return models.map(({ n, k, ctx, tables, ...model }) => {
      const covered = n.map((_, at) => at).filter((at) => n[at] > 0), pick = (counts) => covered.map((at) => counts[at]);
      return {
        ...model, tables: tables && tables.map(pick),
        cells: covered.map((at) => ({ N: grid.N[at], d: grid.d[at], ratio_pct: grid.ratio_pct[at], rho: grid.rho[at], n: n[at], k: k[at], ctx: ctx ? ctx[at] : null })),
      };
    });
  }

  /** Split CSV into rows of fields; quoted fields may hold commas, quotes and line breaks. */
  function readCsv(text) {
    const rows = [];
    let row = [], field = "", quoted = false;
    for (let at = 0; at < text.length; at++) {
      const letter = text[at];
      if (quoted) {
        if (letter !== '"') field += letter;
        else if (text[at + 1] === '"') { field += '"'; at++; }
        else quoted = false;
      } else if (letter === '"' && field === "") quoted = true;
      else if (letter === "," || letter === "\n") {
        row.push(field.replace(/\r$/, ""));
        field = "";
        if (letter === "\n") { rows.push(row); row = []; }
      } else field += letter;
    }
    if (field !== "" || row.length) rows.push([...row, field.replace(/\r$/, "")]);
    return rows.filter((one) => one.length > 1 || one[0].trim() !== "");
  }

  /** Read a file's bytes, a table of cells, into models; throws an Error whose message is a sentence. */
  function readTable(bytes, fileName) {
    const refuse = (why) => { throw new Error(`${fileName}: ${why}.`); };
    if (bytes.byteLength > MOST_BYTES) refuse("it is larger than 64 MB");
    let text = "";
    try { text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { refuse("it is not UTF-8"); }
    const [head = [], ...rows] = readCsv(text), missing = COLUMNS.filter((name) => !head.includes(name)), more = head.filter((name) => !COLUMNS.includes(name));
    if (missing.length) refuse(`it lacks ${missing.join(", ")}; its columns must be ${COLUMNS.join(", ")}`);
    if (more.length || head.length > COLUMNS.length) refuse(`it has other columns (${more.join(", ").slice(0, 80) || "one comes twice"}) than ${COLUMNS.join(", ")}`);
    const models = new Map();
    rows.forEach((fields, at) => {
      const fail = (why) => refuse(`row ${at + 1}: ${why}`);
      const { model, ...cell } = readCell(Object.fromEntries(head.map((name, place) => [name, fields[place] ?? ""])), fields.length === head.length, fail);
      if (!models.has(model) && models.size === MOST_MODELS) fail(`more than ${MOST_MODELS} models in one file`);
      const cells = models.get(model) ?? models.set(model, new Map()).get(model), place = [cell.N, cell.d, cell.ratio_pct].join();
      if (cells.has(place)) fail("this model and configuration appear in an earlier row");
      if (cells.size === MOST_CELLS) fail(`more than ${MOST_CELLS.toLocaleString("en")} configurations of one model`);
      cells.set(place, cell);
    });
    if (!models.size) refuse("it has no row below its header");
    return [...models].map(([name, cells]) => ({ name, family: "Your models", color: null, paper: false, mine: true, cells: [...cells.values()].filter(({ n }) => n) }));
  }

  function readCell(row, whole, fail) {
    if (!whole) fail("another number of fields than the header");
    const number = (name, form, least, most, words) => {
      const value = form.test(row[name]) ? Number(row[name]) : NaN;
      return value >= least && value <= most ? value : fail(`${name} is “${row[name].slice(0, 40)}”, not a ${words}`);
    };
    const N = number("N", WHOLE, 1, 1e6, "whole number from 1 on"), d = number("d", WHOLE, 1, 12, "whole number from 1 to 12");
    const ratio_pct = number("ratio_pct", DECIMAL, 0, 100, "number from 0 to 100");
    const n = number("total", WHOLE, 0, 1e12, "whole number"), k = number("correct", WHOLE, 0, n, "whole number from 0 to total");
    const needles = Math.max(1, Math.min(N, Math.floor((N * ratio_pct) / 100 + 0.5)));  // halves up, as the paper counts them
    return { model: row.model.trim() || fail("the name of the model is missing"), N, d, ratio_pct, rho: needles / N, n, k, ctx: null };
  }

  /** Accuracy of cells with its Wilson interval. */
  function accuracy(cells, z) {
    const [n, k] = ["n", "k"].map((name) => cells.reduce((sum, cell) => sum + cell[name], 0)), estimate = k / n;
    const middle = (estimate + (z * z) / (2 * n)) / (1 + (z * z) / n);
    const half = (z * Math.sqrt((estimate * (1 - estimate)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
    return { n, k, estimate, low: middle - half, high: middle + half };
  }

  return { unpack, readTable, accuracy };
})();
