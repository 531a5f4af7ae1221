// Draws every chart of the page from the specification stored beside it, and again when the theme changes.
// Loaded only on pages that have charts, after Vega (same file).
(function () {
  "use strict";
  const look = () => {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--pst-color-text-base").trim() || "#222";
    const line = style.getPropertyValue("--pst-color-border").trim() || "#bbb";
    const words = {labelColor: text, titleColor: text};
    return {
      background: "transparent",
      font: "system-ui, sans-serif",
      axis: {...words, domainColor: text, tickColor: text, gridColor: line, gridOpacity: 0.3,
             labelFontSize: 12, titleFontSize: 13, titleFontWeight: "normal"},
      legend: {...words, labelFontSize: 12, titleFontSize: 12, labelLimit: 320, columns: innerWidth < 600 ? 1 : undefined},
      header: words,
      title: {color: text, fontWeight: "normal"},
      text: {color: text, fill: text},
      style: {"guide-label": {fill: text}, "guide-title": {fill: text}},
      view: {stroke: "transparent"},
    };
  };

  const theme = () => document.documentElement.dataset.theme || "light";

  async function draw(box) {
    if (box.dataset.drawn === theme()) return;
    const drawing = theme();
    const spec = JSON.parse(box.querySelector("script[type='application/json']").textContent);
    const view = box.querySelector(".book-chart-view");
    const own = new Set((spec.params || []).map((p) => p.name));
    const kept = box.vegaView
      ? box.vegaView.getState({signals: (name) => own.has(name), data: () => false}).signals : {};
    if (box.vegaView) box.vegaView.finalize();
    const {config: base, ...rest} = spec;
    const result = await vegaEmbed(view, rest, {renderer: "svg", actions: false, config: look()});
    box.vegaView = result.view;
    for (const [name, value] of Object.entries(kept)) {
      if (own.has(name)) try { result.view.signal(name, value); } catch (error) { /* a selection, not a value */ }
    }
    await result.view.runAsync();
    box.dataset.drawn = drawing;
  }

  // One drawing at a time for each chart: the theme may change twice before the first is done.
  const drawAll = () => document.querySelectorAll(".book-chart").forEach((box) => {
    box.queue = (box.queue || Promise.resolve()).then(() => draw(box));
  });
  new MutationObserver(drawAll).observe(document.documentElement,
    {attributes: true, attributeFilter: ["data-theme"]});
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", drawAll);
  else drawAll();
})();
