/* Tables: rows sorted by a column, rows filtered by a word, the table copied as CSV; on every page of the book.
 *
 * Only tables of four rows and more get buttons. Order and filter are what the reader sees, nothing else changes.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.tables = (() => {
  const LEAST_ROWS = 4, LEAST_TO_FILTER = 8, LONG = 30;
  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const textOf = (cell) => (cell.querySelector(".estimate")?.firstChild ?? cell).textContent.trim().replace(/\s+/g, " ");

  /** The number that a cell begins with, without stars, thousands' commas and signs of percent; NaN for none. */
  function numberOf(text) {
    const plain = text.replace(/^[−–](?=[\d.])/, "-").replace(/,(?=\d{3})/g, "");
    const found = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/.exec(plain);
    return found ? Number(found[0]) : text === "∞" ? Infinity : NaN;
  }

  /** Compare two cells: numbers before words, what is empty last; equal ones keep their order. */
  function compare(one, other) {
    const [a, b] = [numberOf(one), numberOf(other)];
    if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b;
    if (Number.isNaN(a) !== Number.isNaN(b)) return Number.isNaN(a) ? 1 : -1;
    return one.localeCompare(other, "en", { numeric: true });
  }

  function sort(table, column, direction) {
    const body = table.tBodies[0], rows = [...body.rows];
    const isNothing = (row) => /^(–|--|—|)$/.test(textOf(row.cells[column] ?? row));
    rows.sort((one, other) => {
      if (isNothing(one) !== isNothing(other)) return isNothing(one) ? 1 : -1;
      return direction * compare(textOf(one.cells[column]), textOf(other.cells[column]));
    });
    body.append(...rows);
    [...table.tHead.rows[0].cells].forEach((head, at) =>
      at === column ? head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
  }

  function filter(table, words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) row.hidden = !wanted.every((word) => row.textContent.toLowerCase().includes(word));
  }

  /** The rows that are seen, as CSV; no text of it is taken for a formula by a spreadsheet. */
  function writeCsv(table) {
    const guard = (text) => (/^[=+@\t]|^-(?![\d.–-]*$)/.test(text) && Number.isNaN(numberOf(text)) ? `'${text}` : text);
    const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const cellText = (cell) => {
      const copy = cell.cloneNode(true);
      copy.querySelectorAll("mjx-assistive-mml, small + small").forEach((node) => node.remove());
      copy.querySelectorAll("small").forEach((node) => node.prepend(" ("));
      copy.querySelectorAll("small").forEach((node) => node.append(")"));
      return (cell.dataset.plain ?? copy.textContent).trim().replace(/\s+/g, " ").replace(/^−/, "-");
    };
    const rows = [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter((row) => !row.hidden)];
    return `${rows.map((row) => [...row.cells].map((cell) => quote(guard(cellText(cell)))).join(",")).join("\n")}\n`;
  }

  async function copy(table, said) {
    let done = true;
    try { await navigator.clipboard.writeText(writeCsv(table)); } catch {
      const box = make("textarea", { value: writeCsv(table) });
      document.body.append(box);
      box.select();
      done = document.execCommand("copy");
      box.remove();
    }
    said.textContent = done ? "copied" : "could not be copied";
    setTimeout(() => { said.textContent = ""; }, 3000);
  }

  /** Give a table its buttons; a table that has them already stays as it is. */
  function enhance(table) {
    if (!table || table.dataset.enhanced || !table.tHead || table.tHead.rows.length !== 1) return;
    const body = table.tBodies[0];
    if (!body || body.rows.length < LEAST_ROWS || table.querySelector("[colspan], [rowspan]")) return;
    table.dataset.enhanced = "yes";
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const name = head.textContent.trim();
      if (!name) return;
      // formulas are drawn later, and must not be drawn twice: the name is kept for CSV
      head.dataset.plain = name.replace(/\\\(|\\\)|\\mathrm|[{}]/g, "");
      const button = make("button", { type: "button", className: "sort", title: "Sort by this column" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, column, head.getAttribute("aria-sort") === "descending" ? 1 : head.getAttribute("aria-sort") ? -1 : isText(table, column) ? 1 : -1));
      head.append(button);
    });
    const box = table.closest(".pst-scrollable-table-container") ?? table, said = make("span", { className: "said" });
    said.setAttribute("role", "status");
    const bar = make("div", { className: "table-tools" });
    if (body.rows.length >= LEAST_TO_FILTER) {
      const field = make("input", { type: "search", placeholder: "Filter rows", spellcheck: false });
      field.setAttribute("aria-label", "Show only rows with these words");
      field.addEventListener("input", () => filter(table, field.value));
      bar.append(field);
    }
    const button = make("button", { type: "button", textContent: "Copy as CSV" });
    button.addEventListener("click", () => copy(table, said));
    bar.append(button, said);
    box.before(bar);
  }
  const isText = (table, column) => [...table.tBodies[0].rows].filter((row) => Number.isNaN(numberOf(textOf(row.cells[column] ?? row)))).length > table.tBodies[0].rows.length / 2;

  /** Mark the columns of sentences, which a narrow screen must not break into single words. */
  function markProse(table) {
    const cells = [...(table.tBodies[0]?.rows ?? [])].flatMap((row) => [...row.cells]);
    const columns = new Set(cells.filter((cell) => cell.textContent.trim().length > LONG).map((cell) => cell.cellIndex));
    for (const cell of cells) if (columns.has(cell.cellIndex)) cell.classList.add("prose");
  }

  return { enhance, markProse, sort, filter, writeCsv };
})();

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".bd-article table.table")) {
    cogniload.tables.markProse(table);
    cogniload.tables.enhance(table);
  }
});
