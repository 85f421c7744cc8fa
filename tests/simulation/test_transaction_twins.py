"""The simulated store of transactions answers as the SQLite store does."""

from random import Random

import pytest
from simulation.transactions import SimTransactions

from samsa.local.sqlite_groups import SqliteGroups
from samsa.ports import Committed, Offsets, TransactionItem

STEPS = 400
LATER_MS = 99_000


class Anything:
    """A judge that objects to nothing."""

    def __getattr__(self, name: str):
        return lambda *_: None


class Caller:
    """Makes up calls that a coordinator might make. Versions and serials rise, and some are old."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._names = [n[5:] for n in dir(self) if n.startswith("call_")]
        self._made = 0
        self._serial = 1

    def next(self) -> tuple[str, tuple[object, ...]]:
        name = self._rng.choice(self._names)
        return name, getattr(self, f"call_{name}")()

    def _old(self, newest: int) -> int:
        return max(0, newest - self._rng.choice((0, 0, 0, 1, 2)))

    def call_put_transaction(self) -> tuple[object, ...]:
        after = self._old(self._made)
        item = TransactionItem(after + 1, self._rng.randint(1, 2), self._rng.choice((b"a", b"b")))
        self._made = max(self._made, item.version)
        return "t", item, after

    def call_transaction(self) -> tuple[object, ...]:
        return self._rng.choice(("t", "other")), self._old(self._made)

    def call_transactional_ids(self) -> tuple[object, ...]:
        return ()

    def call_add_pending(self) -> tuple[object, ...]:
        offsets: Offsets = {
            ("topic", self._rng.randint(0, 2)): Committed(self._rng.randint(0, 9), -1, "", 1, 0)
        }
        return "g", self._rng.randint(1, 2), self._moved(), offsets, LATER_MS

    def call_end_pending(self) -> tuple[object, ...]:
        return "g", self._rng.randint(1, 2), self._moved(), self._rng.random() < 0.5, LATER_MS

    def _moved(self) -> int:
        self._serial += self._rng.random() < 0.2
        return max(1, self._old(self._serial))

    def call_pending(self) -> tuple[object, ...]:
        return ("g",)


@pytest.mark.parametrize("seed", range(20))
async def test_both_stores_of_transactions_give_the_same_answers(seed):
    real, twin, caller = SqliteGroups(":memory:"), SimTransactions(Anything()), Caller(Random(seed))
    for step in range(STEPS):
        name, args = caller.next()
        expected = await getattr(real, name)(*args)
        assert getattr(twin, name)(*args) == expected, f"step {step}: {name}{args}"
        assert twin.groups["g"].offsets == await real.offsets("g", 0), f"step {step}: {name}{args}"
    await real.close()
