/* Compare: two models side by side, under one regression.
 *
 * The data are numbers that were computed with the book; this script makes texts and a chart of
 * them. The choice is kept in the address, after the #, with the models' short names.
 */
"use strict";

cogniload.compare = (() => {
  const { el, table, menu, readRows, section, callNames, findCalled } = cogniload.dom;
  const LONGEST_ADDRESS = 4000;
  const INSTEAD = "The page shows its usual choice instead.";
  const LOADS = { N: "Statements", d: "Difficulty", ratio_pct: "Needle ratio" };
  const STEPS = [1, 2, 5, 10, 20, 25]; // between two marks of the axis, in percent
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
  let data, options, parts, rows, shortNames;

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
    const isOne = new Set([low, estimate, high].map(format)).size === 1;
    if (isOne && !identified) return `${format(estimate)} in all reconstructions`;
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
    chart: `Correct answers in percent of all that a model gave. Solid lines: 90% Wilson intervals.
      Dotted lines, where the printed tables do not identify the accuracy: its 10 to 90% range over
      the reconstructions, around the median.`,
    accuracy: `Correct answers in percent of all that a model gave, with 90% Wilson intervals. In
      square brackets, where the printed tables do not identify the accuracy: its 10 to 90% range
      over the reconstructions, around the median.`,
    overflow: "Share of all answers; these count as wrong. --: not known.",
    fit: `Coefficients (log-odds) with ${confidence} Wald intervals and the paper's stars; those of
      reconstructed counts are identified by the printed tables. Capacity points (ECL50 in
      statements) with ${confidence} profile-likelihood intervals under the paper's regression;
      under others, ECL50 alone.`,
  });

  // ---- address ----
  /** The short name of a model, unless another one has it as its full name. */
  function shorten(model) {
    const short = callNames(model).at(-1);
    return data.models.includes(short) ? model : short;
  }

  const findOption = (name, text) => {
    const place = options[name].indexOf(text);
    return place < 0 && name !== "regression" ? shortNames.indexOf(text) : place;
  };

  /** What an address asks for and the page has not, in a sentence. */
  function wordProblem(name, text) {
    if (!Object.hasOwn(options, name)) return `The address has an unknown part: ${name} “${text}”.`;
    if (name === "regression") return `The address names an unknown regression: “${text}”.`;
    const [close] = findCalled(data.models, text);
    const hint = close ? ` Did you mean ${shorten(close)}?` : "";
    return `The address names an unknown ${name} model: “${text}”.${hint}`;
  }

  /** The choice in an address, as indices into the menus; a sentence if it is not valid. */
  function readAddress(hash) {
    const { first, second } = rows.pairs[0] ?? { first: 0, second: 0 };
    const choice = { first, second, regression: 0, problem: "" };
    if (hash.length > LONGEST_ADDRESS) {
      return { ...choice, problem: `The address is too long for a choice. ${INSTEAD}` };
    }
    const problems = [];
    for (const [name, text] of new URLSearchParams(hash.slice(1))) {
      const place = Object.hasOwn(options, name) ? findOption(name, text) : -1;
      if (place < 0) problems.push(wordProblem(name, text));
      else choice[name] = place;
    }
    if (problems.length) choice.problem = `${problems.join(" ")} ${INSTEAD}`;
    return choice;
  }

  /** A choice is a new entry of the browser's history. */
  function change(name, place) {
    const choice = { ...readAddress(location.hash), [name]: place };
    const words = { first: shortNames[choice.first], second: shortNames[choice.second] };
    if (choice.regression) words.regression = options.regression[choice.regression];
    history.pushState(null, "", `#${new URLSearchParams(words)}`);
    update();
  }

  // ---- what is shown ----
  function update() {
    const choice = readAddress(location.hash);
    for (const name of Object.keys(options)) {
      document.getElementById(`compare-${name}`).selectedIndex = choice[name];
    }
    parts.problem.textContent = choice.problem;
    parts.origin.textContent = describeOrigins(choice);
    const found = findPair(choice);
    parts.verdict.replaceChildren(...wordVerdict(choice, found));
    parts.chart.replaceChildren(...drawChart([...new Set([choice.first, choice.second])]));
    parts.pair.replaceChildren(found.length ? showPair(found) : "");
    const accuracies = { name: "accuracy", label: nameLevel, format: formatAccuracy };
    parts.accuracy.replaceChildren(showSheet(accuracies, rows.accuracy, choice));
    const overflows = { name: "overflow", label: nameLevel, format: formatShare };
    parts.overflow.replaceChildren(showSheet(overflows, rows.overflow, choice));
    parts.formula.textContent = data.regressions[choice.regression].formula;
    const fits = { name: "fit", label: nameQuantity, format: formatFit };
    parts.fit.replaceChildren(showSheet(fits, rows.regressions[choice.regression], choice));
  }

  /** Where the counts come from: once if it is the same for both models. */
  function describeOrigins({ first, second }) {
    const [one, other] = [first, second].map((model) => data.origins[model]);
    if (one && one === other) return `Both models: ${one[0].toLowerCase()}${one.slice(1)}.`;
    const known = [first, second].filter((model) => data.origins[model]);
    return known.map((model) => `${data.models[model]}: ${data.origins[model]}.`).join(" ");
  }

  /** The differences of two models, overall and by length, in the order of the build. */
  function findPair({ first, second }) {
    const chosen = [first, second];
    const isChosen = (row) => chosen.includes(row.first) && chosen.includes(row.second);
    return first === second ? [] : rows.pairs.filter(isChosen);
  }

  const namePair = ({ first, second }) => `${data.models[first]} minus ${data.models[second]}`;

  function wordVerdict({ first, second }, [row]) {
    if (first === second) return ["Choose two different models."];
    if (!row) return ["These two models have no cells in common."];
    const { identified, cells, estimate, low, high } = row;
    const difference = percent(estimate);
    const kind = identified ? `${data.confidence} interval` : "10 to 90% of the reconstructions:";
    const ends = `${kind} ${percent(low)} to ${percent(high)}`;
    return [
      el("strong", {}, `Verdict: ${describeVerdict(row)}.`),
      ` ${namePair(row)}: ${difference} points (${ends}), over the ${cells} cells of both.`,
    ];
  }

  /** Ends of an axis for these rows, in percent, and the places of its marks. */
  function layAxis(shown) {
    const ends = shown.flatMap(({ estimate, low, high }) => [estimate, low, high]);
    const known = ends.filter(Number.isFinite).map((share) => 100 * share);
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const step = STEPS.find((size) => (most - least) / size <= 4) ?? STEPS.at(-1);
    const from = step * Math.floor(least / step);
    const count = Math.max(1, Math.ceil((most - from) / step));
    const marks = Array.from({ length: count + 1 }, (_, at) => from + step * at);
    const place = (share) => `${(100 * (100 * share - from)) / (step * count)}%`;
    return { marks, place };
  }

  /** The accuracies of one or two models on one axis: a line per level of each load. */
  function drawChart(models) {
    const shown = rows.accuracy.filter(({ model }) => models.includes(model));
    const { marks, place } = layAxis(shown);
    const line = (label, ...inside) =>
      el("div", { class: "line" }, el("span", {}, label), el("span", { class: "track" }, inside));
    const drawInterval = (row) => {
      const { model, estimate, low, high, identified } = row;
      const side = models.indexOf(model) ? "other" : "one";
      const reach = `left: ${place(low)}; right: calc(100% - ${place(high)})`;
      return [
        el("i", { class: `reach ${side} ${identified ? "" : "open"}`, style: reach }),
        el("i", { class: `point ${side}`, style: `left: ${place(estimate)}` }),
      ];
    };
    const drawLoad = (load) => {
      const levels = shown.filter((row) => row.load === load).sort((a, b) => a.level - b.level);
      const labels = [...new Set(levels.map(nameLevel))];
      const drawLevel = (label) =>
        line(label, levels.filter((row) => nameLevel(row) === label).map(drawInterval));
      return [load in LOADS && el("div", { class: "load" }, LOADS[load]), labels.map(drawLevel)];
    };
    const drawMark = (mark) => el("b", { style: `left: ${place(mark / 100)}` }, `${mark}%`);
    const names = models.map((model) => data.models[model]);
    const label = `Accuracy of ${names.join(" and ")}, on one axis; a table below has the numbers.`;
    const drawName = (name, at) =>
      el("span", {}, el("i", { class: `point ${at ? "other" : "one"}` }), name);
    const axis = () => line("", marks.map(drawMark));
    const loads = ["all puzzles", ...Object.keys(LOADS)].map(drawLoad);
    return [
      el("p", { class: "names" }, names.map(drawName)),
      el("div", { class: "chart", role: "img", "aria-label": label }, axis(), loads, axis()),
      el("figcaption", {}, parts.captions.chart),
    ];
  }

  function showPair(found) {
    const nameRow = ({ N, cells }) => (Number.isNaN(N) ? `the ${cells} cells of both` : `N = ${N}`);
    return table({
      id: "compare-pair",
      caption: `${namePair(found[0])}. ${parts.captions.pair}`,
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
  function showSheet({ name, label, format }, all, { first, second }) {
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
      rows: known.map(([title, byModel]) => [title, ...pick(byModel)]),
    });
  }

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
    shortNames = data.models.map(shorten);
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
    parts.verdict = el("p", { role: "status" });
    parts.chart = el("figure", { id: "compare-chart" });
    parts.formula = el("code");
    const numbers = el(
      "details",
      {},
      el("summary", {}, "The numbers of the chart"),
      parts.accuracy,
    );
    container.replaceChildren(
      el("p", {}, choose("first", "First model"), choose("second", "Second model")),
      parts.problem,
      parts.origin,
      section("Which model is more accurate?", parts.verdict, parts.chart, numbers, parts.pair),
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
