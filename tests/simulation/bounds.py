"""What the code of a schedule is changed in: its bounds, so that they are reached; its rules."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from samsa.aws import journal as aws_journal
from samsa.aws import known_heads, tidying
from samsa.aws.commit import Commit
from samsa.local import packs
from samsa.ports import Extent, Unavailable
from samsa.ports.heads import HeadState

if TYPE_CHECKING:
    from .world import World


@contextmanager
def patched(world: "World") -> Iterator[None]:
    bounds, rules = world.setting.bounds, world.rules
    with ExitStack() as changes:

        def change(module: Any, **names: Any) -> None:
            changes.enter_context(patch.multiple(module, **names))

        for place, new in rules.patches.items():
            changes.enter_context(patch(place, new))
        change(
            aws_journal,
            INLINE_BYTES=bounds.inline_bytes,
            FRUGAL_INLINE_BYTES=bounds.inline_bytes // 2,
            Commit=watched(aws_journal.Commit, world.paths),
        )
        change(
            tidying,
            LONG_TAIL_ENTRIES=2 * bounds.few_entries,
            SETTLE_OTHERS_MS=world.setting.long_ms,
            FEW_PRODUCERS=bounds.few_producers,
            MOST_PRODUCERS=bounds.most_producers,
            IDLE_PRODUCER_MS=bounds.idle_producer_ms,
        )
        change(known_heads, OTHERS_ENTRIES=bounds.few_entries)
        change(packs, PACK_BYTES=bounds.pack_bytes)
        yield


def watched(commit: type[Commit], paths: "Counter[str]") -> type[Commit]:
    """The same, but it is counted what became of those whose answer was lost."""

    class Watched(commit):  # type: ignore[misc, valid-type]
        def _among(self, entries: Any) -> Extent | None:
            found: Extent | None = super()._among(entries)
            if self._unsure and found is not None:
                paths["no answer: found in the head or in the index"] += 1
            return found

        async def _in_index(self, state: HeadState) -> Extent | None:
            try:
                found: Extent | None = await super()._in_index(state)
            except Unavailable:
                paths["no answer: nobody can tell any more"] += self._is_forgotten
                raise
            paths["no answer: " + ("found in the index" if found else "sent again")] += 1
            return found

        async def _stored(self, state: HeadState) -> Extent:
            before = self._entry
            entry: Extent = await super()._stored(state)
            paths["a sweep came between put and commit"] += before not in (None, entry)
            return entry

    return Watched
