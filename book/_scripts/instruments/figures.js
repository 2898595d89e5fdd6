/* Figures that answer: choose or search models, see counts and intervals, go to a configuration's puzzles.
 *
 * Beside each picture of accuracies the build leaves its numbers; Vega-Lite draws them here, a panel a view, so that panels
 * stand side by side on a screen and below one another on a phone. The picture stays for print, for downloads, and where
 * scripts are off. Vega is loaded on pages that have such a figure only.
 */
"use strict";
globalThis.cogniload ??= {};

cogniload.figures = (() => {
  const here = document.currentScript?.src ?? "";
  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const isDark = () => document.documentElement.dataset.theme === "dark";

  /** Load a script that lies beside the book's others, once. */
  const loaded = new Map();
  function load(path) {
    if (!loaded.has(path)) loaded.set(path, new Promise((resolve, reject) => {
      document.head.append(make("script", { src: new URL(path, here).href, onload: resolve, onerror: reject }));
    }));
    return loaded.get(path);
  }

  /** Numbers of a panel as rows of names. */
  const unpack = (data, panel) => panel.rows.map(([at, level, n, correct, accuracy, low, high, lowest, highest]) =>
    ({ model: data.models[at].name, family: data.models[at].family, level, n, correct, accuracy, low, high, lowest, highest }));

  /** A reader's own models and, of the others, the best, the middle and the last: few enough to be followed. */
  function firstChoice(data) {
    const sums = data.models.map(({ name, own }, at) => {
      const rows = data.panels.flatMap((panel) => panel.rows.filter(([model]) => model === at));
      const total = (place) => rows.reduce((sum, row) => sum + row[place], 0);
      return { name, own, share: total(3) / total(2) };
    }).filter(({ share }) => Number.isFinite(share));
    const others = sums.filter(({ own }) => !own).sort((a, b) => b.share - a.share);
    const some = [0, 1, Math.floor(others.length / 2), others.length - 1].map((at) => others[at]?.name).filter(Boolean);
    return new Set([...sums.filter(({ own }) => own).map(({ name }) => name), ...some]);
  }

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

  function specify(data, panel, chosen, shown, width) {
    const rows = unpack(data, panel), colors = paint(data, chosen), ink = style("--pst-color-text-base"), grey = style("--pst-color-text-muted");
    const x = { field: "level", type: "ordinal", title: panel.label, axis: { labelAngle: 0, grid: false } };
    const y = (field, more = {}) => ({ field, type: "quantitative", scale: { domain: [0, 1] }, title: "Mean accuracy", ...more });
    const color = { field: "model", type: "nominal", scale: { domain: colors.map(([name]) => name), range: colors.map(([, tone]) => tone) }, legend: null };
    const own = rows.filter(({ model }) => chosen.has(model)), others = rows.filter(({ model }) => !chosen.has(model));
    const told = (row) => ({ ...row,
      Model: row.model, Accuracy: row.accuracy.toFixed(3), Right: `${row.correct} of ${row.n}`, Interval: `${row.low.toFixed(3)} to ${row.high.toFixed(3)} (90%)`,
      Range: row.lowest === null ? "–" : `${row.lowest.toFixed(3)} to ${row.highest.toFixed(3)}` });
    const tooltip = ["Model", "level", "Accuracy", "Right", "Interval", "Range"].map((field) => ({ field, type: "nominal", title: field === "level" ? panel.across : field }));
    const layer = [
      { data: { values: others.map(told) }, mark: { type: "line", strokeWidth: 1, opacity: 0.35, color: grey, point: { size: 12, color: grey, opacity: 0.35 } }, encoding: { x, y: y("accuracy"), detail: { field: "model" }, tooltip } },
      ...(shown.bands ? [{ data: { values: own.filter(({ lowest }) => lowest !== null) }, mark: { type: "area", opacity: 0.18 }, encoding: { x, y: y("lowest"), y2: { field: "highest" }, color } }] : []),
      ...(shown.intervals ? [{ data: { values: own }, mark: { type: "rule", strokeWidth: 1.5 }, encoding: { x, y: y("low"), y2: { field: "high" }, color } }] : []),
      { data: { values: own.map(told) }, mark: { type: "line", strokeWidth: 2.2 }, encoding: { x, y: y("accuracy"), color } },
      { data: { values: own.map(told) }, mark: { type: "point", filled: true, size: 70, opacity: 1, cursor: "pointer" }, encoding: { x, y: y("accuracy"), color, tooltip } },
    ];
    const words = { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridColor: style("--pst-color-border"), domainColor: grey, tickColor: grey };
    return {
      width, height: 280, background: null, autosize: { type: "fit", contains: "padding" }, title: panel.title ? { text: panel.title, color: ink } : undefined,
      layer, config: { axis: words, view: { stroke: null }, font: "inherit" },
    };
  }

  /** Where the explorer shows puzzles of what a point stands for: the loads that are fixed, and the one along the axis. */
  function explorerOf(panel, level) {
    const words = new URLSearchParams({ ...panel.fixed, [panel.across]: level });
    return new URL(`../explorer.html#${words}`, here).href;
  }

  async function start(home) {
    const data = JSON.parse(home.querySelector("script").textContent);
    if (!data.panels.some((panel) => panel.rows.length)) return;
    const figure = document.getElementById(home.dataset.figure);
    const shown = { bands: true, intervals: false };
    let chosen = firstChoice(data), turn = 0;
    const views = make("div", { className: "figure-panels" }), chips = make("div", { className: "figure-models" });
    views.setAttribute("role", "img");
    views.setAttribute("aria-label", figure?.querySelector("img")?.alt ?? "accuracies");
    const field = make("input", { type: "search", placeholder: "Find a model", spellcheck: false });
    field.setAttribute("aria-label", "Show only models with these letters in the list");
    field.addEventListener("input", showChips);
    const box = (text, name) => {
      const input = make("input", { type: "checkbox", checked: shown[name] });
      input.addEventListener("change", () => { shown[name] = input.checked; draw(); });
      return make("label", {}, input, ` ${text}`);
    };
    const still = make("button", { type: "button", textContent: "Still picture" });
    still.addEventListener("click", () => {
      const on = figure.classList.toggle("answered");
      views.hidden = !on;
      still.textContent = on ? "Still picture" : "Figure that answers";
    });
    const some = (text, names) => {
      const button = make("button", { type: "button", textContent: text });
      button.addEventListener("click", () => { chosen = names(); showChips(); draw(); });
      return button;
    };
    const hasBands = data.panels.some((panel) => panel.rows.some((row) => row[7] !== null));
    const tools = make("div", { className: "table-tools figure-tools" }, field, some("All", () => new Set(data.models.map(({ name }) => name))), some("A few", () => firstChoice(data)),
      ...(hasBands ? [box("bands", "bands")] : []), box("intervals", "intervals"), still);

    function showChips() {
      const words = field.value.toLowerCase(), tones = new Map(paint(data, chosen));
      const families = [...new Set(data.models.map(({ family }) => family))];
      chips.replaceChildren(...families.map((family) => {
        const members = data.models.filter((model) => model.family === family && model.name.toLowerCase().includes(words));
        if (!members.length) return "";
        return make("div", { className: "figure-family" }, make("span", { className: "family" }, family), ...members.map(({ name }) => {
          const input = make("input", { type: "checkbox", checked: chosen.has(name) });
          input.dataset.model = name;
          input.addEventListener("change", () => {
            if (input.checked) chosen.add(name); else chosen.delete(name);
            showChips();
            draw();
            [...chips.querySelectorAll("input")].find((one) => one.dataset.model === name)?.focus();
          });
          const mark = make("span", { className: "swatch" });
          mark.style.background = tones.get(name) ?? "transparent";
          return make("label", {}, input, mark, name);
        }));
      }));
    }

    async function draw() {
      const mine = ++turn, columns = views.clientWidth < 560 ? 1 : data.panels.length;
      const width = Math.max(240, Math.floor((views.clientWidth - 16 * (columns - 1)) / columns));
      const drawn = await Promise.all(data.panels.filter((panel) => panel.rows.length).map(async (panel) => {
        const place = make("div", { className: "figure-panel" });
        const compiled = globalThis.vegaLite.compile(specify(data, panel, chosen, shown, width)).spec;
        const view = new globalThis.vega.View(globalThis.vega.parse(compiled), { renderer: "svg", hover: true, logLevel: globalThis.vega.Error }).initialize(place);
        view.addEventListener("click", (event, item) => {
          if (item?.mark?.marktype === "symbol" && item.datum?.model) location.href = explorerOf(panel, item.datum.level);
        });
        await view.runAsync();
        return place;
      }));
      if (mine === turn) views.replaceChildren(...drawn);
    }

    home.append(tools, views, chips);
    figure?.before(home);
    figure?.classList.add("answered");
    showChips();
    await draw();
    let width = views.clientWidth;
    addEventListener("resize", () => { if (views.clientWidth !== width) { width = views.clientWidth; draw(); } });
    new MutationObserver(() => { showChips(); draw(); }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    home.dataset.ready = "yes";
  }

  /** Load Vega and draw a figure when it comes near the screen; where that fails the picture is left as it is. */
  async function approach(home) {
    try {
      await load("../vega/vega.min.js");
      await load("../vega/vega-lite.min.js");
      await start(home);
    } catch {
      home.replaceChildren();
      document.getElementById(home.dataset.figure)?.classList.remove("answered");
    }
  }

  return { approach };
})();

document.addEventListener("DOMContentLoaded", () => {
  const watch = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (isIntersecting) { watch.unobserve(target); cogniload.figures.approach(target); }
    }
  }, { rootMargin: "600px" });
  document.querySelectorAll(".figure-answers").forEach((home) => watch.observe(home));
});
