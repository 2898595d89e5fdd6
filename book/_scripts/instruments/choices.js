/* Choices: what a reader has chosen on the workbench, the controls for it, and the address that keeps it behind the #, so that a link
 * shows the same.
 *
 * `page` is what the workbench's scripts share: counts of the build and of the reader's models (data, built, mine), what is chosen
 * (state, with notes on what an address holds that was not understood), what follows (results, timing, round), and where it is
 * shown (parts).
 */
"use strict";

cogniload.choices = (() => {
  const { el, sortLevels } = cogniload.dom;
  const { readFormula } = cogniload.regression;
  const SHOWN = {
    "I(d**2)": "d²", "C(d)": "d as factor", "log10_N": "log₁₀ N", "I(log10_N**2)": "(log₁₀ N)²", "C(N)": "N as factor",
    "rho": "ρ", "I(rho**2)": "ρ²", "I(rho**3)": "ρ³", "C(rho)": "ρ as factor", "d:log10_N": "d × log₁₀ N", "d:rho": "d × ρ",
    "log10_N:rho": "log₁₀ N × ρ", "d:log10_N:rho": "d × log₁₀ N × ρ",
  };
  const FAMILIES = ["logit", "quasi-binomial"];
  const LEVELS = { d: "d", N: "N", ratio_pct: "ρ" };
  const page = { mine: [], refused: [], timing: {}, round: 0, notes: [] };

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

  /** The formula as `cogniload fit` takes it: with the nominal ratio spelled out. */
  function spelledFormula() {
    const plain = writeFormula(page.state.terms);
    return page.state.ratio === "nominal" ? plain.replaceAll("C(rho)", "C(ratio_pct)").replace(/I\(rho\*\*(\d)\)/g, "I((ratio_pct / 100)**$1)").replace(/\brho\b/g, "I(ratio_pct / 100)") : plain;
  }

  const levelsOf = (load) => sortLevels(page.built.flatMap((model) => model.cells.map((cell) => cell[load])));

  // ---- controls: chips, fields and buttons ---------------------------------------------------------------------------
  const CHIPS = {
    "Difficulty": ["d", "I(d**2)", "C(d)"],
    "Length": ["log10_N", "N", "I(log10_N**2)", "C(N)"],
    "Needle ratio": ["rho", "I(rho**2)", "I(rho**3)"],
    "Products": ["d:log10_N", "d:rho", "log10_N:rho", "d:log10_N:rho"],
  };

  function buildControls(change) {
    const chip = (text, checked, onchange, kind = "checkbox", name = null) => {
      const box = el("input", { type: kind, name, onchange });
      box.checked = checked;
      return el("label", { class: "chip" }, box, el("span", {}, text));
    };
    const group = (title, ...inside) => el("fieldset", {}, el("legend", {}, title), inside);
    const toggle = (list, one, on) => (on ? [...list.filter((other) => other !== one), one] : list.filter((other) => other !== one));
    const inOrder = (terms) => readFormula(writeFormula(terms)).terms.map((term) => term.text);
    const known = Object.values(CHIPS).flat();
    const terms = Object.entries(CHIPS).map(([title, list]) => group(title, list.map((term) =>
      chip(SHOWN[term] ?? term, page.state.terms.includes(term), (event) => change({ terms: inOrder(toggle(page.state.terms, term, event.target.checked)) })))));
    const others = page.state.terms.filter((term) => !known.includes(term));
    const field = el("input", { type: "text", size: 12, id: "workbench-term", placeholder: "d * rho", spellcheck: "false", autocomplete: "off" });
    const problem = el("span", { class: "problem", role: "status" });
    const add = (event) => {
      event.preventDefault();
      const { terms: added, unknown } = readFormula(field.value);
      if (unknown.length) problem.textContent = `Not understood: ${unknown.join(" + ")}. A term is d, N, log10_N or rho, a power I(d**2) up to 6, C(d), or a product N:rho or d * N.`;
      else change({ terms: inOrder(added.reduce((all, { text }) => toggle(all, text, true), page.state.terms)) });
    };
    const more = group("Any other term", others.map((term) => chip(SHOWN[term] ?? term, true, () => change({ terms: toggle(page.state.terms, term, false) }))),
      el("form", { onsubmit: add }, el("label", { for: "workbench-term", class: "unseen" }, "Another term"), field, el("button", {}, "Add")), problem);
    const radios = (title, name, options) => group(title, Object.entries(options).map(([value, text]) =>
      chip(text, page.state[name] === value, () => change({ [name]: value }), "radio", name)));
    const family = radios("Family", "family", Object.fromEntries(FAMILIES.map((family) => [family, family])));
    const answers = radios("Answers that ran out of context", "overflows", { wrong: "count as wrong", omitted: "left out" });
    const share = radios("ρ", "ratio", { actual: "actual ratio, as in the paper", nominal: "nominal ratio" });
    const levels = group("Levels fitted", Object.entries(LEVELS).map(([load, text]) => el("div", { class: "chips" }, levelsOf(load).map((level) =>
      chip(`${text} ${level}${load === "ratio_pct" ? "%" : ""}`, !page.state.omit.includes(`${load}:${level}`), (event) => change({ omit: toggle(page.state.omit, `${load}:${level}`, !event.target.checked) }))))));
    const chosen = page.built.length - page.state.without.length;
    const models = el("details", { open: page.parts?.models?.open }, el("summary", {}, `Models: ${chosen} of ${page.built.length}`), el("div", { class: "chips" }, page.built.map((model) =>
      chip(model.name, !page.state.without.includes(model.name), (event) => change({ without: toggle(page.state.without, model.name, !event.target.checked) })))));
    const reset = el("button", { type: "button", onclick: () => change(fresh()) }, "Back to the paper's regression");
    const formula = el("p", { class: "formula" }, el("code", {}, spelledFormula()));
    return { models, all: [formula, el("div", { class: "groups" }, terms, more, family, share, answers, levels), models, reset] };
  }

  /** Build the controls again without losing the place of the keyboard; `change` is told of every choice. */
  function showControls(change) {
    const inputs = () => [...page.parts.controls.querySelectorAll("input, button, summary")];
    const labels = inputs().map((one) => one.closest("label, summary, button")?.textContent ?? one.id);
    const focus = document.activeElement && inputs().indexOf(document.activeElement);
    const wanted = focus >= 0 ? labels[focus] : null;
    const { models, all } = buildControls(change);
    page.parts.models = models;
    page.parts.controls.replaceChildren(...all);
    if (wanted !== null) inputs().find((one) => (one.closest("label, summary, button")?.textContent ?? one.id) === wanted)?.focus();
  }

  return { SHOWN, page, paperTerms, writeAddress, readAddress, writeFormula, spelledFormula, showControls };
})();
