"""Compaction joins: who does it, with whom, and rules of it to take out, one at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace as changed
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from samsa.log.compact import Compacted
from samsa.log.compact_aborted import AbortedIn
from samsa.log.compact_batch import BatchBytes, Sieve
from samsa.log.compact_keys import BYTES_PER_KEY
from samsa.log.compact_plan import Compaction
from samsa.log.compact_progress import CLEANED
from samsa.log.core import Log
from samsa.ports import Extent, Missing, Partition
from samsa.records import BatchHeader

from .actors import Cast, actors
from .client import LATER, Client
from .keyed import KeyedTruth, keyed_batch
from .rules import Break, Rules, always, replace, untouched
from .setting import Setting

if TYPE_CHECKING:
    from .world import World

COMPACTORS = 2


class Compactor(Client):
    """Eager: rounds over a few keys, tombstones that do not stay for long, and often no time."""

    async def run(self) -> None:
        rest = self.world.rng.choice((0.1, 0.4))
        while not self.world.finished:
            await self.think(rest)
            rng, process = self.world.rng, await self.world.pick()
            rules = Compaction(0.0, rng.choice((0, 0, 300)), active_ms=rng.choice((0, 0, 300)))
            partition, looks = rng.choice(self.world.partitions), rng.choice((2, 3, 5, 99))
            work = process.log.compactor.compact(partition, rules, up_after(looks))
            try:
                done = await self.answer(process, self.world.spawn(work, Missing))
            except (*LATER, Missing):
                continue
            self._count(done)

    def _count(self, done: Compacted | None) -> None:
        if done is not None:
            path = "a round of compaction ended" if done.finished else "a round was given up"
            self.world.paths[path] += 1
            self.world.paths["a round made the log smaller"] += done.after < done.before


def up_after(looks: int) -> Callable[[], bool]:
    left = iter([False] * looks)
    return lambda: next(left, True)


def with_compactors(world: "World") -> Cast:
    cast = actors(world)
    cast.others.extend(Compactor(world, f"compactor {n}").run() for n in range(COMPACTORS))
    return cast


@contextmanager
def small_groups() -> Iterator[None]:
    """So that a round has several, with a crash between any two."""
    with patch.multiple("samsa.log.compact_plan", GROUP_EXTENTS=3, GROUP_BYTES=600):
        yield


def few_keys(setting: Setting) -> Setting:
    keys = 2 if setting.processes > 1 else 100
    return changed(setting, limits=changed(setting.limits, key_map_bytes=keys * BYTES_PER_KEY))


def contested(setting: Setting) -> Setting:
    """Nothing ages, and whoever compacts is often second to somebody who merges."""
    limits = changed(few_keys(setting).limits, merge_after_ms=0, segment_bytes=400)
    return changed(setting, mergers=3, janitors=0, deleters=0, processes=3, limits=limits)


def aborting(setting: Setting) -> Setting:
    """Nothing ages, and most is written in transactions."""
    return changed(contested(setting), mergers=0, transactional=3, idempotent=0, grouped=0)


def with_grace(setting: Setting) -> Setting:
    limits = changed(aborting(setting).limits, sweep_grace_ms=5_000)
    return changed(aborting(setting), limits=limits)


def compacting(
    break_log: Break = untouched,
    tune: Callable[[Setting], Setting] = few_keys,
    patches: Mapping[str, Any] = MappingProxyType({}),
) -> Rules:
    return Rules(
        break_log,
        patches=patches,
        tune=tune,
        truth=KeyedTruth,
        cast=with_compactors,
        batch_of=keyed_batch,
    )


def go_on_after_a_lost_swap(log: Log) -> None:
    async def anyway(original: Any, partition: Partition, group: Sequence[Extent], new: Any) -> Any:
        return await original(partition, group, new) or group[-1]

    replace(log.compactor, "_replace", anyway)


def call_a_round_finished_that_is_not(log: Log) -> None:
    async def finished(original: Any, *args: Any) -> Compacted:
        done: Compacted = await original(*args)
        return done._replace(finished=True)

    replace(log.compactor, "_clean", finished)


def clean_only_what_is_new(log: Log) -> None:
    async def from_there(
        original: Any, partition: Partition, groups: Any, sieve: Sieve, *rest: Any
    ) -> Compacted:
        cleaned = await log._stores.ledger.cursor(partition, CLEANED)
        head = await log._stores.ledger.head(partition)
        new = log.compactor._parts.of(partition, head, max(head.log_start, cleaned), sieve.end)
        done: Compacted = await original(partition, new, sieve, *rest)
        return done

    replace(log.compactor, "_clean", from_there)


def go_on_where_a_round_to_another_end_left_off(log: Log) -> None:
    log.compactor.progress.name = lambda _: "left"  # type: ignore[method-assign]
    always(log.compactor.progress, "give_up", None)  # it may come too late


def none_aborted(*_: Any) -> AbortedIn:
    """In place of `AbortedIn`: everything was committed."""
    return AbortedIn((), 0)


def forget_at_once(log: Log) -> None:
    always(log.compactor._gone, "below", FAR_END)


def marker_alone(header: BatchHeader, part: BatchBytes, sieve: Sieve) -> BatchBytes | None:
    """In place of `_marker`: no marker is needed."""
    return None


FAR_END = 1 << 60
BROKEN_COMPACTION = {
    "take aborted records for committed ones": (
        compacting(tune=aborting, patches={"samsa.log.compact_parts.AbortedIn": none_aborted}),
        0,
    ),
    "forget at once what was aborted": (compacting(forget_at_once, with_grace), 20),
    "remove the markers of listed transactions": (
        compacting(tune=aborting, patches={"samsa.log.compact_batch._marker": marker_alone}),
        0,
    ),
    "go on after a lost swap": (compacting(go_on_after_a_lost_swap, contested), 230),
    "call a round finished that is not": (
        compacting(call_a_round_finished_that_is_not, contested),
        110,
    ),
    "clean only what is new": (compacting(clean_only_what_is_new), 0),
    "go on where a round to another end left off": (
        compacting(go_on_where_a_round_to_another_end_left_off, contested),
        220,
    ),
}
"""Each with the seed at which the search begins: it takes a while from the first."""
