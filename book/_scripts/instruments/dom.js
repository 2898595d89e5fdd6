/* Pieces of a page: elements, tables, numbers as text, and lines to copy.
 *
 * Whatever comes from a file or an address enters the page as text, never as markup: nothing here reads HTML.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";

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
  const svg = (tag, properties = {}, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

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

  /** Make a table in a box of its own that scrolls; rows are arrays of text or nodes, the first cell heads its row, the
   *  others stand to the right unless their column is named in `left`. */
  function table({ caption, columns, rows, id, left = [] }) {
    const cell = (tag, content, properties = {}) => el(tag, properties, content);
    const body = rows.map((row) => el("tr", {}, row.map((content, at) =>
      at === 0 ? cell("th", content, { scope: "row" }) : cell("td", content, { class: left.includes(columns[at]) ? null : "text-right" }))));
    const head = el("tr", {}, columns.map((name) => cell("th", name, { scope: "col", class: left.includes(name) || name === columns[0] ? null : "text-right" })));
    const made = el("table", { class: "table", id }, caption && el("caption", {}, el("span", { class: "caption-text" }, caption)),
      el("thead", {}, head), el("tbody", {}, body));
    return el("div", { class: "pst-scrollable-table-container", tabindex: 0, role: "region",
      "aria-label": typeof caption === "string" ? caption : "table" }, made);
  }

  /** Make a line of code with a button that copies it. */
  function copyLine(text, what) {
    const said = el("span", { class: "said", role: "status" });
    const copy = async () => {
      said.textContent = (await copyText(text)) ? "copied" : "select the text and copy it";
      setTimeout(() => { said.textContent = ""; }, 3000);
    };
    return el("div", { class: "copy-line" }, el("pre", { tabindex: 0 }, el("code", {}, text)),
      el("button", { type: "button", onclick: copy, "aria-label": `Copy ${what}` }, "Copy"), said);
  }

  /** Copy text; from a file's address the clipboard may be closed, and an older way is tried. */
  async function copyText(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const box = el("textarea", { style: "position:fixed;opacity:0" });
      box.value = text;
      document.body.append(box);
      box.select();
      const done = document.execCommand("copy");
      box.remove();
      return done;
    }
  }

  /** Offer text as a file; it is made in the page and goes nowhere else. */
  function saveText(text, name, type = "text/csv") {
    const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    const link = el("a", { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  return { el, svg, number, stars, table, copyLine, copyText, saveText };
})();
