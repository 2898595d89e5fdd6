/* Workbench: the page on which a reader changes the regression.
 *
 * Every change fits all models again and draws what follows. Files are read here and go nowhere.
 */
"use strict";

cogniload.workbench = (() => {
  const { el, section } = cogniload.dom;
  const { unpack, readTable, accuracy } = cogniload.cells;
  const { page, writeAddress, readAddress, spelledFormula, showControls } = cogniload.choices;
  const { refit } = cogniload.refits;
  const { showFits, showSummary, showCommands, showCurves } = cogniload.views;

  const placeOf = (cell) => `${cell.N} ${cell.d} ${cell.ratio_pct}`;

  /** Show the reader's models with what they lack and how to remove them, and the files that were refused. */
  function showMine() {
    const remove = (model) => { page.mine = page.mine.filter((one) => one !== model); update(); };
    page.parts.mine.replaceChildren(el("ul", {}, page.mine.map((model) => el("li", {}, describeCoverage(model), " ",
      el("button", { type: "button", class: "link", "aria-label": `Remove ${model.name}`, onclick: () => remove(model) }, "remove")))),
      ...page.refused.map((why) => el("p", { class: "problem", role: "alert" }, why)));
  }

  /** Say what a reader's table lacks beside the configurations of the others. */
  function describeCoverage(model) {
    const whole = page.built.reduce((most, one) => (one.cells.length > most.length ? one.cells : most), []), own = new Set(model.cells.map(placeOf));
    const there = whole.filter((cell) => own.has(placeOf(cell))).length, more = model.cells.length - there, { n } = accuracy(model.cells, page.data.z);
    return `${model.name}: ${n.toLocaleString("en")} answers in ${model.cells.length.toLocaleString("en")} configurations, ${there} of the ${whole.length} that the others have` +
      `${there < whole.length ? ` (${whole.length - there} are missing)` : ""}${more ? ` and ${more} others` : ""}; overflows are not counted.`;
  }

  /** Take files that were dropped or chosen together; each that is refused has its line. */
  async function take(files) {
    page.refused = [];
    for (const file of files) {
      try {
        const found = readTable(await file.arrayBuffer(), file.name);
        for (const model of found) if (page.built.some(({ name }) => name === model.name)) model.name = `${model.name} (yours)`;
        page.mine = [...page.mine.filter((old) => !found.some((model) => model.name === old.name)), ...found];
      } catch (error) { page.refused.push(error.message); }
    }
    update();
  }

  function change(some) {
    page.state = { ...page.state, ...some };
    page.notes = [];
    const words = writeAddress();
    history.replaceState(null, "", words ? `#${words}` : location.pathname + location.search);
    update();
  }

  function update() {
    const turn = ++page.round;
    showControls(change);
    showMine();
    refit();
    showSummary();
    showCommands();
    setTimeout(showRest, 0, turn);
  }

  /** Draw what is further down once the answer itself is on the screen. */
  function showRest(turn) {
    if (turn !== page.round) return;
    showCurves();
    showFits();
  }

  function start(container) {
    const begun = performance.now();
    page.data = cogniload.data.cells;
    page.built = unpack(page.data);
    page.state = readAddress(location.hash);
    page.parts = Object.fromEntries(["controls", "summary", "coefficients", "capacity", "curves", "commands", "mine"].map((name) =>
      [name, el("div", { class: name === "curves" ? "plots" : `workbench-${name}` })]));
    page.parts.show = el("select", { id: "workbench-show", onchange: (event) => change({ show: event.target.value }) });
    page.parts.summary.setAttribute("role", "status");
    page.parts.mine.setAttribute("aria-live", "polite");
    const file = el("input", { type: "file", id: "workbench-file", accept: ".csv,text/csv", multiple: true, onchange: () => take([...file.files]) });
    const zone = el("div", { class: "drop-zone" }, el("label", { for: "workbench-file" }, "Drop a CSV file of your model here, or choose it: "), file,
      el("p", { class: "note" }, "It is read in this page, sent nowhere, and forgotten with the page. Columns: model, N, d, ratio_pct, total, correct. All answers of a model come into the book by make reproduce ADD=…"));
    const stop = (event) => { event.preventDefault(); zone.classList.toggle("over", event.type === "dragover"); };
    for (const name of ["dragover", "dragleave"]) document.addEventListener(name, stop);
    document.addEventListener("drop", (event) => { stop(event); take([...event.dataTransfer.files]); });
    container.replaceChildren(
      section("Regression", page.parts.controls, page.parts.summary, page.parts.commands), section("Your own model", zone, page.parts.mine),
      section("Curves of one model", el("p", {}, el("label", { for: "workbench-show" }, "Model: "), page.parts.show), page.parts.curves,
        el("p", { class: "note" }, "Points: all answers at a level, with 95% Wilson intervals; dashed bars: range over the reconstructions, where the level is not identified. ",
          "Solid: your formula, averaged over the same answers, with its range where it is not identified. Dashed: the paper's.")),
      section("Fit and capacity", page.parts.capacity), section("Coefficients", page.parts.coefficients));
    update();
    addEventListener("hashchange", () => { page.state = readAddress(location.hash); update(); });
    page.timing.ready = performance.now() - begun;
  }

  /** What the page holds, for whoever looks from outside: its fits as plain numbers. */
  const report = () => ({
    timing: { ...page.timing }, formula: spelledFormula(), notes: page.notes,
    fits: page.results.map(({ model, own: { identified, fits }, points }) => ({
      model: model.name, identified, tables: fits.length, status: fits[0].status, names: fits[0].names, coef: fits.map(({ coef }) => coef), se: fits[0].se, p: fits[0].p, aic: fits.map(({ aic }) => aic),
      points: Object.fromEntries(Object.entries(points).map(([point, { values }]) => [point, values[0]])),
    })),
  });

  return { start, report, change };
})();

document.addEventListener("DOMContentLoaded", () => cogniload.workbench.start(document.getElementById("workbench")));
