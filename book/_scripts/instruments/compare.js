/* Compare: two models side by side, under one regression.
 *
 * The data are numbers that were computed with the book; this script makes texts of them. The
 * choice is kept in the address, after the #.
 */
"use strict";

cogniload.compare = (() => {
  const { el, table, menu, readRows, section } = cogniload.dom;
  const LONGEST_ADDRESS = 4000;
  const INSTEAD = "The page shows its usual choice instead.";
  const POINTS = { ecl50: ["ECL50", 1], nt50: ["NT50", 2], id50: ["ID50", 2] };
  const TERM_SIGNS = [
    [/C\((\w+)\)\[T\.(.+)\]/g, "$1 = $2"],
    [/I\((\w+) \*\* 2\)/g, "$1²"],
    [/I\((\w+) \*\* 3\)/g, "$1³"],
    [/np\.sqrt\(N\)/g, "√N"],
    [/log10_N/g, "log₁₀ N"],
    [/rho/g, "ρ"],
    [/:| x /g, " × "],
  ];
  let data, options, parts, rows;

  // ---- numbers as texts ----
  function formatNumber(number, decimals) {
    if (Number.isNaN(number)) return "--";
    if (!Number.isFinite(number)) return "no limit";
    if (Math.abs(number) >= 1e6) return number.toExponential(1);
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return number.toLocaleString("en", digits);
  }

  /** An estimate with its interval, or with its range over the reconstructions. */
  function formatEstimate({ estimate, low, high, identified }, format) {
    if (!Number.isFinite(estimate)) return "--";
    if (Number.isNaN(low)) return format(estimate);
    const ends = `${format(low)}\u00a0to\u00a0${format(high)}`; // in one piece on a phone
    return `${format(estimate)} ${identified ? `(${ends})` : `[${ends}]`}`;
  }

  const percent = (share) => formatNumber(100 * share, 1);
  const formatAccuracy = (row) => formatEstimate(row, percent);
  const formatShare = ({ estimate }) => `${formatNumber(100 * estimate, 0)}%`;

  function formatFit(row) {
    const { quantity, estimate, p, status } = row;
    if (status !== "ok") return status;
    if (quantity in POINTS) {
      return formatEstimate(row, (number) => formatNumber(number, POINTS[quantity][1]));
    }
    const sign = quantity === "daic" && estimate > 0 ? "+" : "";
    if (Number.isNaN(p)) return sign + formatNumber(estimate, 1);
    const stars = "*".repeat([0.05, 0.01, 0.001].filter((level) => p < level).length);
    const round = (number) => number.toPrecision(3);
    return formatEstimate(row, round).replace(" ", `${stars} `);
  }

  /** The term of a formula, or the name of a regression, in the symbols of the book. */
  const nameTerm = (term) =>
    TERM_SIGNS.reduce((text, [pattern, words]) => text.replace(pattern, words), term);

  function nameQuantity({ quantity }) {
    if (quantity === "aic") return "AIC";
    if (quantity === "daic") return "AIC minus the paper's";
    return quantity in POINTS ? POINTS[quantity][0] : nameTerm(quantity);
  }

  function nameLevel({ load, level }) {
    if (load === "all puzzles") return load;
    return load === "ratio_pct" ? `ρ = ${level}%` : `${load} = ${level}`;
  }

  function formatP(p) {
    if (Number.isNaN(p)) return "--";
    return p < 0.001 ? "<\u00a00.001" : p.toFixed(3);
  }

  const describeVerdict = ({ verdict, identified }) =>
    identified ? verdict : `${verdict} reconstructions`;

  const writeCaptions = ({ tests, margin, confidence }) => ({
    pair: `Mean accuracy over the cells that both have, with a ${confidence} interval. p and the
      verdict hold for a pair chosen beforehand; p (Holm) is for one picked out of all ${tests}
      pairs. At one length, verdict and p (Holm) are adjusted over the lengths. Equivalent: the
      difference is shown to be below ${100 * margin} points. In square brackets, where the printed
      tables do not identify the difference: its 10 to 90% range over the reconstructions, around
      the median.`,
    accuracy: `Correct answers in percent of all that a model gave, with 90% Wilson intervals. In
      square brackets, where the printed tables do not identify the accuracy: its 10 to 90% range
      over the reconstructions, around the median.`,
    overflow: "Share of all answers; these count as wrong. --: not known.",
    fit: `Coefficients (log-odds) with ${confidence} Wald intervals and the paper's stars; the
      printed tables identify them. Capacity points (ECL50 in statements) with ${confidence}
      profile-likelihood intervals under the paper's regression; under others, ECL50 alone.`,
  });

  // ---- address ----
  /** The choice in an address, as indices into the menus; a sentence if it is not valid. */
  function readAddress(hash) {
    const { first, second } = rows.pairs[0] ?? { first: 0, second: 0 };
    const choice = { first, second, regression: 0, problem: "" };
    if (hash.length > LONGEST_ADDRESS) {
      return { ...choice, problem: `The address is too long for a choice. ${INSTEAD}` };
    }
    for (const [name, text] of new URLSearchParams(hash.slice(1))) {
      const place = Object.hasOwn(options, name) ? options[name].indexOf(text) : -1;
      const words = `${name} “${text}”`;
      if (place < 0) choice.problem = `The address is not understood: ${words}. ${INSTEAD}`;
      else choice[name] = place;
    }
    return choice;
  }

  function change(name, place) {
    const choice = { ...readAddress(location.hash), [name]: place };
    const words = Object.keys(options).map((key) => [key, options[key][choice[key]]]);
    history.replaceState(null, "", `#${new URLSearchParams(words)}`);
    update();
  }

  // ---- what is shown ----
  function update() {
    const choice = readAddress(location.hash);
    for (const name of Object.keys(options)) {
      document.getElementById(`compare-${name}`).selectedIndex = choice[name];
    }
    parts.problem.textContent = choice.problem;
    const shown = [...new Set([choice.first, choice.second])];
    const origins = shown.filter((model) => data.origins[model]);
    const describe = (model) => `${data.models[model]}: ${data.origins[model]}.`;
    parts.origin.textContent = origins.map(describe).join(" ");
    parts.pair.replaceChildren(showPair(choice));
    const accuracies = { name: "accuracy", label: nameLevel, format: formatAccuracy };
    parts.accuracy.replaceChildren(showSheet(accuracies, rows.accuracy, choice, makeBar));
    const overflows = { name: "overflow", label: nameLevel, format: formatShare };
    parts.overflow.replaceChildren(showSheet(overflows, rows.overflow, choice));
    parts.formula.textContent = data.regressions[choice.regression].formula;
    const fits = { name: "fit", label: nameQuantity, format: formatFit };
    parts.fit.replaceChildren(showSheet(fits, rows.regressions[choice.regression], choice));
  }

  /** The difference of the two models, in the order of the build. */
  function showPair({ first, second }) {
    if (first === second) return "Choose two different models.";
    const chosen = [first, second];
    const found = rows.pairs.filter(
      (row) => chosen.includes(row.first) && chosen.includes(row.second),
    );
    if (!found.length) return "These two models have no cells in common.";
    const names = `${data.models[found[0].first]} minus ${data.models[found[0].second]}`;
    const nameRow = ({ N, cells }) =>
      Number.isNaN(N) ? `the ${cells} cells of both` : `N = ${N}`;
    return table({
      id: "compare-pair",
      caption: `${names}. ${parts.captions.pair}`,
      columns: ["Puzzles", "Difference (points)", "p", "p (Holm)", "Verdict"],
      rows: found.map((row) => [
        nameRow(row),
        formatAccuracy(row),
        formatP(row.p),
        formatP(row.p_holm),
        describeVerdict(row),
      ]),
    });
  }

  /** A row for each label that either model has, with the texts of both. */
  function showSheet({ name, label, format }, all, { first, second }, show = (text) => text) {
    const places = [first, second];
    const texts = new Map();
    for (const row of all.filter(({ model }) => places.includes(model))) {
      const title = label(row);
      if (!texts.has(title)) texts.set(title, {});
      texts.get(title)[row.model] = format(row);
    }
    const pick = (byModel) => places.map((model) => byModel[model] ?? "--");
    const known = [...texts].filter(([, byModel]) => pick(byModel).some((text) => text !== "--"));
    return table({
      id: `compare-${name}-table`,
      caption: parts.captions[name],
      columns: [name === "fit" ? "Quantity" : "Puzzles", ...places.map((at) => data.models[at])],
      rows: known.map(([title, byModel]) => [title, ...pick(byModel).map((text) => show(text))]),
    });
  }

  /** A percentage with a bar below it. */
  const makeBar = (text) =>
    el("span", { class: "share", style: `--share: ${parseFloat(text) || 0}%` }, text);

  /** The regressions' rows; those of others than the paper's have its AIC beside theirs. */
  function readFits(regressions) {
    const [paper, ...others] = regressions.map((regression) => readRows(regression.rows));
    const aic = new Map(
      paper.filter(({ quantity }) => quantity === "aic").map((row) => [row.model, row.estimate]),
    );
    const withChange = (row) => {
      const change = { quantity: "daic", estimate: row.estimate - aic.get(row.model) };
      return row.quantity === "aic" ? [row, { ...row, ...change, status: "ok" }] : [row];
    };
    return [paper, ...others.map((fits) => fits.flatMap(withChange))];
  }

  function start(container) {
    data = cogniload.data.compare;
    rows = { regressions: readFits(data.regressions) };
    for (const name of ["pairs", "accuracy", "overflow"]) rows[name] = readRows(data[name]);
    const regressions = data.regressions.map(({ name }) => nameTerm(name));
    options = { first: data.models, second: data.models, regression: regressions };
    const choose = (name, label) =>
      menu(`compare-${name}`, label, options[name], (place) => change(name, place));
    parts = Object.fromEntries(
      ["pair", "accuracy", "overflow", "fit"].map((name) => [name, el("div")]),
    );
    parts.captions = writeCaptions(data);
    parts.problem = el("p", { class: "problem", role: "alert" });
    parts.origin = el("p");
    parts.formula = el("code");
    container.replaceChildren(
      el("p", {}, choose("first", "First model"), choose("second", "Second model")),
      parts.problem,
      parts.origin,
      section("Which model is more accurate?", parts.pair),
      section("Accuracy by load", parts.accuracy),
      section("Answers that ran out of context", parts.overflow),
      section("Regression", choose("regression", "Regression"), parts.formula, parts.fit),
    );
    update();
    addEventListener("hashchange", update);
  }

  return { nameTerm, start };
})();

document.addEventListener("DOMContentLoaded", () => {
  cogniload.compare.start(document.getElementById("compare"));
});
