/* Parts of pages: elements, tables, names of models. Loaded on every page of the book.
 *
 * Whatever comes from a file or an address enters the page as text, never as markup.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.dom = (() => {
  /** Make an element: properties are attributes, those that begin with "on" are listeners. */
  function el(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null) node.setAttribute(name, value);
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== false));
    return node;
  }

  /** Make a table in a box that scrolls; a row is texts or nodes, the first its heading. */
  function table({ id, caption, columns, rows, isText = false }) {
    const side = isText ? null : "text-right";
    const head = columns.map((name, at) =>
      el("th", { scope: "col", class: at ? side : null }, name),
    );
    const makeRow = ([first, ...cells]) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, first),
        cells.map((cell) => el("td", { class: side }, cell)),
      );
    return el(
      "div",
      {
        class: "pst-scrollable-table-container",
        tabindex: 0,
        role: "region",
        "aria-label": caption,
      },
      el(
        "table",
        { class: "table", id },
        el("caption", {}, el("span", { class: "caption-text" }, caption)),
        el("thead", {}, el("tr", {}, head)),
        el("tbody", {}, rows.map(makeRow)),
      ),
    );
  }

  /** A labelled menu; the value of an option is the index of its text. */
  function menu(id, label, texts, onchange) {
    const options = texts.map((text, at) => el("option", { value: at }, text));
    const select = el("select", { id, onchange: () => onchange(select.selectedIndex) }, options);
    return el("span", { class: "choice" }, el("label", { for: id }, label), select);
  }

  /** The rows of a table that the data hold as columns. */
  function readRows(columns) {
    const names = Object.keys(columns);
    const readRow = (at) => Object.fromEntries(names.map((name) => [name, columns[name][at]]));
    return columns[names[0]].map((_, at) => readRow(at));
  }

  /** A section of a page: a heading and its content. */
  const section = (title, ...inside) => el("section", {}, el("h2", {}, title), inside);

  const squash = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

  /** All names, full and short, of the model that a text names; the text itself if none. */
  const callNames = (text) =>
    (cogniload.data?.models ?? []).find((names) => names.includes(text)) ?? [text];

  /** The models with these letters in a name; if there are none, punctuation is ignored. */
  function findCalled(models, letters) {
    const wanted = letters.trim().toLowerCase();
    if (!wanted) return [];
    const having = (plain) =>
      models.filter((model) =>
        callNames(model).some((name) => plain(name).includes(plain(wanted))),
      );
    const found = having((text) => text.toLowerCase());
    return found.length || !squash(wanted) ? found : having(squash);
  }

  return { el, table, menu, readRows, section, callNames, findCalled };
})();
