/* Tables: rows sorted by a column, filtered by words, the first ten shown; on every page of the book.
 *
 * Only tables of four rows and more get buttons. Order and filter are what the reader sees, nothing else changes.
 */
"use strict";

cogniload.tables = (() => {
  const { el, findCalled } = cogniload.dom;
  const LEAST_ROWS = 4, LEAST_TO_FILTER = 8, SHOWN = 10, LEAST_TO_FOLD = 14, LONG = 30;
  const textOf = (cell) => (cell?.querySelector(".estimate")?.firstChild ?? cell)?.textContent.trim().replace(/\s+/g, " ") ?? "";

  /** The number that a cell begins with, without stars, thousands' commas and signs of percent; NaN for none. "< 0.001" is a little less
   *  than 0.001, "> 5" a little more than 5. */
  function numberOf(text) {
    const plain = text.replace(/^[−–](?=[\d.])/, "-").replace(/,(?=\d{3})/g, "");
    const found = /^([<>≤≥]?)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/.exec(plain);
    if (!found) return text === "∞" ? Infinity : NaN;
    const number = Number(found[2]), bit = 1e-9 * (Math.abs(number) || 1);
    return number + (found[1] === "<" ? -bit : found[1] === ">" ? bit : 0);
  }

  /** Compare two cells: numbers before words; equal ones keep their order. */
  function compare(one, other) {
    const [a, b] = [numberOf(one), numberOf(other)];
    if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b;
    if (Number.isNaN(a) !== Number.isNaN(b)) return Number.isNaN(a) ? 1 : -1;
    return one.localeCompare(other, "en", { numeric: true });
  }

  function sort(table, column, direction) {
    const body = table.tBodies[0], isNothing = (row) => /^(–|--|—|)$/.test(textOf(row.cells[column]));
    body.append(...[...body.rows].sort((one, other) => {
      if (isNothing(one) !== isNothing(other)) return isNothing(one) ? 1 : -1;
      return direction * compare(textOf(one.cells[column]), textOf(other.cells[column]));
    }));
    [...table.tHead.rows[0].cells].forEach((head, at) =>
      at === column ? head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
    table.dispatchEvent(new Event("rows"));
  }

  /** Show the rows that have all words, a model by any of its names; of these the first ten unless all are asked for. */
  function filter(table, words, all = true) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean), rows = [...table.tBodies[0].rows], nameOf = (row) => [...row.cells].slice(0, 3).map(textOf);
    const called = wanted.map((word) => new Set(findCalled(rows.flatMap(nameOf), word)));
    const matching = rows.filter((row) => {
      row.hidden = !wanted.every((word, at) => row.textContent.toLowerCase().includes(word) || nameOf(row).some((name) => called[at].has(name)));
      row.classList.remove("folded");
      return !row.hidden;
    });
    if (!all) matching.slice(SHOWN).forEach((row) => row.classList.add("folded"));
    return matching.length;
  }

  /** Give a table its buttons; a table that has them already stays as it is. */
  function enhance(table) {
    const body = table?.tBodies[0];
    if (!body || table.dataset.enhanced || table.tHead?.rows.length !== 1 || body.rows.length < LEAST_ROWS || table.querySelector("[colspan], [rowspan]")) return;
    table.dataset.enhanced = "yes";
    const isText = (column) => [...body.rows].filter((row) => Number.isNaN(numberOf(textOf(row.cells[column])))).length > body.rows.length / 2;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const turn = () => sort(table, column, { descending: 1, ascending: -1 }[head.getAttribute("aria-sort")] ?? (isText(column) ? 1 : -1));
      head.append(el("button", { type: "button", class: "sort", title: "Sort by this column", onclick: turn }, [...head.childNodes]));
    });
    const box = table.closest(".pst-scrollable-table-container") ?? table, said = el("span", { class: "said", role: "status" });
    const field = el("input", { type: "search", placeholder: "Filter rows", spellcheck: "false", "aria-label": "Show only rows with these words", oninput: () => show() });
    let all = body.rows.length < LEAST_TO_FOLD;
    const more = el("button", { type: "button", class: "more-rows", onclick: () => { all = true; show(); } });
    const show = () => {
      const count = filter(table, field.value, all);
      said.textContent = !field.value.trim() ? "" : count ? `${count} of ${body.rows.length} rows` : "no row has these words";
      more.hidden = all || count <= SHOWN;
      more.textContent = `Show all ${count} rows`;
    };
    box.before(el("div", { class: "table-tools" }, said, body.rows.length >= LEAST_TO_FILTER && field));
    box.after(more);
    table.addEventListener("rows", show);
    show();
  }

  /** Mark the columns of sentences, which a narrow screen must not break into single words. */
  function markProse(table) {
    const cells = [...(table.tBodies[0]?.rows ?? [])].flatMap((row) => [...row.cells]);
    const columns = new Set(cells.filter((cell) => cell.textContent.trim().length > LONG).map((cell) => cell.cellIndex));
    for (const cell of cells) if (columns.has(cell.cellIndex)) cell.classList.add("prose");
  }

  return { enhance, markProse, numberOf };
})();

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".bd-article table.table")) {
    cogniload.tables.markProse(table);
    cogniload.tables.enhance(table);
  }
});
