import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { Look, Server, tokens, until } from "./support.js";

const SPACES = `[cache.spaces."catalog:product"]\ntime_to_live = "1h"\n`;
const AUTH = tokens({ web: ["data"], reader: ["read"], operator: ["read", "ops"] });
const VALUE = "/v1/cache/catalog:product/p-1";

const as = (token) => ({ headers: { authorization: `Bearer ${token}` } });

/** Fills the form of an action, and opens its question. */
async function ask(look, action, fields) {
  for (const [name, value] of Object.entries(fields)) {
    const field = look.page.locator(`#${action}-${name}`);
    if (name === "by") await field.selectOption(value);
    else await field.fill(value);
  }
  await look.page.click(`#form-${action} button`);
  await look.page.waitForSelector("#confirm[open]");
}

const settled = (look, text) => until(async () => (await look.text("done")).includes(text) || look.text("done"));

test("whoever may only read sees figures and no actions", async (t) => {
  const server = await Server.start(t, AUTH);
  const look = await (await Look.at(t, server, { token: "reader" })).live();

  assert.equal(await look.page.isVisible("#actions"), false);
  assert.equal(await look.page.locator("#action-forms form").count(), 0);
});

test("an operator invalidates after confirming, and not without", async (t) => {
  const server = await Server.start(t, AUTH + SPACES);
  const look = await (await Look.at(t, server, { token: "operator" })).live();
  await server.call(VALUE, { method: "PUT", body: "value", ...as("web") });
  const status = async () => (await server.call(VALUE, as("web"))).status;

  for (const leave of [() => look.page.click("#confirm-no"), () => look.page.keyboard.press("Escape"), () => look.page.keyboard.press("Enter")]) {
    await ask(look, "invalidate", { space: "catalog:product", by: "id", name: "p-1" });
    assert.match(await look.text("confirm-what"), /“p-1” in the space “catalog:product”/);
    await leave();
    await settled(look, "Nothing was done.");
    assert.equal(await status(), 200);
  }

  await ask(look, "invalidate", { space: "catalog:product", by: "id", name: "p-1" });
  await look.page.click("#confirm-yes");
  await settled(look, "Invalidated.");
  assert.equal(await status(), 404);
  assert.deepEqual(look.faults, []);
});

test("tags and patterns are invalidated too", async (t) => {
  const server = await Server.start(t, SPACES);
  const look = await (await Look.at(t, server)).live();
  for (const [by, name, told] of [["tag", "summer", "Invalidated."], ["pattern", "p-*", "Invalidated: 1."]]) {
    await server.put(`${VALUE}?tag=summer`, "value");
    await ask(look, "invalidate", { space: "catalog:product", by, name });
    await look.page.click("#confirm-yes");
    await settled(look, told);
    assert.equal((await server.call(VALUE)).status, 404, by);
  }
});

test("a limit is reset", async (t) => {
  const server = await Server.start(t, AUTH);
  const look = await (await Look.at(t, server, { token: "operator" })).live();
  const check = () => server.call("/v1/limits/api", { method: "POST", body: '{"subject":"user:a/b"}', ...as("web") });
  await until(async () => (await check()).status === 429);

  await ask(look, "reset", { policy: "api", subject: "user:a/b" });
  await look.page.click("#confirm-yes");

  await settled(look, "whole again");
  assert.equal((await check()).status, 200);
});

test("a lock is released, after confirming and not without", async (t) => {
  const server = await Server.start(t, AUTH);
  const look = await (await Look.at(t, server, { token: "operator" })).live();
  const take = () => server.call("/v1/locks/nightly%2F1", { method: "POST", body: '{"ttl_ms":60000}', ...as("web") });
  assert.equal((await take()).status, 201);

  await ask(look, "release", { name: "nightly/1" });
  await look.page.click("#confirm-no");
  await settled(look, "Nothing was done.");
  assert.equal((await take()).status, 409);

  for (const told of ["The lock is free.", "Nobody held that lock."]) {
    await ask(look, "release", { name: "nightly/1" });
    await look.page.click("#confirm-yes");
    await settled(look, told);
  }
  assert.equal((await take()).status, 201);
});

test("the question for a token stays until there is one, however often it is waved away", async (t) => {
  const server = await Server.start(t, AUTH);
  const look = await Look.at(t, server);
  await look.page.waitForSelector("#sign-in[open]");
  for (let press = 0; press < 4; press += 1) await look.page.keyboard.press("Escape");
  await look.page.waitForSelector("#sign-in[open]");
  await look.page.fill("#token", "reader");
  await look.page.click("#sign-in-form button");
  await look.live();
  assert.equal(await look.page.isVisible("#sign-in"), false);
});

test("what the server refuses is told in its words", async (t) => {
  const server = await Server.start(t);
  const look = await (await Look.at(t, server)).live();

  await ask(look, "reset", { policy: "none", subject: "user:42" });
  await look.page.click("#confirm-yes");

  await settled(look, "Nothing was done: there is no policy `none`");
});

test("without a token it asks for one, a wrong one is called so, and a right one stays in the tab", async (t) => {
  const server = await Server.start(t, AUTH);
  const look = await Look.at(t, server);
  const enter = async (token) => {
    await look.page.waitForSelector("#sign-in[open]");
    await look.page.fill("#token", token);
    await look.page.click("#sign-in-form button");
  };
  const why = () => look.text("sign-in-why");
  await enter("guessed");
  await until(async () => (await why()).includes("not known") || why());
  await enter("web");
  await until(async () => (await why()).includes("lacks the scope `read`") || why());
  await enter("reader");
  await look.live();

  await look.page.reload();
  await look.live();
  assert.ok(!look.page.url().includes("reader"));
  assert.equal(await look.page.evaluate(() => localStorage.length), 0);

  await look.page.click("#leave");
  await look.page.waitForSelector("#sign-in[open]");
  // The browser tells of each refusal by itself; nothing else is wrong.
  assert.deepEqual(look.faults.filter((fault) => !/status of 40[13]/.test(fault)), []);
});

test("what is said where nothing was read makes the page show a read", async (t) => {
  for (const [settings, token] of [["", undefined], [tokens({ all: ["data", "read", "ops"] }), "all"]]) {
    const server = await Server.start(t, settings);
    const look = await (await Look.at(t, server, { token })).live();
    await look.page.waitForSelector("#no-reads:not([hidden])");
    for (const id of ["try-put", "try-read"]) {
      const line = await look.text(id);
      const answer = execFileSync("bash", ["-c", `${line} --silent --show-error --fail --noproxy '*'`], { env: { PATH: process.env.PATH, TOKEN: token ?? "" } });
      if (id === "try-read") assert.equal(String(answer), "hello", line);
    }
    await look.page.waitForSelector("#no-reads", { state: "hidden" });
    assert.deepEqual(look.faults, []);
  }
});

test("nothing is connected to while a token is asked for", async (t) => {
  const server = await Server.start(t, tokens({ reader: ["read"] }));
  const look = await Look.at(t, server);
  await look.page.waitForSelector("#sign-in[open]");
  await until(async () => (await look.text("state")) === "Waiting for a token");
  await look.page.fill("#token", "reader");
  await look.page.click("#sign-in-form button");
  await look.live();
});
