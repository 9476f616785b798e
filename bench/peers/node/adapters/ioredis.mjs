// ioredis and JSON by hand, with the client's own settings.

import { Redis } from "ioredis";

const LIFE = 3600;

export class Process {
  constructor(url) {
    this.redis = new Redis(url);
  }

  start() {
    return this.redis.ping();
  }

  async read(key, origin) {
    const found = await this.redis.get(`node:${key}`);
    if (found !== null) return JSON.parse(found);
    const article = await origin.load();
    await this.redis.set(`node:${key}`, JSON.stringify(article), "EX", LIFE);
    return article;
  }

  forget(key) {
    return this.redis.del(`node:${key}`);
  }
}
