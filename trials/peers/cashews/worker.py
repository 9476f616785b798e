"""A process of a trial whose cache is cashews: one JSON on each line of its input, answered by one on its output."""

import asyncio
import json
import logging
import os
import sys
import time

from cashews import cache

logging.disable(logging.CRITICAL)

TAGS = 4
# How long a load of several ids sleeps.
TOGETHER_MS = 30

setup = json.loads(sys.argv[1])
life = setup["fresh_ms"] / 1000
budget = (setup["budget_ms"] or 500) / 1000
cache.setup(
    setup["redis"],
    client_side=setup["local_ms"] != 0,
    socket_timeout=budget,
    socket_connect_timeout=budget,
)
loads = []


class LoadFailed(Exception):
    """What the loader brings when it is told to."""


async def row(what, id):
    reader, writer = await asyncio.open_connection("127.0.0.1", setup["rows"])
    try:
        writer.write(f"{what} {id}\n".encode())
        return int(await reader.readline())
    finally:
        writer.close()


async def load(id, origin):
    ran = {"id": id, "began": time.monotonic_ns(), "ended": None}
    loads.append(ran)
    (kind, arguments), = origin.items()
    try:
        version = await row("read", id) if kind == "Row" else 0
        await asyncio.sleep(arguments["ms"] / 1000)
        if kind == "Failure":
            raise LoadFailed()
        return {"version": version, "pid": os.getpid()}
    finally:
        ran["ended"] = time.monotonic_ns()


def tag_of(id):
    number = int(id.rsplit("-", 1)[1])
    return None if number % 2 else f"tag-{number // 2 % TAGS}"


@cache(ttl=life, key="thing:{id}", lock=True)
async def plain(id, origin):
    return await load(id, origin)


@cache(ttl=life, key="thing:{id}", lock=True, tags=["{tag}"])
async def tagged(id, tag, origin):
    return await load(id, origin)


async def get_or_load(id, origin):
    tag = tag_of(id)
    try:
        return value(await (tagged(id, tag, origin) if tag else plain(id, origin)))
    except LoadFailed:
        return "Failed"


def value(found):
    return {"Value": found} if found else "Nothing"


async def read(id):
    return value(await cache.get(f"thing:{id}"))


async def put(id, version):
    tags = [tag for tag in [tag_of(id)] if tag]
    await cache.set(f"thing:{id}", {"version": version, "pid": os.getpid()}, expire=life, tags=tags)
    return "Everywhere"


async def forget(id):
    await cache.delete(f"thing:{id}")
    return "Everywhere"


async def forget_tag(tag):
    await cache.delete_tags(tag)
    return "Everywhere"


async def clear():
    await cache.delete_match("thing:*")
    return "Everywhere"


async def call(work):
    began = time.monotonic_ns()
    try:
        outcome = await work
    except Exception as error:
        outcome = {"Error": f"{type(error).__name__} {error}"}
    return {"began": began, "ended": time.monotonic_ns(), "outcome": outcome}


async def calls(*all):
    return {"Done": await asyncio.gather(*map(call, all))}


async def obey(order):
    what, how = (order, None) if isinstance(order, str) else next(iter(order.items()))
    match what:
        case "Load":
            return await calls(*(get_or_load(how["id"], how["origin"]) for _ in range(how["callers"])))
        case "LoadMany":
            return await calls(*(get_or_load(id, {"Row": {"ms": TOGETHER_MS}}) for id in how))
        case "Read":
            return await calls(read(how))
        case "Put":
            return await calls(put(*how))
        case "Invalidate" | "Expire":
            return await calls(forget(how))
        case "InvalidateAmidLoads":
            amid = (get_or_load(how["id"], how["origin"]) for _ in range(how["callers"]))
            return await calls(forget(how["id"]), *amid)
        case "InvalidateTag":
            return await calls(forget_tag(how[0]))
        case "Clear":
            return await calls(clear())
        case "Raise":
            return {"Raised": await row("raise", how)}
        case "Loads":
            told = [dict(ran) for ran in loads]
            loads[:] = [ran for ran in loads if ran["ended"] is None]
            return {"Loads": told}
        case "Report":
            return REPORT


REPORT = {
    "Report": {
        "usable": True,
        "hears": True,
        "bound_ms": 1500,
        "gaps": 0,
        "deferred": 0,
        "refused_fills": 0,
        "tasks": 1,
    }
}


def say(number, what):
    sys.stdout.write(json.dumps({"number": number, "what": what}) + "\n")
    sys.stdout.flush()


async def answer(number, order):
    say(number, await obey(order))


async def main():
    await cache.init()
    say(0, REPORT)
    orders = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    running = set()
    while line := await orders.readline():
        numbered = json.loads(line)
        task = asyncio.create_task(answer(numbered["number"], numbered["what"]))
        running.add(task)
        task.add_done_callback(running.discard)


asyncio.run(main())
os._exit(0)
