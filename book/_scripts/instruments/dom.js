/* Pieces of a page: elements, tables, numbers as text, and text to copy or save. On every page of the book.
 *
 * Whatever comes from a file or an address enters the page as text, never as markup: nothing here reads HTML.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.dom = (() => {
  function fill(node, properties, children) {
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
    return node;
  }
  /** Make an element: properties are attributes, those that begin with "on" are listeners; children nodes or text. */
  const el = (tag, properties = {}, ...children) => fill(document.createElement(tag), properties, children);
  const svg = (tag, properties = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

  /** Two decimals, or as many digits as two significant ones need; a true minus. */
  function number(value, digits = 2) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    let text = size >= 1e6 || (size > 0 && size < 1e-4) ? value.toExponential(1) : value.toFixed(digits);
    if (size > 0 && size < 0.1 && size >= 1e-4) text = value.toPrecision(2);
    return text.replace("-", "−");
  }
  const stars = (p, levels) => "*".repeat(levels.filter((level) => p < level).length);

  /** Make a table in a box of its own that scrolls; rows are arrays of text or nodes, the first cell heads its row, the others stand
   *  to the right unless their column is named in `left`. */
  function table({ caption, columns, rows, id, left = [] }) {
    const side = (name) => (left.includes(name) ? null : "text-right");
    const body = rows.map((row) => el("tr", {}, row.map((content, at) => (at === 0 ? el("th", { scope: "row" }, content) : el("td", { class: side(columns[at]) }, content)))));
    const head = el("tr", {}, columns.map((name, at) => el("th", { scope: "col", class: at ? side(name) : null }, name)));
    return el("div", { class: "pst-scrollable-table-container", tabindex: 0, role: "region", "aria-label": caption },
      el("table", { class: "table", id }, el("caption", {}, el("span", { class: "caption-text" }, caption)), el("thead", {}, head), el("tbody", {}, body)));
  }

  const squash = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  /** All names of a model, full and short, that one of them stands for; only itself for any other text. */
  const callNames = (text) => (cogniload.data?.models ?? []).find((names) => names.includes(text)) ?? [text];
  /** Which of these models have a name with these letters; if none has, whatever stands between the letters. */
  function findCalled(models, letters) {
    const wanted = letters.trim().toLowerCase(), having = (same) => models.filter((name) => callNames(name).some((one) => same(one).includes(same(wanted))));
    const found = wanted ? having((text) => text.toLowerCase()) : [];
    return found.length || !squash(wanted) ? found : having(squash);
  }

  /** Make a line of code with a button that copies it, and says whether that was possible. */
  function copyLine(text, what) {
    const said = el("span", { class: "said", role: "status" });
    const copy = async () => {
      said.textContent = await Promise.resolve().then(() => navigator.clipboard.writeText(text)).then(() => "copied", () => "could not be copied");
      setTimeout(() => { said.textContent = ""; }, 3000);
    };
    return el("div", { class: "copy-line" }, el("pre", { tabindex: 0 }, el("code", {}, text)), el("button", { type: "button", onclick: copy, "aria-label": `Copy ${what}` }, "Copy"), said);
  }

  /** A page's sections: each a heading and what stands below it. */
  const section = (title, ...inside) => el("section", {}, el("h2", {}, title), inside);
  /** Change a page without taking the keyboard from the element of that name. */
  function keepFocus(redraw) {
    const { id } = document.activeElement ?? {};
    redraw();
    if (id && document.activeElement?.id !== id) document.getElementById(id)?.focus();
  }
  const sortLevels = (levels) => [...new Set(levels)].sort((a, b) => a - b);

  return { el, svg, number, stars, table, callNames, findCalled, copyLine, section, keepFocus, sortLevels };
})();
