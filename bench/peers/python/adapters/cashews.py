"""cashews with its own settings: callers in one process load once."""

from cashews import Cache

BLOCKS = False
LIFE = 3600


class Process:
    lock = False

    def __init__(self, url):
        self.cache = Cache()
        # Each variant has keys of its own.
        self.named = f"cashews-{self.lock}"
        self.cache.setup(url)

        @self.cache(ttl=LIFE, key=self.named + ":{key}", lock=self.lock)
        async def load(key, origin):
            return await origin.load()

        self.read = load

    async def start(self):
        await self.cache.init()

    async def forget(self, key):
        await self.cache.delete(f"{self.named}:{key}")
