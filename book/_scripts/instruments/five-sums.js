/* Five sums: one printed AIC is moved, and the row of Table 2 that follows is compared with the
 * printed one. The rows were computed with the chapter.
 */
"use strict";

cogniload.fiveSums = (() => {
  const { el, table, menu } = cogniload.dom;
  let data, parts;

  const writeNumber = (number, decimals) =>
    number.toLocaleString("en", {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });

  /** A number as Table 2 would print it beside this text. */
  function writeAlike(number, printed) {
    if (Number.isNaN(number)) return "--";
    const decimals = printed.split(".")[1]?.length ?? 2;
    return number.toFixed(decimals);
  }

  /** A text with its digits marked from the first that differs from the printed ones. */
  function markDigits(text, printed) {
    if (text === printed) return text;
    const isAlike = text.length === printed.length; // else the first digit is another one
    const same = isAlike ? [...text].findIndex((sign, at) => sign !== printed[at]) : 0;
    return [text.slice(0, same), el("mark", {}, text.slice(same))];
  }

  function showRow(row) {
    const texts = row.map((number, at) => writeAlike(number, data.printed[at]));
    const lost = data.names.filter((_, at) => texts[at] !== data.printed[at]);
    const caption = `${data.model}: the row of Table 2 that follows. Marked: its digits from the
      first that differs from the printed row.`;
    const rows = data.names.map((name, at) => [
      name,
      data.printed[at],
      el("span", {}, markDigits(texts[at], data.printed[at])),
    ]);
    const columns = ["Number", "Printed", "From this AIC"];
    parts.row.replaceChildren(table({ id: "five-sums-row", caption, columns, rows }));
    return lost;
  }

  /** How many numbers agree, if any answers have this AIC, and which do not. */
  function wordAgreement(row, lost) {
    const count = data.names.length;
    if (!row.some(Number.isFinite)) return "No answers with the printed errors have this AIC";
    if (!lost.length) return `All ${count} numbers agree with Table 2`;
    return `${count - lost.length} of ${count} numbers agree with Table 2 (not ${lost.join(", ")})`;
  }

  function update() {
    const { name, aic, sums, rows } = data.moves[parts.kind.selectedIndex];
    const at = Number(parts.slider.value);
    const shift = data.shifts[at];
    const size = Math.abs(shift);
    const change = shift ? `${shift < 0 ? "lowered" : "raised"} by ${size}` : "as printed";
    const lost = showRow(rows[at]);
    const value = writeNumber(aic + shift, 3);
    parts.slider.setAttribute("aria-valuetext", value);
    parts.value.textContent = value;
    parts.status.textContent = `${wordAgreement(rows[at], lost)}: the ${name} is ${change}.`;
    const [rho, square] = sums[at].map((sum) => (Number.isNaN(sum) ? "--" : writeNumber(sum, 2)));
    parts.sums.textContent = `Sums over the correct answers that follow from both AICs: ${rho} of ρ,
      ${square} of ρ².`;
  }

  function start(container) {
    data = cogniload.data.fiveSums;
    const middle = (data.shifts.length - 1) / 2;
    const move = (place) => {
      parts.slider.value = place();
      update();
    };
    const step = (size) => () => Number(parts.slider.value) + size;
    const button = (text, place) =>
      el("button", { type: "button", onclick: () => move(place) }, text);
    const kinds = data.moves.map(({ name }) => name);
    const choice = menu("five-sums-kind", "Move the", kinds, () => move(() => middle));
    const slider = { type: "range", min: 0, max: 2 * middle, "aria-label": "AIC" };
    parts = {
      kind: choice.querySelector("select"),
      slider: el("input", { ...slider, oninput: update }),
      value: el("output"),
      status: el("p", { class: "statement", role: "status" }),
      sums: el("p"),
      row: el("div"),
    };
    parts.slider.value = middle;
    const [down, up] = [button("Lower", step(-1)), button("Higher", step(1))];
    const reset = button("As printed", () => middle);
    container.replaceChildren(
      el("p", {}, choice),
      el("div", { class: "stepper" }, down, parts.slider, up, parts.value, reset),
      parts.status,
      parts.sums,
      parts.row,
    );
    update();
  }

  return { start };
})();

document.addEventListener("DOMContentLoaded", () => {
  cogniload.fiveSums.start(document.querySelector("#five-sums section"));
});
