"""cashews with its lock over all processes."""

from adapters import cashews

BLOCKS = False


class Process(cashews.Process):
    lock = True
