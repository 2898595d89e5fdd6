/* Interactive figures: accuracy along a load, the chosen models in colour; one choice of models for all figures of a page.
 *
 * Beside a picture the build leaves its numbers; Vega-Lite, loaded when a reader asks, draws them here, a panel a view: side by side on a
 * screen, below one another on a phone. The picture stays for print, for downloads, and where scripts are off. */
"use strict";

cogniload.figures = (() => {
  const { el, findCalled, load, sortLevels } = cogniload.dom;
  const here = document.currentScript?.src ?? "";
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const isDark = () => document.documentElement.dataset.theme === "dark";
  const fixed = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
  /** What all figures of the page share: models by name, those chosen, what is being typed, and how to draw again. */
  const shared = { models: new Map(), chosen: null, typed: "", draw: [] };

  // ---- colours and panels --------------------------------------------------------------------------------------------
  function blend(color, towards, share) {
    const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)).map((one) => Math.round(one + (towards - one) * share));
    return `#${parts.map((one) => one.toString(16).padStart(2, "0")).join("")}`;
  }
  /** Colours of the chosen: those of their family, shades of it where several are chosen; the reader's own are black or white. */
  function paint() {
    const used = {}, shades = isDark() ? [[255, 0.3], [255, 0.65], [255, 0.05], [255, 0.8], [255, 0.5]] : [[255, 0], [0, 0.5], [255, 0.45], [0, 0.75], [255, 0.65]];
    return [...shared.chosen].map((name) => {
      const { family, color, own } = shared.models.get(name), turn = (used[family] = (used[family] ?? -1) + 1);
      return [name, blend(own ? (isDark() ? "#ffffff" : "#000000") : color, ...shades[own ? 0 : turn % 5])];
    });
  }
  const findTyped = () => findCalled([...shared.models.keys()], shared.typed);

  /** A panel for Vega-Lite: the chosen models in colour, those that are being typed in bold with their names, the others grey. */
  function specify(data, panel, shown, width) {
    const ink = style("--pst-color-text-base"), grey = style("--pst-color-text-muted"), colors = paint(), names = findTyped();
    const rows = panel.rows.map(([at, level, n, count, share, low, high, lowest, highest, out]) => ({
      model: data.models[at].name, level, share, low, high, lowest, highest, out, Model: data.models[at].name, [panel.across]: String(level), Share: fixed(share),
      Correct: `${count} of ${n}`, Interval: `${fixed(low)} to ${fixed(high)} (90%)`, Range: lowest === null ? "–" : `${fixed(lowest)} to ${fixed(highest)}`, "Out of context": out === null ? "–" : `${Math.round(100 * out)}%`,
    }));
    const levels = sortLevels(rows.map(({ level }) => level)), last = levels.at(-1);
    const own = rows.filter(({ model }) => shared.chosen.has(model)), typed = rows.filter(({ model }) => names.includes(model));
    const x = {
      field: "level", type: "quantitative", title: panel.label, axis: { values: levels, grid: false },
      scale: panel.across === "N" ? { type: "log", domain: [levels[0] / 1.15, last * 1.15] } : { zero: false, nice: false, padding: 10 },
    };
    const y = (field) => ({ field, type: "quantitative", title: "Mean accuracy", scale: { domain: [0, 1] } });
    const color = { field: "model", type: "nominal", scale: { domain: colors.map(([name]) => name), range: colors.map(([, tone]) => tone) }, legend: null };
    const tooltip = ["Model", panel.across, "Share", "Correct", "Interval", ...(rows.some(({ lowest }) => lowest !== null) ? ["Range"] : []), ...(rows.some(({ out }) => out !== null) ? ["Out of context"] : [])].map((field) => ({ field, type: "nominal" }));
    const detail = { field: "model" }, pale = names.length ? 0.25 : 1;
    const words = { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridColor: style("--pst-color-border"), domainColor: grey, tickColor: grey };
    return {
      width, height: 280, background: null, autosize: { type: "fit", contains: "padding" }, title: panel.title ? { text: panel.title, color: ink } : undefined,
      layer: [
        { data: { values: rows.filter((row) => !own.includes(row)) }, mark: { type: "line", strokeWidth: 1, opacity: 0.35 * pale, color: grey, point: { size: 12, color: grey, opacity: 0.35 * pale } }, encoding: { x, y: y("share"), detail, tooltip } },
        ...(shown.bands ? [{ data: { values: own.filter(({ lowest }) => lowest !== null) }, mark: { type: "area", opacity: 0.18 * pale }, encoding: { x, y: y("lowest"), y2: { field: "highest" }, color } }] : []),
        ...(shown.intervals ? [{ data: { values: own }, mark: { type: "rule", strokeWidth: 1.5, opacity: pale }, encoding: { x, y: y("low"), y2: { field: "high" }, color } }] : []),
        { data: { values: own }, mark: { type: "line", strokeWidth: 2.2, opacity: pale }, encoding: { x, y: y("share"), color } },
        ...[false, true].map((hollow) => [hollow, own.filter(({ out }) => (out !== null) === hollow)]).filter(([, values]) => values.length).map(([hollow, values]) => ({ data: { values }, mark: { type: "point", filled: !hollow, ...(hollow ? { fill: style("--pst-color-background"), strokeWidth: 2 } : {}), size: 70, opacity: pale, cursor: "pointer" }, encoding: { x, y: y("share"), color, tooltip } })),
        { data: { values: typed }, mark: { type: "line", strokeWidth: 3.5, color: ink }, encoding: { x, y: y("share"), detail, tooltip } },
        { data: { values: typed.filter(({ level }) => level === last) }, mark: { type: "text", align: "right", dy: -9, color: ink, fontWeight: "bold" }, encoding: { x, y: y("share"), text: detail } },
      ],
      config: { axis: words, view: { stroke: null }, font: getComputedStyle(document.body).fontFamily },
    };
  }

  // ---- models --------------------------------------------------------------------------------------------------------
  /** A reader's own models and, of the others, the first two, the best of Gemini, the middle and the last: few enough to be followed. */
  function firstChoice() {
    const all = [...shared.models.values()], others = all.filter(({ own, score }) => !own && score !== null).sort((a, b) => b.score - a.score);
    const some = [others[0], others[1], others.find(({ family }) => family.startsWith("Gemini")), others[Math.floor(others.length / 2)], others.at(-1)].flatMap((one) => one?.name ?? []);
    return new Set([...all.filter(({ own }) => own).map(({ name }) => name), ...some]);
  }

  /** The choice of models for all figures: a field that highlights while typing, and the chosen ones with their colours. */
  function buildChoice() {
    const chips = el("div", { class: "figure-models" }), said = el("span", { class: "said", role: "status" });
    const choose = (names) => { shared.chosen = names; drawAll(); };
    const field = el("input", { type: "search", placeholder: "Find a model", spellcheck: "false", "aria-label": "Highlight models with these letters; Enter adds them",
      oninput: () => { shared.typed = field.value; drawAll(); },
      onkeydown: (event) => { if (event.key === "Enter") { const found = findTyped(); shared.typed = field.value = ""; choose(new Set([...shared.chosen, ...found])); } } });
    const button = (text, names) => el("button", { type: "button", onclick: () => choose(names()) }, text);
    const show = () => {
      const focus = [...chips.children].indexOf(document.activeElement);
      chips.replaceChildren(...paint().map(([name, tone]) => {
        const swatch = el("span", { class: "swatch" });
        swatch.style.background = tone;
        return el("button", { type: "button", "data-model": name, "aria-label": `Remove ${name} from the figures`,
          onclick: () => choose(new Set([...shared.chosen].filter((one) => one !== name))) }, swatch, name, el("span", { "aria-hidden": "true" }, " ×"));
      }));
      if (focus >= 0) (chips.children[Math.min(focus, chips.children.length - 1)] ?? field).focus();
      const count = findTyped().length;
      said.textContent = !field.value.trim() ? "" : count ? `${count} highlighted; Enter adds` : "no such model";
    };
    shared.draw.unshift(show);
    return el("div", { class: "figure-choice", role: "group", "aria-label": "Models in the figures of this page" },
      el("div", { class: "table-tools figure-tools" }, said, field, button("All", () => new Set(shared.models.keys())), button("A few", firstChoice)), chips);
  }
  const drawAll = () => shared.draw.forEach((draw) => draw());

  // ---- one figure ----------------------------------------------------------------------------------------------------
  async function start(container) {
    const data = JSON.parse(container.querySelector("script").textContent);
    let turn = 0;
    if (!data.panels.some(({ rows }) => rows.length)) return;
    data.models.forEach((model) => shared.models.set(model.name, model));
    const isFirst = !shared.chosen, figure = document.getElementById(container.dataset.figure), shown = { bands: true, intervals: false };
    shared.chosen ??= firstChoice();
    const views = el("div", { class: "figure-panels", role: "img", "aria-label": figure?.querySelector("img")?.alt ?? "figure" });
    const box = (name) => {
      const input = el("input", { type: "checkbox", checked: shown[name], onchange: () => { shown[name] = input.checked; draw(); } });
      return el("label", {}, input, ` ${name}`);
    };
    const still = el("button", { type: "button", onclick: () => {
      views.hidden = !figure.classList.toggle("answered");
      still.textContent = views.hidden ? "Interactive figure" : "Static image";
    } }, "Static image");
    const hasBands = data.panels.some(({ rows }) => rows.some((row) => row[7] !== null));
    const address = (loads) => new URL(`../explorer.html#${new URLSearchParams(loads)}`, here).href;
    const links = data.panels.map((panel) => el("p", {}, panel.title ? `${panel.title}: ` : "", `${panel.across} = `,
      [...new Set(panel.rows.map((row) => row[1]))].flatMap((level, at) => [at ? ", " : "", el("a", { href: address({ ...panel.fixed, [panel.across]: level }) }, level)])));

    async function draw() {
      const mine = ++turn, panels = data.panels.filter(({ rows }) => rows.length), columns = Math.max(1, Math.min(panels.length, 3, Math.floor(views.clientWidth / 195)));
      const drawn = await Promise.all(panels.map(async (panel) => {
        const place = el("div", { class: "figure-panel" }), width = Math.max(180, Math.floor((views.clientWidth - 16 * (columns - 1)) / columns));
        const { spec } = globalThis.vegaLite.compile(specify(data, panel, shown, width));
        const view = new globalThis.vega.View(globalThis.vega.parse(spec), { renderer: "svg", hover: true, logLevel: globalThis.vega.Error }).initialize(place);
        view.addEventListener("click", (event, item) => {
          if (item?.mark?.marktype === "symbol" && item.datum?.model) location.href = address({ ...panel.fixed, [panel.across]: item.datum.level });
        });
        await view.runAsync();
        return place;
      }));
      if (mine === turn) views.replaceChildren(...drawn);
    }

    if (isFirst) (figure ?? container).before(buildChoice());
    container.append(el("div", { class: "table-tools figure-tools" }, hasBands && box("bands"), box("intervals"), still), views,
      el("details", { class: "figure-links" }, el("summary", {}, "Puzzles of these configurations, in the explorer"), links));
    figure?.classList.add("answered");
    shared.draw.push(draw);
    drawAll();
    await draw();
    let width = views.clientWidth;
    addEventListener("resize", () => { if (views.clientWidth !== width) { width = views.clientWidth; draw(); } });
    new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    container.dataset.ready = "yes";
  }

  /** Load Vega and draw a figure; where that fails the picture is left as it is. */
  async function loadFigure(container) {
    try {
      await load("../vega/vega.min.js");
      await load("../vega/vega-lite.min.js");
      await start(container);
    } catch (error) {
      reportError(error);
      container.replaceChildren();
      document.getElementById(container.dataset.figure)?.classList.remove("answered");
    }
  }

  return { loadFigure };
})();

document.addEventListener("DOMContentLoaded", () => {
  const { el } = cogniload.dom;
  document.querySelectorAll(".figure-answers").forEach((container) => {
    const ask = () => { tools.remove(); cogniload.figures.loadFigure(container); };
    const tools = container.appendChild(el("div", { class: "table-tools figure-tools" }, el("button", { type: "button", onclick: ask }, "Interactive figure")));
  });
});
