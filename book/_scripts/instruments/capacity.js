/* Capacity points: the load at which a fitted course falls to one half, the other loads averaged over the model's cells,
 * with the interval that the profile likelihood leaves.
 *
 * Held at a value, a point is one linear constraint on the coefficients: the same regression without intercept, on columns
 * measured from that point. So any formula has intervals whose loads enter as numbers.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.capacity = (() => {
  const { LINKS, maximise, raise } = cogniload.regression;
  /** Load of each point; the range searched, ECL50 as log10 of statements; where a fall is looked for first. */
  const POINTS = {
    ecl50: { load: "N", bounds: [-30, 30], scan: [0, 7], usual: 1.85 },
    nt50: { load: "rho", bounds: [0, 1], scan: [0, 1] },
    id50: { load: "d", bounds: [-300, 300], scan: [-20, 60], usual: 5 },
  };
  const SCAN_STEPS = 400;

  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;

  /** Return the columns where a load has a value: averages over the model's cells, with rho at its mean. Of a product,
   *  the factors of that load are the same in all cells and come before the average. */
  function layParts(fit, point) {
    const { load } = POINTS[point], { cells } = fit, usual = { rho: mean(cells.map((cell) => cell.rho)) };
    return fit.columns.map((column) => {
      if (column.factors[0].levels) return { rest: mean(cells.map((cell) => column.of({ ...cell, ...usual }))), moving: [] };
      const moving = column.factors.filter((factor) => isOf(factor, load));
      const still = column.factors.filter((factor) => !isOf(factor, load));
      const [fixed, others] = [true, false].map((is) => still.filter((factor) => (factor.variable === "rho") === is));
      const times = (factors, at) => factors.reduce((product, one) => product * raise(one, at), 1);
      const rest = times(fixed, usual) * (others.length ? mean(cells.map((cell) => times(others, cell))) : 1);
      return { moving, rest };
    });
  }
  const standAt = (point, at) => ({ [POINTS[point].load]: point === "ecl50" ? 10 ** at : at });
  function layCourse(fit, point) {
    const parts = layParts(fit, point);
    return (at) => {
      const there = standAt(point, at);
      return parts.map(({ rest, moving }) => moving.reduce((product, factor) => product * raise(factor, there), rest));
    };
  }
  /** Return the linear predictor along that course, less that of one half, as a function of its place: of the columns remain
   *  terms weight * load^plain * log10(load)^logged, and what does not move is added up once. */
  function layHeight(fit, point) {
    const { load } = POINTS[point], terms = [];
    let foot = fit.coef[0] - LINKS[fit.link].half;
    layParts(fit, point).forEach(({ rest, moving }, j) => {
      const power = (name) => moving.reduce((sum, factor) => sum + (factor.variable === name ? factor.exponent : 0), 0);
      const weight = fit.coef[j + 1] * rest;
      if (moving.length) terms.push({ weight, plain: power(load), logged: power(`log10_${load}`) });
      else foot += weight;
    });
    return (at) => {
      let height = foot;
      for (const { weight, plain, logged } of terms) height += weight * (point === "ecl50" ? 10 ** (at * plain) * at ** logged : at ** plain);
      return height;
    };
  }
  const isOf = (factor, load) => factor.variable === load || factor.variable === `log10_${load}`;

  const along = (fit, columns) =>
    columns.reduce((sum, column, j) => sum + fit.coef[j + 1] * column, fit.coef[0] - LINKS[fit.link].half);

  /** Return where the course passes one half: the largest ratio, or the fall nearest to the usual loads; NaN for none. */
  function findPoint(fit, point) {
    const { load, scan, usual } = POINTS[point];
    if (fit.status !== "ok") return NaN;
    const own = fit.columns.flatMap((column) => column.factors).filter((factor) => isOf(factor, load));
    if (!own.length || own.some((factor) => factor.levels)) return NaN;
    const height = layHeight(fit, point);
    const straight = isStraight(height, scan);
    if (straight) {
      const [constant, slope] = straight, root = -constant / slope;
      if (point === "nt50") return root >= 0 && root <= 1 ? root : NaN;
      return slope < 0 ? root : NaN;
    }
    const roots = [], width = (scan[1] - scan[0]) / SCAN_STEPS;
    let left = scan[0], above = height(left);
    for (let step = 1; step <= SCAN_STEPS; step++) {
      const right = scan[0] + step * width, next = height(right);
      if (point === "nt50" ? above * next <= 0 : above > 0 && next <= 0) roots.push(bisect(height, left, right));
      [left, above] = [right, next];
    }
    if (!roots.length) return NaN;
    if (point === "nt50") return Math.max(...roots);
    return roots.reduce((best, root) => (Math.abs(root - usual) < Math.abs(best - usual) ? root : best));
  }

  /** Return [constant, slope] of a course that is a straight line, or null. */
  function isStraight(height, [low, high]) {
    const [first, second, last] = [low, (low + high) / 2, high].map(height), off = Math.abs(first - 2 * second + last);
    const quarter = height(low + (high - low) / 4), size = Math.max(...[first, second, last].map(Math.abs), 1e-300);
    if (!(off <= 1e-9 * size) || !(Math.abs(quarter - (0.75 * first + 0.25 * last)) <= 1e-9 * size)) return null;
    const slope = (last - first) / (high - low);
    return [first - slope * low, slope];
  }

  /** Halve a range in which a function changes sign until nothing is left of it. */
  function bisect(height, low, high) {
    const sign = Math.sign(height(low));
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (Math.sign(height(middle)) === sign) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  /** Return [low, high]: what the likelihood ratio does not reject, infinite where it sets no limit. */
  function findInterval(fit, point, estimate, limit) {
    if (!Number.isFinite(estimate)) return [NaN, NaN];
    const course = layCourse(fit, point), { bounds } = POINTS[point];
    const k = fit.cells.map((cell) => cell.k), n = fit.cells.map((cell) => cell.n), { half } = LINKS[fit.link];
    let start = fit.coef.slice(1).map((b, j) => b * fit.scale[j]);
    const excess = (at) => {
      const from = course(at);
      const x = fit.raw.map((column, j) => Float64Array.from(column, (cell) => (cell - from[j]) / fit.scale[j]));
      const found = maximise(x, k, n, fit.link, { offset: half, start }) ?? maximise(x, k, n, fit.link, { offset: half });
      if (!found) return Infinity;
      start = found.b;
      return (2 * (fit.peak - found.loglik)) / fit.wide - limit;
    };
    const step = standardError(fit, point, estimate, course);
    return [-1, 1].map((sign, side) => findEnd(excess, estimate, sign, Math.min(step, 1e6), bounds[side], limit));
  }

  /** Delta method: how far the point moves with the coefficients. */
  function standardError(fit, point, at, course) {
    const width = 1e-5 * Math.max(1, Math.abs(at)), here = [1, ...course(at)];
    const slope = (along(fit, course(at + width)) - along(fit, course(at - width))) / (2 * width);
    const variance = here.reduce((sum, one, i) =>
      sum + one * here.reduce((row, other, j) => row + fit.covariance[i][j] * other, 0), 0);
    return Math.sqrt(variance) / Math.abs(slope);
  }

  /** Walk outwards until the likelihood is too low, and then to the place where it becomes so. */
  function findEnd(excess, from, sign, stride, bound, limit) {
    let inner = from, low = -limit;
    for (let step = 0; step < 60; step++, stride *= 1.5) {
      let outer = inner + sign * stride;
      if (sign * (outer - bound) >= 0) outer = bound;
      const high = excess(outer);
      if (high > 0) return cross(excess, inner, low, outer, high);
      if (outer === bound) break;
      [inner, low] = [outer, high];
    }
    return sign * Infinity;
  }

  /** Find the root between two values of different sign: the Illinois variant of the rule of false position. */
  function cross(height, low, below, high, above) {
    for (let step = 0, kept = 0; step < 80 && Math.abs(high - low) > 1e-9 * (1 + Math.abs(low)); step++) {
      const share = Number.isFinite(above) ? below / (below - above) : 0.5, middle = low + share * (high - low);
      const value = height(middle);
      if (Math.abs(value) < 1e-9) return middle;
      if (value < 0) {
        [low, below] = [middle, value];
        if (kept === 1) above /= 2;
        kept = 1;
      } else {
        [high, above] = [middle, value];
        if (kept === -1) below /= 2;
        kept = -1;
      }
    }
    return low + (high - low) * (below / (below - above));
  }

  return { POINTS, findPoint, findInterval };
})();
