/* Figures that answer: choose or search models, see counts and intervals, go to a configuration's puzzles.
 *
 * Beside a picture the build leaves its numbers; Vega-Lite draws them here (figure-panels.js says how), a panel a view, so that
 * panels stand side by side on a screen and below one another on a phone. The picture stays for print, for downloads, and where
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
  /** Load a script that lies beside the book's others, once. */
  const loaded = new Map();
  function load(path) {
    if (!loaded.has(path)) loaded.set(path, new Promise((resolve, reject) => {
      document.head.append(make("script", { src: new URL(path, here).href, onload: resolve, onerror: reject }));
    }));
    return loaded.get(path);
  }

  /** A reader's own models and, of the others, the first two, the middle and the last: few enough to be followed. */
  function firstChoice({ models }) {
    const others = models.filter(({ own, score }) => !own && score !== null).sort((a, b) => b.score - a.score);
    const some = [0, 1, Math.floor(others.length / 2), others.length - 1].map((at) => others[at]?.name).filter(Boolean);
    return new Set([...models.filter(({ own }) => own).map(({ name }) => name), ...some]);
  }

  /** Put the models that the reader has dropped beside the others, as far as their files hold what the panels show. */
  function addDropped(data) {
    for (const model of cogniload.dropped.read()) {
      const found = data.panels.map((panel) => cogniload.panels.rowsOf(panel, model, data.z));
      if (found.every((rows) => !rows.length)) continue;
      const name = data.models.some((one) => one.name === model.name) ? `${model.name} (dropped)` : model.name;
      const at = data.models.push({ name, family: "Dropped by you, in this browser only", color: "#000000", own: true, dropped: true, whole: model.whole, score: null }) - 1;
      data.panels.forEach((panel, place) => panel.rows.push(...found[place].map((row) => [at, ...row])));
    }
  }

  /** The places that the intervals of dropped models leave open, in words. */
  function describePlaces(data) {
    return data.models.flatMap((model, at) => {
      const places = model.dropped ? data.panels.flatMap((panel) => cogniload.panels.findPlaces(data, panel, at)) : [];
      if (!places.length) return [];
      if (!model.whole) return [`${model.name}: no place, its file has other configurations than the others`];
      const words = places.map(([title, best, worst, of]) => `${title} ${best === worst ? best : `${best} to ${worst}`} of ${of}`);
      return [`${model.name}: ${[...new Set(words)].join("; ")}`];
    });
  }

  async function start(home) {
    const text = home.querySelector("script").textContent;
    const read = () => { const data = JSON.parse(text); addDropped(data); return data; };
    let data = read();
    if (!data.panels.some((panel) => panel.rows.length)) return;
    const figure = document.getElementById(home.dataset.figure);
    const shown = { bands: true, intervals: false };
    let chosen = firstChoice(data), turn = 0;
    const views = make("div", { className: "figure-panels" }), chips = make("div", { className: "figure-models" });
    views.setAttribute("role", "img");
    views.setAttribute("aria-label", figure?.querySelector("img")?.alt ?? "figure");
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
    const hasBands = data.panels.some((panel) => panel.kind === "course" && panel.rows.some((row) => row[7] !== null)), courses = data.panels.some((panel) => panel.kind === "course");
    const tools = make("div", { className: "table-tools figure-tools" }, field, some("All", () => new Set(data.models.map(({ name }) => name))), some("A few", () => firstChoice(data)),
      ...(hasBands ? [box("bands", "bands")] : []), ...(courses ? [box("intervals", "intervals")] : []), still);

    function showChips() {
      const words = field.value.toLowerCase(), tones = new Map(cogniload.panels.paint(data, chosen));
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

    /** Panels that stand side by side share the width; where rows have names, the first of them has these beside it. */
    function widthOf(panel, columns, named) {
      const all = views.clientWidth - 16 * (columns - 1), names = panel.kind === "spans" ? Math.min(205, all / 3) : 0;
      return Math.max(panel.kind === "spans" ? 110 : 180, Math.floor((all - names) / columns) + (named ? names : 0));
    }

    async function draw() {
      const mine = ++turn, columns = Math.max(1, Math.min(data.panels.length, 3, Math.floor(views.clientWidth / 195)));
      const panels = data.panels.filter((panel) => panel.rows.length);
      const drawn = await Promise.all(panels.map(async (panel, at) => {
        const named = at % columns === 0, width = widthOf(panel, columns, named);
        const place = make("div", { className: "figure-panel" });
        const compiled = globalThis.vegaLite.compile(cogniload.panels.specify(data, panel, chosen, { ...shown, named }, width)).spec;
        const view = new globalThis.vega.View(globalThis.vega.parse(compiled), { renderer: "svg", hover: true, logLevel: globalThis.vega.Error }).initialize(place);
        view.addEventListener("click", (event, item) => {
          const loads = item?.mark?.marktype === "symbol" && item.datum?.model && cogniload.panels.loadsOf(panel, item.datum);
          if (loads) location.href = new URL(`../explorer.html#${new URLSearchParams(loads)}`, here).href;
        });
        await view.runAsync();
        return place;
      }));
      if (mine === turn) views.replaceChildren(...drawn);
    }

    const places = make("div");
    const showPlaces = () => places.replaceChildren(...describePlaces(data).map((words) => make("p", { className: "figure-places" }, `Places that its interval leaves open. ${words}.`)));
    /** Other models are dropped than before: those that are new are chosen. */
    function takeDropped() {
      const before = new Set(data.models.map(({ name }) => name));
      data = read();
      chosen = new Set(data.models.filter(({ name, dropped }) => chosen.has(name) || (dropped && !before.has(name))).map(({ name }) => name));
      showPlaces();
      showChips();
      draw();
    }

    home.append(tools, views, chips, places);
    figure?.before(home);
    figure?.classList.add("answered");
    showPlaces();
    showChips();
    await draw();
    document.addEventListener("cogniload-dropped", takeDropped);
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
      await load("figure-panels.js");
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
