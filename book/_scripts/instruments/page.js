/* Page: one switch for the code of a page; small repairs of what the theme leaves open for readers with a keyboard or a screen reader, and
 * of its search, in which the page with exactly the words of the query as its title comes first. */
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
    if (words && !button.closest(".figure-choice") && !button.getAttribute("aria-label").toLowerCase().includes(words)) button.removeAttribute("aria-label");
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
  };
  const watch = new ResizeObserver((seen) => new Set(seen.map(({ target }) => target.closest(boxes))).forEach((box) => box && mark(box)));
  const watchAll = () => document.querySelectorAll(boxes).forEach((box) => [box, ...box.children].forEach((one) => watch.observe(one)));
  watchAll();
  addEventListener("load", watchAll);
});

if (typeof Search !== "undefined") {
  Scorer.score = ([, title, anchor, , score]) => {
    const words = (new URLSearchParams(location.search).get("q") ?? "").trim().toLowerCase(), name = title.toLowerCase();
    if (!words || anchor) return score;
    return score + (name === words ? 200 : name.startsWith(words) ? 40 : name.includes(words) ? 20 : 0);
  };
  // words that every object of the language has, such as __proto__, are in no index
  const { performTermsSearch } = Search;
  Search.performTermsSearch = (words, excluded) => performTermsSearch(new Set([...words].filter((word) => !(word in Object.prototype))), excluded);
}
