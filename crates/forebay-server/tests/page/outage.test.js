import assert from "node:assert/strict";
import { test } from "node:test";
import { Look, Proxy, Redis, Server, sleep, until } from "./support.js";

const banner = (look) => look.page.evaluate(() => {
  const node = document.getElementById("banner");
  return node.hidden ? "" : node.innerText;
});

/**
 * Waits until the page shows all of this at one moment: what the banner says, "" where there is none, and texts by their id.
 * What is looked at one after the other may change in between: a breaker that has closed may open once more.
 */
function shows(look, { banner: says, ...texts }, ms) {
  const seen = async () => {
    const now = await look.page.evaluate((ids) => {
      const node = document.getElementById("banner");
      const shown = ids.map((id) => [id, document.getElementById(id).textContent]);
      return { banner: node.hidden ? "" : node.innerText, ...Object.fromEntries(shown) };
    }, Object.keys(texts));
    const isSaid = says === "" ? now.banner === "" : now.banner.includes(says);
    return (isSaid && Object.entries(texts).every(([id, text]) => now[id] === text)) || now;
  };
  return until(seen, ms);
}

/** Has a page believe that nobody sees it, or that somebody does. */
const hide = (page, isHidden) => page.evaluate((hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}, isHidden);

async function shared(t) {
  const redis = await Redis.start(t);
  const server = await Server.start(t, "", { FOREBAY_REDIS_URL: redis.url });
  await until(async () => (await server.call("/readyz")).text.includes('"ready"'));
  return { redis, server, look: await (await Look.at(t, server)).live() };
}

test("the breaker shows while Redis does not answer, and no longer", async (t) => {
  const { redis, server, look } = await shared(t);
  await shows(look, { banner: "", breaker: "closed" });

  redis.stop();
  // Somebody has to ask for it to be noticed at once.
  await server.call("/v1/cache/a/b");

  await shows(look, { banner: "The breaker is open", breaker: "open", state: "Live" });
  await look.shot("outage");

  redis.go();

  await shows(look, { banner: "", breaker: "closed" }, 20_000);
  const notes = () => look.page.textContent("#notes");
  for (const note of ["Redis cannot be asked", "Redis answers again"]) await until(async () => (await notes()).includes(note) || notes());
  assert.deepEqual(look.faults, []);
});

test("what Redis takes is measured", async (t) => {
  const { server, look } = await shared(t);
  for (let id = 0; id < 20; id += 1) await server.call(`/v1/cache/a/${id}`);

  await until(async () => (await look.number("redis-p50")) > 0);

  assert.ok((await look.number("redis-p99")) >= (await look.number("redis-p50")));
  assert.equal(await look.number("processes"), 1);
  await until(async () => (await look.number("redis-memory")) > 100_000);
  assert.match(await look.text("redis-version"), /^\w+ \d+\.\d+/);
  assert.equal(await look.text("redis-limit"), "none");
});

test("a server that is gone is told of, and found again", async (t) => {
  const server = await Server.start(t);
  const look = await (await Look.at(t, server)).live();
  const { port } = new URL(server.base);
  await server.kill();

  await shows(look, { banner: "The server is not reachable", state: "Not connected" });
  await sleep(1_500);

  await Server.start(t, "", {}, port);

  await shows(look, { banner: "", state: "Live" });
});

test("a clock that is set back stops no chart", async (t) => {
  const proxy = await Proxy.start(t, await Server.start(t));
  const look = await (await Look.at(t, proxy)).live();
  const last = () => look.page.evaluate(async () => (await import("/dashboard/series.js")).points(300).times.at(-1) * 1_000);
  assert.ok(Math.abs((await last()) - Date.now()) < 60_000, String(await last()));

  proxy.back = 3_600_000;

  await until(async () => Math.abs((await last()) + 3_600_000 - Date.now()) < 60_000 || last());
  assert.equal(await banner(look), "");
  assert.deepEqual(look.faults, []);
});

test("two servers whose clocks differ are not asked for their history without a pause", async (t) => {
  const proxy = await Proxy.start(t, await Server.start(t));
  await (await Look.at(t, proxy)).live();
  Object.assign(proxy, { back: 3_600_000, paths: ["/dashboard/live"], histories: 0 });

  await until(async () => proxy.histories > 0);
  await sleep(4_000);

  assert.ok(proxy.histories <= 6, String(proxy.histories));
});

test("pages that nobody sees leave the browser its connections", async (t) => {
  const server = await Server.start(t);
  const look = await (await Look.at(t, server)).live();
  // A browser has six to a server.
  for (let page = 0; page < 7; page += 1) {
    await hide(look.page, true);
    look.page = await look.context.newPage();
    await look.page.goto(`${server.base}/`);
    await look.live();
  }
  const [first] = look.context.pages();
  await hide(first, false);
  await until(async () => (await first.textContent("#state")) === "Live" || first.textContent("#state"));
});

test("a server that never tells anything is not waited for in silence", async (t) => {
  const server = await Server.start(t);
  const look = await Look.at(t, server, { silent: true });
  await shows(look, { banner: "The server has told nothing yet", state: "No news" });
});

test("figures that are old are called so", async (t) => {
  const server = await Server.start(t);
  const look = await (await Look.at(t, server)).live();
  server.stop();

  await shows(look, { banner: "The figures are old", state: "No news" });

  server.go();
  await until(async () => (await look.text("state")) === "Live");
});
