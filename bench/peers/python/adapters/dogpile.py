"""dogpile.cache with threads, and its lock over all processes."""

from dogpile.cache import make_region

BLOCKS = True
LIFE = 3600


class Process:
    def __init__(self, url):
        arguments = {"url": url, "redis_expiration_time": LIFE, "distributed_lock": True, "thread_local_lock": False}
        self.region = make_region(key_mangler=lambda key: f"dogpile:{key}")
        self.region.configure("dogpile.cache.redis", expiration_time=LIFE, arguments=arguments)

    async def start(self):
        self.region.get("nothing")

    async def read(self, key, origin):
        return self.region.get_or_create(key, origin.load_blocking)

    async def forget(self, key):
        self.region.delete(key)
