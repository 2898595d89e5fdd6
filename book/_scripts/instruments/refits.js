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

  /** Other regressions that chapters have a column for, by its name. */
  const OTHERS = { paper: [""], N: ["", "logit", "N"], probit: ["", "probit"], cloglog: ["", "cloglog"], "d x N": ["d:log10_N"], "three-way": ["d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"] };

  /** What the book's other pages show of a dropped model: its cells, the paper's regressions, and capacity points. */
  function describeDropped({ name, cells }) {
    const { paper, products } = page.data.formulas, refit = (formula, family = "logit") => { const terms = readFormula(formula); return fit(cells, layColumns(terms, cells), family, page.data.z); };
    const found = refit(paper), linear = refit(paper.replace(" + I(rho**2)", "")), isFitted = found.status === "ok";
    const estimates = Object.fromEntries(Object.keys(POINTS).map((point) => {
      const estimate = findPoint(found, point), ends = isFitted ? findInterval(found, point, estimate, page.data.z ** 2) : [];
      return [point, [estimate, ...ends].map((one) => unfold(point, one))];
    }));
    if (isFitted) for (const [point, term] of Object.entries({ d: "d", log10_N: "log10_N", rho2: "I(rho**2)" })) {
      const at = found.names.indexOf(term);
      estimates[point] = [found.coef[at], found.low[at], found.high[at]];
    }
    if (isFitted && linear.status === "ok") estimates.daic = [found.aic - linear.aic, null, null];
    const points = (formula, family) => { const one = refit(formula, family); return ["ecl50", "id50"].map((point) => unfold(point, findPoint(one, point))); };
    return {
      name, cells, points: estimates, aic: found.aic, aicLinear: linear.aic, ...testProducts(refit, products),
      others: Object.fromEntries(Object.entries(OTHERS).map(([column, [more, family, length = "log10_N"]]) => [column, points(`${paper.replace("log10_N", length)}${more && ` + ${more}`}`, family)])),
      ...(isFitted ? { coef: found.coef, p: found.p, pCurve: chiSquared1(2 * (found.loglik - linear.loglik)) } : {}),
    };
  }

  /** Coefficient and p of the likelihood-ratio test of each product of loads, as Table 3 has them; nothing without a fit. */
  function testProducts(refit, formula) {
    const whole = refit(formula), terms = readFormula(formula).map(({ text }) => text);
    if (whole.status !== "ok") return {};
    return { products: terms.filter((term) => term.includes(":")).flatMap((term) => {
      const without = refit(writeFormula(terms.filter((other) => other !== term)));
      return [whole.coef[whole.names.indexOf(term)], without.status === "ok" ? chiSquared1(2 * (whole.loglik - without.loglik)) : NaN];
    }) };
  }
  /** Upper tail of chi-square with one degree of freedom: two-sided tail of a normal. */
  const chiSquared1 = (value) => (value >= 0 ? cogniload.numbers.twoSided(Math.sqrt(value)) : NaN);

  return { POINTS, chooseCells, refit, describeDropped, unfold, findIntervals, answer };
})();
