"""redis.asyncio and JSON by hand, with the client's own settings."""

import json

from redis.asyncio import Redis

BLOCKS = False
LIFE = 3600


class Process:
    def __init__(self, url):
        self.redis = Redis.from_url(url)

    async def start(self):
        await self.redis.ping()

    async def read(self, key, origin):
        if found := await self.redis.get(f"python:{key}"):
            return json.loads(found)
        article = await origin.load()
        await self.redis.set(f"python:{key}", json.dumps(article), ex=LIFE)
        return article

    async def forget(self, key):
        await self.redis.delete(f"python:{key}")
