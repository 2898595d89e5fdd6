/* Refits: all models fitted again as chosen.
 *
 * A regression of a model is a set {identified, fits}. Where the printed tables determine it there is one fit; otherwise one for
 * each reconstruction, a table of counts that agrees with them, and only medians and ranges over these are shown. Counts of a reader's
 * own models, or imported ones, are what they are: one fit.
 */
"use strict";

cogniload.refits = (() => {
  const { median, readFormula, layColumns, layDesign, fit, isInSpan } = cogniload.regression;
  const { findPoint } = cogniload.capacity;
  const { page, paperTerms, writeFormula } = cogniload.choices;
  const POINTS = { ecl50: "ECL50", nt50: "NT50", id50: "ID50" };

  const isKept = (cell, { omit }) => !omit.some((one) => one === `d:${cell.d}` || one === `N:${cell.N}` || one === `ratio_pct:${cell.ratio_pct}`);

  /** A model's cells as they are chosen, with its own counts or those of one of its tables. */
  function chooseCells(model, how, table) {
    const chosen = model.cells.map((cell, at) => {
      const k = table ? table[at] : cell.k;
      return { ...cell, k, rho: how.ratio === "nominal" ? cell.ratio_pct / 100 : cell.rho, n: how.overflows === "omitted" ? cell.n - Math.min(cell.ctx ?? 0, cell.n - k) : cell.n };
    });
    return chosen.filter((cell) => cell.n > 0 && isKept(cell, how));
  }

  /** Whether the printed tables determine a regression: its columns, 0 in cells that are left out, are in the span of the fixed sums. */
  function isIdentified(model, terms, how) {
    if (!model.tables) return true;
    if (!model.whole || how.family !== "logit" || how.overflows !== "wrong") return false;
    const { cells } = model, kept = cells.map((cell) => Number(isKept(cell, how)));
    const seen = cells.map((cell) => ({ ...cell, rho: how.ratio === "nominal" ? cell.ratio_pct / 100 : cell.rho }));
    const columns = [() => 1, ...layColumns(terms, seen).map(({ of }) => of)].map((of) => Float64Array.from(seen, (cell, at) => kept[at] * of(cell)));
    const fixed = [() => 1, ...layColumns(readFormula(page.data.formulas.fixed).terms, cells).map(({ of }) => of)];
    return isInSpan(columns, fixed.map((of) => Float64Array.from(cells, of)));
  }

  /** Fit terms to a model: {identified, fits}. */
  function fitModel(model, terms, how) {
    const identified = isIdentified(model, terms, how), tables = identified ? [undefined] : model.tables;
    let design = null, start = null;
    const fits = tables.map((table) => {
      const cells = chooseCells(model, how, table);
      if (!design || how.overflows === "omitted") design = layDesign(terms, cells);
      const found = fit(design, cells.map(({ k }) => k), cells.map(({ n }) => n), how.family, page.data.z, start);
      start = found.start ?? null;
      return found;
    });
    return { identified, fits };
  }
  const at = (set, table) => set.fits[Math.min(table, set.fits.length - 1)];

  const unfold = (point, value) => (point === "ecl50" ? 10 ** value : value);
  const row = (model, own, paper) => ({ model, own, paper, points: Object.fromEntries(Object.keys(POINTS).map((point) =>
    [point, { values: own.fits.map((one) => unfold(point, findPoint(one, point))) }])) });

  function refit() {
    const models = [...page.built.filter((model) => !page.state.without.includes(model.name)), ...page.mine];
    const start = performance.now(), { terms } = readFormula(writeFormula(page.state.terms)), paper = readFormula(page.data.formulas.paper).terms;
    const { family, overflows, ratio, omit } = page.state, how = { family, overflows, ratio, omit };
    // the paper's regression on the same answers, so that the two AIC can be compared
    const isUsual = page.state.terms.join() === paperTerms().join() && family === "logit" && ratio === "actual";
    page.results = models.map((model) => {
      const own = fitModel(model, terms, how);
      return row(model, own, isUsual ? own : fitModel(model, paper, { ...how, family: "logit", ratio: "actual" }));
    });
    page.tables = Math.max(1, ...page.results.flatMap(({ own, paper: usual }) => [own.fits.length, usual.fits.length]));
    page.timing.refit = performance.now() - start;
  }

  /** Values of a statistic of one row, or of all, over the tables of counts: `read` has the number of a table. */
  const overTables = (read, tables = page.tables) => Array.from({ length: tables }, (_, table) => read(table));
  /** {middle, low, high} of the values that are numbers; null where there is none. */
  function summarise(values) {
    const known = values.filter((one) => typeof one === "number" && !Number.isNaN(one));
    return known.length ? { middle: median(known), low: Math.min(...known), high: Math.max(...known) } : null;
  }

  return { POINTS, chooseCells, refit, overTables, summarise, at };
})();
