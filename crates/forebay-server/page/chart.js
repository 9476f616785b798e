// A chart with a legend that follows the pointer, and the same as a table.

import uPlot from "/dashboard/vendor/uPlot.esm.js";
import { el, fill, row, say } from "/dashboard/dom.js";
import * as format from "/dashboard/format.js";

/** How many rows the table has: more points become one. */
const ROWS = 15;

/** Of a scale by powers of ten only these are marked. */
const powers = (_, marks) => marks.map((mark) => (Number.isInteger(Math.round(Math.log10(mark) * 1e6) / 1e6) ? mark : null));

const LINEAR = { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] };

const probe = el("span", { hidden: true });

/** What a custom property of the theme is in this moment. */
function colour(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/**
 * Draws into `place`. `lines` are `{ label, colour, of(points) }`, drawn as lines or, if `stacked`, as areas one upon the
 * other; `unit` formats a value, `scale` is of uPlot, and marks are multiples of one of the `steps`.
 */
export class Chart {
  constructor(place, { title, lines, unit, stacked = false, scale = LINEAR, steps }) {
    Object.assign(this, { lines, unit, stacked, scale, steps });
    this.plot = el("div", { className: "plot", role: "img", ariaLabel: `${title}, as a chart; the table below has the same` });
    this.values = lines.map(() => el("b", {}));
    this.legend = el("ul", { className: "legend" }, ...lines.map((line, index) => {
      const swatch = el("i", { className: "swatch", ariaHidden: "true" });
      swatch.style.background = `var(${line.colour})`;
      return el("li", {}, swatch, line.label, " ", this.values[index]);
    }));
    this.body = el("tbody");
    const head = el("tr", {}, el("th", { scope: "col" }, "From"), ...lines.map((line) => el("th", { scope: "col" }, line.label)));
    const table = el("table", {}, el("caption", { className: "hidden" }, title), el("thead", {}, head), this.body);
    const scroll = el("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `${title}, as a table` }, table);
    this.details = el("details", {}, el("summary", {}, "As a table"), scroll);
    this.details.addEventListener("toggle", () => this.tell());
    place.append(this.plot, this.legend, this.details);
    new ResizeObserver(() => this.resize()).observe(this.plot);
  }

  /** Draws anew, in the colours of the theme. */
  restyle() {
    this.drawn?.destroy();
    this.drawn = null;
    if (this.data) this.draw();
  }

  show(points) {
    this.times = points.times;
    this.span = points.span;
    this.data = this.lines.map((line) => line.of(points));
    if (this.plot.clientWidth > 0) this.draw();
    this.say(null);
    this.tell();
  }

  draw() {
    const data = [this.times, ...this.layers()];
    if (this.drawn) this.drawn.setData(data);
    else this.drawn = new uPlot(this.options(), data, this.plot);
  }

  /** From the last to the first, so that what is drawn later covers what is higher. */
  layers() {
    if (!this.stacked) return this.data;
    const sums = this.data.map((values, index) => values.map((_, at) => this.data.slice(0, index + 1).reduce((sum, line) => sum + (line[at] ?? 0), 0)));
    return sums.reverse();
  }

  options() {
    const [text, line] = [colour("--muted"), colour("--line")];
    const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const marked = this.scale === LINEAR ? {} : { filter: powers, grid: { ...axis.grid, filter: powers } };
    const lines = this.stacked ? this.lines.toReversed() : this.lines;
    return {
      width: this.plot.clientWidth,
      height: this.plot.clientHeight,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: !this.stacked } },
      padding: [8, 28, 0, 0],
      scales: { x: { range: () => this.span }, y: this.scale },
      axes: [
        { ...axis, grid: { show: false }, space: 70, size: 28, values: (_, times) => format.moments(times.map((time) => time * 1000)) },
        { ...axis, ...marked, size: 68, incrs: this.steps, values: (_, values) => values.map((value) => (value === null ? "" : this.unit(value))) },
      ],
      series: [{}, ...lines.map((one) => (this.stacked
        ? { fill: colour(one.colour), stroke: colour(one.colour), width: 0, points: { show: false } }
        : { stroke: colour(one.colour), width: 2, dash: one.dash, spanGaps: false, points: { show: false } }))],
      hooks: { setCursor: [(drawn) => this.say(drawn.cursor.idx ?? null)] },
    };
  }

  /** Says the values at one point, or else the last ones. */
  say(index) {
    const at = index ?? (this.times?.length ?? 0) - 1;
    this.values.forEach((node, line) => say(node, this.unit(this.data?.[line]?.[at])));
  }

  tell() {
    if (!this.details.open || !this.times) return;
    const each = Math.max(1, Math.ceil(this.times.length / ROWS));
    const rows = [];
    for (let end = this.times.length; end > 0; end -= each) {
      const begin = Math.max(0, end - each);
      const mean = (values) => {
        const known = values.slice(begin, end).filter((value) => value !== null);
        return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
      };
      rows.push([format.time(this.times[begin] * 1000), ...this.data.map((values) => this.unit(mean(values)))]);
    }
    fill(this.body, rows, (cells) => row(cells));
  }

  resize() {
    const [width, height] = [this.plot.clientWidth, this.plot.clientHeight];
    if (width === 0 || !this.data) return;
    if (this.drawn) this.drawn.setSize({ width, height });
    else this.draw();
  }
}
