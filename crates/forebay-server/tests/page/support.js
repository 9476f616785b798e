// What the tests share: a server, a Redis, a browser that looks at the page. All of them die with the test.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createProxy } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export const SHOTS = process.env.PAGE_SHOTS ?? "shots";
mkdirSync(SHOTS, { recursive: true });

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until `what` is so, and fails with what it was last. */
export async function until(what, ms = 10_000) {
  const end = Date.now() + ms;
  for (;;) {
    const seen = await what().catch((error) => error);
    if (seen === true) return;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what} is ${seen?.stack ?? JSON.stringify(seen)}`);
    await sleep(25);
  }
}

/** Starts a program that is killed with this process. */
function start(program, args, options = {}) {
  return spawn("setpriv", ["--pdeathsig", "KILL", "--", program, ...args], options);
}

function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return null;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGCONT");
  child.kill("SIGKILL");
  return gone;
}

function freePort() {
  return new Promise((resolve) => {
    const listener = createServer();
    listener.listen(0, "127.0.0.1", () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}

/** A Redis of one's own. */
export class Redis {
  static async start(test) {
    const redis = new Redis();
    test.after(() => redis.end());
    redis.folder = mkdtempSync(join(tmpdir(), "page-redis-"));
    redis.port = await freePort();
    redis.url = `redis://127.0.0.1:${redis.port}`;
    const args = ["--port", String(redis.port), "--bind", "127.0.0.1", "--save", "", "--dir", redis.folder];
    redis.child = start("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => redis.child.stdout.on("data", (text) => String(text).includes("Ready to accept") && resolve()));
    return redis;
  }

  /** From now on it takes what it is sent, and answers nothing. */
  stop() { this.child.kill("SIGSTOP"); }
  go() { this.child.kill("SIGCONT"); }

  async end() {
    await end(this.child);
    rmSync(this.folder, { recursive: true });
  }
}

/** A server on a free port. */
export class Server {
  static async start(test, settings = "", env = {}, port = 0) {
    const server = new Server();
    test.after(() => server.end());
    server.folder = mkdtempSync(join(tmpdir(), "page-server-"));
    const file = join(server.folder, "forebay.toml");
    writeFileSync(file, settings);
    const args = ["--listen", `127.0.0.1:${port}`, "--config", file];
    server.child = start(process.env.FOREBAY, args, { stdio: ["ignore", "pipe", "ignore"], env: { PATH: process.env.PATH, ...env } });
    const said = await new Promise((resolve, reject) => {
      server.child.stdout.once("data", (text) => resolve(String(text)));
      server.child.once("exit", () => reject(new Error("the server has ended")));
    });
    server.base = said.match(/http:\/\/[\d.:]+/)[0];
    return server;
  }

  /** Starts the demo, which makes a load by itself. */
  static async demo(test) {
    const server = new Server();
    test.after(() => server.end());
    server.folder = mkdtempSync(join(tmpdir(), "page-demo-"));
    const args = ["demo", "--seconds", "60", "--port", "0"];
    server.child = start(process.env.FOREBAY, args, { stdio: ["ignore", "pipe", "ignore"], env: { PATH: process.env.PATH } });
    let said = "";
    server.child.stdout.on("data", (text) => (said += text));
    await until(async () => (server.base = said.match(/http:\/\/[\d.]+:\d+/)?.[0]) !== undefined || said);
    return server;
  }

