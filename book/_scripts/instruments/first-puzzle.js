/* The puzzle of the first page: one statement per step, with what it changes. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const puzzle = document.querySelector(".first-puzzle");
  const statements = [...puzzle.querySelectorAll("li")];
  const button = puzzle.querySelector("button");
  const status = puzzle.querySelector("[role='status']");
  let step = 0;
  button.addEventListener("click", () => {
    step = step === statements.length ? 0 : step + 1;
    statements.forEach((statement, place) => {
      statement.classList.toggle("done", place < step);
      statement.classList.toggle("now", place === step - 1);
    });
    status.textContent = step ? statements[step - 1].querySelector(".note").textContent : "";
    button.textContent = step === statements.length ? "Start again" : "Step";
  });
});
