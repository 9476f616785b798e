// What an operator has to know at once. It is read out when it changes, and so has no figure that always does.

import { byId, el, fill, say, toggle } from "/dashboard/dom.js";
import * as format from "/dashboard/format.js";

/** After how many milliseconds without news the figures are called old. */
const OLD = 4_000;

/** `since` is when something was heard last, or the connection was opened. */
const state = { since: performance.now(), isLive: false, isAsked: false, when: null, trouble: null, now: null };

/** A connection is being opened: what comes of it is waited for from now on. */
export function opening() {
  Object.assign(state, { since: performance.now(), isLive: false });
  tell();
}

/** Whoever looks is asked for a token: nothing is waited for but that. */
export function asking(isAsked) {
  Object.assign(state, { since: performance.now(), isLive: false, isAsked });
  tell();
}

export function heard(now) {
  Object.assign(state, { since: performance.now(), isLive: true, when: Date.now(), trouble: null, now });
  tell();
}

/** For how many milliseconds nothing was heard. */
export const age = () => performance.now() - state.since;

export function lost(trouble) {
  state.trouble = trouble;
  tell();
}

function lines() {
  const told = [];
  if (state.isAsked) return told;
  if (state.trouble !== null) told.push(`The server is not reachable: ${state.trouble}. The figures are as they were before.`);
  else if (age() > OLD) told.push(state.when === null ? "The server has told nothing yet." : `The figures are old: nothing was heard since ${format.time(state.when)}.`);
  if (state.now === null || state.trouble !== null) return told;
  const { store, totals } = state.now;
  if (store.kind !== "redis") return told;
  if (!store.usable || totals.redis_breakers_open > 0) {
    told.push(`The breaker is open: Redis cannot be asked${store.reason ? ` (${store.reason})` : ""}. Reads are answered from this process and its loaders; locks and idempotency are refused.`);
  } else if (!store.hears) {
    told.push("Other processes are not heard, so process memory is not trusted.");
  }
  if (totals.deferred > 0) told.push("Changes wait for Redis to confirm them.");
  return told;
}

function tell() {
  // Nobody sees it, and nothing is heard meanwhile.
  if (document.hidden) return;
  const told = lines();
  fill(byId("banner"), told, (line) => el("p", {}, line));
  toggle(byId("banner"), told.length > 0);
  const [kind, text] = state.isAsked ? ["waiting", "Waiting for a token"] : state.trouble !== null ? ["lost", "Not connected"]
    : age() > OLD ? ["lost", "No news"]
      : state.isLive ? ["live", "Live"] : ["waiting", "Connecting…"];
  byId("state").dataset.state = kind;
  say(byId("state"), text);
}

setInterval(tell, 1_000);
