/* Choices: what a reader has chosen on the workbench, and the address that keeps it behind the #, so that a link shows the same.
 *
 * `page` is what the workbench's scripts share: counts that are given (data, built) and dropped, what is chosen (state), what
 * follows from it (results, timing, round), and where it is shown (parts).
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.choices = (() => {
  const { readFormula } = cogniload.regression;
  const FAMILIES = ["logit", "probit", "cloglog", "quasi-binomial"];
  const LEVELS = { d: "d", N: "N", ratio_pct: "ρ" };
  const page = { dropped: [], timing: {}, round: 0 };

  const paperTerms = () => readFormula(page.data.formulas.paper).map(({ text }) => text);

  const fresh = () => ({
    terms: paperTerms(), family: "logit", omit: [], overflows: "wrong", ratio: "actual", without: [],
    coefficient: "", show: "",
  });

  /** Write the state as what stands behind the # of the address: only what is not the paper's. */
  function writeAddress() {
    const words = new URLSearchParams(), normal = fresh();
    if (page.state.terms.join() !== normal.terms.join()) words.set("formula", writeFormula(page.state.terms));
    if (page.state.family !== "logit") words.set("family", page.state.family);
    for (const name of ["omit", "without"]) if (page.state[name].length) words.set(name, page.state[name].join("|"));
    for (const name of ["overflows", "ratio"]) if (page.state[name] !== normal[name]) words.set(name, page.state[name]);
    for (const name of ["coefficient", "show"]) if (page.state[name]) words.set(name, page.state[name]);
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
    found.without = (words.get("without") ?? "").split("|").filter((name) => page.built.some((model) => model.name === name));
    for (const name of ["coefficient", "show"]) found[name] = words.get(name) ?? "";
    return found;
  }

  const writeFormula = (terms) => `correct ~ ${terms.length ? terms.join(" + ") : "1"}`;

  /** The formula as `make fit` takes it: with the nominal share spelled out. */
  function spelledFormula() {
    const plain = writeFormula(page.state.terms);
    return page.state.ratio === "nominal" ? plain.replace(/I\(rho\*\*(\d)\)/g, "I((ratio_pct / 100)**$1)").replace(/\brho\b/g, "I(ratio_pct / 100)") : plain;
  }

  const levelsOf = (load) => [...new Set(page.built.flatMap((model) => model.cells.map((cell) => cell[load])))].sort((a, b) => a - b);

  return { FAMILIES, LEVELS, page, paperTerms, fresh, writeAddress, readAddress, writeFormula, spelledFormula, levelsOf };
})();
