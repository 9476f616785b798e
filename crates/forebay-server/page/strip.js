// The first strip: whether the layer earns its keep.

import { OUTCOMES } from "/dashboard/charts.js";
import { byId, el, say, show, toggle } from "/dashboard/dom.js";
import * as format from "/dashboard/format.js";
import { quantile } from "/dashboard/series.js";

const shares = OUTCOMES.map(([name, label, colour]) => {
  const [value, part, swatch] = [el("dd", { id: `share-${name}` }), el("i"), el("i", { className: "swatch", ariaHidden: "true" })];
  part.style.background = swatch.style.background = `var(${colour})`;
  byId("shares").append(el("div", {}, el("dt", {}, swatch, " ", label), value));
  byId("split").append(part);
  return { name, value, part };
});

/** Shows the figures of a seen. */
export function strip(seen, now) {
  answered(seen);
  latency(seen);
  redis(seen, now);
}

function answered(seen) {
  const parts = shares.map(({ name }) => seen.sum(`reads_${name}`));
  const saved = parts.reduce((sum, part) => sum + part, 0);
  const reads = saved + ["loaded", "miss", "failed"].reduce((sum, name) => sum + seen.sum(`reads_${name}`), 0);
  const share = (part) => (reads > 0 ? part / reads : null);
  shares.forEach(({ value, part }, index) => {
    show(value, share(parts[index]), format.ratio);
    part.style.width = `${100 * (share(parts[index]) ?? 0)}%`;
  });
  show(byId("hit-ratio"), share(saved), format.ratio);
  show(byId("loads-saved"), saved, format.count);
  show(byId("reads"), reads, format.count);
  show(byId("loads"), seen.sum("loads"), format.count);
}

const SHARES = [["p50", 0.5], ["p95", 0.95], ["p99", 0.99]];

function latency(seen) {
  // A hit in process memory reads no clock: it is in the fastest class.
  const fast = seen.sum("reads_memory");
  const reads = seen.classes("read").map(([bound, within]) => [bound, within + fast]);
  for (const [name, q] of SHARES) {
    show(byId(`read-${name}`), quantile(reads, seen.sum("read_count") + fast, q), format.seconds);
    show(byId(`load-${name}`), quantile(seen.classes("load"), seen.sum("load_count"), q), format.seconds);
  }
}

function redis(seen, now) {
  const isShared = now.store.kind === "redis";
  const took = (q) => quantile(seen.classes("redis"), seen.sum("redis_count"), q);
  if (isShared) show(byId("redis-p50"), took(0.5), format.seconds);
  else say(byId("redis-p50"), "none");
  show(byId("redis-p99"), took(0.99), format.seconds);
  document.querySelectorAll(".redis").forEach((node) => toggle(node, isShared));
  toggle(byId("redis-none"), !isShared);
  const isOpen = isShared && !(now.store.usable && !(now.totals.redis_breakers_open > 0));
  const breaker = byId("breaker");
  say(breaker, isOpen ? "open" : "closed");
  breaker.dataset.open = String(isOpen);
}
