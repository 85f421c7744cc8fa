"""A store of heads whose updates fail on purpose, and that remembers what was asked of it."""

from typing import Any

from samsa.ports import NotDone, Partition, Unavailable
from samsa.ports.heads import HeadState, HeadUpdate

LOST, DROPPED, LIMBO, THROTTLED = "the answer is lost", "never arrives", "arrives late", "throttled"


class FlakyHeads:
    """Over another store. `faults` meet the updates in order, one each; later ones pass."""

    def __init__(self, heads: Any) -> None:
        self._heads = heads
        self.faults: list[str] = []
        self.updates: list[HeadUpdate] = []
        self.limbo: list[tuple[Partition, HeadUpdate]] = []
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return getattr(self._heads, name)

    async def update_head(self, partition: Partition, update: HeadUpdate) -> tuple[HeadState, bool]:
        self.updates.append(update)
        self.asked.append("update_head")
        fault = self.faults.pop(0) if self.faults else None
        if fault == THROTTLED:
            raise NotDone(fault)
        if fault == LIMBO:
            self.limbo.append((partition, update))
        if fault in (None, LOST):
            answer: tuple[HeadState, bool] = await self._heads.update_head(partition, update)
            if fault is None:
                return answer
        raise Unavailable(fault)

    async def arrive(self) -> list[bool]:
        """What was in limbo arrives now; whether it was done."""
        late, self.limbo = self.limbo, []
        return [(await self._heads.update_head(*one))[1] for one in late]
