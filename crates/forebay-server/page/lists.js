// What is long or changes seldom: visitors, keys, subjects, events.

import { bars, byId, el, fill, row, say, show, toggle } from "/dashboard/dom.js";
import * as format from "/dashboard/format.js";

/** How many rows of a table are made at most; a filter finds the others. */
const MOST = 100;

let shown = { notes: [], visitors: [], monitored: null };

/** Shows lists that the server has sent. */
export function lists(sent) {
  shown = { ...shown, ...sent };
  notes();
  counters();
  visitors();
  hot();
  redis();
  const refused = shown.monitored?.most_refused ?? [];
  bars(byId("refused-subjects"), refused.map(({ policy, subject, refusals }) => [policy, subject, refusals]), format.count, byId("no-refused-subjects"));
}

function notes() {
  const latest = shown.notes.toSorted((one, other) => other.last_ms - one.last_ms);
  fill(byId("notes"), latest, ({ last_ms: last, what, about, count, level }) => {
    const tr = row([format.time(last), what, about, format.count(count)], 3);
    tr.children[1].classList.add(`level-${level}`);
    return tr;
  });
  toggle(byId("notes").closest(".scroll"), shown.notes.length > 0);
  toggle(byId("no-notes"), shown.notes.length === 0);
}

function counters() {
  const names = shown.visitors.map(({ name }) => name);
  const chosen = byId("counter").value;
  fill(byId("counter"), names, (name) => el("option", { value: name }, name));
  if (names.includes(chosen)) byId("counter").value = chosen;
  else if (names.includes("site")) byId("counter").value = "site";
}

function visitors() {
  const counter = shown.visitors.find(({ name }) => name === byId("counter").value) ?? { days: [], hours: [] };
  const days = counter.days.some(({ visitors: count }) => count > 0) ? counter.days : [];
  bars(byId("days"), days.map(({ date, visitors: count }) => [format.day(date), count]), format.count, byId("no-visitors"));
  toggle(byId("uncounted"), counter.is_counted === false);
  toggle(byId("no-visitors"), days.length === 0 && counter.is_counted !== false);
  const hours = days.length > 0 ? counter.hours : [];
  bars(byId("hours"), hours.map(({ begins_ms: at, visitors: count }) => [format.hour(at), count]), format.count);
}

function hot() {
  const wanted = byId("hot-filter").value;
  const found = (shown.monitored?.hot_keys ?? []).filter(({ space, id }) => id.includes(wanted) || space.includes(wanted)).slice(0, MOST);
  bars(byId("hot"), found.map(({ space, id, reads }) => [space, id, reads]), format.count, byId("no-hot"));
}

function redis() {
  const told = shown.monitored;
  const isThere = told?.store === "redis";
  toggle(byId("redis-figures"), told === null || isThere);
  toggle(byId("no-redis"), told !== null && !isThere);
  const big = told?.keys?.biggest ?? [];
  bars(byId("big"), big.map(({ key, bytes }) => [key, bytes]), format.bytes, byId("no-big"));
  fill(byId("advice"), told?.advice ?? [], ({ text }) => el("li", {}, text));
  if (!isThere) return;
  const { server, memory, stats, clients, keys } = told;
  say(byId("redis-version"), server.version ? `${server.software} ${server.version}` : "–");
  show(byId("redis-memory"), memory.used_memory, format.bytes);
  show(byId("redis-limit"), memory.maxmemory, (limit) => (limit === 0 ? "none" : format.bytes(limit)));
  show(byId("redis-fragmentation"), memory.mem_fragmentation_ratio, format.number);
  show(byId("redis-hits"), stats.hit_rate_percent, (percent) => format.ratio(percent === null ? null : percent / 100));
  show(byId("redis-clients"), clients.connected_clients, format.count);
  show(byId("redis-permanent"), keys?.without_expiry.length, format.count);
}

byId("counter").addEventListener("change", visitors);
byId("hot-filter").addEventListener("input", hot);
