// What adapters load from: slow, and it counts.

import { setTimeout as sleep } from "node:timers/promises";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

export class Origin {
  version = 1;
  loads = 0;

  // Articles of so many bytes, each after so many milliseconds, or as soon as they are released.
  constructor({ bytes = 256, milliseconds = 0, held = false } = {}) {
    Object.assign(this, { bytes, milliseconds });
    this.begun = new Promise((resolve) => (this.begin = resolve));
    this.released = held ? new Promise((resolve) => (this.release = resolve)) : undefined;
  }

  async load() {
    this.loads += 1;
    const loaded = article(this.version, this.bytes);
    this.begin();
    if (this.milliseconds) await sleep(this.milliseconds);
    await this.released;
    return loaded;
  }
}

function article(version, bytes) {
  const first = version % LETTERS.length;
  const letters = LETTERS.slice(first) + LETTERS.slice(0, first);
  return { version, title: `Version ${version}`, body: letters.repeat(bytes / letters.length + 1).slice(0, bytes) };
}
