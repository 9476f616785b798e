"""aiocache with its decorator against stampedes, and its own settings."""

from urllib.parse import urlsplit

from aiocache import RedisCache, cached_stampede
from aiocache.serializers import JsonSerializer

BLOCKS = False
LIFE = 3600


class Process:
    def __init__(self, url):
        address = urlsplit(url)
        where = {"endpoint": address.hostname, "port": address.port, "namespace": "aiocache"}
        named = {"key_builder": lambda _, key, origin: key}
        self.cache = RedisCache(**where)

        @cached_stampede(ttl=LIFE, cache=RedisCache, serializer=JsonSerializer(), **named, **where)
        async def load(key, origin):
            return await origin.load()

        self.read = load

    async def start(self):
        await self.cache.exists("nothing")

    async def forget(self, key):
        await self.cache.delete(key)
