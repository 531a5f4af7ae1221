// The search page: an id such as D-04 is one word, and an excerpt begins with the text of the article.
// Loaded after Sphinx's own script, which looks these functions up when it searches.
(function () {
  "use strict";
  const LEFT_OUT = ".headerlink, script, style, h1, .chapter-box, .cite";
  const WORDS = /[a-z]-\d+|[\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/giu;

  window.splitQuery = (query) => query.match(WORDS) || [];

  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(LEFT_OUT).forEach((part) => part.remove());
    page.querySelectorAll("td, th, p, li, h2, h3, pre").forEach((part) => part.append(" "));
    const part = anchor && page.getElementById(anchor.slice(1));
    const text = (element) => (element ? element.textContent.replace(/\s+/g, " ").trim() : "");
    return text(part) || text(page.querySelector("article"));
  };
})();
