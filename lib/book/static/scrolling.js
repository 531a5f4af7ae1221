// What scrolls inside itself can be reached, and then scrolled, by keyboard; what fits is no stop for the Tab key.
// The theme does the same for code and for tables written in Markdown.
(function () {
  "use strict";
  const SCROLLERS = ".bd-article table, .bd-article div.math, mjx-container[display], details.book-chart-table";

  function update() {
    for (const region of document.querySelectorAll(SCROLLERS)) {
      const scrolls = getComputedStyle(region).overflowX === "auto" && region.scrollWidth > region.clientWidth;
      if (scrolls) region.tabIndex = 0;
      else region.removeAttribute("tabindex");
    }
  }

  // The page's height changes when equations are typeset, a disclosure opens or the window gets another width.
  new ResizeObserver(update).observe(document.body);
})();
