/* Compare: two models side by side, under one regression.
 *
 * Every number was computed with the book. The choice is kept in the address, after the #.
 */
"use strict";

cogniload.compare = (() => {
  const { el, table, menu, section } = cogniload.dom;
  const LONGEST_ADDRESS = 4000;
  const INSTEAD = "The page shows its usual choice instead.";
  let data, options, parts;

  /** The choice in an address, as indices into the menus; a sentence if it is not valid. */
  function readAddress(hash) {
    const [first, second] = data.pairs[0] ?? [0, 0];
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

  function update() {
    const choice = readAddress(location.hash);
    const regression = data.regressions[choice.regression];
    for (const name of Object.keys(options)) {
      document.getElementById(`compare-${name}`).selectedIndex = choice[name];
    }
    parts.problem.textContent = choice.problem;
    const shown = [...new Set([choice.first, choice.second])];
    parts.origin.textContent = shown.map((model) => data.origins[model]).join(" ");
    parts.pair.replaceChildren(showPair(choice));
    parts.accuracy.replaceChildren(showSheet("accuracy", data.accuracy, choice, makeBar));
    parts.overflow.replaceChildren(showSheet("overflow", data.overflow, choice));
    parts.formula.textContent = regression.formula;
    parts.fit.replaceChildren(showSheet("fit", regression, choice));
  }

  /** The difference of the two models, in the order of the build. */
  function showPair({ first, second }) {
    if (first === second) return "Choose two different models.";
    const wanted = [first, second].sort().join();
    const pair = data.pairs.find((places) => places.slice(0, 2).sort().join() === wanted);
    if (!pair) return "These two models have no cells in common.";
    const [minuend, subtrahend, rows] = pair;
    const names = `${data.models[minuend]} minus ${data.models[subtrahend]}`;
    const caption = `${names}. ${data.captions.pair}`;
    const columns = ["Puzzles", "Difference (points)", "Result"];
    return table({ id: "compare-pair", caption, columns, rows });
  }

  /** A row for each label that has a text for either model. */
  function showSheet(name, { labels, rows }, { first, second }, show = (text) => text) {
    const pairs = labels.map((label, at) => [label, rows[first][at], rows[second][at]]);
    const known = pairs.filter(([, ...texts]) => texts.some((text) => text !== "--"));
    const heading = name === "fit" ? "Quantity" : "Puzzles";
    return table({
      id: `compare-${name}-table`,
      caption: data.captions[name],
      columns: [heading, data.models[first], data.models[second]],
      rows: known.map(([label, ...texts]) => [label, ...texts.map(show)]),
    });
  }

  /** A percentage with a bar below it. */
  const makeBar = (text) =>
    el("span", { class: "share", style: `--share: ${parseFloat(text) || 0}%` }, text);

  function start(container) {
    data = cogniload.data.compare;
    const regressions = data.regressions.map(({ name }) => name);
    options = { first: data.models, second: data.models, regression: regressions };
    const choose = (name, label) =>
      menu(`compare-${name}`, label, options[name], (place) => change(name, place));
    parts = Object.fromEntries(
      ["pair", "accuracy", "overflow", "fit"].map((name) => [name, el("div")]),
    );
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

  return { start };
})();

document.addEventListener("DOMContentLoaded", () => {
  cogniload.compare.start(document.getElementById("compare"));
});
