/* Workbench: the page on which a reader changes the regression.
 *
 * What is chosen is a state; the address keeps it behind the #, so that a link shows the same. Every change fits all models
 * again and draws what follows. Intervals of capacity points take longest and are filled in afterwards.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.workbench = (() => {
  const { el, number, stars, table, copyLine, saveText } = cogniload.dom;
  const { readTerm, readFormula, layColumns, fit } = cogniload.regression;
  const { findPoint, findInterval } = cogniload.capacity;
  const { unpack, readTable, writeTable, accuracy } = cogniload.cells;
  const FAMILIES = ["logit", "probit", "cloglog", "quasi-binomial"];
  const CHIPS = {
    "Difficulty": ["d", "I(d**2)", "C(d)"],
    "Length": ["log10_N", "N", "I(log10_N**2)", "C(N)"],
    "Share of needles": ["rho", "I(rho**2)", "I(rho**3)"],
    "Products": ["d:log10_N", "d:rho", "log10_N:rho", "d:log10_N:rho"],
  };
  const SHOWN = {
    "I(d**2)": "d²", "C(d)": "d as factor", "log10_N": "log₁₀ N", "I(log10_N**2)": "(log₁₀ N)²", "C(N)": "N as factor",
    "rho": "ρ", "I(rho**2)": "ρ²", "I(rho**3)": "ρ³", "d:log10_N": "d × log₁₀ N", "d:rho": "d × ρ",
    "log10_N:rho": "log₁₀ N × ρ", "d:log10_N:rho": "d × log₁₀ N × ρ",
  };
  const LEVELS = { d: "d", N: "N", ratio_pct: "ρ" };
  const POINTS = { ecl50: "ECL50", nt50: "NT50", id50: "ID50" };
  const DECIMALS = { ecl50: 1, nt50: 2, id50: 2 };

  let data, built, dropped = [], state, results, home, parts, round = 0;
  const timing = {};

  // ---- state and address ---------------------------------------------------------------------------------------------
  const paperTerms = () => readFormula(data.formulas.paper).map(({ text }) => text);
  const fresh = () => ({
    terms: paperTerms(), family: "logit", omit: [], overflows: "wrong", ratio: "actual", without: [],
    coefficient: "", show: "",
  });

  /** Write the state as what stands behind the # of the address: only what is not the paper's. */
  function writeAddress() {
    const words = new URLSearchParams(), normal = fresh();
    if (state.terms.join() !== normal.terms.join()) words.set("formula", writeFormula(state.terms));
    if (state.family !== "logit") words.set("family", state.family);
    for (const name of ["omit", "without"]) if (state[name].length) words.set(name, state[name].join("|"));
    for (const name of ["overflows", "ratio"]) if (state[name] !== normal[name]) words.set(name, state[name]);
    for (const name of ["coefficient", "show"]) if (state[name]) words.set(name, state[name]);
    return words.toString();
  }

  /** Read a state from an address; whatever is not understood stays as in the paper. */
  function readAddress(text) {
    const words = new URLSearchParams(text.replace(/^#/, "")), found = fresh();
    const terms = words.has("formula") && readFormula(words.get("formula"));
    if (terms) found.terms = terms.map((term) => term.text);
    if (FAMILIES.includes(words.get("family"))) found.family = words.get("family");
    if (words.get("overflows") === "omitted") found.overflows = "omitted";
    if (words.get("ratio") === "nominal") found.ratio = "nominal";
    const known = new Set(Object.keys(LEVELS).flatMap((load) => levelsOf(load).map((level) => `${load}:${level}`)));
    found.omit = (words.get("omit") ?? "").split("|").filter((one) => known.has(one));
    found.without = (words.get("without") ?? "").split("|").filter((name) => built.some((model) => model.name === name));
    for (const name of ["coefficient", "show"]) found[name] = words.get(name) ?? "";
    return found;
  }

  const writeFormula = (terms) => `correct ~ ${terms.length ? terms.join(" + ") : "1"}`;
  /** The formula as `make fit` takes it: with the nominal share spelled out. */
  function spelledFormula() {
    const plain = writeFormula(state.terms);
    return state.ratio === "nominal" ? plain.replace(/I\(rho\*\*(\d)\)/g, "I((ratio_pct / 100)**$1)").replace(/\brho\b/g, "I(ratio_pct / 100)") : plain;
  }
  const levelsOf = (load) => [...new Set(built.flatMap((model) => model.cells.map((cell) => cell[load])))].sort((a, b) => a - b);

  // ---- fitting -------------------------------------------------------------------------------------------------------
  /** Return a model's cells as they are chosen: levels left out, overflows wrong or left out, rho actual or nominal. */
  const chooseCells = (model) => model.cells
    .filter((cell) => !state.omit.some((one) => one === `d:${cell.d}` || one === `N:${cell.N}` || one === `ratio_pct:${cell.ratio_pct}`))
    .map((cell) => ({
      ...cell, actual: cell.rho,
      rho: state.ratio === "nominal" ? cell.ratio_pct / 100 : cell.rho,
      n: state.overflows === "omitted" ? cell.n - (cell.ctx ?? 0) : cell.n,
    }))
    .filter((cell) => cell.n > 0);

  /** Fit a formula to every model's cells; models with the same configurations share their columns. */
  function fitAll(models, terms, family, choose) {
    return models.map((model) => {
      const cells = choose(model);
      return { model, ...fit(cells, layColumns(terms, cells), family, data.z) };
    });
  }

  function refit() {
    const models = [...built.filter((model) => !state.without.includes(model.name)), ...dropped];
    const start = performance.now();
    const own = fitAll(models, readFormula(writeFormula(state.terms)), state.family, chooseCells);
    timing.refit = performance.now() - start;
    // the paper's regression on the same answers, so that the two AIC can be compared
    const usual = state.terms.join() === paperTerms().join() && state.family === "logit" && state.ratio === "actual";
    const same = usual ? own : fitAll(models, readFormula(data.formulas.paper), "logit", (model) =>
      chooseCells(model).map((cell) => ({ ...cell, rho: cell.actual })));
    results = models.map((model, at) => ({ model, own: own[at], paper: same[at], points: {} }));
    for (const row of results) for (const point of Object.keys(POINTS)) row.points[point] = { estimate: findPoint(row.own, point) };
    timing.all = performance.now() - start;
  }
  const sameCell = (one, other) => one.N === other.N && one.d === other.d && one.ratio_pct === other.ratio_pct;
  const unfold = (point, value) => (point === "ecl50" ? 10 ** value : value);

  /** Find the intervals of capacity points a few models at a time, so that the page stays alive. */
  function findIntervals(turn, at = 0) {
    if (turn !== round) return;
    const until = performance.now() + 25;
    while (at < results.length && performance.now() < until) {
      const { own, points } = results[at++];
      for (const point of Object.keys(POINTS)) points[point].ends = findInterval(own, point, points[point].estimate, data.z ** 2);
    }
    if (at < results.length) return void setTimeout(findIntervals, 0, turn, at);
    timing.intervals = true;
    showFits();
    showPlaces();
  }

  // ---- conclusions ---------------------------------------------------------------------------------------------------
  /** Return the models for which a sentence of the paper is so, or null where these fits do not say. */
  function answer(question) {
    const asked = results.filter(({ model }) => question.models.includes(model.name));
    if (["above", "below"].includes(question.way)) {
      if (!Object.keys(POINTS).includes(question.terms[0]) || !results.some(({ points }) => Number.isFinite(points[question.terms[0]].estimate))) return null;
      return asked.filter(({ points }) => {
        const value = unfold(question.terms[0], points[question.terms[0]].estimate);
        return question.way === "above" ? value > question.level : value < question.level;
      }).map(({ model }) => model.name);
    }
    const term = question.terms.find((name) => state.terms.includes(name));
    if (!term) return null;
    return asked.filter(({ own }) => {
      if (own.status !== "ok") return false;
      const at = own.names.indexOf(term), significant = own.p[at] < question.level;
      if (question.way === "none") return !significant;
      return significant && (question.way === "either" || (question.way === "negative" ? own.coef[at] < 0 : own.coef[at] > 0));
    }).map(({ model }) => model.name);
  }

  function showConclusions() {
    if (!data.questions.some((question) => question.models.length)) {
      parts.conclusions.replaceChildren(el("p", {}, "None of the paper's models is in this build, so its sentences are not judged."));
      return 0;
    }
    let changed = 0;
    const rows = data.questions.map((question) => {
      const found = answer(question), asked = question.models.filter((name) => results.some(({ model }) => model.name === name));
      const base = question.found.filter((name) => asked.includes(name));
      const moved = found && [...found.filter((name) => !base.includes(name)).map((name) => `+ ${name}`),
        ...base.filter((name) => !found.includes(name)).map((name) => `− ${name}`)];
      if (moved?.length) changed++;
      const products = state.terms.some((name) => name.includes(":") && question.terms.some((term) => !term.includes(":") && name.split(":").includes(term)));
      const verdict = !found ? "not in this formula" : moved.length ? "changes" : "as before";
      return [el("span", {}, question.text, el("small", {}, ` ${question.where}`)), question.stated, `${base.length} of ${asked.length}`, found ? `${found.length} of ${asked.length}` : "–",
        el("span", { class: "moved" }, el("span", { class: `verdict ${moved?.length ? "changed" : ""}` }, verdict), moved?.length ? `: ${moved.join(", ")}` : "",
          products && found ? " (the slope where the other load is 0)" : "")];
    });
    parts.conclusions.replaceChildren(table({
      id: "workbench-conclusions",
      caption: "Sentences of the paper that count models by a coefficient or capacity point: what is printed, what the paper's own " +
        `formula gives on these counts (Wald tests), and what yours gives. ${data.origin}`,
      columns: ["Models for which", "Printed", "Paper's formula", "Yours", "Verdict"], rows, left: ["Verdict"],
    }));
    return changed;
  }

  // ---- what is shown -------------------------------------------------------------------------------------------------
  const shownTerm = (name) => {
    const plain = name.replace(/\[T\.(.+)\]$/, " = $1");
    const text = Object.entries(SHOWN).find(([term]) => plain === term || plain.startsWith(`${term} = `));
    return text ? plain.replace(text[0], text[1].replace(" as factor", "")) : plain;
  };

  function showFits() {
    const names = results.find(({ own }) => own.status === "ok")?.own.names ?? ["Intercept"];
    const tag = (model) => el("span", { class: model.dropped ? "own-model" : null }, model.name);
    const wide = (low, high, digits) => `${number(low, digits)} to ${number(high, digits)}`;
    parts.coefficients.replaceChildren(table({
      id: "workbench-coefficients",
      caption: `Coefficients (${state.family}) with their 95% intervals; ${data.stars.map((level, at) => `${"*".repeat(at + 1)} p < ${level}`).join(", ")} (Wald). ${data.origin}`,
      columns: ["Model", ...names.map(shownTerm)],
      rows: results.map(({ model, own }) => [tag(model), ...names.map((_, at) => own.status !== "ok" ? (at ? "" : own.status) : el("span", { class: "estimate" },
        `${number(own.coef[at])}${stars(own.p[at], data.stars)}`, el("small", {}, wide(own.low[at], own.high[at]))))]),
    }));
    parts.capacity.replaceChildren(table({
      id: "workbench-capacity",
      caption: "AIC, its difference from the paper's formula on the same answers (below 0: yours is the better), and the loads at which fitted " +
        "accuracy is one half, the others at the model's means, with 95% profile-likelihood intervals. – for none. " + data.origin,
      columns: ["Model", "Answers", "AIC", "ΔAIC", ...Object.values(POINTS)],
      rows: results.map(({ model, own, paper, points }) => [tag(model), own.n, ...(own.status === "ok" ? [number(own.aic, 1),
        number(own.aic - paper.aic, 1)] : [own.status, "–"]), ...Object.keys(POINTS).map((point) => {
        const { estimate, ends } = points[point], digits = DECIMALS[point];
        if (!Number.isFinite(estimate)) return "–";
        return el("span", { class: "estimate" }, number(unfold(point, estimate), digits),
          el("small", {}, ends ? wide(unfold(point, ends[0]), unfold(point, ends[1]), digits) : "…"));
      })]),
    }));
    for (const id of ["workbench-coefficients", "workbench-capacity", "workbench-conclusions"]) cogniload.tables?.enhance(document.getElementById(id));
  }

  function showSummary(changed) {
    const gains = results.map(({ own, paper }) => own.aic - paper.aic).filter(Number.isFinite);
    const failed = results.filter(({ own }) => own.status !== "ok");
    const asked = data.questions.filter((question) => answer(question)).length;
    parts.summary.textContent = [
      `${results.length} models fitted again in ${Math.round(timing.refit)} ms.`,
      gains.length ? `AIC is lower than with the paper's formula by more than 2 in ${gains.filter((gain) => gain < -2).length}, higher in ${gains.filter((gain) => gain > 2).length}.` : "No AIC to compare.",
      `Of the paper's sentences below ${asked} can be asked here, and ${changed} of them change.`,
      failed.length ? `Without a fit: ${failed.map(({ model, own }) => `${model.name} (${own.status})`).join(", ")}.` : "",
    ].filter(Boolean).join(" ");
  }

  function showCommands() {
    const formula = spelledFormula(), chosen = state.omit.length || state.without.length || state.overflows === "omitted" || dropped.length;
    const family = state.family === "logit" ? "" : ` FAMILY=${state.family}`;
    const shell = `make fit FORMULA='${formula}'${family}${chosen ? " DATA=workbench-cells.csv" : ""}`;
    const kept = [
      ...state.omit.map((one) => one.split(":")).map(([load, level]) => `${load} != ${level}`),
      ...(state.without.length ? [`model not in ${JSON.stringify(state.without)}`] : []),
    ].join(" and ");
    const python = [
      `cells = cl.load_cells(build)${kept ? `.query(${JSON.stringify(kept)})` : ""}${state.overflows === "omitted" ? '.assign(n=lambda rows: rows["n"] - rows["ctx"])' : ""}`,
      `cl.fit(cells, ${JSON.stringify(formula)}${state.family === "logit" ? "" : `, ${JSON.stringify(state.family)}`})`,
    ].join("\n");
    const save = () => saveText(writeTable(results.map(({ model }) => ({ ...model, cells: chooseCells(model).map((cell) => ({ ...cell, rho: cell.actual })) }))), "workbench-cells.csv");
    parts.commands.replaceChildren(
      el("p", {}, "The same in a terminal", chosen ? [", on these counts (", el("button", { type: "button", class: "link", onclick: save }, "save workbench-cells.csv"), ")"] : "", ":"),
      copyLine(shell, "the command"), el("p", {}, "and in a notebook:"), copyLine(python, "the lines of Python"));
  }

  function showForest() {
    const names = results.find(({ own }) => own.status === "ok")?.own.names ?? [];
    const term = names.includes(state.coefficient) ? state.coefficient : names[1] ?? names[0];
    parts.coefficient.replaceChildren(...names.map((name) => el("option", { value: name, selected: name === term }, shownTerm(name))));
    const pick = (one) => {
      const at = one.status === "ok" ? one.names.indexOf(term) : -1;
      return at < 0 ? null : { estimate: one.coef[at], low: one.low[at], high: one.high[at] };
    };
    const rows = results.map(({ model, own, paper }) => ({ name: model.name, strong: model.dropped, own: pick(own), other: pick(paper) }));
    parts.forest.replaceChildren(...(term ? [cogniload.plots.forest({
      title: `Coefficient of ${shownTerm(term)} for each model, with 95% intervals`, rows, label: `coefficient of ${shownTerm(term)}`, width: Math.min(760, Math.max(340, parts.forest.clientWidth)),
      note: "Dark: your formula. Light: the paper's, where it has this term. Intervals that are far wider than the others run out of the picture.",
    })] : []));
  }

  function showCurves() {
    const row = results.find(({ model }) => model.name === state.show) ?? results.find(({ model }) => model.dropped) ?? results.find(({ model }) => model.name === "QwQ-32B") ?? results[0];
    parts.show.replaceChildren(...results.map(({ model }) => el("option", { value: model.name, selected: model === row?.model }, model.name)));
    if (!row) return;
    const { own, paper, model } = row;
    parts.curves.replaceChildren(...Object.entries({ d: "difficulty d", N: "length N", ratio_pct: "needles, %" }).map(([load, label]) => {
      const levels = [...new Set(own.cells.map((cell) => cell[load]))].sort((a, b) => a - b);
      const at = (cell) => levels.indexOf(cell[load]);
      const points = levels.map((level, place) => {
        const { n, k, estimate, low, high } = accuracy(own.cells.filter((cell) => cell[load] === level), data.z);
        return { at: place, p: estimate, low, high, text: `${k} of ${n} right: ${number(estimate)} (${number(low)} to ${number(high)})` };
      });
      const pooled = (one) => levels.map((level) => {
        const inside = one.cells.map((cell, i) => [cell, one.accuracy[i]]).filter(([cell]) => cell[load] === level);
        return inside.reduce((sum, [cell, p]) => sum + cell.n * p, 0) / inside.reduce((sum, [cell]) => sum + cell.n, 0);
      });
      const dots = own.cells.map((cell, i) => ({
        at: at(cell), p: cell.k / cell.n, shift: ((i * 0.618) % 1) * 2 - 1,
        text: `N ${cell.N}, d ${cell.d}, ρ ${cell.ratio_pct}%: ${cell.k} of ${cell.n} right`,
      }));
      const lines = [["paper", paper], ["own", own]].filter(([, one]) => one.status === "ok").map(([kind, one]) => ({ kind, name: kind === "own" ? "your formula" : "the paper's formula", values: pooled(one) }));
      return cogniload.plots.curve({ title: `${model.name}: accuracy by ${label}`, label, levels, points, dots, lines });
    }));
  }

  // ---- a reader's own model ------------------------------------------------------------------------------------------
  /** Return the place of an interval among others: the best and the worst that it leaves open. */
  function findPlace(own, others) {
    const rated = others.filter(({ low, high }) => Number.isFinite(low) || Number.isFinite(high));
    const above = rated.filter(({ low }) => low > own.high).length, below = rated.filter(({ high }) => high < own.low).length;
    return [above + 1, rated.length + 1 - below, rated.length + 1];
  }

  function showPlaces() {
    if (!dropped.length) return void parts.places.replaceChildren();
    const rows = dropped.flatMap((model) => {
      const mine = results.find((row) => row.model === model);
      const covered = new Set(model.cells.map((cell) => `${cell.N} ${cell.d} ${cell.ratio_pct}`));
      const shared = (cells) => cells.filter((cell) => covered.has(`${cell.N} ${cell.d} ${cell.ratio_pct}`));
      const others = results.filter((row) => !row.model.dropped);
      const rate = { Accuracy: (row) => (shared(row.model.cells).length ? accuracy(shared(row.model.cells), data.z) : null) };
      for (const [point, title] of Object.entries(POINTS)) rate[title] = ({ points }) => points[point].ends && Number.isFinite(points[point].estimate)
        ? { estimate: unfold(point, points[point].estimate), low: unfold(point, points[point].ends[0]), high: unfold(point, points[point].ends[1]) } : null;
      return Object.entries(rate).map(([title, of]) => {
        const own = of(mine), digits = title === "Accuracy" ? 3 : DECIMALS[title.toLowerCase()];
        if (!own) return [model.name, title, mine.own.status === "ok" ? (timing.intervals ? "none" : "…") : mine.own.status, "–", "–"];
        const [best, worst, of_] = findPlace(own, others.map(of).filter(Boolean));
        return [model.name, title, number(own.estimate, digits), `${number(own.low, digits)} to ${number(own.high, digits)}`, title === "NT50" ? "–"
          : best === worst ? `${best} of ${of_}` : `${best} to ${worst} of ${of_}`];
      });
    });
    parts.places.replaceChildren(table({
      caption: "Your model among the others: the places that its 95% interval leaves open. Accuracies are compared on the configurations of your file.",
      columns: ["Model", "Quantity", "Estimate", "95% interval", "Place"], rows, left: ["Quantity"],
    }));
  }

  /** Say what a dropped table lacks beside the configurations of the others. */
  function describeCoverage(model) {
    const whole = built.reduce((most, one) => (one.cells.length > most.length ? one.cells : most), []);
    const there = whole.filter((cell) => model.cells.some((one) => sameCell(one, cell))).length;
    const more = model.cells.length - there, { n } = accuracy(model.cells, data.z);
    return `${model.name}: ${n.toLocaleString("en")} answers in ${model.cells.length} configurations, ${there} of the ${whole.length} that the others have` +
      `${there < whole.length ? ` (${whole.length - there} are missing)` : ""}${more ? ` and ${more} others` : ""}` +
      `${model.cells.some((cell) => cell.ctx === null) ? "; overflows are not counted in it (no column ctx)" : ""}.`;
  }

  async function take(file) {
    try {
      if (/\.parquet$/i.test(file.name)) throw new Error(`${file.name} is Parquet, which this page does not read; \`make render\` beside it, or write it as CSV.`);
      const found = readTable(await file.text(), file.name);
      const clash = found.filter((model) => built.some((one) => one.name === model.name));
      for (const model of clash) model.name = `${model.name} (dropped)`;
      dropped = [...dropped.filter((old) => !found.some((model) => model.name === old.name)), ...found];
      parts.taken.replaceChildren(el("ul", {}, dropped.map((model) => el("li", {}, describeCoverage(model), " ",
        el("button", { type: "button", class: "link", onclick: () => { dropped = dropped.filter((one) => one !== model); parts.taken.replaceChildren(); update(); } }, "take out")))));
      update();
    } catch (error) {
      parts.taken.replaceChildren(el("p", { class: "problem", role: "alert" }, error.message));
    }
  }

  // ---- controls ------------------------------------------------------------------------------------------------------
  function buildControls() {
    const chip = (text, checked, onchange, kind = "checkbox", name = null) => {
      const box = el("input", { type: kind, name, onchange });
      box.checked = checked;
      return el("label", { class: "chip" }, box, el("span", {}, text));
    };
    const group = (title, ...inside) => el("fieldset", {}, el("legend", {}, title), inside);
    const toggle = (list, one, on) => (on ? [...list.filter((other) => other !== one), one] : list.filter((other) => other !== one));
    const inOrder = (terms) => readFormula(writeFormula(terms)).map((term) => term.text);
    const known = Object.values(CHIPS).flat();
    const terms = Object.entries(CHIPS).map(([title, list]) => group(title, list.map((term) =>
      chip(SHOWN[term] ?? term, state.terms.includes(term), (event) => change({ terms: inOrder(toggle(state.terms, term, event.target.checked)) })))));
    const others = state.terms.filter((term) => !known.includes(term));
    const field = el("input", { type: "text", size: 12, id: "workbench-term", placeholder: "N:rho", spellcheck: "false", autocomplete: "off" });
    const problem = el("span", { class: "problem", role: "status" });
    const add = (event) => {
      event.preventDefault();
      const term = readTerm(field.value);
      if (!term) problem.textContent = "A term is d, N, log10_N or rho, a power I(d**2) up to 6, C(d), or a product such as N:rho.";
      else change({ terms: inOrder(toggle(state.terms, term.text, true)) });
    };
    const more = group("Any other term", others.map((term) => chip(SHOWN[term] ?? term, true, () => change({ terms: toggle(state.terms, term, false) }))),
      el("form", { onsubmit: add }, el("label", { for: "workbench-term", class: "unseen" }, "Another term"), field, el("button", {}, "Add")), problem);
    const link = group("Link", FAMILIES.map((family) => chip(family, state.family === family, () => change({ family }), "radio", "family")));
    const answers = group("Answers that ran out of context", [["wrong", "count as wrong"], ["omitted", "left out"]].map(([value, text]) =>
      chip(text, state.overflows === value, () => change({ overflows: value }), "radio", "overflows")));
    const share = group("ρ", [["actual", "actual share, as in the paper"], ["nominal", "nominal share"]].map(([value, text]) =>
      chip(text, state.ratio === value, () => change({ ratio: value }), "radio", "ratio")));
    const levels = group("Levels fitted", Object.entries(LEVELS).map(([load, text]) => el("div", { class: "chips" }, levelsOf(load).map((level) =>
      chip(`${text} ${level}${load === "ratio_pct" ? "%" : ""}`, !state.omit.includes(`${load}:${level}`), (event) => change({ omit: toggle(state.omit, `${load}:${level}`, !event.target.checked) }))))));
    const chosen = built.length - state.without.length;
    const models = el("details", { open: parts?.models?.open }, el("summary", {}, `Models: ${chosen} of ${built.length}`), el("div", { class: "chips" }, built.map((model) =>
      chip(model.name, !state.without.includes(model.name), (event) => change({ without: toggle(state.without, model.name, !event.target.checked) })))));
    const reset = el("button", { type: "button", onclick: () => change(fresh()) }, "Back to the paper's regression");
    const formula = el("p", { class: "formula" }, el("code", {}, spelledFormula()));
    return { models, all: [formula, el("div", { class: "groups" }, terms, more, link, share, answers, levels), models, reset] };
  }

  /** Build the controls again without losing the place of the keyboard. */
  function showControls() {
    const inputs = () => [...parts.controls.querySelectorAll("input, button, summary")];
    const labels = inputs().map((one) => one.closest("label, summary, button")?.textContent ?? one.id);
    const focus = document.activeElement && inputs().indexOf(document.activeElement);
    const wanted = focus >= 0 ? labels[focus] : null;
    const { models, all } = buildControls();
    parts.models = models;
    parts.controls.replaceChildren(...all);
    if (wanted !== null) inputs().find((one) => (one.closest("label, summary, button")?.textContent ?? one.id) === wanted)?.focus();
  }

  function change(some) {
    state = { ...state, ...some };
    const words = writeAddress();
    history.replaceState(null, "", words ? `#${words}` : location.pathname + location.search);
    update();
  }

  function update() {
    const turn = ++round;
    timing.intervals = false;
    showControls();
    refit();
    const changed = showConclusions();
    showSummary(changed);
    showCommands();
    setTimeout(showRest, 0, turn);
  }

  /** Draw what stands further down once the answer itself is on the screen. */
  function showRest(turn) {
    if (turn !== round) return;
    showCurves();
    showForest();
    showFits();
    showPlaces();
    setTimeout(findIntervals, 0, turn);
  }

  function start(node) {
    const begun = performance.now();
    home = node;
    data = cogniload.data.cells;
    built = unpack(data);
    state = readAddress(location.hash);
    const pick = (name) => el("select", { id: `workbench-${name}`, onchange: (event) => change({ [name]: event.target.value }) });
    const part = (title, ...inside) => el("section", {}, el("h2", {}, title), inside);
    parts = Object.fromEntries(["controls", "summary", "conclusions", "coefficients", "capacity", "forest", "curves", "commands", "places", "taken"].map((name) =>
      [name, el("div", { class: name === "curves" ? "plots" : `workbench-${name}` })]));
    Object.assign(parts, { coefficient: pick("coefficient"), show: pick("show") });
    parts.summary.setAttribute("role", "status");
    parts.taken.setAttribute("aria-live", "polite");
    const file = el("input", { type: "file", id: "workbench-file", accept: ".csv,text/csv", multiple: true, onchange: () => [...file.files].forEach(take) });
    const zone = el("div", { class: "drop-zone" }, el("label", { for: "workbench-file" },
      "Drop a cells.csv of your model here, or choose it: "), file, el("p", { class: "note" }, "It is read in this page and sent nowhere. ",
      "Columns: model, N, d, rho (or ratio_pct), n, correct and, if you have it, ctx; or model, name and bucket of single scores."));
    const stop = (event) => { event.preventDefault(); zone.classList.toggle("over", event.type === "dragover"); };
    for (const name of ["dragover", "dragleave"]) document.addEventListener(name, stop);
    document.addEventListener("drop", (event) => { stop(event); [...event.dataTransfer.files].forEach(take); });
    home.replaceChildren(
      part("Regression", parts.controls, parts.summary, parts.commands), part("The paper's sentences", parts.conclusions),
      part("Your own model", zone, parts.taken, parts.places),
      part("One model's curves", el("p", {}, el("label", { for: "workbench-show" }, "Model: "), parts.show), parts.curves,
        el("p", { class: "note" }, "Large points: all answers at a level, with 95% Wilson intervals. Small ones: single configurations. Solid: your formula, ",
          "averaged over the same answers. Dashed: the paper's.")),
      part("One coefficient of all models", el("p", {}, el("label", { for: "workbench-coefficient" }, "Coefficient: "), parts.coefficient), parts.forest),
      part("Fit and capacity", parts.capacity), part("Coefficients", parts.coefficients));
    update();
    addEventListener("hashchange", () => { state = readAddress(location.hash); update(); });
    timing.ready = performance.now() - begun;
  }

  /** What the page holds, for whoever looks from outside: its fits as plain numbers. */
  const report = () => ({
    timing: { ...timing }, formula: spelledFormula(),
    fits: results.map(({ model, own, points }) => ({ model: model.name, status: own.status, names: own.names, coef: own.coef, se: own.se, p: own.p, aic: own.aic,
      points: Object.fromEntries(Object.entries(points).map(([point, { estimate, ends }]) => [point, [estimate, ...(ends ?? [])].map((one) => unfold(point, one))])) })),
    answers: data.questions.map((question) => answer(question)),
  });

  return { start, report, change: (some) => change(some), take };
})();

document.addEventListener("DOMContentLoaded", () => {
  const home = document.getElementById("workbench");
  if (home) cogniload.workbench.start(home);
});
