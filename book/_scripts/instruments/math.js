/* Math: the normal distribution, and Cholesky factors of small symmetric matrices. */
"use strict";
globalThis.cogniload ??= {};

cogniload.math = (() => {
  const ROOT_2PI = Math.sqrt(2 * Math.PI);

  /** Density of the standard normal distribution. */
  const density = (z) => Math.exp(-0.5 * z * z) / ROOT_2PI;

  /** P(Z > z) for z >= 0, by its series near zero and its continued fraction beyond. */
  function upperTail(z) {
    if (z > 38.5) return 0;
    if (z >= 2.5) return density(z) / mills(z);
    let term = z, sum = z;
    for (let k = 1; Math.abs(term) > 1e-18 * sum; k++) {
      term *= (z * z) / (2 * k + 1);
      sum += term;
    }
    return 0.5 - density(z) * sum;
  }

  /** Density over upper tail, for z >= 2.5: a continued fraction, evaluated from its end. */
  function mills(z) {
    let fraction = z;
    for (let k = 160; k > 0; k--) fraction = z + k / fraction;
    return fraction;
  }

  /** P(Z <= z). */
  const normal = (z) => (z > 0 ? 1 - upperTail(z) : upperTail(-z));

  /** log P(Z <= z), exact far below zero too. */
  const logNormal = (z) =>
    z > 0 ? Math.log1p(-upperTail(z))
    : z > -2.5 ? Math.log(upperTail(-z))
    : -0.5 * z * z - Math.log(ROOT_2PI) - Math.log(mills(-z));

  /** Density over P(Z <= z): the derivative of the logarithm of that probability. */
  const hazard = (z) => (z > -2.5 ? density(z) / normal(z) : mills(-z));

  /** Two-sided p-value of a standard normal statistic. */
  const twoSided = (z) => 2 * upperTail(Math.abs(z));
  /** p-value of a likelihood-ratio statistic with one degree of freedom. */
  const chiSquared1 = (value) => (Number.isNaN(value) ? NaN : twoSided(Math.sqrt(Math.max(value, 0))));

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

  return { logNormal, hazard, twoSided, chiSquared1, cholesky, solve, invert, dot, mean, median };
})();
