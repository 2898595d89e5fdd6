/* Panels of the figures that answer, as specifications for Vega-Lite: courses along a load, intervals a row a model, points.
 *
 * A panel's rows are those of the build (see figures.js); those of a reader's own models are made here from their cells.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.panels = (() => {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const isDark = () => document.documentElement.dataset.theme === "dark";
  const fixed = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits));

  /** Colours of the chosen: those of their family, shades of it where several are chosen. */
  function paint(data, chosen) {
    const used = {};
    return [...chosen].map((name) => {
      const { family, color, own } = data.models.find((model) => model.name === name);
      const turn = (used[family] = (used[family] ?? -1) + 1);
      const base = own ? (isDark() ? "#ffffff" : "#000000") : color;
      const [towards, share] = (isDark() ? [[255, 0.3], [255, 0.65], [255, 0.05], [255, 0.8], [255, 0.5]]
        : [[255, 0], [0, 0.5], [255, 0.45], [0, 0.75], [255, 0.65]])[own ? 0 : turn % 5];
      return [name, own ? base : blend(base, towards, share)];
    });
  }
  function blend(color, towards, share) {
    const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)).map((one) => Math.round(one + (towards - one) * share));
    return `#${parts.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
  }

  /** Names and colours that the marks of a panel share. */
  function look(data, chosen) {
    const colors = paint(data, chosen);
    return {
      colors, ink: style("--pst-color-text-base"), grey: style("--pst-color-text-muted"),
      color: { field: "model", type: "nominal", scale: { domain: colors.map(([name]) => name), range: colors.map(([, tone]) => tone) }, legend: null },
    };
  }
  const tell = (...names) => names.map((field) => ({ field, type: "nominal", title: field }));
  /** From the least to the largest of what rows have beside their place, and zero, with some room. */
  function span(rows) {
    const all = [0, ...rows.flatMap(([, ...numbers]) => numbers).filter((one) => one !== null)], [low, high] = [Math.min(...all), Math.max(...all)], room = 0.03 * (high - low);
    return [low - room, high + room];
  }
  const quantity = (field, title, domain) => ({ field, type: "quantitative", title, ...(domain ? { scale: { domain } } : {}) });

  const KINDS = {
    /** Shares along a load: the chosen in colour, the others grey. */
    course(data, panel, chosen, shown) {
      const { color, grey } = look(data, chosen);
      const rows = panel.rows.map(([at, level, n, count, share, low, high, lowest, highest]) => ({
        model: data.models[at].name, level, n, count, share, low, high, lowest, highest,
        Model: data.models[at].name, [panel.across]: String(level), Share: fixed(share), [data.counted]: `${count} of ${n}`,
        Interval: `${fixed(low)} to ${fixed(high)} (90%)`, Range: lowest === null ? "–" : `${fixed(lowest)} to ${fixed(highest)}`,
      }));
      const own = rows.filter(({ model }) => chosen.has(model)), others = rows.filter(({ model }) => !chosen.has(model));
      const x = { field: "level", type: "ordinal", title: panel.label, axis: { labelAngle: 0, grid: false } };
      const y = (field) => quantity(field, data.up, [0, data.most]);
      const tooltip = tell("Model", panel.across, "Share", data.counted, "Interval", ...(panel.rows.some((row) => row[7] !== null) ? ["Range"] : []));
      return { height: 280, layer: [
        { data: { values: others }, mark: { type: "line", strokeWidth: 1, opacity: 0.35, color: grey, point: { size: 12, color: grey, opacity: 0.35 } }, encoding: { x, y: y("share"), detail: { field: "model" }, tooltip } },
        ...(shown.bands ? [{ data: { values: own.filter(({ lowest }) => lowest !== null) }, mark: { type: "area", opacity: 0.18 }, encoding: { x, y: y("lowest"), y2: { field: "highest" }, color } }] : []),
        ...(shown.intervals ? [{ data: { values: own }, mark: { type: "rule", strokeWidth: 1.5 }, encoding: { x, y: y("low"), y2: { field: "high" }, color } }] : []),
        { data: { values: own }, mark: { type: "line", strokeWidth: 2.2 }, encoding: { x, y: y("share"), color } },
        { data: { values: own }, mark: { type: "point", filled: true, size: 70, opacity: 1, cursor: "pointer" }, encoding: { x, y: y("share"), color, tooltip } },
      ] };
    },

    /** An interval a model, in rows sorted by the first panel's estimates; what lies beyond the scale stands at its edge.
     *  Where a panel has no intervals a line leads from zero to the estimate. */
    spans(data, panel, chosen, { named }) {
      const { color, grey } = look(data, chosen), [low, high] = panel.limits ?? span(panel.rows);
      const first = new Map(data.panels[0].rows.map(([at, estimate]) => [data.models[at].name, estimate ?? -Infinity]));
      const order = [...first.keys()].sort((a, b) => first.get(b) - first.get(a));
      const hasIntervals = panel.rows.some(([, , from, to]) => from !== null || to !== null);
      const clip = (value, edge) => Math.min(high, Math.max(low, value ?? edge));
      const rows = panel.rows.filter((row) => row[1] !== null).map(([at, estimate, from, to]) => ({
        model: data.models[at].name, at: clip(estimate), from: hasIntervals ? clip(from, low) : clip(0), to: hasIntervals ? clip(to, high) : clip(estimate), Model: data.models[at].name,
        Estimate: fixed(estimate, 2), Interval: `${from === null ? "no limit" : fixed(from, 2)} to ${to === null ? "no limit" : fixed(to, 2)} (95%)`,
        lies: estimate < low ? "below" : estimate > high ? "above" : "inside",
      }));
      const scale = { type: panel.scale, domain: [low, high], ...(panel.scale === "symlog" ? { constant: 2 } : {}) };
      const ticks = panel.ticks.filter((tick) => low <= tick && tick <= high);
      const x = (field) => ({ ...quantity(field, panel.label), scale, axis: ticks.length ? { values: ticks } : { tickCount: 4 } });
      const y = { field: "model", type: "nominal", sort: order, title: null, scale: { domain: order }, axis: named ? { labelLimit: 220 } : { labels: false, ticks: false } };
      const tooltip = tell("Model", "Estimate", ...(hasIntervals ? ["Interval"] : []));
      const part = (is, tone, size) => {
        const values = rows.filter(({ model }) => chosen.has(model) === is), encoded = is ? { color } : {};
        return [
          { data: { values: values.filter(({ lies }) => lies === "inside") }, mark: { type: "rule", strokeWidth: is ? 2.5 : 1.2, color: tone }, encoding: { x: x("from"), x2: { field: "to" }, y, tooltip, ...encoded } },
          { data: { values }, mark: { type: "point", filled: true, size, opacity: 1, color: tone }, encoding: { x: x("at"), y, tooltip, ...encoded,
            shape: { field: "lies", type: "nominal", scale: { domain: ["inside", "below", "above"], range: ["circle", "triangle-left", "triangle-right"] }, legend: null } } },
        ];
      };
      const ground = panel.tested
        ? { data: { values: [{ low: panel.tested[0], high: panel.tested[1] }] }, mark: { type: "rect", color: grey, opacity: 0.1 }, encoding: { x: x("low"), x2: { field: "high" } } }
        : { data: { values: [{ zero: clip(0) }] }, mark: { type: "rule", color: grey, opacity: 0.6 }, encoding: { x: x("zero") } };
      return { height: 17 * order.length + 50, layer: [ground, ...part(false, grey, 30), ...part(true, undefined, 70)] };
    },

    /** Departures against a size, with a band that chance leaves; a point is a configuration. */
    scatter(data, panel, chosen) {
      const { color, grey } = look(data, chosen), most = 5;
      const rows = panel.rows.map(([at, size, off, N, d]) => ({
        model: data.models[at].name, size, off: Math.max(-most, Math.min(most, off)), N, d,
        Model: data.models[at].name, Tokens: fixed(size, 1), Departure: `${fixed(off, 2)} standard errors`, Configuration: `N = ${N}, d = ${d}, all ρ`,
      }));
      const x = { ...quantity("size", panel.label), scale: { type: "log", nice: false, padding: 8 }, axis: { values: [500, 1000, 2000, 5000, 10000], grid: false } };
      const y = quantity("off", data.up, [-most, most]), tooltip = tell("Model", "Configuration", "Tokens", "Departure");
      const dots = (is, mark, encoded) => ({ data: { values: rows.filter(({ model }) => chosen.has(model) === is) }, mark: { type: "point", filled: true, cursor: "pointer", ...mark }, encoding: { x, y, tooltip, ...encoded } });
      return { height: 320, layer: [
        { data: { values: [{ low: -panel.band, high: panel.band }] }, mark: { type: "rect", color: grey, opacity: 0.12 }, encoding: { y: quantity("low", data.up, [-most, most]), y2: { field: "high" } } },
        dots(false, { size: 18, opacity: 0.3, color: grey }, {}), dots(true, { size: 60, opacity: 0.9 }, { color }),
      ] };
    },
  };

  /** Return a panel of the figure for Vega-Lite, for these models and this width. */
  function specify(data, panel, chosen, shown, width) {
    const { ink, grey } = look(data, chosen);
    const words = { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridColor: style("--pst-color-border"), domainColor: grey, tickColor: grey };
    return {
      width, background: null, autosize: { type: "fit", contains: "padding" }, title: panel.title ? { text: panel.title, color: ink } : undefined,
      ...KINDS[panel.kind](data, panel, chosen, shown), config: { axis: words, view: { stroke: null }, font: getComputedStyle(document.body).fontFamily },
    };
  }

  /** What a point stands for, as the explorer's address has it; null for one that is no configuration. */
  const loadsOf = (panel, datum) => (panel.kind === "course" ? { ...panel.fixed, [panel.across]: datum.level }
    : panel.kind === "scatter" ? { N: datum.N, d: datum.d } : null);

  function wilson(k, n, z) {
    const p = k / n, middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
    const half = (z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
    return [p, middle - half, middle + half];
  }

  /** Rows of a reader's model in a panel, without its place; none where its file does not hold what the panel shows. */
  function rowsOf(panel, model, z) {
    if (panel.kind === "spans") {
      const point = model.points?.[panel.point];
      return point ? [point.map((one) => (Number.isFinite(one) ? one : null))] : [];
    }
    if (panel.kind !== "course") return [];
    const counted = panel.count ?? "k", levels = new Map();
    for (const cell of model.cells) {
      if (Object.entries(panel.fixed).some(([load, level]) => cell[load] !== level)) continue;
      if (!Number.isInteger(cell[counted])) return [];
      const sum = levels.get(cell[panel.across]) ?? [0, 0];
      levels.set(cell[panel.across], [sum[0] + cell.n, sum[1] + cell[counted]]);
    }
    return [...levels].sort(([a], [b]) => a - b).map(([level, [n, k]]) => [level, n, k, ...wilson(k, n, z), null, null]);
  }

  /** Places that the interval of a model leaves open among the others: title, best, worst and how many there are. */
  function findPlaces(data, panel, at) {
    const rank = (title, own, others) => (own ? [[title, others.filter(([low]) => low > own[1]).length + 1, others.length + 1 - others.filter(([, high]) => high < own[0]).length, others.length + 1]] : []);
    if (panel.kind === "spans") {
      if (!["ecl50", "id50"].includes(panel.point)) return [];  // of others a larger one is not a better one
      const ends = ([, estimate, low, high]) => (estimate === null ? null : [low ?? -Infinity, high ?? Infinity]);
      const others = panel.rows.filter((row) => !data.models[row[0]].dropped).map(ends).filter(Boolean);
      return rank(panel.point.toUpperCase(), panel.rows.filter((row) => row[0] === at).map(ends)[0], others);
    }
    if (panel.kind !== "course" || panel.count) return [];
    const sums = new Map();
    for (const [model, , n, k] of panel.rows) sums.set(model, [(sums.get(model)?.[0] ?? 0) + n, (sums.get(model)?.[1] ?? 0) + k]);
    const ends = (model) => { const [n, k] = sums.get(model) ?? [0, 0]; return n ? wilson(k, n, data.z).slice(1) : null; };
    return rank(`accuracy${panel.title ? `, ${panel.title}` : ""}`, ends(at), data.models.flatMap((model, other) => (model.dropped ? [] : [ends(other)])).filter(Boolean));
  }

  return { paint, specify, loadsOf, rowsOf, findPlaces };
})();
