"""Append: judge the batches, lay them out, commit, and only then answer.

The journal stores the bytes and shows them in one commit, or does nothing (`ports/journal.py`).
This module decides which batches may be appended. It starts again if another process has committed
for one of the same producers meanwhile.
"""

from collections.abc import Sequence

from samsa.ports import Appended, Partition

from .admit import Outcome, Producers, Refusal, Screening, refused
from .layout import Batch, lay_out, move
from .stores import Stores


class Appender:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._producers = Producers(stores)

    @property
    def is_remote(self) -> bool:
        """Whether each append talks to stores that are not on this machine."""
        return self._stores.journal.remote

    async def append(self, partition: Partition, batches: Sequence[Batch]) -> list[Outcome]:
        """An outcome for each batch, in order. Raises Unavailable: each may be stored or not."""
        outcomes: dict[int, Outcome] = {}
        waiting = [(number, batch.header) for number, batch in enumerate(batches)]
        try:
            for _ in range(self._stores.limits.attempts):
                screening = await self._producers.screen(partition, waiting)
                outcomes.update(screening.settled)
                admitted = screening.admitted
                if not admitted or await self._commit(partition, batches, screening, outcomes):
                    break
                waiting = [(number, batches[number].header) for number in admitted]
            else:
                outcomes.update((number, refused(Refusal.TRY_AGAIN)) for number, _ in waiting)
                self._producers.failed(partition, [header for _, header in waiting])
        except BaseException:
            self._producers.failed(partition, [batch.header for batch in batches])
            raise
        return [outcomes[number] for number in range(len(batches))]

    async def _commit(
        self,
        partition: Partition,
        batches: Sequence[Batch],
        screening: Screening,
        outcomes: dict[int, Outcome],
    ) -> bool:
        """False: another process served one of the producers meanwhile. Nothing is stored."""
        journal, producers = self._stores.journal, self._producers
        guess = await journal.next_offset(partition)
        layout = lay_out(guess, batches, screening.admitted, self._stores.clock.now_ms())
        claims, known = producers.claims(screening.planned, layout.deltas)
        head, base, lost = await journal.commit(partition, layout.extent, layout.parts, claims)
        if base is None:
            producers.lost(partition, lost)
            return False
        producers.stored(partition, known, base)
        appended = None
        if head.watchers:
            move(layout, base)
            appended = Appended(base, head.next_offset, head.log_start, layout.parts)
        self._stores.wakeups.wake(partition, head.watchers, appended)
        for number, delta in layout.deltas.items():
            outcomes[number] = Outcome(base + delta, head.log_start)
        return True
