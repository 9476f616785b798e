"""Drives one cache over Redis, as `drive` does in Rust: each line that it reads is an order, answered by a line of JSON.

Arguments: the address, then the name of a module in `adapters`, which has a class `Process`:

    Process(url)             one process over the Redis at this address
    await start()            connects
    await read(key, origin)  the article of a key, loaded if need be
    await forget(key)        tells the cache that a key has changed

Where `BLOCKS` is true, its methods wait for nothing that is asynchronous, and each call has a thread of its own.
"""

import asyncio
import concurrent.futures
import importlib
import json
import logging
import os
import sys
import time

from origin import Origin

# From one key to the next.
STRIDE = 7919

AT_ONCE = 64

# Nobody waits longer for an answer, for the one of a race, or for what costs a single read.
PATIENCE = 10
RACE = 10
MISS = 5

# What fails is counted.
logging.disable(logging.CRITICAL)


class Driver:
    def __init__(self, adapter, url):
        self.reader, self.writer = adapter.Process(url), adapter.Process(url)
        self.blocks = adapter.BLOCKS
        self.threads = concurrent.futures.ThreadPoolExecutor(1_000)

    async def start(self):
        await self.run(self.reader.start())
        await self.run(self.writer.start())

    def run(self, work):
        """Starts what an adapter does, wherever it does so."""
        if self.blocks:
            return asyncio.get_running_loop().run_in_executor(self.threads, to_its_end, work)
        return asyncio.ensure_future(work)

    async def fill(self, keys, bytes):
        rate = await self.hits(1, keys, keys, bytes)
        return rate | {"wrong": abs(rate["wrong"] - keys)}

    async def hits(self, tasks, count, keys, bytes):
        origin = Origin(bytes)
        began = time.perf_counter()
        shares = (self.run(self.share(origin, keys, range(first, count, tasks))) for first in range(tasks))
        errors = sum(await asyncio.gather(*shares))
        return {"per_second": count / (time.perf_counter() - began), "wrong": errors + origin.loads}

    async def share(self, origin, keys, numbers):
        errors = 0
        for number in numbers:
            errors += await self.version(f"hit-{origin.size}-{number * STRIDE % keys:06}", origin) is None
        return errors

    async def version(self, key, origin):
        try:
            return (await self.reader.read(key, origin))["version"]
        except Exception:
            return None

    async def stampede(self, key, callers, milliseconds):
        origin = Origin(seconds=milliseconds / 1000)
        began = time.perf_counter()
        waits = []

        async def call():
            if await within(PATIENCE, self.run(self.version(key, origin))) is not None:
                waits.append((time.perf_counter() - began) * 1000)

        await asyncio.gather(*(call() for _ in range(callers)))
        return {"loads": origin.loads, "errors": callers - len(waits), "waits": waits}

    async def races(self, first, count):
        turns = asyncio.Semaphore(AT_ONCE)

        async def race(number):
            async with turns:
                return await within(RACE, asyncio.ensure_future(self.race(f"race-{number:09}")))

        ended = await asyncio.gather(*(race(number) for number in range(first, first + count)))
        return {"stale": sum(stale is True for stale in ended), "errors": sum(stale is None for stale in ended)}

    async def race(self, key):
        """Whether the reader has the old version after a change that came amid its load."""
        origin = Origin(held=True)
        read = self.run(self.version(key, origin))
        await asyncio.wrap_future(origin.begun)
        origin.version += 1
        told = await self.run(self.forget(key))
        origin.release()
        loaded = await read
        version = await self.run(self.version(key, origin))
        return None if None in (told, loaded, version) else version < origin.version

    async def forget(self, key):
        try:
            await self.writer.forget(key)
            return True
        except Exception:
            return None

    async def miss(self, key):
        began = time.perf_counter()
        version = await within(MISS, self.run(self.version(key, Origin())))
        return {"milliseconds": (time.perf_counter() - began) * 1000, "answered": version is not None}


async def within(seconds, running):
    """What comes of it, or nothing if that takes too long: a thread goes on by itself."""
    done, _ = await asyncio.wait([running], timeout=seconds)
    if not done:
        running.cancel()
    return running.result() if done else None


def to_its_end(work):
    """What a coroutine returns that waits for nothing asynchronous."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("an adapter that blocks waits for something asynchronous")


async def main(url, adapter):
    driver = Driver(importlib.import_module(f"adapters.{adapter}"), url)
    await driver.start()
    orders = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        ((what, how),) = json.loads(line).items()
        print(json.dumps(await getattr(driver, what)(**how)), flush=True)
    # Threads that wait for ever would keep it alive.
    os._exit(0)


asyncio.run(main(*sys.argv[1:]))
