/* Tables: rows sorted by a column and filtered by words; on every page of the book.
 *
 * They change only what the reader sees.
 */
"use strict";

cogniload.tables = (() => {
  const { el, findCalled } = cogniload.dom;
  const LEAST_ROWS = 4;
  const LEAST_TO_FILTER = 8;
  const PROSE_CHARACTERS = 30;
  const textOf = (cell) => cell?.textContent.trim().replace(/\s+/g, " ") ?? "";
  const isNothing = (text) => /^(–|--|—|)$/.test(text);

  /** The number at the start of a text, ignoring stars and commas; NaN for none. "< 0.001" is a
   *  little less than 0.001, "> 5" a little more than 5. */
  function numberOf(text) {
    const plain = text.replace(/^[−–](?=[\d.])/, "-").replace(/,(?=\d{3})/g, "");
    const found = /^([<>≤≥]?)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/.exec(plain);
    if (!found) return text === "∞" ? Infinity : NaN;
    const number = Number(found[2]);
    const bit = 1e-9 * (Math.abs(number) || 1);
    return number + ({ "<": -bit, ">": bit }[found[1]] ?? 0);
  }

  /** Compare two texts: numbers before words. */
  function compare(text, other) {
    const numbers = [numberOf(text), numberOf(other)];
    const known = numbers.map((number) => !Number.isNaN(number));
    if (known[0] && known[1]) return numbers[0] - numbers[1];
    if (known[0] !== known[1]) return known[0] ? -1 : 1;
    return text.localeCompare(other, "en", { numeric: true });
  }

  /** Sort the rows; those without a value stay last. */
  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((row, other) => {
      const texts = [row, other].map(({ cells }) => textOf(cells[column]));
      const [empty, otherEmpty] = texts.map(isNothing);
      return empty === otherEmpty ? direction * compare(...texts) : empty - otherEmpty;
    });
    body.append(...rows);
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    const order = direction > 0 ? "ascending" : "descending";
    table.tHead.rows[0].cells[column].setAttribute("aria-sort", order);
  }

  /** Show only rows with all words (any name of a model will do); return their number. */
  function filter(table, words) {
    const rows = [...table.tBodies[0].rows];
    const namesOf = (row) => [...row.cells].slice(0, 3).map(textOf);
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const called = wanted.map((word) => new Set(findCalled(rows.flatMap(namesOf), word)));
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const has = (word, at) =>
        text.includes(word) || namesOf(row).some((name) => called[at].has(name));
      row.hidden = !wanted.every(has);
    }
    return rows.filter((row) => !row.hidden).length;
  }

  function addSorting(table) {
    const rows = [...table.tBodies[0].rows];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const words = rows.filter((row) => Number.isNaN(numberOf(textOf(row.cells[column]))));
      const usual = words.length > rows.length / 2 ? 1 : -1;
      const turn = () => {
        const order = head.getAttribute("aria-sort");
        sort(table, column, { descending: 1, ascending: -1 }[order] ?? usual);
      };
      const properties = { type: "button", class: "sort", title: "Sort by this column" };
      head.append(el("button", { ...properties, onclick: turn }, [...head.childNodes]));
    });
  }

  function addFilter(table) {
    const said = el("span", { class: "said", role: "status" });
    const show = () => {
      const count = filter(table, field.value);
      const text = count
        ? `${count} of ${table.tBodies[0].rows.length} rows`
        : "no row has these words";
      said.textContent = field.value.trim() ? text : "";
    };
    const field = el("input", {
      type: "search",
      placeholder: "Filter rows",
      spellcheck: "false",
      "aria-label": "Show only rows with these words",
      oninput: show,
    });
    const box = table.closest(".pst-scrollable-table-container") ?? table;
    box.before(el("div", { class: "table-tools" }, said, field));
  }

  /** Add buttons for sorting, and a filter, to a plain table with enough rows. */
  function enhance(table) {
    const rows = table.tBodies[0]?.rows.length ?? 0;
    const isPlain = table.tHead?.rows.length === 1 && !table.querySelector("[colspan], [rowspan]");
    if (!isPlain || rows < LEAST_ROWS) return;
    addSorting(table);
    if (rows >= LEAST_TO_FILTER) addFilter(table);
  }

  /** Mark columns of sentences, so that narrow screens do not break them into single words. */
  function markProse(table) {
    const cells = [...(table.tBodies[0]?.rows ?? [])].flatMap((row) => [...row.cells]);
    const prose = cells.filter((cell) => cell.textContent.trim().length > PROSE_CHARACTERS);
    const columns = new Set(prose.map((cell) => cell.cellIndex));
    for (const cell of cells) cell.classList.toggle("prose", columns.has(cell.cellIndex));
  }

  return { enhance, markProse, numberOf };
})();

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".bd-article table.table")) {
    cogniload.tables.markProse(table);
    cogniload.tables.enhance(table);
  }
});
