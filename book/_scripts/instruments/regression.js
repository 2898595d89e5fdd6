/* Regression: a binomial GLM on the counts of one model's cells, by iteratively reweighted least squares.
 *
 * The formula is a list of terms over d, N, log10_N and rho. Columns are centred and scaled before anything is
 * multiplied, so that Cholesky keeps the digits that d, d log10 N, d log10 N rho, ... lose to one another; standard errors
 * come from the expected information. A fit that does not exist is said to be so, by the words of `make fit`:
 * "not identified" (columns that depend on one another), "separation" (a direction in which the likelihood never ends to
 * rise), "not converged".
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.regression = (() => {
  const { logNormal, hazard, twoSided, cholesky, solve, invert } = cogniload.numbers;
  const VARIABLES = ["d", "N", "log10_N", "rho"];
  const LARGEST_POWER = 6, MOST_STEPS = 100;

  // ---- links ---------------------------------------------------------------------------------------------------------
  const softplus = (x) => (x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x)));
  const logistic = (x) => (x > 0 ? 1 / (1 + Math.exp(-x)) : 1 - 1 / (1 + Math.exp(x)));
  /** half: the linear predictor of an accuracy of one half. weight: expected information of an answer. logP: logarithm of
   *  the accuracy. tell: [log-likelihood, its slope, minus its curvature] of k right of n answers, along eta. */
  const LINKS = {
    logit: {
      half: 0,
      logP: (x) => -softplus(-x),
      weight: (x) => logistic(x) * logistic(-x),
      tell(x, k, n) {
        const e = Math.exp(-Math.abs(x)), p = (x > 0 ? 1 : e) / (1 + e), q = (x > 0 ? e : 1) / (1 + e);
        return [k * x - n * ((x > 0 ? x : 0) + Math.log1p(e)), k * q - (n - k) * p, n * p * q];
      },
    },
    probit: {
      half: 0,
      logP: logNormal,
      weight: (x) => hazard(x) * hazard(-x),
      tell(x, k, n) {
        const right = k && hazard(x), wrong = n - k && hazard(-x);
        const loglik = (k && k * logNormal(x)) + (n - k && (n - k) * logNormal(-x));
        return [loglik, k * right - (n - k) * wrong, k * right * (right + x) + (n - k) * wrong * (wrong - x)];
      },
    },
    cloglog: {
      half: Math.log(Math.log(2)),
      logP: (x) => Math.log(-Math.expm1(-Math.exp(x))),
      weight: (x) => Math.exp(x) * ratio(Math.exp(x)),
      tell(x, k, n) {
        const m = Math.exp(x), right = ratio(m);
        const loglik = (k && k * Math.log(-Math.expm1(-m))) - (n - k && (n - k) * m);
        return [loglik, k * right - (n - k) * m, k * right * (right + m - 1) + (n - k) * m];
      },
    },
  };
  LINKS["quasi-binomial"] = LINKS.logit;
  /** m / (e^m - 1), which is 1 at 0. */
  function ratio(m) { return m < 1e-12 ? 1 - m / 2 : m / Math.expm1(m); }

  // ---- formulas ------------------------------------------------------------------------------------------------------
  /** Read one term, such as "d", "I(rho**2)", "C(N)" or "d:log10_N"; null if it is none. */
  function readTerm(text) {
    const factors = text.replace(/\s+/g, "").split(":").map((part) => {
      const power = /^I\((\w+)\*\*(\d)\)$/.exec(part), levels = /^C\((\w+)\)$/.exec(part);
      const [variable, exponent] = power ? [power[1], Number(power[2])] : [levels ? levels[1] : part, 1];
      const known = VARIABLES.includes(variable) && exponent >= 1 && exponent <= LARGEST_POWER;
      return known && { variable, exponent, levels: Boolean(levels) };
    });
    if (!factors.every(Boolean) || (factors.length > 1 && factors.some((factor) => factor.levels))) return null;
    const named = factors.map(({ variable, exponent, levels }) =>
      levels ? `C(${variable})` : exponent > 1 ? `I(${variable}**${exponent})` : variable);
    if (new Set(named).size < named.length) return null;
    return { text: named.join(":"), factors };
  }

  /** Read "correct ~ d + log10_N"; null if a term is none. Terms come once, those with fewer factors first. */
  function readFormula(formula) {
    const parts = /^\s*correct\s*~(.+)$/.exec(formula);
    if (!parts) return null;
    const terms = parts[1].trim() === "1" ? [] : parts[1].split("+").map(readTerm);
    if (!terms.every(Boolean)) return null;
    const same = (term) => term.text.split(":").sort().join(":");
    const once = terms.filter((term, at) => terms.findIndex((other) => same(other) === same(term)) === at);
    return once.sort((one, other) => one.factors.length - other.factors.length);
  }

  /** Return the columns of a formula as functions of a cell {d, N, rho}, with their names; levels are those of cells. */
  function layColumns(terms, cells) {
    const columns = [];
    for (const { text, factors } of terms) {
      if (factors[0].levels) {
        const variable = factors[0].variable;
        const levels = [...new Set(cells.map((cell) => value(cell, variable)))].sort((a, b) => a - b);
        for (const level of levels.slice(1)) {
          const of = (cell) => (value(cell, variable) === level ? 1 : 0);
          columns.push({ name: `${text}[T.${level}]`, of, factors });
        }
      } else {
        const of = (cell) => factors.reduce((product, factor) => product * raise(factor, cell), 1);
        columns.push({ name: text, of, factors });
      }
    }
    return columns;
  }
  const value = (cell, variable) => (variable === "log10_N" ? Math.log10(cell.N) : cell[variable]);
  const raise = (factor, cell) => (factor.exponent === 1 ? value(cell, factor.variable)
    : value(cell, factor.variable) ** factor.exponent);

  // ---- fitting -------------------------------------------------------------------------------------------------------
  /** Multiply columns: their weighted products, the lower triangle of a matrix as rows. */
  function gram(x, weights) {
    const weighted = new Float64Array(weights.length);
    return x.map((one, i) => {
      const row = new Float64Array(i + 1);
      for (let cell = 0; cell < weights.length; cell++) weighted[cell] = one[cell] * weights[cell];
      for (let j = 0; j <= i; j++) row[j] = dot(weighted, x[j]);
      return row;
    });
  }
  function dot(one, other) {
    let sum = 0;
    for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
    return sum;
  }

  /** Maximise the log-likelihood of k right answers of n over b, where eta = offset + sum b[j] x[j]; x are columns.
   *  Newton's steps, halved where they lead down; {b, eta, loglik}, or null where they do not end. */
  function maximise(x, k, n, link, { offset = 0, start = null } = {}) {
    const rows = k.length, { tell } = LINKS[link];
    const look = (b) => {
      const eta = new Float64Array(rows).fill(offset), slope = new Float64Array(rows), bent = new Float64Array(rows);
      x.forEach((column, j) => { for (let i = 0; i < rows; i++) eta[i] += b[j] * column[i]; });
      let loglik = 0;
      for (let i = 0; i < rows; i++) {
        const [gain, rise, curve] = tell(eta[i], k[i], n[i]);
        loglik += gain;
        slope[i] = rise;
        bent[i] = curve;
      }
      return { b, eta, loglik, slope, bent };
    };
    let here = look(start ? Float64Array.from(start) : new Float64Array(x.length));
    for (let step = 0; step < MOST_STEPS; step++) {
      const lower = cholesky(gram(x, here.bent), 1e-14);
      if (!lower) return null;
      const move = solve(lower, x.map((column) => dot(column, here.slope)));
      if (move.every((change, j) => Math.abs(change) < 1e-11 * (1 + Math.abs(here.b[j])))) return here;
      for (let length = 1; ; length /= 2) {
        const there = look(here.b.map((old, j) => old + length * move[j]));
        if (there.loglik >= here.loglik - 1e-11 * Math.abs(here.loglik) || length < 1e-8) {
          here = there;
          break;
        }
      }
    }
    return null;
  }

  /** Fit columns to cells {d, N, rho, n, k}: {status, names, coef, se, p, low, high, covariance, loglik, aic, df, n}. */
  function fit(cells, columns, link, z) {
    cells = cells.filter((cell) => cell.n > 0);
    const names = ["Intercept", ...columns.map((column) => column.name)];
    const k = cells.map((cell) => cell.k), n = cells.map((cell) => cell.n);
    const base = { names, columns, cells, link, df: names.length, n: n.reduce((a, b) => a + b, 0), z };
    const raw = columns.map((column) => cells.map(column.of));
    const middle = raw.map((column) => column.reduce((a, b) => a + b, 0) / column.length);
    const scale = raw.map((column, j) => Math.sqrt(column.reduce((sum, cell) => sum + (cell - middle[j]) ** 2, 0)));
    const size = raw.map((column) => Math.sqrt(column.reduce((sum, cell) => sum + cell * cell, 0)));
    const constant = scale.some((spread, j) => !(spread > 1e-10 * size[j]));
    if (!cells.length || constant || names.length > cells.length) return { ...base, status: "not identified" };
    const ones = new Float64Array(cells.length).fill(1);
    const x = [ones, ...raw.map((column, j) => Float64Array.from(column, (cell) => (cell - middle[j]) / scale[j]))];
    if (!cholesky(gram(x, ones), 1e-11)) return { ...base, status: "not identified" };
    if (isSeparated(x, k, n)) return { ...base, status: "separation" };
    const found = maximise(x, k, n, link);
    if (!found) return { ...base, status: "not converged" };
    // back to the columns as they are: row j of `back` makes coefficient j of those of the scaled columns
    const back = names.map((_, j) => names.map((__, i) =>
      j > 0 ? (i === j ? 1 / scale[j - 1] : 0) : i === 0 ? 1 : -middle[i - 1] / scale[i - 1]));
    const times = (row) => (vector) => row.reduce((sum, cell, i) => sum + cell * vector[i], 0);
    const lower = cholesky(gram(x, cells.map((cell, i) => cell.n * LINKS[link].weight(found.eta[i]))));
    if (!lower) return { ...base, status: "not converged" };
    const scaled = invert(lower);
    let covariance = back.map((row) => {
      const half = scaled.map((_, i) => times(row)(scaled.map((other) => other[i])));
      return back.map((other) => times(other)(half));
    });
    let { loglik } = found, wide = 1;
    if (link === "quasi-binomial") {
      wide = Math.max(dispersion(cells, found.eta, names.length), 1);
      covariance = covariance.map((row) => row.map((cell) => cell * wide));
      loglik = NaN;
    }
    const coef = back.map((row) => times(row)(found.b)), se = covariance.map((row, j) => Math.sqrt(row[j]));
    return {
      ...base, status: "ok", coef, se, covariance, loglik, eta: found.eta, raw, scale, wide, peak: found.loglik,
      p: coef.map((b, j) => twoSided(b / se[j])),
      low: coef.map((b, j) => b - z * se[j]), high: coef.map((b, j) => b + z * se[j]),
      aic: 2 * names.length - 2 * loglik,
      accuracy: Array.from(found.eta, (eta) => Math.exp(LINKS[link].logP(eta))),
    };
  }

  /** Pearson's chi-square by its degrees of freedom. */
  function dispersion(cells, eta, terms) {
    const sum = cells.reduce((total, { k, n }, i) => {
      const p = Math.min(Math.max(logistic(eta[i]), 1e-12), 1 - 1e-12);
      return total + (k - n * p) ** 2 / (n * p * (1 - p));
    }, 0);
    return cells.length > terms ? sum / (cells.length - terms) : NaN;
  }

  // ---- separation ----------------------------------------------------------------------------------------------------
  /** Tell whether some direction c has x'c >= 0 where all answers are right, <= 0 where all are wrong and 0 elsewhere,
   *  not 0 everywhere. Only directions that the mixed cells leave open are looked at. By Stiemke's lemma there is none just
   *  where the rows of the sure cells, signed, balance with weights above 0; non-negative least squares finds these
   *  weights, or the direction as what remains. */
  function isSeparated(x, k, n) {
    const isMixed = (i) => k[i] > 0 && k[i] < n[i], mixed = Float64Array.from(k, (_, i) => (isMixed(i) ? 1 : 0));
    if (cholesky(gram(x, mixed), 1e-8)) return false; // they leave none open: so it is for most models, and found at once
    const lower = cholesky(gram(x, new Float64Array(k.length).fill(1)));
    const rows = k.map((right, i) => whiten(lower, x.map((column) => column[i])));
    const closed = orthonormal(rows.filter((_, i) => isMixed(i)));
    const open = orthonormal([...closed, ...x.map((_, j) => x.map((__, i) => (i === j ? 1 : 0)))]).slice(closed.length);
    const sure = rows.map((row, i) => open.map((direction) => (k[i] === n[i] ? 1 : -1) * dot(direction, row)))
      .filter((row, i) => !isMixed(i) && Math.hypot(...row) > 1e-9).map((row) => row.map((cell) => cell / Math.hypot(...row)));
    if (!sure.length) return false;
    const sum = open.map((_, j) => sure.reduce((total, row) => total + row[j], 0));
    return Math.hypot(...balance(sure, sum)) > 1e-7;
  }

  /** Return L^-1 row: the columns become orthonormal, whatever they were. */
  function whiten(lower, row) {
    const found = [];
    row.forEach((cell, i) => found.push((cell - found.reduce((sum, one, j) => sum + lower[i][j] * one, 0)) / lower[i][i]));
    return found;
  }

  /** Return orthonormal vectors that span these, in their order, without those that add nothing. */
  function orthonormal(vectors) {
    const basis = [];
    for (const vector of vectors) {
      let rest = vector;
      for (const one of [...basis, ...basis]) { // the second time takes away what rounding left
        const part = dot(one, rest);
        rest = rest.map((cell, i) => cell - part * one[i]);
      }
      const length = Math.hypot(...rest);
      if (length > 1e-8 * Math.hypot(...vector)) basis.push(rest.map((cell) => cell / length));
    }
    return basis;
  }

  /** Least |sum + sum z[i] rows[i]| over z >= 0 (Lawson and Hanson); returns the vector that remains. */
  function balance(rows, sum) {
    const z = new Float64Array(rows.length), used = new Set(), size = sum.length;
    // all rows have length 1
    const remains = () => sum.map((start, j) => rows.reduce((total, row, i) => total + z[i] * row[j], start));
    for (let round = 0; round < 3 * rows.length; round++) {
      const rest = remains(), length = Math.hypot(...rest);
      let best = -1, steepest = -1e-11 * (1 + length);
      rows.forEach((row, i) => {
        const slope = row.reduce((total, cell, j) => total + cell * rest[j], 0);
        if (!used.has(i) && slope < steepest) [best, steepest] = [i, slope];
      });
      if (best < 0 || length < 1e-12) break;
      used.add(best);
      for (;;) {
        const active = [...used], ridge = 1e-14;
        const products = active.map((i) => active.map((j) => rows[i].reduce((t, cell, a) => t + cell * rows[j][a], 0)));
        products.forEach((row, i) => { row[i] *= 1 + ridge; });
        const lower = cholesky(products, 1e-13);
        if (!lower) { used.delete(active[active.length - 1]); z[active[active.length - 1]] = 0; return remains(); }
        const wanted = solve(lower, active.map((i) => -rows[i].reduce((t, cell, a) => t + cell * sum[a], 0)));
        const low = active.filter((_, at) => wanted[at] <= 0);
        if (!low.length) { active.forEach((i, at) => { z[i] = wanted[at]; }); break; }
        const share = Math.min(...active.map((i, at) => (wanted[at] <= 0 ? z[i] / (z[i] - wanted[at]) : 1)));
        active.forEach((i, at) => { z[i] += share * (wanted[at] - z[i]); });
        for (const i of active) if (z[i] <= 1e-14) { z[i] = 0; used.delete(i); }
        if (!used.size || size === 0) break;
      }
    }
    return remains();
  }

  return { LINKS, readTerm, readFormula, layColumns, raise, maximise, fit, isSeparated };
})();
