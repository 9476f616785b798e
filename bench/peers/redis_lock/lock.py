"""The lock of redis-py over Redis, with its asynchronous client and its own settings.

Argument: the address. Each line that it reads is an order, and answered by a line of JSON:

    uncontended COUNT         the median of the microseconds that acquire and release take together
    queue NAME WAITERS        seconds of each hand-over while so many wait for one lock, then release it at once
    held WAITS SECONDS NAME   seconds of each hand-over of so many locks, held for so long, with a waiter each
"""

import asyncio
import json
import statistics
import sys
import time

from redis.asyncio import Redis

LIFE = 30

# Those who wait in a queue come one after the other within this time.
COME = 0.2


class Handover:
    """From the release of one holder to the start of the next."""

    def __init__(self):
        self.released = None
        self.took = []

    def starts(self):
        if self.released is not None:
            self.took.append(time.perf_counter() - self.released)

    async def release(self, lock):
        self.released = time.perf_counter()
        await lock.release()


async def uncontended(redis, count):
    times = []
    for number in range(count):
        began = time.perf_counter()
        lock = redis.lock(f"plan-{number % 1000}", timeout=LIFE)
        assert await lock.acquire()
        await lock.release()
        times.append((time.perf_counter() - began) * 1e6)
    return statistics.median(times)


async def waiter(redis, name, handover, comes=0):
    await asyncio.sleep(comes)
    lock = redis.lock(name, timeout=LIFE)
    assert await lock.acquire()
    handover.starts()
    await handover.release(lock)


async def queue(redis, name, waiters):
    handover, lock = Handover(), redis.lock(name, timeout=LIFE)
    assert await lock.acquire()
    tasks = [asyncio.create_task(waiter(redis, name, handover, COME * number / waiters)) for number in range(waiters)]
    await asyncio.sleep(COME)
    began = time.perf_counter()
    await handover.release(lock)
    await asyncio.gather(*tasks)
    return {"handovers": handover.took, "seconds": time.perf_counter() - began}


async def held_one(redis, name, number, waits, seconds):
    handover, lock = Handover(), redis.lock(name, timeout=LIFE)
    assert await lock.acquire()
    task = asyncio.create_task(waiter(redis, name, handover))
    await asyncio.sleep(seconds + seconds * number / waits)
    await handover.release(lock)
    await task
    return handover.took


async def held(redis, waits, seconds, name):
    shares = (held_one(redis, f"{name}-{number}", number, waits, seconds) for number in range(waits))
    return sum(await asyncio.gather(*shares), [])


async def answer(redis, order, *words):
    if order == "uncontended":
        return await uncontended(redis, int(words[0]))
    if order == "queue":
        return await queue(redis, words[0], int(words[1]))
    return await held(redis, int(words[0]), float(words[1]), words[2])


async def main(url):
    redis = Redis.from_url(url)
    for line in sys.stdin:
        print(json.dumps(await answer(redis, *line.split())), flush=True)


asyncio.run(main(*sys.argv[1:]))
