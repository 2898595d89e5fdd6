/* Explorer: a puzzle stepped through, statement by statement, and responses to it with the scorer's verdict.
 *
 * Statements are replayed here; verdicts were computed with the book, by the scorer itself. The address keeps what is chosen, behind
 * the #.
 */
"use strict";

cogniload.explorer = (() => {
  const { el, table, section, keepFocus, sortLevels } = cogniload.dom;
  const CELL = { N: "Statements N", d: "Difficulty d", ratio_pct: "Needle ratio ρ (%)" };
  const WINDOWS = ["last line with person and category", "last line with the person", "last sentence"];
  let data, state, parts;

  // ---- replay --------------------------------------------------------------------------------------------------------
  /** Read "03a1|02": conditions and updates as pairs of category and value, places in their lists. */
  function readMove(text) {
    const [conditions, updates] = text.split("|").map((letters) => letters.match(/../g).map((pair) => [...pair].map((one) => parseInt(one, 36))));
    return { conditions, updates };
  }
  const holds = (row, conditions) => conditions.every(([category, value]) => row[category] === value);

  /** Everybody's values before the first statement and after each; a row that nothing changes stays the same array. */
  function replay(puzzle) {
    const states = [puzzle.start];
    for (const { conditions, updates } of puzzle.moves.map(readMove)) {
      states.push(states.at(-1).map((row) => {
        if (!holds(row, conditions)) return row;
        const next = [...row];
        for (const [category, value] of updates) next[category] = value;
        return next;
      }));
    }
    return states;
  }

  /** What a puzzle comes to: the asked value of the person of interest, and how many statements were about them. */
  function solve(puzzle) {
    const states = replay(puzzle), names = Object.keys(puzzle.domains), asked = names.indexOf(puzzle.category);
    const needles = puzzle.moves.map(readMove).filter(({ conditions }, at) => holds(states[at][puzzle.poi], conditions)).length;
    return { answer: puzzle.domains[puzzle.category][states.at(-1)[puzzle.poi][asked]], needles, states, names };
  }

  // ---- words ---------------------------------------------------------------------------------------------------------
  const phrase = (name, kind, value) => data.phrases[name][kind].replace("{}", value);
  const ask = ({ category, people, poi }) => data.phrases[category][3].replace("{}", people[poi]);
  const plain = (name) => name.replace(/^clothes_|^recent_/, "");
  function wordMove(puzzle, names, { conditions, updates }) {
    const say = (pairs, kind) => pairs.map(([category, value]) => phrase(names[category], kind, puzzle.domains[names[category]][value])).join(" and ");
    return `The people ${say(conditions, 1)} ${say(updates, 2)}`;
  }
  function wordPuzzle(puzzle, names) {
    const first = puzzle.lines.map(([person, order]) => `${puzzle.people[person]} ${order.map((category) =>
      phrase(names[category], 0, puzzle.domains[names[category]][puzzle.start[person][category]])).join(" and ")}.`);
    const moves = puzzle.moves.map((move, at) => `${at + 1}. ${wordMove(puzzle, names, readMove(move))}`);
    return [...first, ...moves, "", ask(puzzle)].join("\n");
  }

  // ---- state and address ---------------------------------------------------------------------------------------------
  const levels = (name) => sortLevels(data.puzzles.map((puzzle) => puzzle[name]));
  const inCell = () => data.puzzles.filter((puzzle) => Object.keys(CELL).every((name) => puzzle[name] === state[name]));
  function readAddress() {
    const words = new URLSearchParams(location.hash.slice(1)), found = {};
    const usual = data.puzzles.find((puzzle) => puzzle.d === 3) ?? data.puzzles[0];
    for (const name of Object.keys(CELL)) found[name] = levels(name).includes(Number(words.get(name))) ? Number(words.get(name)) : usual[name];
    const whole = (name) => Math.max(0, Math.floor(Number(words.get(name)) || 0));
    return { ...found, puzzle: whole("puzzle"), step: whole("step"), answer: whole("answer") };
  }
  function change(some) {
    state = { ...state, ...some };
    history.replaceState(null, "", `#${new URLSearchParams(state)}`);
    keepFocus(update);
  }

  // ---- what is shown -------------------------------------------------------------------------------------------------
  function update() {
    const found = inCell(), puzzle = found[Math.min(state.puzzle, found.length - 1)];
    showChoice(found);
    for (const name of ["steps", "people", "answers", "models", "text"]) parts[name].replaceChildren();
    if (!puzzle) return void parts.people.replaceChildren(el("p", {}, "This build has no puzzle of this configuration; choose another."));
    const solved = solve(puzzle), step = Math.min(state.step, puzzle.N);
    showSteps(puzzle, solved, step);
    showPeople(puzzle, solved, step);
    showAnswers(puzzle);
    showModels();
    parts.text.replaceChildren(el("details", {}, el("summary", {}, "The whole text"), el("pre", { class: "wrapped", tabindex: 0 }, wordPuzzle(puzzle, solved.names))));
  }

  function choice(name, label, options, value) {
    const id = `explorer-${name}`, pick = (event) => change({ [name]: Number(event.target.value), ...(name in CELL ? { step: 0, puzzle: 0 } : name === "puzzle" ? { step: 0 } : {}) });
    return el("span", { class: "choice" }, el("label", { for: id }, label, " "),
      el("select", { id, onchange: pick }, options.map(([text, one]) => el("option", { value: one, selected: one === value }, text))));
  }
  function showChoice(found) {
    parts.choice.replaceChildren(...Object.entries(CELL).map(([name, label]) => choice(name, label, levels(name).map((level) => [level, level]), state[name])),
      choice("puzzle", "Puzzle", found.map(({ name }, at) => [name, at]), state.puzzle));
  }

  function showSteps(puzzle, { states, names, answer }, step) {
    const go = (to) => () => change({ step: Math.min(Math.max(to, 0), puzzle.N) });
    const button = (text, to) => el("button", { type: "button", onclick: go(to), id: `explorer-go-${text.toLowerCase()}` }, text);
    const slider = el("input", { type: "range", min: 0, max: puzzle.N, value: step, id: "explorer-step", "aria-label": "Statement",
      oninput: (event) => change({ step: Number(event.target.value) }) });
    const needles = puzzle.moves.map((move, at) => holds(states[at][puzzle.poi], readMove(move).conditions));
    const strip = el("div", { class: "strip", "aria-hidden": "true" }, needles.map((needle, at) =>
      el("span", { class: `${needle ? "needle" : "distractor"}${at + 1 === step ? " now" : at < step ? " past" : ""}`, onclick: go(at + 1) })));
    const [move, before] = step ? [readMove(puzzle.moves[step - 1]), states[step - 1]] : [null, null];
    const matches = move ? puzzle.people.filter((_, person) => holds(before[person], move.conditions)) : [];
    const said = step === 0
      ? ["Before the first statement. ", el("strong", {}, ask(puzzle))]
      : [el("span", { class: needles[step - 1] ? "tag needle" : "tag" }, needles[step - 1] ? "needle" : "distractor"), ` ${step}. ${wordMove(puzzle, names, move)}. `,
        el("strong", {}, matches.length ? `Matches: ${matches.join(", ")}.` : "Nobody matches.")];
    const counted = ` (${needles.filter(Boolean).length} of ${puzzle.N} statements were needles).`;
    const end = step === puzzle.N && el("p", { class: "answer" }, `${ask(puzzle)} `, el("strong", {}, answer), counted);
    parts.steps.replaceChildren(el("div", { class: "stepper" }, button("Start", 0), button("Back", step - 1), slider, button("Next", step + 1), button("End", puzzle.N),
      el("span", {}, ` ${step} of ${puzzle.N}`)), strip, el("p", { class: "statement", role: "status" }, said), ...(end ? [end] : []));
  }

  function showPeople(puzzle, { states, names }, step) {
    const now = states[step], before = states[Math.max(step - 1, 0)];
    const conditions = step ? readMove(puzzle.moves[step - 1]).conditions : [];
    const rows = puzzle.people.map((person, at) => [
      el("span", { class: at === puzzle.poi ? "own-model" : null }, person, at === puzzle.poi ? " (asked about)" : ""),
      ...names.map((name, category) => {
        const old = puzzle.domains[name][before[at][category]], value = puzzle.domains[name][now[at][category]];
        const met = step && conditions.some(([one, wanted]) => one === category && before[at][category] === wanted);
        const changed = step && old !== value;
        return el("span", { class: [met && "met", changed && "moved-to"].filter(Boolean).join(" ") || null }, changed ? [el("s", {}, old), " "] : "", value);
      }),
    ]);
    parts.people.replaceChildren(table({ id: "explorer-people", left: names.map(plain),
      caption: step ? "State after this statement. Dotted: meets a condition. Marked, with the old value struck out: changed by it." : "State at the start.",
      columns: ["Person", ...names.map(plain)], rows }));
    parts.people.querySelectorAll("tbody tr").forEach((row, at) => row.classList.toggle("matched", step > 0 && holds(before[at], conditions)));
  }

  function showAnswers(puzzle) {
    const all = puzzle.answers, at = Math.min(state.answer, all.length - 1), answer = all[at];
    const windows = answer.windows.map(([text, values], place) => {
      const shown = typeof text === "string" ? text : answer.text.toLowerCase().slice(...text);
      return [WINDOWS[place], el("span", { class: "window" }, shown || "(empty)"), values.join(", ") || "none", place === answer.window ? "decides" : ""];
    });
    parts.answers.replaceChildren(
      el("p", {}, choice("answer", "Synthetic response:", all.map(({ title }, place) => [title, place]), at)),
      el("pre", { class: "wrapped untrusted-text", tabindex: 0 }, answer.text),
      el("p", { class: "answer" }, "Bucket: ", el("code", {}, answer.bucket), answer.answer ? [", by the value ", el("strong", {}, answer.answer)] : "", ` (correct is ${puzzle.gold}).`),
      table({ id: "explorer-windows", caption: "Where the scorer looks, and which of the puzzle's values it finds there.", columns: ["Window", "Text", "Values found", ""], rows: windows, left: ["Text", "Values found", ""] }));
  }

  /** Counts of all models in this configuration; of reconstructed ones, the range over the reconstructions. */
  function showModels() {
    const { grid, models, origin } = cogniload.data.cells;
    const at = grid.N.findIndex((N, place) => N === state.N && grid.d[place] === state.d && grid.ratio_pct[place] === state.ratio_pct);
    if (at < 0) return;
    const rows = models.filter(({ n }) => n[at]).map(({ name, n, k, ctx, tables }) => {
      const counts = tables ? tables.map((table) => table[at]) : [k[at]], ends = [Math.min(...counts), Math.max(...counts)];
      const range = (digits, by) => [...new Set(ends.map((end) => (end / by).toFixed(digits)))].join(" to ");
      return [name, n[at], range(0, 1), range(2, n[at]), tables || !ctx ? "–" : ctx[at]];
    });
    const evidence = models.some(({ tables }) => tables) ? "Not identified: ranges are over the reconstructions, tables of counts that all agree with the paper. " : "";
    parts.models.replaceChildren(table({ id: "explorer-models", caption: `Every model at N = ${state.N}, d = ${state.d}, ρ = ${state.ratio_pct}%. ${evidence}${origin}`,
      columns: ["Model", "Responses", "Correct", "Accuracy", "Ran out of context"], rows }));
    cogniload.tables?.enhance(document.getElementById("explorer-models"));
  }

  function start(container) {
    data = cogniload.data.puzzles;
    state = readAddress();
    parts = Object.fromEntries(["choice", "steps", "people", "answers", "models", "text"].map((name) => [name, el("div", { class: `explorer-${name}` })]));
    container.replaceChildren(parts.choice, section("Step by step", parts.steps, parts.people, parts.text), section("How a response is scored", parts.answers), section("The models in this configuration", parts.models));
    update();
    addEventListener("hashchange", () => { state = readAddress(); update(); });
  }

  return { start, solve };
})();

document.addEventListener("DOMContentLoaded", () => cogniload.explorer.start(document.getElementById("explorer")));
