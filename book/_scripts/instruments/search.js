/* Search: the page with exactly the words of the query as its title comes first; Sphinx's own script does the rest. */
"use strict";

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
