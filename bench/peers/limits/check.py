"""The moving window of `limits` over Redis, with its asynchronous storage.

Arguments: the address, the number of subjects, then seconds and limit of each window by turns. Each line that it
reads says how many tasks make how many checks; the answer is a line of JSON. It decides one window at a time.
"""

import asyncio
import json
import sys
import time

from limits import RateLimitItemPerSecond
from limits.aio.storage import RedisStorage
from limits.aio.strategies import MovingWindowRateLimiter


async def check(limiter, windows, subject):
    for window in windows:
        if not await limiter.hit(window, subject):
            return False
    return True


async def share(limiter, windows, subjects, first, step, checks):
    admitted = 0
    for number in range(first, checks, step):
        admitted += await check(limiter, windows, subjects[number % len(subjects)])
    return admitted


async def measure(limiter, windows, subjects, tasks, checks):
    began = time.perf_counter()
    shares = (share(limiter, windows, subjects, first, tasks, checks) for first in range(tasks))
    admitted = sum(await asyncio.gather(*shares))
    return {"per_second": checks / (time.perf_counter() - began), "admitted": admitted}


async def main(url, subjects, *numbers):
    limiter = MovingWindowRateLimiter(RedisStorage(f"async+{url}"))
    numbers = [int(number) for number in numbers]
    windows = [RateLimitItemPerSecond(limit, span) for span, limit in zip(numbers[::2], numbers[1::2])]
    subjects = [f"u-{number:06}" for number in range(int(subjects))]
    for line in sys.stdin:
        tasks, checks = map(int, line.split())
        print(json.dumps(await measure(limiter, windows, subjects, tasks, checks)), flush=True)


asyncio.run(main(*sys.argv[1:]))
