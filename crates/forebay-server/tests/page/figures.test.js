import assert from "node:assert/strict";
import { test } from "node:test";
import { Look, Server, until } from "./support.js";

const SPACES = `[cache.spaces."catalog:product"]\ntime_to_live = "1h"\n`;

test("the page loads without an error and asks nobody else", async (t) => {
  const server = await Server.start(t, SPACES);
  const look = await (await Look.at(t, server)).live();

  assert.deepEqual(look.faults, []);
  assert.equal(await look.page.title(), "Forebay");
});

test("a page of a server that has done nothing says what to do", async (t) => {
  const server = await Server.start(t, SPACES);
  const look = await (await Look.at(t, server)).live();

  const shown = await look.page.evaluate(() => document.body.innerText);
  for (const command of [`curl ${server.base}/v1/cache/demo/greeting`, `${server.base}/v1/limits/api`, `${server.base}/v1/unique/site`]) {
    assert.ok(shown.includes(command), command);
  }
  assert.equal(await look.text("hit-ratio"), "–");
});

test("panels that have little to show are small, whatever stands beside them", async (t) => {
  const server = await Server.start(t);
  const look = await (await Look.at(t, server, { width: 1400 })).live();
  const height = async (title) => (await look.page.locator(`article[aria-labelledby=t-${title}]`).boundingBox()).height;
  for (const title of ["spaces", "refused", "hot", "big"]) {
    const seen = await height(title);
    assert.ok(seen < 180, `${title}: ${seen}`);
  }
});

test("no two marks of an axis are the same", async (t) => {
  const server = await Server.start(t);
  const look = await Look.at(t, server, { width: 1400, marks: true });
  await look.live();
  const marks = () => look.page.evaluate(() => document.querySelector("#chart-outcomes canvas").texts.filter((text) => text.includes(":")));
  await until(async () => (await marks()).length > 3 || marks());
  const seen = await marks();
  assert.equal(new Set(seen).size, seen.length, seen.join(" "));
});

test("its numbers are those of /metrics", async (t) => {
  const server = await Server.start(t, SPACES);
  const look = await (await Look.at(t, server)).live();
  for (let id = 0; id < 7; id += 1) await server.put(`/v1/cache/catalog:product/p-${id}`, "value");
  for (let id = 0; id < 20; id += 1) await server.call(`/v1/cache/catalog:product/p-${id % 10}`);
  for (let call = 0; call < 13; call += 1) await server.post("/v1/limits/api", { subject: "user:42" });
  await server.post("/v1/locks/nightly", { ttl_ms: 60_000 });
  await server.post("/v1/claims/welcome", { ttl_ms: 60_000 });
  await server.post("/v1/idempotency/order-1", { fingerprint: "seven", lease_ms: 30_000 });
  const reads = (outcome) => server.metric("forebay_cache_requests_total", { outcome });
  const checks = (outcome) => server.metric("forebay_limiter_decisions_total", { outcome });

  const told = {
    reads_memory: await reads("memory"),
    reads_store: await reads("store"),
    reads_miss: await reads("miss"),
    checks_allowed: await checks("allowed"),
    checks_refused: (await checks("denied")) + (await checks("remembered")) + (await checks("never_fits")),
    locks_acquired: await server.metric("forebay_lock_requests_total", { outcome: "acquired" }),
    claims_claimed: await server.metric("forebay_claims_total", { outcome: "claimed" }),
    once_run: await server.metric("forebay_idempotency_begins_total", { outcome: "run" }),
    memory_bytes: await server.metric("forebay_cache_memory_bytes"),
    memory_limit: await server.metric("forebay_cache_memory_limit_bytes"),
  };

  assert.deepEqual([told.reads_memory + told.reads_store, told.reads_miss, told.checks_allowed, told.checks_refused], [14, 6, 10, 3]);
  for (const [name, value] of Object.entries(told)) {
    await until(async () => (await look.number(`total-${name}`)) === value || [name, value, await look.number(`total-${name}`)]);
  }
  // Nothing of it is older than five minutes, so that what is said of these is the same.
  assert.equal(await look.number("reads"), 20);
  assert.equal(await look.number("loads-saved"), 14);
  assert.equal(await look.text("hit-ratio"), "70.0 %");
  assert.equal(await look.number("refused"), 3);
  assert.equal(await look.number("locks-acquired"), 1);
  assert.equal(await look.number("claims-claimed"), 1);
  assert.equal(await look.number("once-run"), 1);
  assert.equal(await look.text("memory-bytes"), await look.page.evaluate(async (bytes) => (await import("/dashboard/format.js")).bytes(bytes), told.memory_bytes));
  const spaces = await look.page.textContent("#spaces");
  assert.match(spaces, /catalog:product20/);
  assert.deepEqual(look.faults, []);
});

