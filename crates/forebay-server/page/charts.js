// Which charts there are, and what they draw.

import { Chart } from "/dashboard/chart.js";
import { byId } from "/dashboard/dom.js";
import * as format from "/dashboard/format.js";
import { quantile } from "/dashboard/series.js";

const line = (label, colour, of, dash) => ({ label, colour, of, dash });
const rate = (label, colour, name) => line(label, colour, (points) => points.rate(name));
const highest = (label, colour, name) => line(label, colour, (points) => points.highest(name));

/** What a share `q` of reads, or of loads, took. */
const within = (label, colour, name, q, dash) => line(label, colour, (points) => {
  const total = points.sum(`${name}_count`);
  const fast = name === "read" ? points.sum("reads_memory") : total.map(() => 0);
  const classes = points.classes(name);
  return total.map((slow, at) => quantile(classes.map(([bound, sums]) => [bound, sums[at] + fast[at]]), slow + fast[at], q));
}, dash);

/** What a read can be answered by, in the order of the legend. */
export const OUTCOMES = [
  ["memory", "Memory", "--c-memory"],
  ["store", "Store", "--c-store"],
  ["coalesced", "Coalesced", "--c-coalesced"],
  ["stale", "Stale", "--c-stale"],
  ["absent", "Known absent", "--c-absent"],
];

const SPECS = {
  outcomes: {
    title: "What readers got",
    stacked: true,
    unit: format.rate,
    lines: [
      ...OUTCOMES.map(([name, label, colour]) => rate(label, colour, `reads_${name}`)),
      rate("Loaded", "--c-loaded", "reads_loaded"),
      rate("Missed", "--c-miss", "reads_miss"),
      rate("Failed", "--c-failed", "reads_failed"),
    ],
  },
  latency: {
    title: "How long reads and loads take",
    scale: { distr: 3 },
    unit: format.seconds,
    lines: [
      within("Reads p50", "--c-store", "read", 0.5),
      within("Reads p99", "--c-memory", "read", 0.99),
      within("Loads p50", "--c-loaded", "load", 0.5, [6, 4]),
    ],
  },
  limits: {
    title: "Decisions of limits",
    stacked: true,
    unit: format.rate,
    lines: [
      rate("Allowed", "--c-store", "checks_allowed"),
      rate("Refused", "--c-loaded", "checks_refused"),
      rate("Not decided", "--c-failed", "checks_unavailable"),
    ],
  },
  memory: {
    title: "Memory of this process's cache",
    steps: Array.from({ length: 44 }, (_, power) => 2 ** power),
    unit: format.bytes,
    lines: [highest("Used", "--c-memory", "memory_bytes")],
  },
};

const charts = Object.entries(SPECS).map(([name, spec]) => new Chart(byId(`chart-${name}`), spec));

export const draw = (points) => charts.forEach((chart) => chart.show(points));
export const restyle = () => charts.forEach((chart) => chart.restyle());
