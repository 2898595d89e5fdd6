/* Views: what the workbench shows of its refits: sentences, tables, curves, commands, and the places of a reader's own models.
 *
 * What the printed tables do not identify is shown as the median and range over the reconstructions, without p-value or verdict.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.views = (() => {
  const { el, number, stars, table, copyLine, saveText } = cogniload.dom;
  const { writeTable, accuracy } = cogniload.cells;
  const { page, spelledFormula } = cogniload.choices;
  const { POINTS, chooseCells, answer, overTables, summarise, at } = cogniload.refits;
  const SHOWN = {
    "I(d**2)": "d²", "C(d)": "d as factor", "log10_N": "log₁₀ N", "I(log10_N**2)": "(log₁₀ N)²", "C(N)": "N as factor",
    "rho": "ρ", "I(rho**2)": "ρ²", "I(rho**3)": "ρ³", "d:log10_N": "d × log₁₀ N", "d:rho": "d × ρ",
    "log10_N:rho": "log₁₀ N × ρ", "d:log10_N:rho": "d × log₁₀ N × ρ",
  };
  const DECIMALS = { ecl50: 1, nt50: 2, id50: 2 };
  const RANGES = "Where the printed tables do not identify a result: median and range over the reconstructions, without p-value.";

  const shownTerm = (name) => {
    const plain = name.replace(/\[T\.(.+)\]$/, " = $1");
    const text = Object.entries(SHOWN).find(([term]) => plain === term || plain.startsWith(`${term} = `));
    return text ? plain.replace(text[0], text[1].replace(" as factor", "")) : plain;
  };
  const badge = (identified) => el("span", { class: `evidence evidence-${identified ? "identified" : "not-identified"}` }, identified ? "identified" : "not identified");
  const modelName = (model) => el("span", { class: model.mine ? "own-model" : null }, model.name);
  const interval = (low, high, digits) => `${number(low, digits)} to ${number(high, digits)}`;
  const withSmall = (text, small) => el("span", { class: "estimate" }, text, el("small", {}, small));
  /** The median of a set's values and their range; one value has no range. */
  function showRange(values, digits) {
    const found = summarise(values);
    if (!found) return "–";
    return values.length === 1 ? number(found.middle, digits) : withSmall(number(found.middle, digits), interval(found.low, found.high, digits));
  }
  const countRange = ({ low, high, middle }) => (low === high ? `${low}` : `${low} to ${high} (median ${middle})`);

  function showConclusions() {
    if (!page.data.questions.some((question) => question.models.length)) {
      page.parts.conclusions.replaceChildren(el("p", {}, "None of the paper's models is in this build, so its sentences are not judged."));
      return 0;
    }
    let changed = 0;
    const rows = page.data.questions.map((question, place) => {
      const asked = page.results.filter(({ model }) => question.models.includes(model.name)), of = (count) => `${count} of ${asked.length}`;
      const base = page.base[place].filter((name) => asked.some(({ model }) => model.name === name));
      const found = overTables((one) => answer(question, page.results, page.state.terms, one), asked.every(({ own }) => own.identified) ? 1 : page.tables);
      const start = [el("span", {}, question.text, el("small", {}, ` ${question.where}`)), question.stated, of(base.length)];
      if (!found[0]) return [...start, "–", "not in this formula"];
      if (found.length > 1) return [...start, of(countRange(summarise(found.map((names) => names?.length)))), badge(false)];
      const moved = [...found[0].filter((name) => !base.includes(name)).map((name) => `+ ${name}`), ...base.filter((name) => !found[0].includes(name)).map((name) => `− ${name}`)];
      if (moved.length) changed++;
      return [...start, of(found[0].length), el("span", { class: "moved" }, el("span", { class: `verdict ${moved.length ? "changed" : ""}` }, moved.length ? "changes" : "as before"),
        moved.length ? `: ${moved.join(", ")}` : "")];
    });
    page.parts.conclusions.replaceChildren(table({
      id: "workbench-conclusions",
      caption: "Sentences of the paper that count models: what is printed, what the paper's formula gives on these counts, and what yours gives. " +
        "Products of loads have the likelihood-ratio tests of Table 3, single loads Wald tests, at the mean of the loads that they are multiplied by. " +
        `${RANGES} ${page.data.origin}`,
      columns: ["Models for which", "Printed", "Paper's formula", "Yours", "Verdict"], rows, left: ["Verdict"],
    }));
    return changed;
  }

  function showFits() {
    const names = page.results.flatMap(({ own }) => own.fits).find(({ status }) => status === "ok")?.names ?? ["Intercept"];
    const coefficient = (own, place) => {
      const [one] = own.fits;
      if (!own.identified) return showRange(own.fits.map(({ coef }) => coef?.[place] ?? NaN), 2);
      if (one.status !== "ok") return place ? "" : one.status;
      return withSmall(`${number(one.coef[place])}${stars(one.p[place], page.data.stars)}`, interval(one.low[place], one.high[place]));
    };
    page.parts.coefficients.replaceChildren(table({
      id: "workbench-coefficients",
      caption: `Coefficients (${page.state.family}) with 95% intervals; ${page.data.stars.map((level, place) => `${"*".repeat(place + 1)} p < ${level}`).join(", ")} (Wald). ${RANGES} ${page.data.origin}`,
      columns: ["Model", ...names.map(shownTerm)], rows: page.results.map(({ model, own }) => [modelName(model), ...names.map((_, place) => coefficient(own, place))]),
    }));
    const point = ({ own, points }, name) => {
      const { values, ends } = points[name], digits = DECIMALS[name];
      if (!own.identified || !Number.isFinite(values[0])) return showRange(values, digits);
      return withSmall(number(values[0], digits), ends ? interval(...ends, digits) : "…");
    };
    page.parts.capacity.replaceChildren(table({
      id: "workbench-capacity",
      caption: "AIC, its difference from the paper's formula on the same answers (below 0: yours is better), and the loads at which fitted " +
        `accuracy is one half, the others at the model's means, with 95% profile-likelihood intervals; – for none. ${RANGES} ${page.data.origin}`,
      columns: ["Model", "Answers", "AIC", "ΔAIC", ...Object.values(POINTS)],
      rows: page.results.map((row) => [modelName(row.model), row.own.fits[0].answers ?? "–", ...(row.own.fits.some(({ status }) => status === "ok")
        ? [showRange(row.own.fits.map(({ aic }) => aic ?? NaN), 1), showRange(gains(row), 1)] : [row.own.fits[0].status, "–"]), ...Object.keys(POINTS).map((name) => point(row, name))]),
    }));
    for (const id of ["workbench-coefficients", "workbench-capacity", "workbench-conclusions"]) cogniload.tables?.enhance(document.getElementById(id));
  }
  /** By how much a row's AIC differs from the paper's, in each table of counts. */
  const gains = ({ own, paper }) => overTables((one) => (at(own, one).aic ?? NaN) - (at(paper, one).aic ?? NaN), Math.max(own.fits.length, paper.fits.length));

  function showSummary(changed) {
    const open = page.results.filter(({ own }) => !own.identified), failed = page.results.filter(({ own }) => own.fits.every(({ status }) => status !== "ok"));
    const all = page.results.map(gains), count = (isSo) => countRange(summarise(overTables((one) => all.filter((values) => isSo(values[Math.min(one, values.length - 1)])).length)));
    const asked = page.data.questions.filter((question) => answer(question, page.results, page.state.terms, 0)).length;
    page.parts.summary.replaceChildren(...[
      page.notes.length && el("p", { class: "problem" }, `Not understood: ${page.notes.join("; ")}. Shown is the paper's choice in its place.`),
      el("p", {}, badge(!open.length), ` ${page.results.length} models fitted in ${Math.round(page.timing.refit)} ms. `,
        open.length ? `The printed tables do not determine this for ${open.length} models: each is fitted to all ${page.tables} reconstructions. ` : "",
        all.flat().some(Number.isFinite) ? `AIC is lower than with the paper's formula by more than 2 in ${count((gain) => gain < -2)} models, higher in ${count((gain) => gain > 2)}. ` : "There is no AIC to compare. ",
        `Of the paper's sentences below ${asked} can be asked here${open.length ? "." : `, and ${changed} of them change.`}`,
        failed.length ? ` Without a fit: ${failed.map(({ model, own }) => `${model.name} (${own.fits[0].status})`).join(", ")}.` : ""),
    ].filter(Boolean));
  }

  function showCommands() {
    const { family, omit, without, overflows } = page.state, formula = spelledFormula(), chosen = omit.length || without.length || overflows === "omitted" || page.mine.length;
    const shell = `make fit FORMULA='${formula}'${family === "logit" ? "" : ` FAMILY=${family}`}${chosen ? " CELLS=workbench-cells.csv" : ""}`;
    const kept = [...omit.map((one) => one.split(":").join(" != ")), ...(without.length ? [`model not in ${JSON.stringify(without)}`] : [])].join(" and ");
    const python = [
      `cells = cl.load_cells(build)${kept ? `.query(${JSON.stringify(kept)})` : ""}${overflows === "omitted" ? '.assign(total=lambda rows: rows["total"] - rows["ctx"])' : ""}`,
      `cl.fit(cells, ${JSON.stringify(formula)}${family === "logit" ? "" : `, ${JSON.stringify(family)}`})`,
    ].join("\n");
    const save = () => saveText(writeTable(page.results.map(({ model }) => ({ ...model, cells: chooseCells(model, { ...page.state, ratio: "actual" }) }))), "workbench-cells.csv");
    page.parts.commands.replaceChildren(
      el("p", {}, "The same in a terminal", chosen ? [", on these counts (", el("button", { type: "button", class: "link", onclick: save }, "save workbench-cells.csv"), ")"] : "", ":"),
      copyLine(shell, "the command"), el("p", {}, "and in a notebook:"), copyLine(python, "the lines of Python"));
  }

  function showCurves() {
    const named = (test) => page.results.find(({ model }) => test(model));
    const row = named(({ name }) => name === page.state.show) ?? named(({ mine }) => mine) ?? named(({ name }) => name === "QwQ-32B") ?? page.results[0];
    page.parts.show.replaceChildren(...page.results.map(({ model }) => el("option", { value: model.name, selected: model === row?.model }, model.name)));
    if (!row) return;
    const { own, paper, model } = row, { z } = page.data, tables = (model.tables ?? [undefined]).map((one) => chooseCells(model, page.state, one)), [cells] = tables;
    page.parts.curves.replaceChildren(...Object.entries({ d: "difficulty d", N: "length N (statements)", ratio_pct: "needle ratio ρ (%)" }).map(([load, label]) => {
      const levels = [...new Set(cells.map((cell) => cell[load]))].sort((a, b) => a - b);
      const points = levels.map((level, place) => {
        const all = tables.map((one) => accuracy(one.filter((cell) => cell[load] === level), z)), [{ n, k, estimate, low, high }] = all, range = summarise(all.map((one) => one.estimate));
        if (range.low === range.high) return { at: place, p: estimate, low, high, text: `${k} of ${n} correct: ${number(estimate)} (${interval(low, high)})` };
        return { at: place, p: range.middle, low: range.low, high: range.high, range: true, text: `not identified: ${number(range.middle)} (${interval(range.low, range.high)} over the reconstructions)` };
      });
      const pooled = ({ design, n, accuracy: fitted }) => levels.map((level) => {
        const inside = design.cells.map((cell, i) => [cell[load], n[i], fitted[i]]).filter(([one]) => one === level);
        return inside.reduce((sum, [, count, p]) => sum + count * p, 0) / inside.reduce((sum, [, count]) => sum + count, 0);
      });
      const dots = model.tables ? [] : cells.map((cell, i) => ({
        at: levels.indexOf(cell[load]), p: cell.k / cell.n, shift: ((i * 0.618) % 1) * 2 - 1, text: `N ${cell.N}, d ${cell.d}, ρ ${cell.ratio_pct}%: ${cell.k} of ${cell.n} correct`,
      }));
      const lines = [["paper", paper], ["own", own]].flatMap(([kind, { fits }]) => {
        const courses = fits.filter(({ status }) => status === "ok").map(pooled);
        return courses.length ? [{ kind, name: kind === "own" ? "your formula" : "the paper's formula", values: levels.map((_, place) => summarise(courses.map((one) => one[place]))) }] : [];
      });
      return cogniload.plots.curve({ title: `${model.name}: accuracy by ${label}`, label, levels, points, dots, lines });
    }));
  }

  /** Best and worst place that an interval leaves open among others, and of how many. */
  function findPlace(own, others) {
    const rated = others.filter(({ low, high }) => Number.isFinite(low) || Number.isFinite(high));
    return [rated.filter(({ low }) => low > own.high).length + 1, rated.length + 1 - rated.filter(({ high }) => high < own.low).length, rated.length + 1];
  }

  function showPlaces() {
    const rows = page.mine.flatMap((model) => {
      const mine = page.results.find((row) => row.model === model), others = page.results.filter((row) => !row.model.mine), { z } = page.data;
      const covered = new Set(model.cells.map((cell) => `${cell.N} ${cell.d} ${cell.ratio_pct}`));
      const rate = ({ model: one }) => {
        const all = (one.tables ?? [undefined]).map((counts) => accuracy(chooseCells(one, { omit: [] }, counts).filter((cell) => covered.has(`${cell.N} ${cell.d} ${cell.ratio_pct}`)), z));
        return all[0].n ? { estimate: all[0].estimate, low: Math.min(...all.map(({ low }) => low)), high: Math.max(...all.map(({ high }) => high)) } : null;
      };
      const quantities = { Accuracy: rate };
      for (const [point, title] of Object.entries(POINTS)) {
        quantities[title] = ({ points: { [point]: { values, ends } } }) => (ends && Number.isFinite(values[0]) ? { estimate: values[0], low: ends[0], high: ends[1] } : null);
      }
      return Object.entries(quantities).map(([title, read]) => {
        const own = read(mine), digits = title === "Accuracy" ? 3 : DECIMALS[title.toLowerCase()], [{ status }] = mine.own.fits;
        if (!own) return [model.name, title, status === "ok" ? (page.timing.intervals ? "none" : "…") : status, "–", "–"];
        const [best, worst, of] = findPlace(own, others.map(read).filter(Boolean));
        return [model.name, title, number(own.estimate, digits), interval(own.low, own.high, digits), title === "NT50" || of === 1 ? "–" : best === worst ? `${best} of ${of}` : `${best} to ${worst} of ${of}`];
      });
    });
    page.parts.places.replaceChildren(...(rows.length ? [table({
      caption: "Your model among the others: the places that its 95% interval leaves open. Accuracies are compared on the configurations of your file, over all reconstructions of the others.",
      columns: ["Model", "Quantity", "Estimate", "95% interval", "Place"], rows, left: ["Quantity"],
    })] : []));
  }

  return { SHOWN, showConclusions, showFits, showSummary, showCommands, showCurves, showPlaces };
})();
