/* Access: small repairs of what the theme leaves open for readers with a keyboard or a screen reader.
 *
 * "Code" toggles are announced by what they show; boxes that scroll can be reached with the keyboard.
 */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("summary[aria-label]").forEach((summary) => summary.removeAttribute("aria-label"));
  // a button with words on it is called by these words, so that a voice can press it
  const callByWords = () => document.querySelectorAll("button[aria-label]").forEach((button) => {
    const words = button.textContent.trim().toLowerCase().replace(/\s+/g, " ");
    if (words && !button.getAttribute("aria-label").toLowerCase().includes(words)) button.removeAttribute("aria-label");
  });
  callByWords();
  addEventListener("load", callByWords);
  document.querySelectorAll("[role='list'] > :not([role='listitem'])").forEach((item) => item.setAttribute("role", "listitem"));
  const mark = () => {
    for (const box of document.querySelectorAll(".bd-article figure, .bd-article mjx-container, .bd-article .output, .bd-article pre, .pst-scrollable-table-container")) {
      const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
      if (scrolls && !box.hasAttribute("tabindex")) box.setAttribute("tabindex", "0");
    }
  };
  mark();
  addEventListener("load", mark);
  addEventListener("resize", mark);
});
