"""Versions of items that this process stored or read while it was alone with the ledger.

While it is alone (`ownership.py`), no other process can change an item, so its last known version
is the current one. After sharing the ledger, a process is never alone again, so a version
remembered before is not used after.
"""

from collections.abc import Callable

from samsa.bounded import Bounded

REMEMBERED = 100_000


class KnownVersions:
    def __init__(self, alone: Callable[[], bool]) -> None:
        self._alone = alone
        self._versions = Bounded[str, int](REMEMBERED)

    def is_current(self, name: str, version: int) -> bool:
        """False: not known."""
        return self._versions.get(name) == version and self._alone()

    def remember(self, name: str, version: int) -> None:
        if self._alone():
            self._versions.keep(name, version)

    def forget(self, name: str) -> None:
        self._versions.pop(name, None)