  async call(path, options = {}) {
    const response = await fetch(this.base + path, options);
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  post(path, body) {
    return this.call(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
  }

  put(path, body) { return this.call(path, { method: "PUT", body }); }

  /** The sum over the series of a family in which the labels have these values. */
  async metric(family, labels = {}, headers = {}) {
    const { text } = await this.call("/metrics", { headers });
    const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
    const lines = text.split("\n").filter((line) => (line.startsWith(`${family}{`) || line.startsWith(`${family} `)) && wanted.every((label) => line.includes(label)));
    return lines.length === 0 ? null : lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  stop() { this.child.kill("SIGSTOP"); }
  go() { this.child.kill("SIGCONT"); }
  kill() { return end(this.child); }

  async end() {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}

/** Settings with a token for each of these scopes, called as it is spelled. */
export function tokens(scopes) {
  const hash = (token) => createHash("sha256").update(token).digest("hex");
  const lines = Object.entries(scopes).map(([token, list]) => `{ name = "${token}", sha256 = "${hash(token)}", scopes = ${JSON.stringify(list)} }`);
  return `[auth]\ntokens = [${lines.join(", ")}]\n`;
}

/** Serves `main.js` so that lists of the server are not shown. */
async function withoutLists(route) {
  const response = await route.fetch();
  const text = await response.text();
  const deaf = text.replace('if (event === "lists") return lists(sent);', 'if (event === "lists") return;');
  if (deaf === text) throw new Error("main.js does not say any more how it shows lists");
  await route.fulfill({ response, body: deaf });
}

/** Has each canvas keep the texts that it shows. */
function keepTexts() {
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
  Object.assign(CanvasRenderingContext2D.prototype, {
    clearRect(...place) {
      this.canvas.texts = [];
      clearRect.apply(this, place);
    },
    fillText(text, ...place) {
      (this.canvas.texts ??= []).push(text);
      fillText.call(this, text, ...place);
    },
  });
}

/** Stands before a server whose clock can be set back: in the answers of `paths`, as if another server gave the rest. */
export class Proxy {
  static async start(test, server) {
    const proxy = new Proxy();
    proxy.back = 0;
    proxy.paths = ["/dashboard/history", "/dashboard/live"];
    proxy.histories = 0;
    const earlier = (text) => text.replace(/(\[|"row":\[)(\d{13}),/g, (_, before, ms) => `${before}${Number(ms) - proxy.back},`);
    const listener = createProxy(async (request, response) => {
      if (request.url.startsWith("/dashboard/history")) proxy.histories += 1;
      const answer = await fetch(server.base + request.url, { headers: { accept: request.headers.accept } }).catch(() => null);
      // A test may end while the page asks.
      if (answer === null) return response.destroy();
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") });
      response.on("error", () => {});
      const rewritten = proxy.paths.some((path) => request.url.startsWith(path));
      try {
        for await (const chunk of answer.body) response.write(rewritten ? earlier(Buffer.from(chunk).toString()) : chunk);
      } catch {
        // The server has gone.
      }
      response.end();
    });
    listener.listen(0, "127.0.0.1");
    await new Promise((resolve) => listener.once("listening", resolve));
    test.after(() => (listener.closeAllConnections(), listener.close()));
    proxy.base = `http://127.0.0.1:${listener.address().port}`;
    return proxy;
  }
}

/** A browser with one page, which notes what it should not have to. */
export class Look {
  static async at(test, server, { token, theme = "light", width = 1280, height = 900, ownLists = false, marks = false, silent = false } = {}) {
    const look = new Look();
    test.after(() => look.browser.close());
    look.faults = [];
    look.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
    look.context = await look.browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" });
    if (token) await look.context.addInitScript((text) => sessionStorage.setItem("forebay-token", text), token);
    if (marks) await look.context.addInitScript(keepTexts);
    look.page = await look.context.newPage();
    if (ownLists) await look.page.route("**/dashboard/main.js", withoutLists);
    // Asked, and never answered.
    if (silent) await look.page.route("**/dashboard/live", () => {});
    look.page.on("console", (message) => message.type() === "error" && look.faults.push(`console: ${message.text()}`));
    look.page.on("pageerror", (error) => look.faults.push(`error: ${error.stack}`));
    look.page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${server.base}/`) && !url.startsWith("data:")) look.faults.push(`foreign: ${url}`);
    });
    await look.page.goto(`${server.base}/`);
    return look;
  }

  /** Waits until the page shows figures. */
  async live() {
    await until(async () => (await this.page.textContent("#state")) === "Live" && (await this.page.getAttribute("#reads", "data-value")) !== null);
    return this;
  }

  text(id) { return this.page.textContent(`#${id}`); }

  /** The number behind what an element shows. */
  async number(id) { return Number(await this.page.getAttribute(`#${id}`, "data-value")); }

  /** Shows lists as if the server had sent them; the page has to have been opened with `ownLists`. */
  lists(sent) { return this.page.evaluate(async (lists) => (await import("/dashboard/lists.js")).lists(lists), sent); }

  shot(name) { return this.page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true }); }
}
