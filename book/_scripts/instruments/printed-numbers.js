/* A link for every printed number: #table2-QwQ-32B-beta_d shows it beside the recomputed one, with kind and verdict.
 *
 * A click on a cell of one of the paper's tables, or a choice of row and column below it, does the same. The numbers are those of the
 * comparison that the build made; they are loaded when one is first asked for.
 */
"use strict";

cogniload.printedNumbers = (() => {
  const { el, callNames, load } = cogniload.dom;
  /** The comparison with the paper, loaded when it is first asked for. */
  const loadNumbers = () => load("numbers-data.js").then(() => cogniload.data.numbers);

  /** Below a table of the paper: choice of row and column, and what is known of the number there; returns what follows a link. */
  function attach(table) {
    const { id } = table, panel = el("div", { id: `${id}-number`, class: "number-panel", role: "status" });
    const [row, column] = ["Row", "Column"].map((label) => el("select", { "aria-label": label, onchange: () => loadNumbers().then(show) }));
    const details = el("details", { class: "number-lookup", ontoggle: () => details.open && loadNumbers().then(fill) },
      el("summary", {}, "Printed and recomputed, number by number, each with a link"), row, " ", column, panel);
    (table.closest(".pst-scrollable-table-container") ?? table).after(details);
    /** The key of a row: the model, with the level in the second column where a model has several rows. */
    const keyOf = (data, one) => {
      const name = one.cells[0].textContent.trim(), model = callNames(name).find((other) => data.rows[id]?.[other]) ?? callNames(name)[0];
      return data.levels[id] ? `${model} ${data.levels[id]}=${one.cells[1]?.textContent.trim()}` : model;
    };
    const columnsOf = (data) => data.columns[id] ?? [], firstColumn = (data) => (data.levels[id] ? 2 : 1);
    function fill(data) {
      if (row.options.length) return;
      row.append(...[...table.tBodies[0].rows].map((one) => keyOf(data, one)).map((key) => el("option", { value: key }, key)));
      column.append(...columnsOf(data).map((name) => el("option", { value: name }, name)));
    }
    /** Show the chosen number, mark its cell, and return that. */
    function show(data) {
      const found = data.rows[id]?.[row.value]?.[column.value] ?? [], address = `#${id}-${row.value}-${column.value}`;
      const code = table.closest("div.cell")?.querySelector("details.hide, div.cell_input");
      const jump = () => { if (code.matches("details")) code.open = true; code.scrollIntoView({ block: "center" }); };
      panel.replaceChildren(el("strong", {}, `${id.replace("table", "Table ")}, ${row.value}, ${column.value}`),
        ...(found.length ? found.map(([quantity, printed, shown, kind, verdict, reason]) => el("div", {},
          `${quantity}: printed ${printed || "nothing"}, recomputed ${shown || "–"} (${kind}; ${verdict}${reason ? `: ${reason}` : ""})`))
          : [el("div", {}, "This number is not compared with the paper.")]),
        el("div", {}, "Link: ", el("a", { href: encodeURI(address) }, address), code && [", ", el("button", { type: "button", class: "link", onclick: jump }, "its code")]));
      table.querySelectorAll(".asked").forEach((cell) => cell.classList.remove("asked"));
      const line = [...table.tBodies[0].rows].find((one) => keyOf(data, one) === row.value);
      const cell = line?.cells[columnsOf(data).indexOf(column.value) + firstColumn(data)];
      line?.classList.remove("folded");
      cell?.classList.add("asked");
      return cell;
    }
    function choose(data, key, name) {
      fill(data);
      [row.value, column.value] = [key, name];
      details.open = true;
      return show(data);
    }
    table.tBodies[0].addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (cell && !String(getSelection())) loadNumbers().then((data) => {
        const name = columnsOf(data)[cell.cellIndex - firstColumn(data)];
        if (name) choose(data, keyOf(data, cell.parentNode), name);
      });
    });
    return (address) => loadNumbers().then((data) => {
      const keys = Object.keys(data.rows[id] ?? {}), names = columnsOf(data), isAsked = (key, name) => `${id}-${key}-${name}`.toLowerCase() === address.toLowerCase();
      const key = keys.find((one) => names.some((name) => isAsked(one, name)));
      if (key) (choose(data, key, names.find((name) => isAsked(key, name))) ?? details).scrollIntoView({ block: "center" });
    });
  }

  function start() {
    const tables = [...document.querySelectorAll(".bd-article table.table")].filter((table) => /^table\d+$/.test(table.id) && table.id !== "table1" && table.tBodies[0]);
    const find = new Map(tables.map((table) => [table.id, attach(table)]));
    const follow = () => {
      let address = location.hash.slice(1);
      try { address = decodeURIComponent(address); } catch { return; }
      find.get(address.split("-")[0].toLowerCase())?.(address);
    };
    follow();
    addEventListener("hashchange", follow);
  }

  return { start };
})();

document.addEventListener("DOMContentLoaded", cogniload.printedNumbers.start);
