/* Page: one switch for the code of a page; small repairs of what the theme leaves open for readers with a keyboard or a screen reader, and
 * of its search, in which the page with the words of the query as its title or among its topics comes first. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const { el } = cogniload.dom;
  const folds = [...document.querySelectorAll(".bd-article details.hide")], title = document.querySelector(".bd-article h1");
  if (folds.length && title) {
    const button = el("button", { type: "button", class: "all-code", "aria-pressed": "false", onclick: () => {
      const open = button.getAttribute("aria-pressed") === "false";
      folds.forEach((fold) => { fold.open = open; });
      button.setAttribute("aria-pressed", String(open));
      button.textContent = open ? "Hide all code" : "Show all code";
    } }, "Show all code");
    title.after(button);
  }
  document.querySelectorAll("summary[aria-label]").forEach((summary) => summary.removeAttribute("aria-label"));
  // a button with words on it is called by these words, so that a voice can press it
  const nameButtons = () => document.querySelectorAll("button[aria-label]").forEach((button) => {
    const words = button.textContent.trim().toLowerCase().replace(/\s+/g, " ");
    if (words && !button.getAttribute("aria-label").toLowerCase().includes(words)) button.removeAttribute("aria-label");
  });
  nameButtons();
  addEventListener("load", nameButtons);
  document.querySelectorAll("[role='list'] > :not([role='listitem'])").forEach((item) => item.setAttribute("role", "listitem"));
  // a box takes the keyboard while something in it lies out of sight, whatever has made it or its content wider or narrower: the theme
  // looks when the window changes only
  const boxes = ".bd-article figure, .bd-article mjx-container, .bd-article .output, .bd-article pre, .pst-scrollable-table-container";
  const mark = (box) => {
    const formula = box.tagName === "MJX-CONTAINER", slack = formula ? 4 : 1;  // a formula is drawn a little beyond its box
    const scrolls = box.scrollWidth > box.clientWidth + slack || (!formula && box.scrollHeight > box.clientHeight + slack);
    if (scrolls || box.hasAttribute("tabindex")) box.tabIndex = scrolls ? 0 : -1;
    if (box.matches(".pst-scrollable-table-container, .output:has(table)")) box.toggleAttribute("data-wide", box.scrollWidth > box.clientWidth + slack);
  };
  const watch = new ResizeObserver((seen) => new Set(seen.map(({ target }) => target.closest(boxes))).forEach((box) => box && mark(box)));
  const watchAll = () => document.querySelectorAll(boxes).forEach((box) => [box, ...box.children].forEach((one) => watch.observe(one)));
  watchAll();
  addEventListener("load", watchAll);
});

if (typeof Search !== "undefined") {
  const query = (new URLSearchParams(location.search).get("q") ?? "").trim().toLowerCase();
  const names = (cogniload.data?.models ?? []).flat().map((name) => name.toLowerCase()), asked = query.split(/\s+/);
  const topic = asked.some((word) => !names.includes(word)) ? asked.filter((word) => !names.includes(word)) : asked;
  const isAbout = (page) => query !== "" && topic.every((word) => cogniload.keywords?.[page]?.includes(word));
  Scorer.score = ([page, title, anchor, , score]) => {
    const name = title.toLowerCase();
    if (!query || anchor) return score;
    return score + (name === query ? 2000 : isAbout(page) ? 1000 : name.startsWith(query) ? 40 : name.includes(query) ? 20 : 0);
  };
  const { performTermsSearch } = Search;
  Search.performTermsSearch = (words, excluded) => {
    const { docnames, titles, filenames } = Search._index, pages = docnames.map((_, place) => place).filter((place) => isAbout(docnames[place]));
    // words that every object of the language has, such as __proto__, are in no index
    return [...performTermsSearch(new Set([...words].filter((word) => !(word in Object.prototype))), excluded),
      ...pages.map((place) => [docnames[place], titles[place], "", null, 0, filenames[place]])];
  };
}
