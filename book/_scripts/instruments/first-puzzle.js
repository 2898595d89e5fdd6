/* The puzzle of the first page: the reader answers, then steps through the statements. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const puzzle = document.querySelector(".first-puzzle");
  const statements = [...puzzle.querySelectorAll("li")];
  const choices = puzzle.querySelector(".choices");
  const status = puzzle.querySelector("[role='status']");
  const { answer, shortcut, person, values } = puzzle.dataset;
  let done = 0;

  /* Show the notes of the first statements, and mark one statement. */
  function show(count, marked) {
    done = count;
    statements.forEach((statement, place) => {
      statement.classList.toggle("done", place < count);
      statement.classList.toggle("now", place === marked);
    });
  }

  /* Where a reader who gives a wrong value lost track: the statement, and a sentence. */
  function findSlip(value) {
    const own = ({ dataset }) => dataset.person.includes(person);
    const set = statements.findLastIndex((li) => li.dataset.value === value && own(li));
    const next = statements.findIndex((li, place) => place > set && own(li));
    const last = statements.findLastIndex((li) => li.dataset.value === value);
    if (set < 0 && last >= 0) {
      const other = statements[last].dataset.person;
      return [last, `Statement ${last + 1} sets ${value}, but for ${other}.`];
    }
    return [next, `${person}'s was ${value} until statement ${next + 1} changed it.`];
  }

  function reply(value) {
    if (value === answer) {
      const other = `Repeating the last value that was set would have given ${shortcut}.`;
      status.textContent = `Right. ${other}`;
      return;
    }
    const [place, slip] = findSlip(value);
    const words = " This is the shortcut: it repeats the last value and tracks nobody.";
    status.textContent = `Not ${value}. ${slip}${value === shortcut ? words : ""}`;
    show(place + 1, place);
  }

  function addButton(text, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => act(button));
    choices.append(button, " ");
    return button;
  }

  for (const value of values.split(" ")) addButton(value, () => reply(value));
  addButton("Step", () => {
    const next = done === statements.length ? 0 : done + 1;
    show(next, next - 1);
    const note = statements[next - 1]?.querySelector(".note").textContent;
    status.textContent = next ? `${next}: ${note}` : "";
  });
});
