/* Workbench: the page on which a reader changes the regression.
 *
 * Every change fits all models again and draws what follows. Intervals of capacity points take longest and are filled in
 * afterwards. Files are read here and go nowhere.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.workbench = (() => {
  const { el } = cogniload.dom;
  const { unpack, readTable, accuracy } = cogniload.cells;
  const { page, writeAddress, readAddress, spelledFormula } = cogniload.choices;
  const { refit, describeDropped, unfold, findIntervals, answer } = cogniload.refits;
  const { showConclusions, showFits, showSummary, showCommands, showForest, showCurves, showPlaces } = cogniload.views;
  const { showControls } = cogniload.controls;

  const sameCell = (one, other) => one.N === other.N && one.d === other.d && one.ratio_pct === other.ratio_pct;

  /** The configurations that all models of the build together have, as those of the most thorough. */
  const wholeGrid = () => page.built.reduce((most, one) => (one.cells.length > most.length ? one.cells : most), []);

  const readDropped = () => cogniload.dropped.read().map((model) => ({ ...model, family: "Dropped here", color: null, paper: false, dropped: true }));

  /** Keep the dropped models for the book's other pages, and show them. */
  function shareDropped() {
    const grid = wholeGrid(), isWhole = (model) => model.cells.length === grid.length && grid.every((cell) => model.cells.some((one) => sameCell(one, cell)));
    showDropped(cogniload.dropped.keep(page.dropped.map((model) => ({ ...describeDropped(model), whole: isWhole(model) }))));
  }

  /** Show the dropped models with what they lack, whether the browser keeps them, and how to take them out. */
  function showDropped(kept) {
    const takeOut = (model) => { page.dropped = page.dropped.filter((one) => one !== model); shareDropped(); update(); };
    const list = page.dropped.map((model) => el("li", {}, describeCoverage(model), " ", el("button", { type: "button", class: "link", onclick: () => takeOut(model) }, "take out")));
    page.parts.taken.replaceChildren(...(page.dropped.length ? [el("ul", {}, list), el("p", { class: "note" }, kept
      ? "Kept in this browser only: the figures and tables of the chapters show it too, marked, until it is taken out."
      : "This browser keeps nothing for the book's other pages, so that it is shown on this page only, and until it is closed.")] : []));
  }

  /** Say what a dropped table lacks beside the configurations of the others. */
  function describeCoverage(model) {
    const whole = wholeGrid();
    const there = whole.filter((cell) => model.cells.some((one) => sameCell(one, cell))).length;
    const more = model.cells.length - there, { n } = accuracy(model.cells, page.data.z);
    return `${model.name}: ${n.toLocaleString("en")} answers in ${model.cells.length} configurations, ${there} of the ${whole.length} that the others have` +
      `${there < whole.length ? ` (${whole.length - there} are missing)` : ""}${more ? ` and ${more} others` : ""}` +
      `${model.cells.some((cell) => cell.ctx === null) ? "; overflows are not counted in it (no column ctx)" : ""}.`;
  }

  async function take(file) {
    try {
      if (/\.parquet$/i.test(file.name)) throw new Error(`${file.name} is Parquet, which this page does not read; \`make render\` beside it, or write it as CSV.`);
      const found = readTable(await file.text(), file.name);
      const clash = found.filter((model) => page.built.some((one) => one.name === model.name));
      for (const model of clash) model.name = `${model.name} (dropped)`;
      page.dropped = [...page.dropped.filter((old) => !found.some((model) => model.name === old.name)), ...found];
      shareDropped();
      update();
    } catch (error) {
      page.parts.taken.replaceChildren(el("p", { class: "problem", role: "alert" }, error.message));
    }
  }

  function change(some) {
    page.state = { ...page.state, ...some };
    const words = writeAddress();
    history.replaceState(null, "", words ? `#${words}` : location.pathname + location.search);
    update();
  }

  function update() {
    const turn = ++page.round;
    page.timing.intervals = false;
    showControls(change);
    refit();
    const changed = showConclusions();
    showSummary(changed);
    showCommands();
    setTimeout(showRest, 0, turn);
  }

  /** Draw what stands further down once the answer itself is on the screen. */
  function showRest(turn) {
    if (turn !== page.round) return;
    showCurves();
    showForest();
    showFits();
    showPlaces();
    setTimeout(findIntervals, 0, turn, () => { showFits(); showPlaces(); });
  }

  function start(node) {
    const begun = performance.now();
    page.data = cogniload.data.cells;
    page.built = unpack(page.data);
    page.dropped = readDropped();
    page.state = readAddress(location.hash);
    const pick = (name) => el("select", { id: `workbench-${name}`, onchange: (event) => change({ [name]: event.target.value }) });
    const part = (title, ...inside) => el("section", {}, el("h2", {}, title), inside);
    page.parts = Object.fromEntries(["controls", "summary", "conclusions", "coefficients", "capacity", "forest", "curves", "commands", "places", "taken"].map((name) =>
      [name, el("div", { class: name === "curves" ? "plots" : `workbench-${name}` })]));
    Object.assign(page.parts, { coefficient: pick("coefficient"), show: pick("show") });
    page.parts.summary.setAttribute("role", "status");
    page.parts.taken.setAttribute("aria-live", "polite");
    const file = el("input", { type: "file", id: "workbench-file", accept: ".csv,text/csv", multiple: true, onchange: () => [...file.files].forEach(take) });
    const zone = el("div", { class: "drop-zone" }, el("label", { for: "workbench-file" },
      "Drop a cells.csv of your model here, or choose it: "), file, el("p", { class: "note" }, "It is read in this page and sent nowhere. ",
      "Columns: model, N, d, rho (or ratio_pct), n, correct and, if you have it, ctx; or model, name and bucket of single scores."));
    const stop = (event) => { event.preventDefault(); zone.classList.toggle("over", event.type === "dragover"); };
    for (const name of ["dragover", "dragleave"]) document.addEventListener(name, stop);
    document.addEventListener("drop", (event) => { stop(event); [...event.dataTransfer.files].forEach(take); });
    node.replaceChildren(
      part("Regression", page.parts.controls, page.parts.summary, page.parts.commands), part("The paper's sentences", page.parts.conclusions),
      part("Your own model", zone, page.parts.taken, page.parts.places),
      part("One model's curves", el("p", {}, el("label", { for: "workbench-show" }, "Model: "), page.parts.show), page.parts.curves,
        el("p", { class: "note" }, "Large points: all answers at a level, with 95% Wilson intervals. Small ones: single configurations. Solid: your formula, ",
          "averaged over the same answers. Dashed: the paper's.")),
      part("One coefficient of all models", el("p", {}, el("label", { for: "workbench-coefficient" }, "Coefficient: "), page.parts.coefficient), page.parts.forest),
      part("Fit and capacity", page.parts.capacity), part("Coefficients", page.parts.coefficients));
    if (page.dropped.length) shareDropped();
    update();
    document.addEventListener("cogniload-dropped", () => { page.dropped = readDropped(); showDropped(true); update(); });
    addEventListener("hashchange", () => { page.state = readAddress(location.hash); update(); });
    page.timing.ready = performance.now() - begun;
  }

  /** What the page holds, for whoever looks from outside: its fits as plain numbers. */
  const report = () => ({
    timing: { ...page.timing }, formula: spelledFormula(),
    fits: page.results.map(({ model, own, points }) => ({ model: model.name, status: own.status, names: own.names, coef: own.coef, se: own.se, p: own.p, aic: own.aic,
      points: Object.fromEntries(Object.entries(points).map(([point, { estimate, ends }]) => [point, [estimate, ...(ends ?? [])].map((one) => unfold(point, one))])) })),
    answers: page.data.questions.map((question) => answer(question)),
  });

  return { start, report, change, take };
})();

document.addEventListener("DOMContentLoaded", () => {
  const home = document.getElementById("workbench");
  if (home) cogniload.workbench.start(home);
});
