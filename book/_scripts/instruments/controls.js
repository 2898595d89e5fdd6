/* Controls: chips, fields and buttons with which a reader chooses a regression.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.controls = (() => {
  const { el } = cogniload.dom;
  const { readFormula } = cogniload.regression;
  const { FAMILIES, LEVELS, page, fresh, writeFormula, spelledFormula, levelsOf } = cogniload.choices;
  const { SHOWN } = cogniload.views;
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
    const link = group("Link", FAMILIES.map((family) => chip(family, page.state.family === family, () => change({ family }), "radio", "family")));
    const answers = group("Answers that ran out of context", [["wrong", "count as wrong"], ["omitted", "left out"]].map(([value, text]) =>
      chip(text, page.state.overflows === value, () => change({ overflows: value }), "radio", "overflows")));
    const share = group("ρ", [["actual", "actual ratio, as in the paper"], ["nominal", "nominal ratio"]].map(([value, text]) =>
      chip(text, page.state.ratio === value, () => change({ ratio: value }), "radio", "ratio")));
    const levels = group("Levels fitted", Object.entries(LEVELS).map(([load, text]) => el("div", { class: "chips" }, levelsOf(load).map((level) =>
      chip(`${text} ${level}${load === "ratio_pct" ? "%" : ""}`, !page.state.omit.includes(`${load}:${level}`), (event) => change({ omit: toggle(page.state.omit, `${load}:${level}`, !event.target.checked) }))))));
    const chosen = page.built.length - page.state.without.length;
    const models = el("details", { open: page.parts?.models?.open }, el("summary", {}, `Models: ${chosen} of ${page.built.length}`), el("div", { class: "chips" }, page.built.map((model) =>
      chip(model.name, !page.state.without.includes(model.name), (event) => change({ without: toggle(page.state.without, model.name, !event.target.checked) })))));
    const reset = el("button", { type: "button", onclick: () => change(fresh()) }, "Back to the paper's regression");
    const formula = el("p", { class: "formula" }, el("code", {}, spelledFormula()));
    return { models, all: [formula, el("div", { class: "groups" }, terms, more, link, share, answers, levels), models, reset] };
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

  return { showControls };
})();
