// Puts the parts together: who may look, the last hour, and then each second.

import { offer } from "/dashboard/actions.js";
import * as banner from "/dashboard/banner.js";
import { draw, restyle } from "/dashboard/charts.js";
import { byId, say } from "/dashboard/dom.js";
import * as format from "/dashboard/format.js";
import { lists } from "/dashboard/lists.js";
import { figures } from "/dashboard/panels.js";
import { load, points, push, totals } from "/dashboard/series.js";
import { events, json, session } from "/dashboard/server.js";
import { signIn } from "/dashboard/sign-in.js";
import { strip } from "/dashboard/strip.js";
import { theme } from "/dashboard/theme.js";

/** When to come back to a server that is not reachable, in milliseconds. */
const AGAIN = 1_000;

/** How long nothing may be heard before the connection is taken for dead, in milliseconds. */
const SILENT = 15_000;

let now = null;

const range = () => Number(document.querySelector("[name=range]:checked").value);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function render() {
  if (now === null || document.hidden) return;
  const seen = totals(range());
  strip(seen, now);
  figures(seen, now);
  draw(points(range()));
  say(byId("shown-at"), `As of ${format.time(now.row[0])}.`);
}

function heard(event, sent) {
  if (event === "lists") return lists(sent);
  now = sent;
  if (!push(now.row)) throw new Anew();
  banner.heard(now);
  requestAnimationFrame(render);
}

/** What ends a look where nothing is wrong: the last hour is asked for again. */
class Anew extends Error {}

/** Looks until something fails, nothing was heard for too long, or nobody looks. */
async function look() {
  banner.opening();
  const rights = await json("/dashboard/rights");
  offer(rights);
  load(await json("/dashboard/history"));
  const ended = new AbortController();
  const watch = setInterval(() => banner.age() > SILENT && ended.abort(new Error("it says nothing")), 1_000);
  // A browser has few connections to a server, and pages that nobody sees would keep all of them.
  const leave = () => document.hidden && ended.abort(new Anew());
  document.addEventListener("visibilitychange", leave);
  leave();
  banner.opening();
  try {
    await events("/dashboard/live", ended.signal, heard);
  } catch (error) {
    throw ended.signal.reason ?? error;
  } finally {
    clearInterval(watch);
    document.removeEventListener("visibilitychange", leave);
  }
}

/** Waits until somebody looks. */
async function seen() {
  while (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

/** What the refusal of a token means for whoever has typed it. */
function wrong(error) {
  if (session.token === null) return null;
  return error.status === 401 ? "This token is not known to the server. Try another one." : `This token does not do: ${error.message}.`;
}

async function run() {
  for (;;) {
    await seen();
    try {
      await look();
      banner.lost("it has ended the connection");
    } catch (error) {
      // Two servers behind one address, the clock of one behind the other's, end it each time.
      if (error instanceof Anew) {
        if (!document.hidden) await sleep(AGAIN);
        continue;
      }
      if (error.status === 401 || error.status === 403) {
        banner.asking(true);
        await signIn(wrong(error));
        banner.asking(false);
      } else banner.lost(error.message);
    }
    await sleep(AGAIN);
  }
}

theme(() => restyle());
document.querySelectorAll("[name=range]").forEach((input) => input.addEventListener("change", render));
document.addEventListener("visibilitychange", render);
run();
