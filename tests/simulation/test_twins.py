"""The simulated ledger answers as the SQLite ledger does."""

import inspect
from random import Random
from uuid import UUID

import pytest
from simulation.ledger import SimLedger

from samsa.local.schema import committed
from samsa.local.sqlite import SqliteLedger
from samsa.ports import Claim, CommitResult, End, Extent, Partition, PendingDeletion, Topic
from samsa.ports.joining import join_extents

PARTITION = Partition(UUID(int=1), 0)
STEPS = 300


class Anything:
    """A truth that objects to nothing."""

    def __getattr__(self, name: str):
        return lambda *_: None


class Caller:
    """Makes up calls that a log might make, from what it has seen so far."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._names = [n[5:] for n in dir(self) if n.startswith("call_")]
        self._committed: list[Extent] = []
        self._merged: list[Extent] = []
        self._end = 0
        self._made = 0
        self._claims: list[Claim] = []
        self._versions: dict[int, int] = {}

    def next(self) -> tuple[str, tuple[object, ...]]:
        name = self._rng.choice(self._names)
        return name, (PARTITION, *getattr(self, f"call_{name}")())

    def learn(self, result: object) -> None:
        """What a commit has answered."""
        if isinstance(result, CommitResult) and result.base is not None:
            placed = committed(self._sent, result.base, self._sent.key, 7)
            self._committed.append(placed)
            self._end = placed.end
            for claim in self._claims:
                self._versions[claim.producer_id] = claim.after + 1

    def call_commit(self) -> tuple[object, ...]:
        self._made += 1
        guess = max(0, self._end - self._rng.choice((0, 0, 2)))
        key = f"log/{PARTITION}/n{self._made}"
        self._sent = self._extent(guess, self._rng.randint(1, 4))._replace(key=key)
        self._claims = [self._claim(1), self._claim(2)][: self._rng.choice((0, 0, 1, 2))]
        if len(self._claims) == 1 and self._rng.random() < 0.5:
            self._sent = self._sent._replace(offsets=1)
            end = self._rng.choice((End.ABORT, End.ABORT, End.COMMIT))
            self._claims = [self._claims[0]._replace(opens=-1, ends=end)]
        return self._sent, key, 7, self._claims

    def _claim(self, producer_id: int) -> Claim:
        state, opens = self._rng.choice((b"one", b"two")), self._rng.choice((-1, -1, 0, 1))
        after = self._version(producer_id)
        return Claim(producer_id, state, after, 99, opens)

    def _version(self, producer_id: int) -> int:
        """Often the right one."""
        known = self._versions.get(producer_id, 0)
        return self._rng.choice((known, known, known + 1))

    def call_sweeps(self) -> tuple[object, ...]:
        return ()

    def call_index(self) -> tuple[object, ...]:
        return (self._rng.choice(self._committed or [self._extent(10_000, 1)]),)

    def _extent(self, base: int, count: int) -> Extent:
        stamp = self._rng.randint(-1, 9)
        return Extent(base, count, 61, stamp, stamp, f"log/{PARTITION}/{base}", (), count)

    def _offset(self) -> int:
        return self._rng.randint(0, self._end + 1)

    def call_head(self) -> tuple[object, ...]:
        return ()

    def call_aborted(self) -> tuple[object, ...]:
        start = self._offset()
        return start, start + self._rng.randint(1, 9)

    def call_forget_aborted(self) -> tuple[object, ...]:
        return ([self._offset() for _ in range(self._rng.randint(0, 3))],)

    def call_extents(self) -> tuple[object, ...]:
        return self._offset(), self._rng.randint(1, 5)

    def call_extent_at_time(self) -> tuple[object, ...]:
        return (self._rng.randint(0, 10),)

    def call_newest_extent(self) -> tuple[object, ...]:
        return ()

    def call_producer(self) -> tuple[object, ...]:
        return (self._rng.randint(1, 2),)

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
        known = sorted({*self._committed, *self._merged})
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
        return (PendingDeletion(key, 0, 0, (key,), 1, announced=True),)

    def call_pending_deletions(self) -> tuple[object, ...]:
        return (self._rng.randint(1, 9),)

    def call_condemn(self) -> tuple[object, ...]:
        return self._key(), self._rng.randint(1, 9)

    def call_forget_deletion(self) -> tuple[object, ...]:
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


@pytest.mark.parametrize("seed", range(20))
async def test_both_ledgers_give_the_same_answers(seed):
    real = SqliteLedger(":memory:")
    await real.create_topic(Topic("t", PARTITION.topic_id, 1, 0))
    twin = SimLedger(Anything(), far=False)
    twin.make(PARTITION)
    caller = Caller(Random(seed))
    for step in range(STEPS):
        name, args = caller.next()
        expected = await getattr(real, name)(*args)
        assert answer(getattr(twin, name), args) == expected, f"step {step}: {name}{args}"
        caller.learn(expected)
    await real.close()
