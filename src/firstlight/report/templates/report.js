"use strict";
// Draw every plot in the colours of the page, and again when the page turns light, dark or to paper. Paper (A4, 182 mm)
// gets a fixed width, because no resize is seen while printing.
(function () {
  const specs = JSON.parse(document.getElementById("plots").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const paper = window.matchMedia("print");
  const narrow = window.matchMedia("(max-width: 40rem)");
  const darker = JSON.parse(document.getElementById("dark").textContent);
  const names = { "@ink": "--ink", "@muted": "--muted", "@ghost": "--ghost", "@grid": "--grid", "@paper": "--paper" };

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const own = Object.fromEntries(Object.entries(names).map(([k, v]) => [k, style.getPropertyValue(v).trim()]));
    return dark.matches && !paper.matches ? { ...darker, ...own } : own;
  }

  function coloured(value, colour) {
    if (typeof value === "string") return value in colour ? colour[value] : value;
    if (Array.isArray(value)) return value.map((v) => coloured(v, colour));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v, colour)]));
    return value;
  }

  // Every second label, where a phone would have to turn or overlap them.
  function thinned(own) {
    const labels = own.ticktext;
    if (!narrow.matches || !labels || labels.join("  ").length < 36) return {};
    const every = (list) => list.filter((_, k) => k % 2 === 0);
    return { tickvals: every(own.tickvals), ticktext: every(labels) };
  }

  function axis(own, colour) {
    return {
      gridcolor: colour["@grid"], linecolor: colour["@ghost"], tickcolor: colour["@ghost"], zerolinecolor: colour["@ghost"],
      automargin: true, ticks: "outside", ticklen: 4, fixedrange: narrow.matches, ...own, ...thinned(own),
      title: { standoff: 8, ...(own.title || {}) },
    };
  }

  // Names at the lines ("direct") and numbers in cells need room; where it is missing, a legend and hovering tell the same.
  // A layout may say what is otherwise where it is "narrow".
  function fitted(own, data) {
    const { direct, narrow: otherwise, ...wide } = own;
    const layout = narrow.matches ? { ...wide, ...otherwise } : wide;
    if (narrow.matches) for (const trace of data) if (trace.type === "heatmap") delete trace.texttemplate;
    if (!direct) return layout;
    if (!narrow.matches) return { ...layout, showlegend: false };
    const { margin, annotations, ...rest } = layout;
    return { ...rest, annotations: annotations.filter((a) => a.name !== "direct") };
  }

  function draw(element) {
    const colour = colours();
    const spec = coloured(specs[element.id], colour);
    const own = fitted(spec.layout, spec.data);
    const rows = (own.annotations || []).filter((a) => a.yref === "paper").map((a) => a.yshift || 0);
    element.style.minHeight = own.height ? own.height + "px" : "";
    const layout = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow.matches ? 11 : 13, color: colour["@ink"] },
      margin: { l: narrow.matches ? 48 : 64, r: narrow.matches ? 8 : 24, t: 14 + Math.max(14, ...rows), b: 52 },
      legend: { orientation: "h", x: 0, y: narrow.matches ? -0.26 : -0.2, yanchor: "top", font: { color: colour["@ink"] } },
      hoverlabel: { bgcolor: colour["@paper"], bordercolor: colour["@ghost"], font: { color: colour["@ink"], size: 12 }, align: "left" },
      hovermode: "closest", dragmode: narrow.matches ? false : "zoom", height: own.height || (narrow.matches ? 380 : 460),
      ...(paper.matches ? { width: 660, autosize: false } : { autosize: true }),
      ...own, ...Object.fromEntries(Object.keys(own).filter((k) => /^[xy]axis\d*$/.test(k)).map((k) => [k, axis(own[k], colour)])),
    };
    const config = { responsive: true, displaylogo: false, displayModeBar: narrow.matches ? false : "hover",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
    return Plotly.react(element, spec.data, layout, config);
  }

  const all = Array.from(document.querySelectorAll(".canvas"));
  function drawAll() { return Promise.all(all.map(draw)); }
  dark.addEventListener("change", drawAll);
  narrow.addEventListener("change", drawAll);
  paper.addEventListener("change", drawAll);
  drawAll().then(function () { document.documentElement.dataset.drawn = String(all.length); });
})();
