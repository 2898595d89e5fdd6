/* Capacity points: the load at which fitted accuracy falls to one half, the other loads averaged over the model's cells. */
"use strict";

cogniload.capacity = (() => {
  const { dot, mean, raise, combine } = cogniload.regression;
  /** Load of each point; where a fall is looked for, ECL50 as log10 of statements, and the load that it is nearest to. */
  const POINTS = {
    ecl50: { load: "N", scan: [0, 7], usual: 1.85 },
    nt50: { load: "rho", scan: [0, 1] },
    id50: { load: "d", scan: [-20, 60], usual: 5 },
  };
  const SCAN_STEPS = 400;
  /** A slope smaller than this, in standard errors, is rounding. */
  const NO_SLOPE = 1e-9;

  const isOf = (factor, load) => factor.variable === load || factor.variable === `log10_${load}`;
  const times = (factors, at) => factors.reduce((product, one) => product * raise(one, at), 1);

  /** The design's columns along a load, as a function of its value: the other loads averaged over the cells, rho at its mean. */
  function designCurve({ columns, cells }, point) {
    const { load } = POINTS[point], usual = { rho: mean(cells.map((cell) => cell.rho)) };
    const parts = columns.map(({ factors, of }) => {
      if (factors[0].levels) return { rest: mean(cells.map(of)), moving: [] };
      const still = factors.filter((factor) => !isOf(factor, load)), isRho = ({ variable }) => variable === "rho";
      const others = still.filter((factor) => !isRho(factor));
      const rest = times(still.filter(isRho), usual) * (others.length ? mean(cells.map((cell) => times(others, cell))) : 1);
      return { rest, moving: factors.filter((factor) => isOf(factor, load)) };
    });
    return (at) => {
      const there = { [load]: point === "ecl50" ? 10 ** at : at };
      return parts.map(({ rest, moving }) => rest * times(moving, there));
    };
  }

  /** Where fitted accuracy passes one half: the largest ratio, or the fall nearest to the usual loads; NaN for none. */
  function findPoint(fit, point) {
    const { load, scan: [from, to], usual } = POINTS[point];
    if (fit.status !== "ok") return NaN;
    const own = fit.design.columns.flatMap(({ factors }) => factors).filter((factor) => isOf(factor, load));
    if (!own.length || own.some(({ levels }) => levels)) return NaN;
    // log-odds along the load
    const curve = designCurve(fit.design, point), [intercept, ...slopes] = fit.coef;
    const height = (at) => intercept + dot(slopes, curve(at)), straight = findLine(height, [from, to]);
    if (straight) {
      const [constant, slope] = straight, root = -constant / slope, [start, end] = [curve(from), curve(to)];
      const [rise, se] = combine(fit, [0, ...end.map((one, j) => one - start[j])]);
      if (Math.abs(rise) <= NO_SLOPE * se) return NaN;
      return (point === "nt50" ? root >= 0 && root <= 1 : slope < 0) ? root : NaN;
    }
    const roots = [], width = (to - from) / SCAN_STEPS;
    let left = from, before = height(left);
    for (let step = 1; step <= SCAN_STEPS; step++) {
      const right = from + step * width, next = height(right), sign = before > 0 ? -1 : 1;
      if (point === "nt50" ? before * next <= 0 : before > 0 && next <= 0) roots.push(findRoot((at) => sign * height(at), left, right));
      [left, before] = [right, next];
    }
    if (!roots.length) return NaN;
    if (point === "nt50") return Math.max(...roots);
    return roots.reduce((best, root) => (Math.abs(root - usual) < Math.abs(best - usual) ? root : best));
  }

  /** [constant, slope] of a function that is a straight line, or null. */
  function findLine(height, [low, high]) {
    const [first, quarter, second, last] = [0, 0.25, 0.5, 1].map((share) => height(low + share * (high - low)));
    const small = 1e-9 * Math.max(...[first, second, last].map(Math.abs), 1e-300);
    if (!(Math.abs(first - 2 * second + last) <= small) || !(Math.abs(quarter - (0.75 * first + 0.25 * last)) <= small)) return null;
    const slope = (last - first) / (high - low);
    return [first - slope * low, slope];
  }

  /** The root between two places, by bisection: the height is below zero at the first, above at the second. */
  function findRoot(height, below, above) {
    for (let step = 0; step < 60; step++) {
      const middle = (below + above) / 2;
      if (height(middle) < 0) below = middle;
      else above = middle;
    }
    return (below + above) / 2;
  }

  return { findPoint };
})();
