"""A dictionary with a bounded number of items, and keys of a bounded size."""

from collections import OrderedDict
from hashlib import blake2b
from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")

LONGEST_KEY: Final = 256
"""Characters of a name that a client chose. Names of topics have at most 249."""


def short_key(name: str) -> str:
    """The name, as a key that takes little memory: a long one is cut, and has a digest at its end.
    It differs from the keys of all other names, also of those that are not cut."""
    if len(name) <= LONGEST_KEY:
        return name
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16)
    return f"{name[:LONGEST_KEY]}…{digest.hexdigest()}"


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
