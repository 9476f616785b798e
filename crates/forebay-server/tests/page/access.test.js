import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Look, Server, until } from "./support.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SPACES = `[cache.spaces."catalog:product"]\ntime_to_live = "1h"\n`;

/** What axe calls serious or critical in what is shown now. */
async function faults(look) {
  // Not as an element, which the page would refuse.
  await look.page.evaluate(AXE);
  const { violations } = await look.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return grave.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
}

async function busy(t) {
  const server = await Server.start(t, SPACES);
  for (let id = 0; id < 50; id += 1) await server.put(`/v1/cache/catalog:product/p-${id}`, "value");
  for (let id = 0; id < 300; id += 1) await server.call(`/v1/cache/catalog:product/p-${id % 60}`);
  for (let call = 0; call < 20; call += 1) await server.post("/v1/limits/api", { subject: "user:42" });
  await server.post("/v1/unique/site", { ids: ["ada", "bob", "cleo"] });
  return server;
}

const VISITORS = [{
  name: "site",
  days: [40, 62, 81, 77, 30, 12, 55].map((visitors, index) => ({ date: `2026-05-1${index}`, visitors })),
  hours: [5, 9, 17, 24].map((visitors, index) => ({ begins_ms: 1_778_918_400_000 + index * 3_600_000, visitors })),
}];

const LISTS = {
  monitored: {
    hot_keys: [{ space: "catalog:product", id: "p-1", reads: 900 }],
    most_refused: [{ policy: "api", subject: "3f9a0c1b", refusals: 12 }],
    keys: { biggest: [{ key: "cache:shop:catalog:product:{p-1}", bytes: 812_345 }] },
    advice: [{ text: "Set maxmemory: without it the machine's memory is the limit." }],
  },
};

for (const theme of ["light", "dark"]) {
  test(`axe finds nothing serious in the ${theme} theme`, async (t) => {
    const server = await busy(t);
    const look = await (await Look.at(t, server, { theme, width: 1400, ownLists: true })).live();
    assert.deepEqual(await faults(look), [], "as it begins");
    await look.lists({ ...LISTS, visitors: VISITORS });
    await look.shot(theme);
    await look.page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
    await until(async () => (await look.page.locator("#chart-outcomes tbody tr").count()) > 0);
    assert.deepEqual(await faults(look), [], "with all that can be opened");
    await look.page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = false)));
    await look.page.fill("#reset-policy", "api");
    await look.page.fill("#reset-subject", "user:42");
    await look.page.click("#form-reset button");
    await look.page.waitForSelector("#confirm[open]");
    assert.deepEqual(await faults(look), [], "with a question");
    await look.page.screenshot({ path: `${process.env.PAGE_SHOTS}/${theme}-question.png` });
    await look.page.keyboard.press("Escape");
    // The next figures would take it away.
    server.stop();
    await look.page.evaluate(async () => (await import("/dashboard/banner.js")).lost("it is a test"));
    assert.deepEqual(await faults(look), [], "with a banner");
    assert.ok(await look.page.isVisible("#banner"));
  });
}

test("axe finds nothing serious in the question for a token", async (t) => {
  const { tokens } = await import("./support.js");
  const server = await Server.start(t, tokens({ reader: ["read"] }));
  for (const theme of ["light", "dark"]) {
    const look = await Look.at(t, server, { theme });
    await look.page.waitForSelector("#sign-in[open]");
    assert.deepEqual(await faults(look), [], theme);
  }
});

test("it fits from a telephone to a wide screen", async (t) => {
  const server = await busy(t);
  for (const width of [360, 768, 1100, 1920]) {
    const look = await (await Look.at(t, server, { width, ownLists: true })).live();
    await look.lists({ ...LISTS, visitors: VISITORS });
    const beyond = await look.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(beyond <= 0, `${width}: ${beyond} beyond the edge`);
    if (width === 360) await look.shot("narrow");
    if (width === 1920) await look.shot("wide");
  }
});

test("the keyboard reaches everything that can be used, and sees where it is", async (t) => {
  const server = await busy(t);
  const look = await (await Look.at(t, server)).live();
  const usable = await look.page.evaluate(() => {
    const nodes = [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0']")];
    const seen = nodes.filter((node) => node.checkVisibility() && !node.closest("dialog"));
    // Of radio buttons the chosen one is reached, and the arrows go on from there.
    return seen.filter((node) => node.type !== "radio" || node.checked).map((node) => (node.dataset.stop = String(Math.random())));
  });
  const reached = new Set();
  for (let press = 0; press < usable.length + 5; press += 1) {
    await look.page.keyboard.press("Tab");
    const { stop, visible } = await look.page.evaluate(() => {
      const node = document.activeElement;
      const shown = node.type === "radio" ? node.nextElementSibling : node;
      return { stop: node.dataset.stop, visible: node === document.body || getComputedStyle(shown).outlineStyle !== "none" };
    });
    assert.ok(visible, `a ring around stop ${press}`);
    if (stop) reached.add(stop);
  }
  assert.equal(usable.filter((stop) => !reached.has(stop)).length, 0);
});

test("the theme is chosen by the system, or by hand, and stays", async (t) => {
  const server = await Server.start(t);
  const look = await (await Look.at(t, server, { theme: "dark" })).live();
  const ground = () => look.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();

  await look.page.click("#theme");
  assert.equal(await look.text("theme"), "Theme: light");
  const light = await ground();
  assert.notEqual(light, dark);
  await look.page.reload();
  await look.live();
  assert.equal(await ground(), light);

  await look.page.click("#theme");
  assert.equal(await ground(), dark);
});
