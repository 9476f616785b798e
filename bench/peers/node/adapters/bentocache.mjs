// bentocache over Redis without its memory, with its own settings.

import { BentoCache, bentostore } from "bentocache";
import { redisDriver } from "bentocache/drivers/redis";

const LIFE = "1h";

export class Process {
  constructor(url) {
    const { hostname: host, port } = new URL(url);
    const articles = bentostore().useL2Layer(redisDriver({ connection: { host, port: Number(port) } }));
    this.cache = new BentoCache({ default: "articles", stores: { articles } });
  }

  start() {
    return this.cache.has({ key: "nothing" });
  }

  read(key, origin) {
    return this.cache.getOrSet({ key, ttl: LIFE, factory: () => origin.load() });
  }

  forget(key) {
    return this.cache.delete({ key });
  }
}
