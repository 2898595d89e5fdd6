/* Views: what the workbench shows of its refits: sentences, tables, curves, commands, and the places of a reader's own models.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.views = (() => {
  const { el, number, stars, table, copyLine, saveText } = cogniload.dom;
  const { writeTable, accuracy } = cogniload.cells;
  const { page, spelledFormula } = cogniload.choices;
  const { POINTS, chooseCells, unfold, answer } = cogniload.refits;
  const SHOWN = {
    "I(d**2)": "d²", "C(d)": "d as factor", "log10_N": "log₁₀ N", "I(log10_N**2)": "(log₁₀ N)²", "C(N)": "N as factor",
    "rho": "ρ", "I(rho**2)": "ρ²", "I(rho**3)": "ρ³", "d:log10_N": "d × log₁₀ N", "d:rho": "d × ρ",
    "log10_N:rho": "log₁₀ N × ρ", "d:log10_N:rho": "d × log₁₀ N × ρ",
  };
  const DECIMALS = { ecl50: 1, nt50: 2, id50: 2 };

  const shownTerm = (name) => {
    const plain = name.replace(/\[T\.(.+)\]$/, " = $1");
    const text = Object.entries(SHOWN).find(([term]) => plain === term || plain.startsWith(`${term} = `));
    return text ? plain.replace(text[0], text[1].replace(" as factor", "")) : plain;
  };

  function showConclusions() {
    if (!page.data.questions.some((question) => question.models.length)) {
      page.parts.conclusions.replaceChildren(el("p", {}, "None of the paper's models is in this build, so its sentences are not judged."));
      return 0;
    }
    let changed = 0;
    const rows = page.data.questions.map((question) => {
      const found = answer(question), asked = question.models.filter((name) => page.results.some(({ model }) => model.name === name));
      const base = question.found.filter((name) => asked.includes(name));
      const moved = found && [...found.filter((name) => !base.includes(name)).map((name) => `+ ${name}`),
        ...base.filter((name) => !found.includes(name)).map((name) => `− ${name}`)];
      if (moved?.length) changed++;
      const products = page.state.terms.some((name) => name.includes(":") && question.terms.some((term) => !term.includes(":") && name.split(":").includes(term)));
      const verdict = !found ? "not in this formula" : moved.length ? "changes" : "as before";
      return [el("span", {}, question.text, el("small", {}, ` ${question.where}`)), question.stated, `${base.length} of ${asked.length}`, found ? `${found.length} of ${asked.length}` : "–",
        el("span", { class: "moved" }, el("span", { class: `verdict ${moved?.length ? "changed" : ""}` }, verdict), moved?.length ? `: ${moved.join(", ")}` : "",
          products && found ? " (the slope where the other load is 0)" : "")];
    });
    page.parts.conclusions.replaceChildren(table({
      id: "workbench-conclusions",
      caption: "Sentences of the paper that count models by a coefficient or capacity point: what is printed, what the paper's own " +
        `formula gives on these counts (Wald tests), and what yours gives. ${page.data.origin}`,
      columns: ["Models for which", "Printed", "Paper's formula", "Yours", "Verdict"], rows, left: ["Verdict"],
    }));
    return changed;
  }

  function showFits() {
    const names = page.results.find(({ own }) => own.status === "ok")?.own.names ?? ["Intercept"];
    const tag = (model) => el("span", { class: model.dropped ? "own-model" : null }, model.name);
    const wide = (low, high, digits) => `${number(low, digits)} to ${number(high, digits)}`;
    page.parts.coefficients.replaceChildren(table({
      id: "workbench-coefficients",
      caption: `Coefficients (${page.state.family}) with their 95% intervals; ${page.data.stars.map((level, at) => `${"*".repeat(at + 1)} p < ${level}`).join(", ")} (Wald). ${page.data.origin}`,
      columns: ["Model", ...names.map(shownTerm)],
      rows: page.results.map(({ model, own }) => [tag(model), ...names.map((_, at) => own.status !== "ok" ? (at ? "" : own.status) : el("span", { class: "estimate" },
        `${number(own.coef[at])}${stars(own.p[at], page.data.stars)}`, el("small", {}, wide(own.low[at], own.high[at]))))]),
    }));
    page.parts.capacity.replaceChildren(table({
      id: "workbench-capacity",
      caption: "AIC, its difference from the paper's formula on the same answers (below 0: yours is the better), and the loads at which fitted " +
        "accuracy is one half, the others at the model's means, with 95% profile-likelihood intervals. – for none. " + page.data.origin,
      columns: ["Model", "Answers", "AIC", "ΔAIC", ...Object.values(POINTS)],
      rows: page.results.map(({ model, own, paper, points }) => [tag(model), own.n, ...(own.status === "ok" ? [number(own.aic, 1),
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
    const gains = page.results.map(({ own, paper }) => own.aic - paper.aic).filter(Number.isFinite);
    const failed = page.results.filter(({ own }) => own.status !== "ok");
    const asked = page.data.questions.filter((question) => answer(question)).length;
    page.parts.summary.textContent = [
      `${page.results.length} models fitted again in ${Math.round(page.timing.refit)} ms.`,
      gains.length ? `AIC is lower than with the paper's formula by more than 2 in ${gains.filter((gain) => gain < -2).length}, higher in ${gains.filter((gain) => gain > 2).length}.` : "No AIC to compare.",
      `Of the paper's sentences below ${asked} can be asked here, and ${changed} of them change.`,
      failed.length ? `Without a fit: ${failed.map(({ model, own }) => `${model.name} (${own.status})`).join(", ")}.` : "",
    ].filter(Boolean).join(" ");
  }

  function showCommands() {
    const formula = spelledFormula(), chosen = page.state.omit.length || page.state.without.length || page.state.overflows === "omitted" || page.dropped.length;
    const family = page.state.family === "logit" ? "" : ` FAMILY=${page.state.family}`;
    const shell = `make fit FORMULA='${formula}'${family}${chosen ? " CELLS=workbench-cells.csv" : ""}`;
    const kept = [
      ...page.state.omit.map((one) => one.split(":")).map(([load, level]) => `${load} != ${level}`),
      ...(page.state.without.length ? [`model not in ${JSON.stringify(page.state.without)}`] : []),
    ].join(" and ");
    const python = [
      `cells = cl.load_cells(build)${kept ? `.query(${JSON.stringify(kept)})` : ""}${page.state.overflows === "omitted" ? '.assign(n=lambda rows: rows["n"] - rows["ctx"])' : ""}`,
      `cl.fit(cells, ${JSON.stringify(formula)}${page.state.family === "logit" ? "" : `, ${JSON.stringify(page.state.family)}`})`,
    ].join("\n");
    const save = () => saveText(writeTable(page.results.map(({ model }) => ({ ...model, cells: chooseCells(model).map((cell) => ({ ...cell, rho: cell.actual })) }))), "workbench-cells.csv");
    page.parts.commands.replaceChildren(
      el("p", {}, "The same in a terminal", chosen ? [", on these counts (", el("button", { type: "button", class: "link", onclick: save }, "save workbench-cells.csv"), ")"] : "", ":"),
      copyLine(shell, "the command"), el("p", {}, "and in a notebook:"), copyLine(python, "the lines of Python"));
  }

  function showForest() {
    const names = page.results.find(({ own }) => own.status === "ok")?.own.names ?? [];
    const term = names.includes(page.state.coefficient) ? page.state.coefficient : names[1] ?? names[0];
    page.parts.coefficient.replaceChildren(...names.map((name) => el("option", { value: name, selected: name === term }, shownTerm(name))));
    const pick = (one) => {
      const at = one.status === "ok" ? one.names.indexOf(term) : -1;
      return at < 0 ? null : { estimate: one.coef[at], low: one.low[at], high: one.high[at] };
    };
    const rows = page.results.map(({ model, own, paper }) => ({ name: model.name, strong: model.dropped, own: pick(own), other: pick(paper) }));
    page.parts.forest.replaceChildren(...(term ? [cogniload.plots.forest({
      title: `Coefficient of ${shownTerm(term)} for each model, with 95% intervals`, rows, label: `coefficient of ${shownTerm(term)}`, width: Math.min(760, Math.max(340, page.parts.forest.clientWidth)),
      note: "Dark: your formula. Light: the paper's, where it has this term. Intervals that are far wider than the others run out of the picture.",
    })] : []));
  }

  function showCurves() {
    const row = page.results.find(({ model }) => model.name === page.state.show) ?? page.results.find(({ model }) => model.dropped) ?? page.results.find(({ model }) => model.name === "QwQ-32B") ?? page.results[0];
    page.parts.show.replaceChildren(...page.results.map(({ model }) => el("option", { value: model.name, selected: model === row?.model }, model.name)));
    if (!row) return;
    const { own, paper, model } = row;
    page.parts.curves.replaceChildren(...Object.entries({ d: "difficulty d", N: "length N", ratio_pct: "needles, %" }).map(([load, label]) => {
      const levels = [...new Set(own.cells.map((cell) => cell[load]))].sort((a, b) => a - b);
      const at = (cell) => levels.indexOf(cell[load]);
      const points = levels.map((level, place) => {
        const { n, k, estimate, low, high } = accuracy(own.cells.filter((cell) => cell[load] === level), page.data.z);
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

  /** Return the place of an interval among others: the best and the worst that it leaves open. */
  function findPlace(own, others) {
    const rated = others.filter(({ low, high }) => Number.isFinite(low) || Number.isFinite(high));
    const above = rated.filter(({ low }) => low > own.high).length, below = rated.filter(({ high }) => high < own.low).length;
    return [above + 1, rated.length + 1 - below, rated.length + 1];
  }

  function showPlaces() {
    if (!page.dropped.length) return void page.parts.places.replaceChildren();
    const rows = page.dropped.flatMap((model) => {
      const mine = page.results.find((row) => row.model === model);
      const covered = new Set(model.cells.map((cell) => `${cell.N} ${cell.d} ${cell.ratio_pct}`));
      const shared = (cells) => cells.filter((cell) => covered.has(`${cell.N} ${cell.d} ${cell.ratio_pct}`));
      const others = page.results.filter((row) => !row.model.dropped);
      const rate = { Accuracy: (row) => (shared(row.model.cells).length ? accuracy(shared(row.model.cells), page.data.z) : null) };
      for (const [point, title] of Object.entries(POINTS)) rate[title] = ({ points }) => points[point].ends && Number.isFinite(points[point].estimate)
        ? { estimate: unfold(point, points[point].estimate), low: unfold(point, points[point].ends[0]), high: unfold(point, points[point].ends[1]) } : null;
      return Object.entries(rate).map(([title, of]) => {
        const own = of(mine), digits = title === "Accuracy" ? 3 : DECIMALS[title.toLowerCase()];
        if (!own) return [model.name, title, mine.own.status === "ok" ? (page.timing.intervals ? "none" : "…") : mine.own.status, "–", "–"];
        const [best, worst, of_] = findPlace(own, others.map(of).filter(Boolean));
        return [model.name, title, number(own.estimate, digits), `${number(own.low, digits)} to ${number(own.high, digits)}`, title === "NT50" ? "–"
          : best === worst ? `${best} of ${of_}` : `${best} to ${worst} of ${of_}`];
      });
    });
    page.parts.places.replaceChildren(table({
      caption: "Your model among the others: the places that its 95% interval leaves open. Accuracies are compared on the configurations of your file.",
      columns: ["Model", "Quantity", "Estimate", "95% interval", "Place"], rows, left: ["Quantity"],
    }));
  }

  return { SHOWN, showConclusions, showFits, showSummary, showCommands, showForest, showCurves, showPlaces };
})();
