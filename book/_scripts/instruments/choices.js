/* Choices: what a reader has chosen on the workbench, and the address that keeps it behind the #, so that a link shows the same.
 *
 * `page` is what the workbench's scripts share: counts of the build and of the reader's models (data, built, mine), what is chosen
 * (state, with notes on what an address holds that was not understood), what follows (results, timing, round), and where it is
 * shown (parts).
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.choices = (() => {
  const { readFormula } = cogniload.regression;
  const FAMILIES = ["logit", "probit", "cloglog", "quasi-binomial"];
  const LEVELS = { d: "d", N: "N", ratio_pct: "ρ" };
  const page = { mine: [], timing: {}, round: 0, notes: [] };

  const paperTerms = () => readFormula(page.data.formulas.paper).terms.map(({ text }) => text);
  const fresh = () => ({ terms: paperTerms(), family: "logit", omit: [], overflows: "wrong", ratio: "actual", without: [], show: "" });

  /** Write the state as what stands behind the # of the address: only what is not the paper's. */
  function writeAddress() {
    const words = new URLSearchParams(), usual = fresh();
    if (page.state.terms.join() !== usual.terms.join()) words.set("formula", writeFormula(page.state.terms));
    for (const name of ["omit", "without"]) if (page.state[name].length) words.set(name, page.state[name].join("|"));
    for (const name of ["family", "overflows", "ratio", "show"]) if (page.state[name] !== usual[name]) words.set(name, page.state[name]);
    return words.toString();
  }

  /** Read a state from an address, and note in `page.notes` whatever is not understood; that stays as in the paper. */
  function readAddress(text) {
    const words = new URLSearchParams(text.replace(/^#/, "")), found = fresh();
    page.notes = [];
    const refuse = (name, value) => page.notes.push(`${name} “${value.slice(0, 200)}”`);
    const pick = (name, known) => {
      const all = (words.get(name) ?? "").split("|").filter(Boolean);
      all.filter((one) => !known.includes(one)).forEach((one) => refuse(name, one));
      return all.filter((one) => known.includes(one));
    };
    if (words.has("formula")) {
      const { terms, unknown } = readFormula(words.get("formula"));
      unknown.forEach((one) => refuse("formula", one));
      if (!unknown.length) found.terms = terms.map((term) => term.text);
    }
    for (const [name, known] of Object.entries({ family: FAMILIES, overflows: ["wrong", "omitted"], ratio: ["actual", "nominal"] })) found[name] = pick(name, known)[0] ?? found[name];
    found.omit = pick("omit", Object.keys(LEVELS).flatMap((load) => levelsOf(load).map((level) => `${load}:${level}`)));
    found.without = pick("without", page.built.map(({ name }) => name));
    found.show = words.get("show") ?? "";
    return found;
  }

  const writeFormula = (terms) => `correct ~ ${terms.length ? terms.join(" + ") : "1"}`;

  /** The formula as `make fit` takes it: with the nominal ratio spelled out. */
  function spelledFormula() {
    const plain = writeFormula(page.state.terms);
    return page.state.ratio === "nominal" ? plain.replaceAll("C(rho)", "C(ratio_pct)").replace(/I\(rho\*\*(\d)\)/g, "I((ratio_pct / 100)**$1)").replace(/\brho\b/g, "I(ratio_pct / 100)") : plain;
  }

  const levelsOf = (load) => [...new Set(page.built.flatMap((model) => model.cells.map((cell) => cell[load])))].sort((a, b) => a - b);

  return { FAMILIES, LEVELS, page, paperTerms, fresh, writeAddress, readAddress, writeFormula, spelledFormula, levelsOf };
})();
