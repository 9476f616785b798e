// The fixed window of rate-limiter-flexible over Redis, by ioredis; two windows are its union of two limiters.
//
// Arguments: the address, the number of subjects, then seconds and limit of each window by turns. Each line that it
// reads says how many tasks make how many checks; the answer is a line of JSON.

import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import rateLimiterFlexible from "rate-limiter-flexible";

const { RateLimiterRedis, RateLimiterUnion } = rateLimiterFlexible;
const [url, count, ...numbers] = process.argv.slice(2);
const subjects = Array.from({ length: Number(count) }, (_, number) => `u-${String(number).padStart(6, "0")}`);
const storeClient = new Redis(url);

const limiters = [];
for (let at = 0; at < numbers.length; at += 2) {
  const [duration, points] = numbers.slice(at, at + 2).map(Number);
  limiters.push(new RateLimiterRedis({ storeClient, keyPrefix: `flexible-${duration}`, duration, points }));
}
const limiter = limiters.length > 1 ? new RateLimiterUnion(...limiters) : limiters[0];

async function share(first, step, checks) {
  let admitted = 0;
  for (let number = first; number < checks; number += step) {
    // It rejects what it refuses.
    await limiter.consume(subjects[number % subjects.length]);
    admitted += 1;
  }
  return admitted;
}

async function measure(tasks, checks) {
  const began = performance.now();
  const shares = Array.from({ length: tasks }, (_, first) => share(first, tasks, checks));
  const admitted = (await Promise.all(shares)).reduce((sum, one) => sum + one, 0);
  return { per_second: (checks * 1000) / (performance.now() - began), admitted };
}

for await (const line of createInterface({ input: process.stdin })) {
  const [tasks, checks] = line.split(" ").map(Number);
  console.log(JSON.stringify(await measure(tasks, checks)));
}
process.exit(0);
