// Everything below the strip that is no chart.

import { bars, byId, fill, row, say, show, toggle } from "/dashboard/dom.js";
import * as format from "/dashboard/format.js";
import { session } from "/dashboard/server.js";

const UNITS = { bytes: format.bytes, seconds: format.seconds };
const unit = (node) => UNITS[node.dataset.unit] ?? format.count;
const sums = [...document.querySelectorAll("[data-sum]")];
const gauges = [...document.querySelectorAll("[data-gauge]")];

/** Shows what changes each second. */
export function figures(seen, now) {
  sums.forEach((node) => show(node, seen.sum(node.dataset.sum), unit(node)));
  gauges.forEach((node) => show(node, now.totals[node.dataset.gauge], unit(node)));
  stampedes(seen, now);
  spaces(now);
  limits(now);
  toggle(byId("no-bus"), now.store.kind !== "redis");
  everything(now);
  empty(now);
}

function stampedes(seen, now) {
  const flights = seen.sum("flights");
  show(byId("callers-mean"), flights > 0 ? seen.sum("flight_callers") / flights : null, format.number);
  const waits = seen.sum("waits");
  show(byId("wait-mean"), waits > 0 ? seen.sum("waits_seconds") / waits : null, format.seconds);
  const used = now.callers.slice(0, now.callers.findLastIndex(({ count }) => count > 0) + 1);
  let below = 0;
  const rows = used.map(({ at_most: most, count }) => {
    const range = most <= below + 1 ? format.count(most) : `${format.count(below + 1)}–${format.count(most)}`;
    const label = most === null ? `over ${format.count(below)}` : range;
    below = most;
    return [label, count];
  });
  bars(byId("callers"), rows, format.count, byId("no-callers"));
}

const SAVED = ["memory", "store", "stale", "coalesced", "absent", "filtered"];

function spaces(now) {
  const rows = now.spaces.map(({ names: [space], outcomes }) => {
    const of = (...wanted) => wanted.reduce((sum, name) => sum + (outcomes[name] ?? 0), 0);
    const reads = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
    return [space, format.count(reads), format.ratio(reads > 0 ? of(...SAVED) / reads : null), format.count(of("memory")),
      format.count(of("store")), format.count(of("stale")), format.count(of("loaded")), format.count(of("failed"))];
  });
  fill(byId("spaces"), rows, (cells) => row(cells));
  toggle(byId("spaces").closest(".scroll"), rows.length > 0);
  toggle(byId("no-spaces"), rows.length === 0);
}

function limits(now) {
  const rows = now.limits.map(({ names: [policy, tier], outcomes }) => {
    const of = (...wanted) => wanted.reduce((sum, name) => sum + (outcomes[name] ?? 0), 0);
    return [policy, tier, of("allowed"), of("denied", "remembered", "never_fits"), of("unavailable")];
  });
  const used = rows.filter(([, , ...counts]) => counts.some((count) => count > 0));
  fill(byId("limits"), used, ([policy, tier, ...counts]) => row([policy, tier, ...counts.map(format.count)], 2));
  toggle(byId("limits").closest(".scroll"), used.length > 0);
  toggle(byId("no-limits"), used.length === 0);
}

function everything(now) {
  const body = byId("totals");
  const names = Object.keys(now.totals).filter((name) => !name.includes("_within:"));
  fill(body, names, (name) => {
    const tr = row([name, ""]);
    tr.lastChild.id = `total-${name}`;
    return tr;
  });
  names.forEach((name) => show(byId(`total-${name}`), now.totals[name], (value) => String(value ?? "–")));
}

/** What to type where nothing has happened yet. */
function empty(now) {
  const reads = Object.entries(now.totals).some(([name, count]) => name.startsWith("reads_") && count > 0);
  toggle(byId("no-reads"), !reads);
  const curl = session.token === null ? "curl" : 'curl -H "Authorization: Bearer $TOKEN"';
  // A space is there once something was put into it; before that, nobody counts its reads.
  say(byId("try-put"), `${curl} -X PUT --data hello '${location.origin}/v1/cache/demo/greeting?ttl_ms=60000'`);
  say(byId("try-read"), `${curl} ${location.origin}/v1/cache/demo/greeting`);
  say(byId("try-limit"), `${curl} --data '{"subject":"user:42"}' ${location.origin}/v1/limits/api`);
  say(byId("try-visitor"), `${curl} --data '{"ids":["ada"]}' ${location.origin}/v1/unique/site`);
}
