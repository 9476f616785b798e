// Drives one cache over Redis, as `drive` does in Rust: each line that it reads is an order, answered by a line of JSON.
//
// Arguments: the address, then the name of a module in `adapters`, which has a class `Process`:
//
//     new Process(url)         one process over the Redis at this address
//     await start()            connects
//     await read(key, origin)  the article of a key, loaded if need be
//     await forget(key)        tells the cache that a key has changed

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Origin } from "./origin.mjs";

// From one key to the next.
const STRIDE = 7919;

const AT_ONCE = 64;

// Nobody waits longer for an answer, for the one of a race, or for what costs a single read.
const PATIENCE = 10_000;
const RACE = 10_000;
const MISS = 5_000;

const [url, adapter] = process.argv.slice(2);
const { Process } = await import(`./adapters/${adapter}.mjs`);
const [reader, writer] = [new Process(url), new Process(url)];

// What fails is counted: nothing else is to end the process, or to be said.
console.error = () => {};
console.warn = () => {};
process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});

const numbers = (count) => Array.from({ length: count }, (_, number) => number);
const sum = (all) => all.reduce((total, one) => total + one, 0);
const padded = (number, places) => String(number).padStart(places, "0");

async function version(key, origin) {
  try {
    return (await reader.read(key, origin)).version;
  } catch {
    return null;
  }
}

async function forget(key) {
  try {
    await writer.forget(key);
    return true;
  } catch {
    return null;
  }
}

function within(milliseconds, work) {
  const over = new AbortController();
  const late = sleep(milliseconds, null, { signal: over.signal }).catch(() => null);
  return Promise.race([work, late]).finally(() => over.abort());
}

async function share(origin, keys, first, step, count) {
  let errors = 0;
  for (let number = first; number < count; number += step) {
    const key = `hit-${origin.bytes}-${padded((number * STRIDE) % keys, 6)}`;
    errors += (await version(key, origin)) === null;
  }
  return errors;
}

async function hits({ tasks, count, keys, bytes }) {
  const origin = new Origin({ bytes });
  const began = performance.now();
  const shares = numbers(tasks).map((first) => share(origin, keys, first, tasks, count));
  const errors = sum(await Promise.all(shares));
  return { per_second: (count * 1000) / (performance.now() - began), wrong: errors + origin.loads };
}

async function fill({ keys, bytes }) {
  const rate = await hits({ tasks: 1, count: keys, keys, bytes });
  return { ...rate, wrong: Math.abs(rate.wrong - keys) };
}

async function stampede({ key, callers, milliseconds }) {
  const origin = new Origin({ milliseconds });
  const began = performance.now();
  const waits = [];
  const call = async () => {
    if ((await within(PATIENCE, version(key, origin))) !== null) waits.push(performance.now() - began);
  };
  await Promise.all(numbers(callers).map(call));
  return { loads: origin.loads, errors: callers - waits.length, waits };
}

// Whether the reader has the old version after a change that came amid its load.
async function race(key) {
  const origin = new Origin({ held: true });
  const read = version(key, origin);
  await origin.begun;
  origin.version += 1;
  const told = await forget(key);
  origin.release();
  const loaded = await read;
  const after = await version(key, origin);
  return [told, loaded, after].includes(null) ? null : after < origin.version;
}

async function races({ first, count }) {
  const ended = [];
  const lane = async (offset) => {
    for (let number = first + offset; number < first + count; number += AT_ONCE) {
      ended.push(await within(RACE, race(`race-${padded(number, 9)}`)));
    }
  };
  await Promise.all(numbers(AT_ONCE).map(lane));
  return { stale: ended.filter((stale) => stale === true).length, errors: ended.filter((stale) => stale === null).length };
}

async function miss({ key }) {
  const began = performance.now();
  const found = await within(MISS, version(key, new Origin()));
  return { milliseconds: performance.now() - began, answered: found !== null };
}

const orders = { fill, hits, stampede, races, miss };
await reader.start();
await writer.start();
for await (const line of createInterface({ input: process.stdin })) {
  const [[what, how]] = Object.entries(JSON.parse(line));
  process.stdout.write(`${JSON.stringify(await orders[what](how))}\n`);
}
process.exit(0);
