// Stands in for the theme's script of this name, which brings every icon of the set (half a megabyte compressed).
// The theme's style sheet draws the same icons with a font; what is left to do is to hide them from screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const icon of document.querySelectorAll("i[class*='fa-']")) icon.setAttribute("aria-hidden", "true");
});
