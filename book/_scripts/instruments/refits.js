/* Refits: all models fitted again under what is chosen, and what follows for the paper's sentences.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.refits = (() => {
  const { readFormula, layColumns, fit } = cogniload.regression;
  const { findPoint, findInterval } = cogniload.capacity;
  const { page, paperTerms, writeFormula } = cogniload.choices;
  const POINTS = { ecl50: "ECL50", nt50: "NT50", id50: "ID50" };

  /** Return a model's cells as they are chosen: levels left out, overflows wrong or left out, rho actual or nominal. */
  const chooseCells = (model) => model.cells
    .filter((cell) => !page.state.omit.some((one) => one === `d:${cell.d}` || one === `N:${cell.N}` || one === `ratio_pct:${cell.ratio_pct}`))
    .map((cell) => ({
      ...cell, actual: cell.rho,
      rho: page.state.ratio === "nominal" ? cell.ratio_pct / 100 : cell.rho,
      n: page.state.overflows === "omitted" ? cell.n - (cell.ctx ?? 0) : cell.n,
    }))
    .filter((cell) => cell.n > 0);

  /** Fit a formula to every model's cells; models with the same configurations share their columns. */
  function fitAll(models, terms, family, choose) {
    return models.map((model) => {
      const cells = choose(model);
      return { model, ...fit(cells, layColumns(terms, cells), family, page.data.z) };
    });
  }

  function refit() {
    const models = [...page.built.filter((model) => !page.state.without.includes(model.name)), ...page.dropped];
    const start = performance.now();
    const own = fitAll(models, readFormula(writeFormula(page.state.terms)), page.state.family, chooseCells);
    page.timing.refit = performance.now() - start;
    // the paper's regression on the same answers, so that the two AIC can be compared
    const usual = page.state.terms.join() === paperTerms().join() && page.state.family === "logit" && page.state.ratio === "actual";
    const same = usual ? own : fitAll(models, readFormula(page.data.formulas.paper), "logit", (model) =>
      chooseCells(model).map((cell) => ({ ...cell, rho: cell.actual })));
    page.results = models.map((model, at) => ({ model, own: own[at], paper: same[at], points: {} }));
    for (const row of page.results) for (const point of Object.keys(POINTS)) row.points[point] = { estimate: findPoint(row.own, point) };
    page.timing.all = performance.now() - start;
  }

  const unfold = (point, value) => (point === "ecl50" ? 10 ** value : value);

  /** Find the intervals of capacity points a few models at a time, so that the page stays alive; then call `done`. */
  function findIntervals(turn, done, at = 0) {
    if (turn !== page.round) return;
    const until = performance.now() + 25;
    while (at < page.results.length && performance.now() < until) {
      const { own, points } = page.results[at++];
      for (const point of Object.keys(POINTS)) points[point].ends = findInterval(own, point, points[point].estimate, page.data.z ** 2);
    }
    if (at < page.results.length) return void setTimeout(findIntervals, 0, turn, done, at);
    page.timing.intervals = true;
    done();
  }

  /** Return the models for which a sentence of the paper is so, or null where these fits do not say. */
  function answer(question) {
    const asked = page.results.filter(({ model }) => question.models.includes(model.name));
    if (["above", "below"].includes(question.way)) {
      if (!Object.keys(POINTS).includes(question.terms[0]) || !page.results.some(({ points }) => Number.isFinite(points[question.terms[0]].estimate))) return null;
      return asked.filter(({ points }) => {
        const value = unfold(question.terms[0], points[question.terms[0]].estimate);
        return question.way === "above" ? value > question.level : value < question.level;
      }).map(({ model }) => model.name);
    }
    const term = question.terms.find((name) => page.state.terms.includes(name));
    if (!term) return null;
    return asked.filter(({ own }) => {
      if (own.status !== "ok") return false;
      const at = own.names.indexOf(term), significant = own.p[at] < question.level;
      if (question.way === "none") return !significant;
      return significant && (question.way === "either" || (question.way === "negative" ? own.coef[at] < 0 : own.coef[at] > 0));
    }).map(({ model }) => model.name);
  }

  /** What the book's other pages show of a dropped model: its cells, the paper's regression, without the curve too, and points. */
  function describeDropped({ name, cells }) {
    const terms = readFormula(page.data.formulas.paper), found = fit(cells, layColumns(terms, cells), "logit", page.data.z);
    const flat = terms.filter(({ text }) => text !== "I(rho**2)"), linear = fit(cells, layColumns(flat, cells), "logit", page.data.z);
    const points = Object.keys(POINTS).map((point) => {
      const estimate = findPoint(found, point), ends = found.status === "ok" ? findInterval(found, point, estimate, page.data.z ** 2) : [];
      return [point, [estimate, ...ends].map((one) => unfold(point, one))];
    });
    return {
      name, cells, points: Object.fromEntries(points), aic: found.aic, aicLinear: linear.aic,
      ...(found.status === "ok" ? { coef: found.coef, se: found.se, p: found.p, pCurve: chiSquared1(2 * (found.loglik - linear.loglik)) } : {}),
    };
  }
  /** Upper tail of chi-square with one degree of freedom: two-sided tail of a normal. */
  const chiSquared1 = (value) => (value >= 0 ? cogniload.numbers.twoSided(Math.sqrt(value)) : NaN);

  return { POINTS, chooseCells, refit, describeDropped, unfold, findIntervals, answer };
})();
