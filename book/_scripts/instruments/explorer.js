/* Explorer: a puzzle to answer and then to step through, and how models do on such puzzles.
 *
 * Statements are replayed here. The puzzles of a configuration are a script of their own, loaded
 * when it is chosen. The choice is kept in the address, after the #; it has a step once the
 * needles are shown.
 */
"use strict";

cogniload.explorer = (() => {
  const { el, table, menu, readRows, section } = cogniload.dom;
  const LOADS = { N: "Statements N", d: "Difficulty d", ratio_pct: "Needle ratio ρ (%)" };
  const answered = new Map(); // by puzzle's name: whether you, and the shortcut, were right
  let configurations, counts, data, levels, parts;

  // ---- replay ----
  const meets = (row, conditions) =>
    conditions.every(([category, value]) => row[category] === value);

  /** Replay a puzzle: its moves, all states, the answer, and the answer of the shortcut. */
  function solve(puzzle) {
    const moves = puzzle.moves.map(([conditions, updates]) => ({ conditions, updates }));
    const states = [puzzle.start];
    for (const { conditions, updates } of moves) {
      const update = (row) => Object.assign([...row], Object.fromEntries(updates));
      states.push(states.at(-1).map((row) => (meets(row, conditions) ? update(row) : row)));
    }
    const isNeedle = moves.map(({ conditions }, at) => meets(states[at][puzzle.poi], conditions));
    const categories = Object.keys(puzzle.domains);
    const asked = categories.indexOf(puzzle.category);
    const values = puzzle.domains[puzzle.category];
    const answer = values[states.at(-1)[puzzle.poi][asked]];
    const set = moves.flatMap(({ updates }) => updates).filter(([category]) => category === asked);
    const shortcut = values[set.at(-1)?.[1]]; // the last value that any statement sets
    const solved = { N: moves.length, moves, states, isNeedle, categories, values };
    return { ...puzzle, ...solved, answer, shortcut };
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
  const isAt = (choice) => (row) => Object.keys(LOADS).every((load) => row[load] === choice[load]);

  /** The choice in an address; what is invalid is named, and replaced by a default. */
  function readAddress() {
    const usual = configurations.find(({ d }) => d === 3) ?? configurations[0];
    const words = new URLSearchParams(location.hash.slice(1, 1000));
    const choice = { puzzle: 0, step: null };
    const problems = [];
    for (const load of Object.keys(LOADS)) {
      const level = Number(words.get(load) ?? usual[load]);
      const isKnown = levels[load].includes(level);
      choice[load] = isKnown ? level : usual[load];
      if (!isKnown) problems.push(`${load} = ${words.get(load)}`);
    }
    for (const name of ["puzzle", "step"]) {
      const number = words.get(name);
      if (/^\d{1,4}$/.test(number)) choice[name] = Number(number);
      else if (number !== null) problems.push(`${name} = ${number}`);
    }
    return { choice, problems };
  }

  /** Keep a choice in the address; a new puzzle is a new entry of the browser's history. */
  function change(choice, isNew = false) {
    const words = { ...readAddress().choice, ...choice };
    if (words.step === null) delete words.step;
    history[isNew ? "pushState" : "replaceState"](null, "", `#${new URLSearchParams(words)}`);
    return update();
  }

  const choosePuzzle = (choice) => change({ puzzle: 0, ...choice, step: null }, true);

  /** The puzzles of a configuration, from its script. */
  async function loadPuzzles(place) {
    const name = `puzzles${place}`;
    if (place >= 0 && !cogniload.data[name]) {
      await new Promise((done) => {
        const src = `instruments/${name}-data.js`;
        document.head.append(el("script", { src, onload: done, onerror: done }));
      });
    }
    return cogniload.data[name] ?? [];
  }

  function drawAnother() {
    const { choice } = readAddress();
    const count = parts.puzzles.length;
    const others = 1 + Math.floor(Math.random() * (count - 1));
    choosePuzzle({ puzzle: count > 1 ? (choice.puzzle + others) % count : 0 });
  }

  // ---- what is shown ----
  async function update() {
    const { choice, problems } = readAddress();
    const asked = location.hash;
    const puzzles = await loadPuzzles(configurations.findIndex(isAt(choice)));
    if (location.hash !== asked) return; // another choice was made meanwhile
    parts.puzzles = puzzles;
    if (puzzles.length && choice.puzzle >= puzzles.length) {
      problems.push(`puzzle = ${choice.puzzle}`);
      choice.puzzle = 0;
    }
    parts.problem.textContent = problems.length
      ? `The address asks for ${problems.join(", ")}, which is not here; another is shown.`
      : "";
    for (const load of Object.keys(LOADS)) {
      const at = levels[load].indexOf(choice[load]);
      document.getElementById(`explorer-${load}`).selectedIndex = at;
    }
    parts.body.hidden = !puzzles.length;
    parts.empty.hidden = puzzles.length > 0;
    if (!puzzles.length) return;
    const puzzle = solve(puzzles[choice.puzzle]);
    const isShown = choice.step !== null;
    const step = Math.min(choice.step ?? 0, puzzle.N);
    showQuestion(puzzle, isShown);
    arrange(isShown);
    showStep(puzzle, step);
    showPeople(puzzle, step);
    showScore(choice);
    showModels(choice);
  }

  /** The state at the start stands before the statements, the state of a step after it. */
  function arrange(isShown) {
    if (parts.isShown === isShown) return; // moving a node would take the focus from it
    parts.isShown = isShown;
    const { question, reply, steps, people } = parts;
    const order = isShown ? [question, reply, steps, people] : [people, question, reply];
    parts.place.replaceChildren(...order);
  }

  function showQuestion(puzzle, isShown) {
    const statements = puzzle.moves.map((move) => el("li", {}, wordMove(puzzle, move)));
    const text = el("ol", { tabindex: 0, "aria-label": "Statements", role: "list" }, statements);
    const showSteps = async () => {
      await change({ step: 0 });
      document.getElementById("explorer-go-next").focus();
    };
    const answer = (value) => {
      if (!answered.has(puzzle.name)) {
        answered.set(puzzle.name, {
          you: value === puzzle.answer,
          shortcut: puzzle.shortcut === puzzle.answer,
        });
      }
      showSteps();
      const trap = value === puzzle.shortcut ? " Repeating the last value gives that." : "";
      parts.reply.textContent =
        value === puzzle.answer
          ? `Right: ${value}. The shortcut answers ${puzzle.shortcut ?? "nothing"}.`
          : `Not ${value}.${trap} The answer is ${puzzle.answer}; step through to see why.`;
    };
    const button = (text, onclick) => el("button", { type: "button", onclick }, text);
    const choices = isShown
      ? []
      : [
          ...[...puzzle.values].sort().map((value) => button(value, () => answer(value))),
          button("Show the steps", showSteps),
        ];
    if (!isShown) parts.reply.textContent = "";
    parts.question.replaceChildren(
      isShown ? "" : text,
      el("p", {}, el("strong", {}, wordQuestion(puzzle))),
      el("p", { class: "choices" }, choices.flatMap((choice) => [choice, " "])),
    );
  }

  /** Your score, the shortcut's, and a model's range on such puzzles. */
  function showScore(choice) {
    const count = answered.size;
    const right = (who) => [...answered.values()].filter((row) => row[who]).length;
    const here = counts.filter(isAt(choice))[parts.model.selectedIndex];
    const own = count
      ? `You: ${right("you")} of ${count} right. The shortcut: ${right("shortcut")} of ${count}. `
      : "";
    const model = here && `${data.models[here.model]} on such puzzles: ${wordRange(here)}% right.`;
    const badge = here?.reconstructed && el("span", { class: "tag" }, "not identified");
    parts.score.replaceChildren(own, model ?? "", " ", badge || "");
  }

  const range = (ends, decimals) =>
    [...new Set(ends.map((end) => end.toFixed(decimals)))].join(" to ");
  const wordRange = ({ low, high, answers }) =>
    range([(100 * low) / answers, (100 * high) / answers], 0);

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
    if (step === 0) {
      parts.statement.replaceChildren("Before the first statement.");
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
      "The answer: ",
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
    const rows = counts.filter(isAt(choice)).map((row) => [
      data.models[row.model],
      row.answers,
      range([row.low, row.high], 0),
      wordRange(row),
      Number.isNaN(row.overflows) ? "–" : row.overflows,
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
      Next: () => Math.min(step() + 1, Number(parts.slider.max)),
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

  async function start(container) {
    data = cogniload.data.puzzles;
    configurations = readRows(data.configurations);
    counts = readRows(data.counts);
    if (!configurations.length) {
      container.replaceChildren("This build has no puzzle that can be shown.");
      return;
    }
    levels = {};
    for (const load of Object.keys(LOADS)) {
      levels[load] = [...new Set(configurations.map((row) => row[load]))].sort((a, b) => a - b);
    }
    parts = {
      problem: el("p", { class: "problem", role: "status" }),
      empty: el("p", {}, "This build has no puzzle of this configuration; choose another."),
      count: el("span"),
      strip: el("div", { class: "strip", "aria-hidden": "true" }),
      statement: el("p", { class: "statement", role: "status" }),
      end: el("p", { class: "answer" }),
      question: el("div", { class: "question" }),
      reply: el("p", { role: "status" }),
      score: el("p", { class: "score", role: "status" }),
    };
    for (const name of ["people", "models", "steps", "place", "body"]) parts[name] = el("div");
    const chooseLevel = (load) =>
      menu(`explorer-${load}`, LOADS[load], levels[load], (at) =>
        choosePuzzle({ [load]: levels[load][at] }),
      );
    const model = menu("explorer-model", "Compare with", data.models, () => update());
    parts.model = model.querySelector("select");
    const another = el("button", { type: "button", onclick: drawAnother }, "Draw a puzzle");
    parts.steps.append(buildStepper(), parts.strip, parts.statement, parts.end);
    const score = [parts.score, el("p", {}, model)];
    parts.body.append(
      section("The puzzle", parts.place, score),
      section("The models in this configuration", parts.models),
    );
    const menus = el("p", {}, Object.keys(LOADS).map(chooseLevel), another);
    // once the puzzles are here, all parts appear together
    await loadPuzzles(configurations.findIndex(isAt(readAddress().choice)));
    container.replaceChildren(menus, parts.problem, parts.empty, parts.body);
    update();
    addEventListener("hashchange", update);
  }

  return { start, solve };
})();

document.addEventListener("DOMContentLoaded", () => {
  cogniload.explorer.start(document.getElementById("explorer"));
});
