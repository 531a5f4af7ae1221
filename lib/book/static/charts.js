// Draws every chart of the page from the specification stored beside it, and again when the theme or the width changes.
// Loaded only on pages that have charts, after Vega (same file).
(function () {
  "use strict";
  const SETTLE = 300; // ms without a further change of width before a chart is drawn anew
  const theme = () => document.documentElement.dataset.theme || "light";

  function look(width) {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--pst-color-text-base").trim() || "#222";
    const line = style.getPropertyValue("--pst-color-border").trim() || "#bbb";
    const words = {labelColor: text, titleColor: text};
    return {
      background: "transparent",
      font: "system-ui, sans-serif",
      axis: {...words, domainColor: text, tickColor: text, gridColor: line, gridOpacity: 0.3,
             labelFontSize: 12, titleFontSize: 13, titleFontWeight: "normal"},
      legend: {...words, labelFontSize: 12, titleFontSize: 12, labelLimit: 320, columns: width < 520 ? 1 : undefined},
      header: words,
      title: {color: text, fontWeight: "normal"},
      text: {color: text, fill: text},
      style: {"guide-label": {fill: text}, "guide-title": {fill: text}},
      view: {stroke: "transparent"},
    };
  }

  function specification(box, width) {
    const {config, ...spec} = JSON.parse(box.querySelector("script[type='application/json']").textContent);
    if (spec.width === "container") Object.assign(spec, {width, autosize: {type: "fit-x", contains: "padding"}});
    return spec;
  }

  async function draw(box) {
    const view = box.querySelector(".book-chart-view");
    const drawing = theme(), width = view.clientWidth;
    if (!width || (box.dataset.drawn === drawing && Number(box.dataset.width) === width)) return;
    const spec = specification(box, width);
    const own = new Set((spec.params || []).map((p) => p.name));
    const kept = box.vegaView
      ? box.vegaView.getState({signals: (name) => own.has(name), data: () => false}).signals : {};
    if (box.vegaView) box.vegaView.finalize();
    const result = await vegaEmbed(view, spec, {renderer: "svg", actions: false, config: look(width)});
    box.vegaView = result.view;
    for (const [name, value] of Object.entries(kept)) {
      if (own.has(name)) try { result.view.signal(name, value); } catch (error) { /* a selection, not a value */ }
    }
    await result.view.runAsync();
    box.dataset.width = width;
    box.dataset.drawn = drawing;
  }

  // One drawing at a time for each chart: the theme may change twice before the first is done.
  function enqueue(box) {
    box.queue = (box.queue || Promise.resolve()).then(() => draw(box));
  }

  // For scripts that change a chart's specification.
  window.bookCharts = {redraw(box) { delete box.dataset.drawn; enqueue(box); }};

  function start() {
    const boxes = document.querySelectorAll(".book-chart");
    new MutationObserver(() => boxes.forEach(enqueue))
      .observe(document.documentElement, {attributes: true, attributeFilter: ["data-theme"]});
    const resized = new ResizeObserver((entries) => entries.forEach(({target}) => {
      clearTimeout(target.settling);
      target.settling = setTimeout(() => enqueue(target), target.dataset.drawn ? SETTLE : 0);
    }));
    boxes.forEach((box) => { enqueue(box); resized.observe(box); });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
