"""Append at once, where the stores have a journal: all steps of the protocol as one.

The next offset is known to whoever appended last. Another process may have been faster, or may
serve the same producer: then nothing was stored, and the append starts again with what is known
now. Against a busy neighbour that could go on for long, so after a few tries the append takes a
slot, for which nobody has to be first.
"""

from collections import OrderedDict
from collections.abc import Sequence

from samsa.ports import Journal, Partition

from .admit import Outcome, Producers, Screening
from .fence import Fencer
from .layout import Batch, lay_out, places
from .stores import Stores

ANY_KEY = ""
"""The journal chooses."""
TRIES = 3
REMEMBERED = 100_000


class AtOnce:
    def __init__(
        self, stores: Stores, journal: Journal, fencer: Fencer, producers: Producers
    ) -> None:
        self._stores = stores
        self._journal = journal
        self._fencer = fencer
        self._producers = producers
        self._next: OrderedDict[Partition, int] = OrderedDict()

    async def append(
        self,
        partition: Partition,
        batches: Sequence[Batch],
        screening: Screening,
        outcomes: dict[int, Outcome],
    ) -> list[int]:
        """The batches that must start again: all or none."""
        admitted = screening.admitted
        base = self._next.pop(partition, None)
        if base is None:
            base = (await self._stores.insist(self._stores.ledger.head, partition)).next_offset
        bases = places(base, batches, admitted)
        claims, known = self._producers.claims(screening.planned, bases, base)
        layout = lay_out(ANY_KEY, base, batches, bases, set(), self._stores.clock.now_ms())
        head, stored, lost = await self._journal.append(
            partition, layout.extent, layout.parts, claims
        )
        self._remember(partition, head.next_offset)
        if not stored:
            self._producers.forget(partition, lost)
            return admitted
        self._stores.wakeups.wake(partition, head.watchers)
        if head.inflight:
            self._fencer.look(partition, head)
        self._producers.stored(partition, known)
        for number in admitted:
            outcomes[number] = Outcome(bases[number], head.log_start)
        return []

    def _remember(self, partition: Partition, next_offset: int) -> None:
        self._next[partition] = next_offset
        if len(self._next) > REMEMBERED:
            self._next.popitem(last=False)
