// Who copies by keyboard stays at the button: copying moves the focus into a hidden field, which is then removed.
document.addEventListener("click", (event) => {
  const button = event.composedPath().find((part) => part instanceof Element && part.matches("button.copybtn"));
  if (button) button.focus({preventScroll: true});
});
