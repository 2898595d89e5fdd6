/* A link for every printed number: #table2-QwQ-32B-beta_d shows it beside the recomputed one, with kind and verdict.
 *
 * A click on a cell of one of the paper's tables, or a choice of row and column below it, does the same. The numbers are those
 * of the comparison that the build made; they are loaded when one is first asked for.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.paperNumbers = (() => {
  const PAPER_TABLE = /^table\d+$/;
  const WORDS = { exact: "to the digit", unit: "within one unit", within: "within sampling error", differs: "different", not_computable: "not computable" };
  const here = document.currentScript?.src ?? "";
  let loading = null;
  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };

  /** Load the numbers once; a script beside this one, since a page on a disk may load nothing else. */
  function load() {
    loading ??= new Promise((resolve, reject) => {
      document.head.append(make("script", { src: new URL("numbers-data.js", here).href, onload: () => resolve(cogniload.data.numbers), onerror: reject }));
    });
    return loading;
  }

  const headOf = (row) => row.cells[0]?.textContent.trim() ?? "";
  /** The key of a row: the model, with the level in the second column where a model has several rows. */
  function keyOf(data, table, row) {
    const model = data.labels[headOf(row)] ?? headOf(row), level = data.levels[table.id];
    return level ? `${model} ${level}=${row.cells[1]?.textContent.trim()}` : model;
  }
  const columnsOf = (data, table) => data.columns[table.id] ?? [];
  const firstColumn = (data, table) => (data.levels[table.id] ? 2 : 1);

  function show(data, table, key, column) {
    const panel = document.getElementById(`${table.id}-number`), found = data.rows[table.id]?.[key]?.[column] ?? [];
    const address = `${table.id}-${key}-${column}`;
    const code = table.closest("div.cell")?.querySelector("details.hide, div.cell_input");
    const jump = make("button", { type: "button", className: "link", textContent: "the code cell that made it" });
    jump.addEventListener("click", () => { const box = code.matches("details") ? code : code.closest("details"); if (box) box.open = true; code.scrollIntoView({ block: "center" }); });
    panel.replaceChildren(
      make("strong", {}, `${table.id.replace("table", "Table ")}, ${key}, ${column}`),
      ...(found.length ? found.map(([quantity, printed, shown, kind, verdict, reason]) => make("div", {},
        `${quantity}: printed ${printed || "nothing"}, recomputed ${shown || "–"} (${kind}; ${WORDS[verdict] ?? verdict}${reason ? `: ${reason}` : ""})`)) : [make("div", {}, "This number is not compared with the paper.")]),
      make("div", {}, make("a", { href: `#${encodeURIComponent(address)}` }, "link to this number"), ...(code ? [", ", jump] : [])));
    table.querySelectorAll("td.asked").forEach((cell) => cell.classList.remove("asked"));
    const row = [...table.tBodies[0].rows].find((one) => keyOf(data, table, one) === key);
    const cell = row?.cells[columnsOf(data, table).indexOf(column) + firstColumn(data, table)];
    cell?.classList.add("asked");
    return cell;
  }

  /** Below a table of the paper: choice of row and column, and what is known of the number there. */
  function attach(table) {
    const panel = make("div", { id: `${table.id}-number`, className: "number-panel" });
    panel.setAttribute("role", "status");
    const row = make("select"), column = make("select");
    row.setAttribute("aria-label", "Row");
    column.setAttribute("aria-label", "Column");
    const ask = () => load().then((data) => row.value && column.value && show(data, table, row.value, column.value));
    const fill = (data) => {
      if (row.options.length) return;
      row.append(...[...table.tBodies[0].rows].map((one) => make("option", { value: keyOf(data, table, one), textContent: keyOf(data, table, one) })));
      column.append(...columnsOf(data, table).map((name) => make("option", { value: name, textContent: name })));
    };
    for (const one of [row, column]) one.addEventListener("change", ask);
    const details = make("details", { className: "number-lookup" }, make("summary", {}, "Printed against recomputed, number by number"), row, " ", column, panel);
    details.addEventListener("toggle", () => details.open && load().then((data) => { fill(data); if (!panel.textContent) ask(); }));
    (table.closest(".pst-scrollable-table-container") ?? table).after(details);
    table.tBodies[0].addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (!cell || String(getSelection())) return;
      load().then((data) => {
        const name = columnsOf(data, table)[cell.cellIndex - firstColumn(data, table)];
        if (!name) return;
        fill(data);
        [row.value, column.value] = [keyOf(data, table, cell.parentNode), name];
        details.open = true;
        show(data, table, row.value, column.value);
      });
    });
    return (address) => load().then((data) => {
      const all = Object.keys(data.rows[table.id] ?? {}).sort((a, b) => b.length - a.length);
      const key = all.find((one) => address.startsWith(`${table.id}-${one}-`)), name = key && address.slice(`${table.id}-${key}-`.length);
      if (!key || !columnsOf(data, table).includes(name)) return;
      fill(data);
      [row.value, column.value] = [key, name];
      details.open = true;
      (show(data, table, key, name) ?? details).scrollIntoView({ block: "center" });
    });
  }

  function start() {
    const tables = [...document.querySelectorAll(".bd-article table.table")].filter((table) => PAPER_TABLE.test(table.id) && table.id !== "table1" && table.tBodies[0]);
    const find = new Map(tables.map((table) => [table.id, attach(table)]));
    const follow = () => {
      let address = location.hash.slice(1);
      try { address = decodeURIComponent(address); } catch { return; }
      find.get(address.split("-")[0])?.(address);
    };
    if (/^#table\d+-/.test(location.hash)) follow();
    addEventListener("hashchange", () => /^#table\d+-/.test(location.hash) && follow());
  }

  return { start };
})();

document.addEventListener("DOMContentLoaded", cogniload.paperNumbers.start);
