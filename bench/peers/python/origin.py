"""What adapters load from: slow, and it counts."""

import asyncio
import concurrent.futures
import string
import threading
import time


class Origin:
    """Articles of so many bytes, each after so many seconds, or as soon as they are released."""

    def __init__(self, size=256, seconds=0.0, held=False):
        self.size = size
        self.seconds = seconds
        self.version = 1
        self.loads = 0
        self.counting = threading.Lock()
        self.begun = concurrent.futures.Future() if held else None
        self.released = concurrent.futures.Future() if held else None

    async def load(self):
        """For adapters that are asynchronous."""
        loaded = self._begin()
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if self.released:
            await asyncio.wrap_future(self.released)
        return loaded

    def load_blocking(self):
        """For adapters that have threads."""
        loaded = self._begin()
        if self.seconds:
            time.sleep(self.seconds)
        if self.released:
            self.released.result()
        return loaded

    def release(self):
        self.released.set_result(None)

    def _begin(self):
        loaded = article(self.version, self.size)
        with self.counting:
            self.loads += 1
            if self.begun and not self.begun.done():
                self.begun.set_result(None)
        return loaded


def article(version, size):
    letters = string.ascii_lowercase
    first = version % 26
    body = (letters[first:] + letters[:first]) * (size // 26 + 1)
    return {"version": version, "title": f"Version {version}", "body": body[:size]}