test("a change shows within two seconds", async (t) => {
  const server = await Server.start(t, SPACES);
  const look = await (await Look.at(t, server)).live();
  for (let round = 1; round <= 5; round += 1) {
    await server.call("/v1/cache/catalog:product/none");
    await until(async () => (await look.number("reads")) === round, 2_000);
  }
});

test("a page that is opened later shows what was before", async (t) => {
  const server = await Server.start(t, SPACES);
  const first = await (await Look.at(t, server)).live();
  await server.call("/v1/cache/catalog:product/none");
  await until(async () => (await first.number("reads")) === 1);

  const second = await (await Look.at(t, server)).live();

  assert.equal(await second.number("reads"), 1);
  await second.page.click("#chart-outcomes summary");
  await until(async () => /\d\d:\d\d:\d\d/.test(await second.page.textContent("#chart-outcomes tbody")));
});

test("a chart and its table say the same", async (t) => {
  const server = await Server.start(t, SPACES);
  const look = await (await Look.at(t, server)).live();
  await server.put("/v1/cache/catalog:product/p-1", "value");
  await until(async () => (await look.number("memory-bytes")) > 0);

  await look.page.click("#chart-memory summary");

  const used = await look.text("memory-bytes");
  await until(async () => (await look.page.textContent("#chart-memory tbody tr:first-child")).includes(used));
  assert.ok((await look.page.textContent("#chart-memory .legend")).includes(used));
});

test("visitors are shown by day, and those that have come by hour", async (t) => {
  const server = await Server.start(t);
  const look = await (await Look.at(t, server)).live();

  await server.post("/v1/unique/site", { ids: ["ada", "bob", "cleo"] });

  await until(async () => (await look.page.textContent("#days tr:last-child td:last-child")) === "3", 12_000);
  assert.equal(await look.page.locator("#days tr").count(), 7);
  assert.equal(await look.page.textContent("#hours tr:last-child td:last-child"), "3");
});

test("what is read most is shown, and who is refused most by a mark", async (t) => {
  const server = await Server.start(t, SPACES);
  const look = await (await Look.at(t, server)).live();
  await server.put("/v1/cache/catalog:product/p-1", "value");
  for (let call = 0; call < 400; call += 1) {
    await server.call("/v1/cache/catalog:product/p-1");
    await server.post("/v1/limits/api", { subject: "user:4711" });
  }

  await until(async () => /catalog:productp-1\d/.test(await look.page.textContent("#hot")));
  await until(async () => /^api[0-9a-f]{12}\d/.test(await look.page.textContent("#refused-subjects")));
  assert.ok(!(await look.page.textContent("body")).includes("user:4711"));
});

test("the page of the demo shows what the demo does", async (t) => {
  const server = await Server.demo(t);
  const look = await (await Look.at(t, server)).live();
  await until(async () => (await look.number("loads-saved")) > 100 || look.number("loads-saved"), 20_000);
  assert.deepEqual(look.faults, []);
});
