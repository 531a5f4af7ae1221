// Filters and sorting of the table of claims. Without this script the table is complete and in the ledger's order.
(function () {
  "use strict";
  const table = document.querySelector(".claim-table");
  const filters = document.querySelector(".claim-filters");
  const rows = [...table.tBodies[0].rows];
  const shown = filters.querySelector("[data-shown]");

  function apply() {
    const wanted = Object.fromEntries([...filters.querySelectorAll("[data-filter]")].map((f) => [f.dataset.filter, f.value]));
    const text = wanted.text.toLowerCase();
    for (const row of rows) {
      row.hidden = (wanted.section && row.dataset.section !== wanted.section)
        || (wanted.verdict && row.dataset.verdict !== wanted.verdict)
        || (text && !row.textContent.toLowerCase().includes(text));
    }
    shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  }

  function sort(heading, column) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const order = new Intl.Collator("en", {numeric: true});
    const key = (row) => row.cells[column].textContent.trim();
    rows.sort((a, b) => order.compare(key(a), key(b)) * (down ? -1 : 1));
    table.tBodies[0].append(...rows);
  }

  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => sort(heading, column));
  });
  filters.hidden = false;
  filters.addEventListener("input", apply);
  // A link to a claim that a filter hides shows it again.
  addEventListener("hashchange", () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.hidden) { filters.querySelectorAll("[data-filter]").forEach((f) => { f.value = ""; }); apply(); target.scrollIntoView(); }
  });
})();
