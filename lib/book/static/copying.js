// Names for the buttons of a citation, which stand one below the other with the same words.
addEventListener("load", () => {
  for (const button of document.querySelectorAll("details.cite button.copybtn")) {
    button.setAttribute("aria-label", button.previousElementSibling?.matches(".cite-bibtex") ? "Copy BibTeX" : "Copy text");
  }
});

// Who copies by keyboard stays at the button: copying moves the focus into a hidden field, which is then removed.
document.addEventListener("click", (event) => {
  const button = event.composedPath().find((part) => part instanceof Element && part.matches("button.copybtn"));
  if (button) button.focus({preventScroll: true});
});
