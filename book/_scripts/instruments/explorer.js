/* Explorer: a puzzle stepped through, statement by statement, and responses to it with outcomes.
 *
 * Statements are replayed here; outcomes were computed with the book, by the scorer itself. The
 * choice is kept in the address, after the #.
 */
"use strict";

cogniload.explorer = (() => {
  const { el, table, menu, readRows, section } = cogniload.dom;
  const LOADS = { N: "Statements N", d: "Difficulty d", ratio_pct: "Needle ratio ρ (%)" };
  let counts, data, levels, parts;

  // ---- replay ----
  const meets = (row, conditions) =>
    conditions.every(([category, value]) => row[category] === value);

  /** Replay a puzzle: its moves, all states (the first and after each move), and the answer. */
  function solve(puzzle) {
    const moves = puzzle.moves.map(([conditions, updates]) => ({ conditions, updates }));
    const states = [puzzle.start];
    for (const { conditions, updates } of moves) {
      const update = (row) => Object.assign([...row], Object.fromEntries(updates));
      states.push(states.at(-1).map((row) => (meets(row, conditions) ? update(row) : row)));
    }
    const isNeedle = moves.map(({ conditions }, at) => meets(states[at][puzzle.poi], conditions));
    const categories = Object.keys(puzzle.domains);
    const last = states.at(-1)[puzzle.poi][categories.indexOf(puzzle.category)];
    const answer = puzzle.domains[puzzle.category][last];
    return { ...puzzle, moves, states, isNeedle, categories, answer };
  }

  // ---- words ----
  const phrase = (category, kind, value) => data.phrases[category][kind].replace("{}", () => value);
  const wordQuestion = ({ category, people, poi }) => phrase(category, 3, people[poi]);
  const shorten = (category) => category.replace(/^clothes_|^recent_/, "");

  function wordMove({ categories, domains }, { conditions, updates }) {
    const word = (pairs, kind) =>
      pairs.map(([at, value]) => phrase(categories[at], kind, domains[categories[at]][value]));
    return `The people ${word(conditions, 1).join(" and ")} ${word(updates, 2).join(" and ")}.`;
  }

  // ---- address ----
  const findPuzzles = (choice) =>
    data.puzzles.filter((puzzle) =>
      Object.keys(LOADS).every((load) => puzzle[load] === choice[load]),
    );

  /** The choice in an address; missing or invalid parts are replaced by defaults. */
  function readAddress() {
    const usual = data.puzzles.find(({ d }) => d === 3) ?? data.puzzles[0];
    const words = new URLSearchParams(location.hash.slice(1, 1000));
    const choice = {};
    for (const load of Object.keys(LOADS)) {
      const level = Number(words.get(load));
      choice[load] = levels[load].includes(level) ? level : usual[load];
    }
    for (const name of ["puzzle", "step"]) {
      choice[name] = Math.max(0, Math.floor(Number(words.get(name)) || 0));
    }
    return choice;
  }

  function change(choice) {
    const words = { ...readAddress(), ...choice };
    history.replaceState(null, "", `#${new URLSearchParams(words)}`);
    update();
  }

  // ---- what is shown ----
  function update() {
    const choice = readAddress();
    const puzzles = findPuzzles(choice);
    const place = Math.min(choice.puzzle, puzzles.length - 1);
    for (const load of Object.keys(LOADS)) {
      const at = levels[load].indexOf(choice[load]);
      document.getElementById(`explorer-${load}`).selectedIndex = at;
    }
    const titles = puzzles.map((_, at) => `puzzle ${at + 1} of ${puzzles.length}`);
    parts.puzzle.replaceChildren(...titles.map((title) => el("option", {}, title)));
    parts.puzzle.selectedIndex = place;
    parts.body.hidden = !puzzles.length;
    parts.empty.hidden = puzzles.length > 0;
    if (!puzzles.length) return;
    const puzzle = solve(puzzles[place]);
    const step = Math.min(choice.step, puzzle.N);
    showStep(puzzle, step);
    showPeople(puzzle, step);
    showModels(choice);
  }

  function showStep(puzzle, step) {
    const { isNeedle, moves, states, people, N } = puzzle;
    parts.slider.max = N;
    parts.slider.value = step;
    parts.count.textContent = `${step} of ${N}`;
    const mark = (at) => (at + 1 === step ? "now" : at < step ? "past" : "");
    parts.strip.replaceChildren(
      ...isNeedle.map((needle, at) =>
        el("span", {
          class: `${needle ? "needle" : "distractor"} ${mark(at)}`,
          onclick: () => change({ step: at + 1 }),
        }),
      ),
    );
    const question = wordQuestion(puzzle);
    if (step === 0) {
      parts.statement.replaceChildren("Before the first statement. ", el("strong", {}, question));
    } else {
      const move = moves[step - 1];
      const needle = isNeedle[step - 1];
      const matching = people.filter((_, at) => meets(states[step - 1][at], move.conditions));
      const matches = matching.length ? `Matches: ${matching.join(", ")}.` : "Nobody matches.";
      parts.statement.replaceChildren(
        el("span", { class: needle ? "tag needle" : "tag" }, needle ? "needle" : "distractor"),
        ` ${step}. ${wordMove(puzzle, move)} `,
        el("strong", {}, matches),
      );
    }
    const needles = isNeedle.filter(Boolean).length;
    const name = `the puzzle's name is ${puzzle.name}`;
    parts.end.hidden = step < N;
    parts.end.replaceChildren(
      `${question} `,
      el("strong", {}, puzzle.answer),
      ` (${needles} of ${N} statements were needles; ${name}).`,
    );
  }

  function showPeople(puzzle, step) {
    const { people, poi, states, categories, domains, moves } = puzzle;
    const now = states[step];
    const before = states[Math.max(step - 1, 0)];
    const conditions = step ? moves[step - 1].conditions : [];
    const makeCell = (person, category, at) => {
      const [old, value] = [before, now].map((rows) => domains[category][rows[person][at]]);
      const isMet = conditions.some(([one, wanted]) => one === at && before[person][at] === wanted);
      const classes = [isMet ? "met" : "", old !== value ? "moved-to" : ""].join(" ");
      return el("span", { class: classes }, old !== value && [el("s", {}, old), " "], value);
    };
    const rows = people.map((name, person) => [
      person === poi ? el("strong", {}, `${name} (asked about)`) : name,
      ...categories.map((category, at) => makeCell(person, category, at)),
    ]);
    const legend = "Dotted: meets a condition. Marked, with the old value struck out: changed.";
    const caption = step ? `State after this statement. ${legend}` : "State at the start.";
    const columns = ["Person", ...categories.map(shorten)];
    parts.people.replaceChildren(
      table({ id: "explorer-people", caption, columns, rows, isText: true }),
    );
    parts.people.querySelectorAll("tbody tr").forEach((row, person) => {
      row.classList.toggle("matched", step > 0 && meets(before[person], conditions));
    });
  }

  /** Counts of all models in this configuration, as ranges for reconstructed ones. */
  function showModels(choice) {
    const here = (row) => Object.keys(LOADS).every((load) => row[load] === choice[load]);
    const range = (ends, decimals) =>
      [...new Set(ends.map((end) => end.toFixed(decimals)))].join(" to ");
    const rows = counts.filter(here).map(({ model, answers, least, most, overflows }) => [
      data.models[model],
      answers,
      range([least, most], 0),
      range([(100 * least) / answers, (100 * most) / answers], 0),
      Number.isNaN(overflows) ? "–" : overflows,
    ]);
    const { N, d, ratio_pct } = choice;
    const origin = data.origin && `${data.origin}.`;
    const caption = `Every model at N = ${N}, d = ${d}, ρ = ${ratio_pct}%. ${origin}`;
    const columns = ["Model", "Responses", "Correct", "Accuracy (%)", "Ran out of context"];
    parts.models.replaceChildren(table({ id: "explorer-models", caption, columns, rows }));
    cogniload.tables.enhance(document.getElementById("explorer-models"));
  }

  function buildStepper() {
    const step = () => Number(parts.slider.value);
    const places = {
      Start: () => 0,
      Back: () => Math.max(step() - 1, 0),
      Next: () => step() + 1,
      End: () => Number(parts.slider.max),
    };
    const button = (text) => {
      const properties = { type: "button", id: `explorer-go-${text.toLowerCase()}` };
      return el("button", { ...properties, onclick: () => change({ step: places[text]() }) }, text);
    };
    const move = () => change({ step: step() });
    parts.slider = el("input", { type: "range", min: 0, "aria-label": "Statement", oninput: move });
    const [first, back, next, last] = Object.keys(places).map(button);
    return el("div", { class: "stepper" }, first, back, parts.slider, next, last, parts.count);
  }

  function start(container) {
    data = cogniload.data.puzzles;
    counts = readRows(data.counts);
    if (!data.puzzles.length) {
      container.replaceChildren("This build has no puzzle that can be shown.");
      return;
    }
    levels = {};
    for (const load of Object.keys(LOADS)) {
      levels[load] = [...new Set(data.puzzles.map((puzzle) => puzzle[load]))].sort((a, b) => a - b);
    }
    parts = {
      empty: el("p", {}, "This build has no puzzle of this configuration; choose another."),
      count: el("span"),
      strip: el("div", { class: "strip", "aria-hidden": "true" }),
      statement: el("p", { class: "statement", role: "status" }),
      end: el("p", { class: "answer" }),
    };
    for (const name of ["people", "models", "body"]) parts[name] = el("div");
    const chooseLevel = (load) =>
      menu(`explorer-${load}`, LOADS[load], levels[load], (at) =>
        change({ [load]: levels[load][at], puzzle: 0, step: 0 }),
      );
    const puzzle = menu("explorer-puzzle", "Puzzle", [], (at) => change({ puzzle: at, step: 0 }));
    parts.puzzle = puzzle.querySelector("select");
    const steps = [buildStepper(), parts.strip, parts.statement, parts.end, parts.people];
    parts.body.append(
      section("Step by step", steps),
      section("The models in this configuration", parts.models),
    );
    const menus = el("p", {}, Object.keys(LOADS).map(chooseLevel), puzzle);
    container.replaceChildren(menus, parts.empty, parts.body);
    update();
    addEventListener("hashchange", update);
  }

  return { start, solve };
})();

document.addEventListener("DOMContentLoaded", () => {
  cogniload.explorer.start(document.getElementById("explorer"));
});
