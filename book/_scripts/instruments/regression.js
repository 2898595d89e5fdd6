/* Regression: logistic regressions on the counts of one model's cells, by Newton's method.
 *
 * A formula is a list of terms over d, N, log10_N and rho. Columns are centred and scaled before anything is multiplied, so that
 * products keep their digits. Where no fit exists the status says why, in the
 * words of `cogniload fit`, or "dependent columns": "separation" (estimates without bound), "not converged".
 */
"use strict";

cogniload.regression = (() => {
  const VARIABLES = ["d", "N", "log10_N", "rho"];
  const LARGEST_POWER = 6, MOST_STEPS = 100, MOST_FACTORS = 4;

  // ---- the normal distribution, and Cholesky factors of small symmetric matrices ------------------------------------
  const density = (z) => Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);

  /** P(Z > z) for z >= 0, by its series near zero and its continued fraction beyond. */
  function upperTail(z) {
    if (z > 38.5) return 0;
    let term = z, sum = z, fraction = z;
    if (z >= 2.5) {
      for (let k = 160; k > 0; k--) fraction = z + k / fraction;
      return density(z) / fraction;
    }
    for (let k = 1; Math.abs(term) > 1e-18 * sum; k++) {
      term *= (z * z) / (2 * k + 1);
      sum += term;
    }
    return 0.5 - density(z) * sum;
  }

  /** Two-sided p-value of a standard normal statistic. */
  const twoSided = (z) => 2 * upperTail(Math.abs(z));
  /** Lower triangle L of a symmetric matrix a = L L', rows as arrays; null if a pivot is not above the tolerance. */
  function cholesky(a, tolerance = 0) {
    const size = a.length, lower = a.map((row) => Float64Array.from(row));
    for (let i = 0; i < size; i++) {
      for (let j = 0; j <= i; j++) {
        let sum = lower[i][j];
        for (let k = 0; k < j; k++) sum -= lower[i][k] * lower[j][k];
        if (i === j) {
          if (!(sum > tolerance * a[i][i]) || !(sum > 0)) return null;
          lower[i][i] = Math.sqrt(sum);
        } else {
          lower[i][j] = sum / lower[j][j];
        }
      }
    }
    return lower;
  }

  /** Solve L L' x = b. */
  function solve(lower, b) {
    const size = lower.length, x = Float64Array.from(b);
    for (let i = 0; i < size; i++) {
      for (let k = 0; k < i; k++) x[i] -= lower[i][k] * x[k];
      x[i] /= lower[i][i];
    }
    for (let i = size - 1; i >= 0; i--) {
      for (let k = i + 1; k < size; k++) x[i] -= lower[k][i] * x[k];
      x[i] /= lower[i][i];
    }
    return x;
  }

  /** Inverse of L L', rows as arrays. */
  const invert = (lower) => lower.map((_, i) => solve(lower, lower.map((__, j) => (i === j ? 1 : 0))));

  function dot(one, other) {
    let sum = 0;
    for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
    return sum;
  }
  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  function median(values) {
    const sorted = [...values].sort((a, b) => a - b), half = sorted.length / 2;
    return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
  }

  // ---- the logit ---------------------------------------------------------------------------------------------------------
  const logistic = (x) => (x > 0 ? 1 / (1 + Math.exp(-x)) : 1 - 1 / (1 + Math.exp(x)));
  /** [log-likelihood, its slope, minus its curvature] of k correct of n answers, along the log-odds x. */
  function derive(x, k, n) {
    const e = Math.exp(-Math.abs(x)), p = (x > 0 ? 1 : e) / (1 + e), q = (x > 0 ? e : 1) / (1 + e);
    return [k * x - n * ((x > 0 ? x : 0) + Math.log1p(e)), k * q - (n - k) * p, n * p * q];
  }

  // ---- formulas ------------------------------------------------------------------------------------------------------
  /** Read a term without "*", such as "d", "I(rho**2)", "C(N)" or "d:log10_N"; null if it is none. */
  function readTerm(text) {
    const factors = text.split(":").map((part) => {
      const power = /^I\((\w+)\^(\d)\)$/.exec(part), levels = /^C\((\w+)\)$/.exec(part);
      const [variable, exponent] = power ? [power[1], Number(power[2])] : [levels ? levels[1] : part, 1];
      const known = VARIABLES.includes(variable) && exponent >= 1 && exponent <= LARGEST_POWER;
      return known && { variable, exponent, levels: Boolean(levels), name: exponent > 1 ? `I(${variable}**${exponent})` : part.replace("^1", "") };
    });
    if (!factors.every(Boolean) || (factors.length > 1 && factors.some((factor) => factor.levels))) return null;
    if (new Set(factors.map(({ name }) => name)).size < factors.length) return null;
    return { text: factors.map(({ name }) => name).join(":"), factors };
  }

  /** Read the right side of a formula, or all of it: {terms, unknown}. Products are expanded, terms come once, those with fewer
   *  factors first; what is no term is returned as it was written. */
  function readFormula(formula) {
    const terms = [], unknown = [];
    const same = (term) => term.text.split(":").sort().join(":");
    const right = formula.replace(/^\s*correct\s*~/, "");
    for (const written of right.split("+")) {
      const factors = written.replace(/\s+/g, "").replaceAll("**", "^").split("*");
      if (factors.join() === "1") continue;
      const subsets = factors.reduce((all, factor) => [...all, ...all.map((one) => [...one, factor])], [[]]).slice(1);
      const found = factors.length > MOST_FACTORS ? [null] : subsets.map((subset) => readTerm(subset.join(":")));
      if (found.every(Boolean)) terms.push(...found);
      else unknown.push(written.trim());
    }
    const once = terms.filter((term, at) => terms.findIndex((other) => same(other) === same(term)) === at);
    return { terms: once.sort((one, other) => one.factors.length - other.factors.length), unknown };
  }

  const value = (cell, variable) => (variable === "log10_N" ? Math.log10(cell.N) : cell[variable]);
  const raise = ({ variable, exponent }, cell) => (exponent === 1 ? value(cell, variable) : value(cell, variable) ** exponent);

  /** Columns of a formula as functions of a cell {d, N, rho}, with their names; levels are those of the cells. */
  function layColumns(terms, cells) {
    return terms.flatMap(({ text, factors }) => {
      if (!factors[0].levels) return [{ name: text, of: (cell) => factors.reduce((product, factor) => product * raise(factor, cell), 1), factors }];
      const { variable } = factors[0], levels = [...new Set(cells.map((cell) => value(cell, variable)))].sort((a, b) => a - b);
      return levels.slice(1).map((level) => ({ name: `${text}[T.${level}]`, of: (cell) => (value(cell, variable) === level ? 1 : 0), factors }));
    });
  }

  // ---- fitting -------------------------------------------------------------------------------------------------------
  /** Weighted products of columns: the lower triangle of a matrix as rows. */
  function gram(x, weights) {
    const weighted = new Float64Array(weights.length);
    return x.map((one, i) => {
      for (let cell = 0; cell < weights.length; cell++) weighted[cell] = one[cell] * weights[cell];
      return Float64Array.from({ length: i + 1 }, (_, j) => dot(weighted, x[j]));
    });
  }

  /** Maximise the log-likelihood of k correct of n answers over b, where eta = sum b[j] x[j] and x are columns.
   *  Newton's steps, halved where they lead down: {b, eta, loglik, status}. */
  function maximise(x, k, n, start = null) {
    const rows = k.length;
    const evaluate = (b) => {
      const eta = new Float64Array(rows), slope = new Float64Array(rows), curvature = new Float64Array(rows);
      x.forEach((column, j) => { for (let i = 0; i < rows; i++) eta[i] += b[j] * column[i]; });
      let loglik = 0;
      for (let i = 0; i < rows; i++) {
        const [gain, rise, curve] = derive(eta[i], k[i], n[i]);
        loglik += gain;
        slope[i] = rise;
        curvature[i] = curve;
      }
      return { b, eta, loglik, slope, curvature, status: "not converged" };
    };
    let here = evaluate(start ?? new Float64Array(x.length));
    for (let step = 0; step < MOST_STEPS; step++) {
      const lower = cholesky(gram(x, here.curvature), 1e-14);
      if (!lower) return { ...here, status: "separation" }; // no information is left: estimates grow without bound
      const move = solve(lower, x.map((column) => dot(column, here.slope)));
      if (move.every((change, j) => Math.abs(change) < 1e-11 * (1 + Math.abs(here.b[j])))) return { ...here, status: "ok" };
      for (let length = 1; ; length /= 2) {
        const there = evaluate(here.b.map((old, j) => old + length * move[j]));
        if (there.loglik >= here.loglik - 1e-11 * Math.abs(here.loglik) || length < 1e-8) {
          here = there;
          break;
        }
      }
    }
    // cells that tell nothing any more have accuracies that run to 0 or 1
    return here.curvature.some((one, i) => one < 1e-6 * n[i]) ? { ...here, status: "separation" } : here;
  }

  /** Lay out terms over cells {d, N, rho}: names, raw and scaled columns, and why there can be no fit, if so. */
  function layDesign(terms, cells) {
    const columns = layColumns(terms, cells), names = ["Intercept", ...columns.map(({ name }) => name)];
    const raw = columns.map(({ of }) => Float64Array.from(cells, of)), middle = raw.map(mean);
    const scale = raw.map((column, j) => Math.hypot(...column.map((cell) => cell - middle[j])));
    const ones = new Float64Array(cells.length).fill(1);
    const x = [ones, ...raw.map((column, j) => column.map((cell) => (cell - middle[j]) / scale[j]))];
    const isConstant = scale.some((spread, j) => !(spread > 1e-10 * Math.hypot(...raw[j])));
    const isDependent = !cells.length || isConstant || names.length > cells.length || !cholesky(gram(x, ones), 1e-11);
    return { cells, columns, names, raw, middle, scale, x, status: isDependent ? "dependent columns" : "ok" };
  }

  /** Fit k correct of n answers: {status, names, coef, se, p, low, high, covariance, loglik, aic, accuracy, ...}. */
  function fit(design, k, n, family, z, start = null) {
    const { names, x, middle, scale } = design, base = { status: design.status, names, design, n };
    if (base.status !== "ok") return base;
    let found = maximise(x, k, n, start);
    if (found.status !== "ok" && start) found = maximise(x, k, n);
    const lower = cholesky(gram(x, found.curvature));
    if (found.status !== "ok" || !lower) return { ...base, status: found.status === "ok" ? "not converged" : found.status };
    // back to the columns as they are: row j of `back` makes coefficient j of those of the scaled columns
    const back = names.map((_, j) => names.map((__, i) => (j > 0 ? (i === j ? 1 / scale[j - 1] : 0) : i === 0 ? 1 : -middle[i - 1] / scale[i - 1])));
    const scaled = invert(lower), quasi = family === "quasi-binomial";
    const factor = quasi ? Math.max(dispersion(k, n, found.eta, names.length), 1) : 1;
    const covariance = back.map((row) => {
      const half = scaled.map((_, i) => dot(row, scaled.map((other) => other[i])));
      return back.map((other) => factor * dot(other, half));
    });
    const loglik = quasi ? NaN : found.loglik, coef = back.map((row) => dot(row, found.b)), se = covariance.map((row, j) => Math.sqrt(row[j]));
    return {
      ...base, coef, se, covariance, start: found.b, answers: n.reduce((sum, one) => sum + one, 0),
      p: coef.map((b, j) => twoSided(b / se[j])), low: coef.map((b, j) => b - z * se[j]), high: coef.map((b, j) => b + z * se[j]),
      aic: 2 * names.length - 2 * loglik, accuracy: Array.from(found.eta, logistic),
    };
  }

  /** Pearson's chi-square by its degrees of freedom. */
  function dispersion(k, n, eta, terms) {
    const sum = k.reduce((total, count, i) => {
      const p = Math.min(Math.max(logistic(eta[i]), 1e-12), 1 - 1e-12);
      return n[i] ? total + (count - n[i] * p) ** 2 / (n[i] * p * (1 - p)) : total;
    }, 0);
    return k.length > terms ? sum / (k.length - terms) : NaN;
  }

  /** Combination of coefficients with its standard error: [estimate, se]. */
  const combine = ({ coef, covariance }, weights) => [dot(weights, coef), Math.sqrt(dot(weights, covariance.map((row) => dot(row, weights))))];

  // ---- identification ------------------------------------------------------------------------------------------------
  /** Whether columns lie in the span of others: what the sums over the others determine, they determine of these too. */
  function isInSpan(columns, others) {
    const basis = [], length = (column) => Math.sqrt(dot(column, column));
    const project = (column) => {
      const rest = Float64Array.from(column);
      for (const one of [...basis, ...basis]) { // the second time takes away what rounding left
        const part = dot(one, rest);
        for (let i = 0; i < rest.length; i++) rest[i] -= part * one[i];
      }
      return rest;
    };
    for (const column of others) {
      const rest = project(column), size = length(rest);
      if (size > 1e-8 * length(column)) basis.push(rest.map((cell) => cell / size));
    }
    return columns.every((column) => length(project(column)) <= 1e-7 * length(column));
  }

  return { dot, mean, median, readFormula, layColumns, layDesign, raise, fit, combine, isInSpan };
})();
