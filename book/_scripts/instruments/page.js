/* Page: one button for all code of a page; repairs of the theme for readers with a keyboard or a
 * screen reader; and the search, which ranks first the page with the words of the query in its
 * title or among its topics.
 */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const { el } = cogniload.dom;
  const folds = [...document.querySelectorAll(".bd-article details.hide")];
  if (folds.length) {
    const turn = () => {
      const isOpen = button.getAttribute("aria-pressed") === "false";
      for (const fold of folds) fold.open = isOpen;
      button.setAttribute("aria-pressed", isOpen);
      button.textContent = isOpen ? "Hide all code" : "Show all code";
    };
    const properties = { type: "button", class: "all-code", "aria-pressed": "false" };
    const button = el("button", { ...properties, onclick: turn }, "Show all code");
    document.querySelector(".bd-article h1").after(button);
  }

  for (const summary of document.querySelectorAll("summary[aria-label]")) {
    summary.removeAttribute("aria-label");
  }
  for (const item of document.querySelectorAll("[role='list'] > :not([role='listitem'])")) {
    item.setAttribute("role", "listitem");
  }

  // the theme has no landmark for the book's title above the contents
  const sidebar = document.getElementById("pst-primary-sidebar");
  sidebar?.setAttribute("role", "complementary");
  sidebar?.setAttribute("aria-label", "The book");

  // a button is named by the words on it, so that voice control can press it
  const nameButtons = () => {
    for (const button of document.querySelectorAll("button[aria-label]")) {
      const words = button.textContent.trim().toLowerCase().replace(/\s+/g, " ");
      const isNamed = button.getAttribute("aria-label").toLowerCase().includes(words);
      if (!isNamed) button.removeAttribute("aria-label");
    }
  };

  // a box can be focused and scrolled by keyboard while part of its content is hidden, whatever
  // changed the size of either: the theme checks only when the window is resized
  const boxes = `.bd-article figure, .bd-article mjx-container, .bd-article .output,
    .bd-article pre, .pst-scrollable-table-container`;
  const mark = (box) => {
    const isFormula = box.tagName === "MJX-CONTAINER";
    const slack = isFormula ? 4 : 1; // a formula is drawn a little beyond its box
    const isWide = box.scrollWidth > box.clientWidth + slack;
    const scrolls = isWide || (!isFormula && box.scrollHeight > box.clientHeight + slack);
    if (scrolls || box.hasAttribute("tabindex")) box.tabIndex = scrolls ? 0 : -1;
    if (box.matches(".pst-scrollable-table-container, .output:has(table)")) {
      box.toggleAttribute("data-wide", isWide);
    }
  };
  const watch = new ResizeObserver((entries) => {
    const changed = new Set(entries.map(({ target }) => target.closest(boxes)));
    for (const box of changed) if (box) mark(box);
  });
  const watchBoxes = () => {
    for (const box of document.querySelectorAll(boxes)) {
      for (const node of [box, ...box.children]) watch.observe(node);
    }
  };

  for (const repair of [nameButtons, watchBoxes]) {
    repair();
    addEventListener("load", repair);
  }
});

if (typeof Scorer !== "undefined") {
  // a page opened from disk can fetch no lines around what was found
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  const query = (new URLSearchParams(location.search).get("q") ?? "").trim().toLowerCase();
  const models = (cogniload.data?.models ?? []).flat().map((name) => name.toLowerCase());
  const words = query.split(/\s+/);
  const topics = words.filter((word) => !models.includes(word));
  const asked = topics.length ? topics : words;
  const isAbout = (page) => asked.every((word) => cogniload.keywords?.[page]?.includes(word));
  Scorer.score = ([page, title, anchor, , score]) => {
    if (!query || anchor) return score;
    const name = title.toLowerCase();
    if (name === query) return score + 2000;
    if (isAbout(page)) return score + 1000;
    if (name.startsWith(query)) return score + 40;
    return name.includes(query) ? score + 20 : score;
  };
}
