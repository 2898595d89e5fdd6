/* Views: what the workbench shows of its refits: tables, curves and commands.
 *
 * What the printed tables do not identify is shown as the median and range over the reconstructions, without p-value or verdict.
 */
"use strict";

cogniload.views = (() => {
  const { el, svg, number, stars, table, copyLine, sortLevels } = cogniload.dom;
  const { accuracy } = cogniload.cells;
  const { SHOWN, page, spelledFormula } = cogniload.choices;
  const { POINTS, chooseCells, overTables, summarise, at } = cogniload.refits;
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
    const point = ({ points }, name) => showRange(points[name].values, DECIMALS[name]);
    page.parts.capacity.replaceChildren(table({
      id: "workbench-capacity",
      caption: "AIC, its difference from the paper's formula on the same answers (below 0: yours is better), and the loads at which fitted " +
        `accuracy is one half, the others at the model's means; – for none. Their intervals are in chapter 5. ${RANGES} ${page.data.origin}`,
      columns: ["Model", "Answers", "AIC", "ΔAIC", ...Object.values(POINTS)],
      rows: page.results.map((row) => [modelName(row.model), row.own.fits[0].answers ?? "–", ...(row.own.fits.some(({ status }) => status === "ok")
        ? [showRange(row.own.fits.map(({ aic }) => aic ?? NaN), 1), showRange(gains(row), 1)] : [row.own.fits[0].status, "–"]), ...Object.keys(POINTS).map((name) => point(row, name))]),
    }));
    for (const id of ["workbench-coefficients", "workbench-capacity"]) cogniload.tables?.enhance(document.getElementById(id));
  }
  /** By how much a row's AIC differs from the paper's, in each table of counts. */
  const gains = ({ own, paper }) => overTables((one) => (at(own, one).aic ?? NaN) - (at(paper, one).aic ?? NaN), Math.max(own.fits.length, paper.fits.length));

  function showSummary() {
    const open = page.results.filter(({ own }) => !own.identified), failed = page.results.filter(({ own }) => own.fits.every(({ status }) => status !== "ok"));
    const all = page.results.map(gains), count = (isSo) => countRange(summarise(overTables((one) => all.filter((values) => isSo(values[Math.min(one, values.length - 1)])).length)));
    page.parts.summary.replaceChildren(...[
      page.notes.length && el("p", { class: "problem" }, `Not understood: ${page.notes.join("; ")}. Shown is the paper's choice in its place.`),
      el("p", {}, badge(!open.length), ` ${page.results.length} models fitted in ${Math.round(page.timing.refit)} ms. `,
        open.length ? `The printed tables do not determine this for ${open.length} models: each is fitted to all ${page.tables} reconstructions. ` : "",
        all.flat().some(Number.isFinite) ? `AIC is lower than with the paper's formula by more than 2 in ${count((gain) => gain < -2)} models, higher in ${count((gain) => gain > 2)}. ` : "There is no AIC to compare. ",
        failed.length ? ` Without a fit: ${failed.map(({ model, own }) => `${model.name} (${own.fits[0].status})`).join(", ")}.` : ""),
    ].filter(Boolean));
  }

  function showCommands() {
    const { family, omit, without, overflows } = page.state, formula = spelledFormula(), chosen = omit.length || without.length || overflows === "omitted" || page.mine.length;
    const shell = `.venv/bin/cogniload fit --compare --formula '${formula}'${family === "logit" ? "" : ` --family ${family}`}`;
    const kept = [...omit.map((one) => one.split(":").join(" != ")), ...(without.length ? [`model not in ${JSON.stringify(without)}`] : [])].join(" and ");
    const python = [
      `cells = cl.load_cells(build)${kept ? `.query(${JSON.stringify(kept)})` : ""}${overflows === "omitted" ? '.assign(total=lambda rows: rows["total"] - rows["ctx"])' : ""}`,
      `cl.fit(cells, ${JSON.stringify(formula)}${family === "logit" ? "" : `, ${JSON.stringify(family)}`})`,
    ].join("\n");
    page.parts.commands.replaceChildren(...(chosen ? [] : [el("p", {}, "The same in a terminal:"), copyLine(shell, "the command")]),
      el("p", {}, "The same in a notebook:"), copyLine(python, "the lines of Python"));
  }

  /** Draw accuracy against one load: points with intervals, and lines {name, kind, values} of {middle, low, high}. */
  function drawCurve({ title, label, levels, points, dots, lines }) {
    const [width, height, left, bottom, top, right] = [300, 220, 34, 34, 20, 8];
    const x = (at) => left + ((at + 0.5) / levels.length) * (width - left - right);
    const y = (p) => top + (1 - p) * (height - top - bottom);
    const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((p) => [
      svg("line", { class: p === 0.5 ? "half" : "grid", x1: left, x2: width - right, y1: y(p), y2: y(p) }),
      svg("text", { x: left - 5, y: y(p) + 3.5, "text-anchor": "end" }, p === 0 || p === 1 ? p : p.toString().slice(1)),
    ]);
    const names = levels.map((level, at) => svg("text", { x: x(at), y: height - bottom + 14, "text-anchor": "middle" }, level));
    const cloud = dots.map(({ at, p, shift, text }) =>
      svg("circle", { class: "dot", cx: x(at + 0.34 * shift), cy: y(p), r: 2 }, svg("title", {}, text)));
    const whiskers = points.map(({ at, low, high, range }) =>
      svg("line", { class: range ? "whisker range" : "whisker", x1: x(at), x2: x(at), y1: y(low), y2: y(high) }));
    const marks = points.map(({ at, p, text }) =>
      svg("circle", { class: "mark", cx: x(at), cy: y(p), r: 4 }, svg("title", {}, text)));
    const path = (values) => values.map(([p, at]) => `${x(at)},${y(p)}`).join(" ");
    const courses = lines.flatMap(({ name, kind, values }) => [
      svg("polygon", { class: kind, points: path([...values.map(({ low }, at) => [low, at]), ...values.map(({ high }, at) => [high, at]).reverse()]) }),
      svg("polyline", { class: kind, points: path(values.map(({ middle }, at) => [middle, at])) }, svg("title", {}, name)),
    ]);
    return svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title },
      svg("title", {}, title), ticks, names, cloud, courses, whiskers, marks,
      svg("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, label));
  }

  function showCurves() {
    const named = (test) => page.results.find(({ model }) => test(model));
    const row = named(({ name }) => name === page.state.show) ?? named(({ mine }) => mine) ?? named(({ name }) => name === "QwQ-32B") ?? page.results[0];
    page.parts.show.replaceChildren(...page.results.map(({ model }) => el("option", { value: model.name, selected: model === row?.model }, model.name)));
    if (!row) return;
    const { own, paper, model } = row, { z } = page.data, tables = (model.tables ?? [undefined]).map((one) => chooseCells(model, page.state, one)), [cells] = tables;
    page.parts.curves.replaceChildren(...Object.entries({ d: "difficulty d", N: "length N (statements)", ratio_pct: "needle ratio ρ (%)" }).map(([load, label]) => {
      const levels = sortLevels(cells.map((cell) => cell[load]));
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
      return drawCurve({ title: `${model.name}: accuracy by ${label}`, label, levels, points, dots, lines });
    }));
  }

  return { showFits, showSummary, showCommands, showCurves };
})();
