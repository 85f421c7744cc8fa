"""A dictionary of a bounded size."""

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(OrderedDict[K, V]):
    """Keeps at most `most` items: the one that was kept or used longest ago goes first."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def keep(self, key: K, value: V) -> V | None:
        """As the newest. Returns the value that had to go for it, if any."""
        self[key] = value
        self.move_to_end(key)
        return self.popitem(last=False)[1] if len(self) > self._most else None

    def use(self, key: K) -> V | None:
        """What is kept under the key, which is the newest from now on."""
        value = self.get(key)
        if value is not None:
            self.move_to_end(key)
        return value
