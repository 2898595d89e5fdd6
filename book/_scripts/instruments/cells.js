/* Cells: counts by model and configuration, as the build wrote them or as a reader's file has them.
 *
 * A cell is {N, d, ratio_pct, rho, n, k, ctx}: statements, difficulty, nominal and actual needle ratio, answers, correct ones, and
 * those that ran out of context (null where nobody counted them).
 */
"use strict";

cogniload.cells = (() => {
  const MOST_ROWS = 500_000, MOST_BYTES = 64 * 2 ** 20, MOST_MODELS = 100, MOST_CELLS = 2_000;
  /** The scorer's buckets. */
  const CORRECT = ["correct_valid", "correct_poi", "correct_last_sentence"], OVERFLOW = "wrong_max_context";
  const BUCKETS = [...CORRECT, OVERFLOW, "wrong_logic", "wrong_logic_poi", "wrong_logic_last_sentence", "wrong_other"];

  /** The models of the build: {name, family, color, paper, cells, tables}; tables are other counts of correct answers. */
  function unpack({ grid, models }) {
    return models.map(({ n, k, ctx, tables, ...model }) => {
      const covered = n.map((_, at) => at).filter((at) => n[at] > 0), pick = (counts) => covered.map((at) => counts[at]);
      return {
        ...model, tables: tables && tables.map(pick),
        cells: covered.map((at) => ({ N: grid.N[at], d: grid.d[at], ratio_pct: grid.ratio_pct[at], rho: grid.rho[at], n: n[at], k: k[at], ctx: ctx ? ctx[at] : null })),
      };
    });
  }

  /** Split CSV into rows of fields: {rows, comma}; quoted fields may hold commas, quotes and line breaks. */
  function readCsv(text) {
    const rows = [], comma = /^[^\n"]*;[^\n,]*$/m.test(text.slice(0, 2000).split("\n")[0]) ? ";" : ",";
    let row = [], field = "", quoted = false;
    for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at++) {
      const letter = text[at];
      if (quoted) {
        if (letter !== '"') field += letter;
        else if (text[at + 1] === '"') { field += '"'; at++; }
        else quoted = false;
      } else if (letter === '"' && field === "") quoted = true;
      else if (letter === comma || letter === "\n") {
        row.push(field.replace(/\r$/, ""));
        field = "";
        if (letter === "\n") { rows.push(row); row = []; }
      } else field += letter;
    }
    if (field !== "" || row.length) rows.push([...row, field.replace(/\r$/, "")]);
    return { rows: rows.filter((one) => one.length > 1 || one[0].trim() !== ""), comma };
  }

  /** Decode a file's bytes; throws a sentence for one that is not UTF-8 or UTF-16. */
  function decode(bytes, fileName) {
    const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
    const wide = { "255,254": "utf-16le", "254,255": "utf-16be" }[[first, second].join()];
    try { return new TextDecoder(wide ?? "utf-8", { fatal: true }).decode(bytes); } catch {
      throw new Error(`${fileName} is not UTF-8; save it as “CSV UTF-8”.`);
    }
  }

  /** Read a table of cells, or of scores (model, name, bucket), into models; throws an Error whose message is a sentence. */
  function readTable(text, fileName) {
    const refuse = (why) => { throw new Error(`${fileName} ${why}.`); };
    if (text.length > MOST_BYTES) refuse("is larger than 64 MB; count it with `make score` first");
    const { rows: [head, ...rows], comma } = readCsv(text);
    if (!head) refuse("is empty; expected is a cells.csv or a table of scores");
    if (rows.length > MOST_ROWS) refuse("has more than 500,000 rows; count it with `make score` first");
    const names = head.map((name) => name.trim()), column = (name) => names.indexOf(name === "total" && !names.includes("total") ? "n" : name);
    const isScores = ["model", "name", "bucket"].every((name) => column(name) >= 0);
    const missing = ["model", "N", "d", "total", "correct"].filter((name) => column(name) < 0);
    if (column("rho") < 0 && column("ratio_pct") < 0) missing.push("rho (or ratio_pct)");
    if (!isScores && missing.length) refuse(`lacks the columns ${missing.join(", ")}; a table of cells has model, N, d, rho, total and correct, a table of scores model, name and bucket`);
    const models = new Map(), seen = new Set(), read = isScores ? readScore : readCell;
    rows.forEach((fields, at) => {
      const fail = (why) => { throw new Error(`${fileName}, row ${at + 1}: ${why}.`); };
      const get = (name) => (column(name) < 0 ? "" : (fields[column(name)] ?? "").trim());
      const numeral = (name) => (get(name) === "" ? NaN : Number(comma === ";" ? get(name).replace(",", ".") : get(name)));
      const { key, ...cell } = read({ get, numeral, has: (name) => column(name) >= 0, fail });
      const model = get("model") || fail("the name of the model is missing");
      const unique = [model, key].join("\u0000");
      if (seen.has(unique)) fail(isScores ? "this model and puzzle appear in an earlier row" : "this model and configuration appear in an earlier row");
      seen.add(unique);
      if (!models.has(model) && models.size === MOST_MODELS) fail(`more than ${MOST_MODELS} models in one file; use \`make add\``);
      const cells = models.get(model) ?? models.set(model, new Map()).get(model), place = [cell.N, cell.d, cell.ratio_pct, cell.rho].join();
      if (!cells.has(place) && cells.size === MOST_CELLS) fail(`more than ${MOST_CELLS.toLocaleString("en")} configurations of one model; use \`make fit CELLS=\``);
      const sum = cells.get(place);
      if (!sum) cells.set(place, cell);
      else for (const name of ["n", "k", "ctx"]) sum[name] += cell[name];
    });
    if (!models.size) refuse("has no row below its header");
    return [...models].map(([name, cells]) => ({ name, family: "Your models", color: null, paper: false, mine: true, cells: [...cells.values()].filter(({ n }) => n) }));
  }

  function readCell({ numeral, has, fail }) {
    const whole = (name, least, most, words) => {
      const value = numeral(name);
      return Number.isInteger(value) && value >= least && value <= most ? value : fail(`${name} is not a whole number ${words}`);
    };
    const N = whole("N", 1, 1e6, "from 1 on"), d = whole("d", 1, 12, "from 1 to 12");
    const n = whole("total", 0, 1e12, "from 0 on"), k = whole("correct", 0, n, "from 0 to total");
    const ctx = has("ctx") ? whole("ctx", 0, n - k, "up to the wrong answers") : null;
    let [rho, ratio_pct] = [numeral("rho"), numeral("ratio_pct")];
    if (!has("rho")) rho = needlesOf(N, ratio_pct) / N;
    if (!(rho >= 0 && rho <= 1)) fail(has("rho") ? "rho is not a number from 0 to 1" : "ratio_pct is not a number from 0 to 100");
    if (!has("ratio_pct")) ratio_pct = nominal(rho);
    if (!(ratio_pct >= 0 && ratio_pct <= 100)) fail("ratio_pct is not a number from 0 to 100");
    if (Math.abs(rho * N - (ratio_pct * N) / 100) > 1) fail(`rho ${rho} and ratio_pct ${ratio_pct} contradict each other`);
    return { key: [N, d, ratio_pct].join(), N, d, rho, ratio_pct, n, k, ctx };
  }

  /** One score; the puzzle's name is N_d_needles_id_solution. */
  function readScore({ get, fail }) {
    const name = get("name"), bucket = get("bucket");
    const [, N, d, needles] = (/^(\d+)_(\d+)_(\d+)_\d+_/.exec(name) ?? []).map(Number);
    if (!(N >= 1 && d >= 1 && d <= 12 && needles <= N)) fail("name is not that of a puzzle, such as 20_3_10_123456_red");
    if (!BUCKETS.includes(bucket)) fail(`bucket “${bucket.slice(0, 60)}” is none of ${BUCKETS.join(", ")}`);
    const [k, ctx] = [CORRECT.includes(bucket), bucket === OVERFLOW].map(Number);
    return { key: name, N, d, rho: needles / N, ratio_pct: nominal(needles / N), n: 1, k, ctx };
  }

  /** Needles of a nominal ratio, halves up, as the paper counts them. */
  const needlesOf = (N, percent) => Math.max(1, Math.min(N, Math.floor((N * percent) / 100 + 0.5)));
  /** The paper's nominal ratio nearest to an actual one. */
  function nominal(rho) {
    const levels = new Set(cogniload.data?.cells?.grid.ratio_pct ?? [100 * rho]);
    return [...levels].reduce((best, one) => (Math.abs(one - 100 * rho) < Math.abs(best - 100 * rho) ? one : best));
  }

  /** Write models as a table of cells that `CELLS=` takes. */
  function writeTable(models) {
    const quote = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = models.flatMap(({ name, cells }) => cells.map((cell) => [quote(name), cell.N, cell.d, cell.ratio_pct, cell.rho, cell.n, cell.k].join(",")));
    return ["model,N,d,ratio_pct,rho,total,correct", ...lines, ""].join("\n");
  }

  /** Accuracy of cells with its Wilson interval. */
  function accuracy(cells, z) {
    const [n, k] = ["n", "k"].map((name) => cells.reduce((sum, cell) => sum + cell[name], 0)), estimate = k / n;
    const middle = (estimate + (z * z) / (2 * n)) / (1 + (z * z) / n);
    const half = (z * Math.sqrt((estimate * (1 - estimate)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
    return { n, k, estimate, low: middle - half, high: middle + half };
  }

  return { unpack, decode, readTable, writeTable, accuracy };
})();
