"""The simulated ledger answers as the SQLite ledger does."""

import inspect
from random import Random
from uuid import UUID

import pytest
from simulation.ledger import SimLedger

from samsa.joining import join_extents
from samsa.local.sqlite import SqliteLedger
from samsa.log.stores import slot_key
from samsa.ports import Extent, Grave, Partition, Topic

PARTITION = Partition(UUID(int=1), 0)
STEPS = 200
SWAPS = ("replace_extents",)


class Anything:
    """A truth that objects to nothing."""

    def __getattr__(self, name: str):
        return lambda *_: None


class Caller:
    """Makes up calls that a log might make, from what it has seen so far."""

    def __init__(self, rng: Random, swaps: bool) -> None:
        self._rng = rng
        self._names = [n[5:] for n in dir(self) if n.startswith("call_")]
        if not swaps:
            self._names = [name for name in self._names if name not in SWAPS]
        self._open: dict[str, tuple[int, int]] = {}
        self._closed: list[tuple[str, Extent]] = []
        self._merged: list[Extent] = []
        self._end = 0
        self._made = 0

    def next(self) -> tuple[str, tuple[object, ...]]:
        name = self._rng.choice(self._names)
        return name, (PARTITION, *getattr(self, f"call_{name}")())

    def call_reserve(self) -> tuple[object, ...]:
        if self._open and self._rng.random() < 0.2:
            token = self._rng.choice(list(self._open))
            return token, self._open[token][1]
        token, count = self._token(), self._rng.randint(1, 4)
        self._open[token] = self._end, count
        self._end += count
        return token, count

    def _token(self) -> str:
        """A new one, or one that was closed: a reserve may arrive again."""
        if self._closed and self._rng.random() < 0.2:
            return self._rng.choice(self._closed)[0]
        self._made += 1
        return f"t{self._made}"

    def call_confirm(self) -> tuple[object, ...]:
        if self._open and self._rng.random() < 0.8:
            token = self._rng.choice(list(self._open))
            self._closed.append((token, self._extent(*self._open.pop(token))))
            return self._closed[-1]
        return self._rng.choice(self._closed) if self._closed else ("nobody's", self._extent(0, 1))

    def call_index(self) -> tuple[object, ...]:
        return (self._rng.choice(self._closed)[1] if self._closed else self._extent(10_000, 1),)

    def _extent(self, base: int, count: int) -> Extent:
        stamp = self._rng.randint(-1, 9)
        return Extent(base, count, 61, stamp, stamp, slot_key(PARTITION, base), (), count)

    def _offset(self) -> int:
        return self._rng.randint(0, self._end + 1)

    def call_head(self) -> tuple[object, ...]:
        return ()

    def call_extents(self) -> tuple[object, ...]:
        return self._offset(), self._rng.randint(1, 5)

    def call_extent_before(self) -> tuple[object, ...]:
        return (self._offset(),)

    def call_extent_at_time(self) -> tuple[object, ...]:
        return (self._rng.randint(0, 10),)

    def call_newest_extent(self) -> tuple[object, ...]:
        return ()

    def call_producer(self) -> tuple[object, ...]:
        return (self._rng.randint(1, 2),)

    def call_bind(self) -> tuple[object, ...]:
        state = self._rng.choice((b"one", b"two"))
        return self._rng.randint(1, 2), state, self._rng.randint(0, 3), 99

    def call_advance_start(self) -> tuple[object, ...]:
        return (self._offset() // 3,)

    def call_drop_extents(self) -> tuple[object, ...]:
        return (self._offset() // 3,)

    def _key(self) -> str:
        return f"segment {self._rng.randint(0, 2)}"

    def call_replace_extents(self) -> tuple[object, ...]:
        run = self._run()
        whole = join_extents(run, self._rng.choice((self._key(), run[0].key)))
        return run, [whole]

    def _run(self) -> list[Extent]:
        """Neighbours, as far as the caller knows; some may have been merged or dropped."""
        known = sorted({extent for _, extent in self._closed} | set(self._merged))
        if not known:
            return [self._extent(0, 1)]
        run = [self._rng.choice(known)]
        for extent in known:
            if extent.base == run[-1].end and len(run) < 4:
                run.append(extent)
        self._merged.append(join_extents(run, self._key()))
        return run

    def call_announce(self) -> tuple[object, ...]:
        key = self._key()
        return (Grave(key, 0, 0, (key,), 1, announced=True),)

    def call_graves(self) -> tuple[object, ...]:
        return (self._rng.randint(1, 9),)

    def call_condemn(self) -> tuple[object, ...]:
        return self._key(), self._rng.randint(1, 9)

    def call_forget_grave(self) -> tuple[object, ...]:
        return (self._key(),)

    def call_cursor(self) -> tuple[object, ...]:
        return ("merge",)

    def call_move_cursor(self) -> tuple[object, ...]:
        return "merge", self._rng.randint(0, 9)


def answer(method, args):
    found = method(*args)
    if inspect.isgenerator(found):
        while True:
            try:
                next(found)
            except StopIteration as end:
                return end.value
    return found


@pytest.mark.parametrize("two_steps", [False, True], ids=["one step", "two steps"])
@pytest.mark.parametrize("seed", range(20))
async def test_both_ledgers_give_the_same_answers(seed, two_steps):
    real = SqliteLedger(":memory:")
    await real.create_topic(Topic("t", PARTITION.topic_id, 1, 0))
    twin = SimLedger(Anything(), two_steps)
    twin.make(PARTITION)
    # On DynamoDB, of which two steps are typical, a swap is another thing: see the contract.
    caller = Caller(Random(seed), swaps=not two_steps)
    for step in range(STEPS):
        name, args = caller.next()
        expected = await getattr(real, name)(*args)
        assert answer(getattr(twin, name), args) == expected, f"step {step}: {name}{args}"
    await real.close()
