/* Cells: counts by model and configuration, as the build wrote them or as a reader drops them.
 *
 * A cell is {N, d, ratio_pct, rho, n, k, ctx}: statements, difficulty, nominal and actual share of needles, answers, right
 * ones, and those that ran out of context (null where nobody counted them). One that is dropped may have other errors too.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.cells = (() => {
  const NEEDED = ["model", "N", "d", "n", "correct"];
  const MOST_ROWS = 500_000, MOST_BYTES = 64 * 2 ** 20;
  /** Columns of errors, with the scorer's bucket for each; all other buckets count as right. */
  const ERRORS = { ctx: "wrong_max_context", valid_logic: "wrong_logic", poi_logic: "wrong_logic_poi", last_logic: "wrong_logic_last_sentence", other: "wrong_other" };
  const isRight = (bucket) => bucket.startsWith("correct_");

  /** Return the models of the build: {name, family, color, paper, cells}. */
  function unpack({ grid, models }) {
    return models.map(({ n, k, ctx, ...model }) => ({
      ...model,
      cells: n.flatMap((count, at) => (count === 0 ? [] : [{
        N: grid.N[at], d: grid.d[at], ratio_pct: grid.ratio_pct[at], rho: grid.rho[at],
        n: count, k: k[at], ctx: ctx ? ctx[at] : null,
      }])),
    }));
  }

  /** Split CSV into rows of fields: quoted fields may hold commas, quotes and line breaks. */
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
    return rows.filter((one) => one.length > 1 || one[0].trim() !== "");
  }

  /** Read a table of cells, or of scores (model, name, bucket), into models; throws an Error whose message is a sentence. */
  function readTable(text, fileName) {
    if (text.length > MOST_BYTES) throw new Error(`${fileName} is larger than 64 MB; count it with \`make score\` first.`);
    const [head, ...rows] = readCsv(text);
    if (!head) throw new Error(`${fileName} is empty; drop a cells.csv or a table of scores.`);
    if (rows.length > MOST_ROWS) throw new Error(`${fileName} has more than 500,000 rows; count it with \`make score\` first.`);
    const names = head.map((name) => name.trim()), column = (name) => names.indexOf(name);
    const scores = ["model", "name", "bucket"].every((name) => column(name) >= 0);
    const absent = NEEDED.filter((name) => column(name) < 0);
    const ratio = column("rho") >= 0 || column("ratio_pct") >= 0;
    if (!scores && (absent.length || !ratio)) {
      const missing = [...absent, ...(ratio ? [] : ["rho (or ratio_pct)"])].join(", ");
      throw new Error(`${fileName} lacks the columns ${missing}; a table of cells has model, N, d, rho, n and correct, ` +
        "a table of scores model, name and bucket.");
    }
    const counted = scores ? countScores(rows, column, fileName) : readRows(rows, column, fileName);
    const models = new Map();
    for (const { model, ...cell } of counted) models.set(model, [...(models.get(model) ?? []), cell]);
    if (!models.size) throw new Error(`${fileName} has no row below its header; drop a table with counts.`);
    return [...models].map(([name, cells]) => ({ name, family: "Dropped here", color: null, paper: false, dropped: true, cells }));
  }

  function readRows(rows, column, fileName) {
    const seen = new Set(), fail = (row, why) => { throw new Error(`${fileName}, row ${row + 1}: ${why}.`); };
    return rows.flatMap((fields, row) => {
      const get = (name) => (column(name) < 0 ? NaN : (fields[column(name)] ?? "").trim() === "" ? NaN : Number(fields[column(name)]));
      const model = (fields[column("model")] ?? "").trim();
      const errors = Object.keys(ERRORS).map((kind) => [kind, column(kind) < 0 ? null : get(kind)]);
      const cell = { N: get("N"), d: get("d"), n: get("n"), k: get("correct"), ...Object.fromEntries(errors) };
      if (!model) fail(row, "there is no name of a model");
      if (!(Number.isInteger(cell.N) && cell.N >= 1)) fail(row, "N is not a whole number from 1 on");
      if (!(Number.isInteger(cell.d) && cell.d >= 1 && cell.d <= 12)) fail(row, "d is not a whole number from 1 to 12");
      if (!(Number.isInteger(cell.n) && cell.n >= 0)) fail(row, "n is not a whole number from 0 on");
      if (!(Number.isInteger(cell.k) && cell.k >= 0 && cell.k <= cell.n)) fail(row, "correct is not a whole number from 0 to n");
      for (const [kind, count] of errors) if (count !== null && !(count >= 0 && count <= cell.n - cell.k)) fail(row, `${kind} is more than the wrong answers, or no number`);
      cell.rho = column("rho") < 0 ? needlesOf(cell.N, get("ratio_pct")) / cell.N : get("rho");
      if (!(cell.rho >= 0 && cell.rho <= 1)) fail(row, "rho is not a number from 0 to 1");
      cell.ratio_pct = column("ratio_pct") < 0 ? nominal(cell.rho) : get("ratio_pct");
      const key = [model, cell.N, cell.d, cell.ratio_pct].join("\u0000");
      if (seen.has(key)) fail(row, "this model and configuration stand in an earlier row");
      seen.add(key);
      return cell.n ? [{ model, ...cell }] : [];
    });
  }

  /** Count single scores: the puzzle's name is N_d_needles_id_solution. */
  function countScores(rows, column, fileName) {
    const cells = new Map();
    rows.forEach((fields, row) => {
      const model = (fields[column("model")] ?? "").trim(), bucket = (fields[column("bucket")] ?? "").trim();
      const [, N, d, needles] = (/^(\d+)_(\d+)_(\d+)_\d+_/.exec(fields[column("name")] ?? "") ?? []).map(Number);
      if (!model || !bucket) throw new Error(`${fileName}, row ${row + 1}: model or bucket is empty.`);
      if (!(N >= 1 && d >= 1 && d <= 12 && needles <= N)) throw new Error(`${fileName}, row ${row + 1}: name is not that of a puzzle, such as 20_3_10_123456_red.`);
      const key = [model, N, d, needles].join("\u0000"), rho = needles / N;
      const cell = cells.get(key) ?? { model, N, d, rho, ratio_pct: nominal(rho), n: 0, k: 0, ...Object.fromEntries(Object.keys(ERRORS).map((kind) => [kind, 0])) };
      const errors = Object.entries(ERRORS).map(([kind, name]) => [kind, cell[kind] + (bucket === name)]);
      cells.set(key, { ...cell, n: cell.n + 1, k: cell.k + isRight(bucket), ...Object.fromEntries(errors) });
    });
    return [...cells.values()];
  }

  /** Needles of a nominal share, halves up, as the paper counts them. */
  const needlesOf = (N, percent) => Math.max(1, Math.min(N, Math.floor((N * percent) / 100 + 0.5)));
  /** The paper's nominal share nearest to an actual one. */
  const nominal = (rho) => {
    const levels = cogniload.data?.cells ? [...new Set(cogniload.data.cells.grid.ratio_pct)] : [];
    return levels.reduce((best, one) => (Math.abs(one - 100 * rho) < Math.abs(best - 100 * rho) ? one : best), levels[0] ?? 100 * rho);
  };

  /** Write models as a table of cells that `CELLS=` takes. */
  function writeTable(models) {
    const quote = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = models.flatMap(({ name, cells }) => cells.map((cell) =>
      [quote(name), cell.N, cell.d, cell.ratio_pct, cell.rho, cell.n, cell.k].join(",")));
    return ["model,N,d,ratio_pct,rho,n,correct", ...lines, ""].join("\n");
  }

  /** Accuracy of cells with its Wilson interval. */
  function accuracy(cells, z) {
    const n = cells.reduce((sum, cell) => sum + cell.n, 0), k = cells.reduce((sum, cell) => sum + cell.k, 0);
    const p = k / n, middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
    const half = (z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
    return { n, k, estimate: p, low: middle - half, high: middle + half };
  }

  return { unpack, readCsv, readTable, writeTable, accuracy };
})();
