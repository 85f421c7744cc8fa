"""Committing a turn: fix what it consists of, publish it, say that it is done, clean up.

The plan is written once, before anything is published, so all that commit the same turn publish the
same. It stays until the next turn is done, and so does the mark that this one is done. A process
that puts a plan, and finds afterwards that its turn is done, was late: it publishes nothing.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress

from pyspark_samsa.access import opened_to_write
from pyspark_samsa.errors import BadRows, SamsaError, UnknownTopic
from pyspark_samsa.positions import TopicPartition
from samsa.log.core import Log
from samsa.log.stores import Limits, Stores
from samsa.ports import Buffer, Missing, Partition, Topic, Unavailable

from .options import APP, SinkOptions
from .plan import Producer, Producers, read_done, read_plan, write_done, write_plan
from .publish import Publisher
from .staged import StagedPiece
from .topics import target_of, unknown
from .turns import BY_COLUMN, DATA, DONE, PLAN, LeftObject, Turn, left_by

TOGETHER = 8
"""Partitions that are written to at the same time."""
DELETED_AT_ONCE = 1_000
YEAR_MS = 365 * 24 * 3_600_000
REMEMBERED = Limits(producer_expiry_ms=YEAR_MS)
"""How long a query may pause in the middle of a turn."""


async def commit(options: SinkOptions, turn: Turn, pieces: Sequence[StagedPiece]) -> None:
    """Raises SamsaError: then it may be partly published, and should be committed again."""
    limits = REMEMBERED if turn.can_come_again else Limits()
    async with opened_to_write(options.ledger, options.objects, limits) as (stores, log):
        committing = Committing(stores, log, turn)
        if turn.can_come_again:
            await committing.commit_once(pieces)
        else:
            await committing.publish(pieces, {})
            await committing.delete_all()


async def abort(options: SinkOptions, turn: Turn, pieces: Sequence[StagedPiece]) -> None:
    """Delete what was staged, unless a plan says that it belongs to the turn."""
    async with opened_to_write(options.ledger, options.objects, Limits()) as (stores, log):
        committing = Committing(stores, log, turn)
        if not turn.can_come_again:
            await committing.delete_all()
        elif not await committing.has_plan():
            await committing.delete([piece.key for piece in pieces])


class Committing:
    def __init__(self, stores: Stores, log: Log, turn: Turn) -> None:
        self._stores = stores
        self._log = log
        self._turn = turn

    async def commit_once(self, staged: Sequence[StagedPiece]) -> None:
        pieces = staged
        if pieces and not await self._put(self._turn.key(PLAN), write_plan(pieces)):
            pieces = ()
        left = await self._left()
        was_done = _is_done(left, self._turn)
        if not was_done:
            if not _has_plan(left, self._turn):
                return  # an empty turn
            await self._finish(pieces, left)
        await self.delete(one.key for one in left if _is_litter(one, self._turn))
        if self._turn.target == BY_COLUMN and (was_done or not pieces):
            await self._check_topics(staged)

    async def _check_topics(self, staged: Sequence[StagedPiece]) -> None:
        """Rows that this writer has not written, and never will, must not vanish without a word."""
        topics = await self._topics({piece.where for piece in staged})
        producers = await self._producers(await self._left())
        known = {name.partition("/")[0] for name in producers}
        for name, topic in sorted(topics.items()):
            if str(topic.id) not in known:
                raise BadRows(
                    f"version {self._turn.number} of {self._turn.writer!r} was written before, and"
                    f" not to this topic {name!r}: nothing was written to it. Another {APP}, or"
                    f" the option 'topic', makes it a write of its own"
                )

    async def _finish(self, pieces: Sequence[StagedPiece], left: list[LeftObject]) -> None:
        try:
            pieces = pieces or read_plan(await self._get(self._turn.key(PLAN)))
            producers = await self._producers(left)
            producers |= await self.publish(pieces, producers)
        except Missing as missing:
            if _is_done(await self._left(), self._turn):
                return  # another process was faster, and has cleaned up
            raise SamsaError(
                f"{missing} was staged for turn {self._turn.number} of {self._turn.writer!r},"
                " and is gone: what it held is lost"
            ) from None
        await self._put(self._turn.key(DONE), write_done(producers))

    async def delete_all(self) -> None:
        """Delete all objects of a turn that no other process knows, also those of failed tasks."""
        await self.delete([one.key for one in await self._left()])

    async def has_plan(self) -> bool:
        return _has_plan(await self._left(), self._turn)

    async def publish(self, pieces: Iterable[StagedPiece], producers: Producers) -> Producers:
        """The producers as they are afterwards."""
        shares: dict[TopicPartition, list[StagedPiece]] = {}
        for piece in pieces:
            shares.setdefault(piece.where, []).append(piece)
        topics = await self._topics(shares)
        limit = asyncio.Semaphore(TOGETHER)

        async def publish(where: TopicPartition) -> tuple[str, Producer]:
            name = str(Partition(topics[where.topic].id, where.number))
            publisher = Publisher(
                self._stores, self._log, self._turn, topics[where.topic], shares[where]
            )
            async with limit:
                return name, await publisher.publish(producers.get(name))

        # If one of them fails, the others still finish: less is left for the next try.
        outcomes = await asyncio.gather(*map(publish, shares), return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return dict(outcome for outcome in outcomes if not isinstance(outcome, BaseException))

    async def _topics(self, places: Iterable[TopicPartition]) -> dict[str, Topic]:
        """Topics by name: a topic that was deleted and created again is accepted, unless the turn
        is for the one before."""
        every = {topic.name: topic for topic in await self._stores.ledger.topics()}
        found: dict[str, Topic] = {}
        for where in places:
            if where.topic not in every:
                raise unknown(where.topic, list(every))
            found[where.topic] = every[where.topic]
            if self._turn.target not in ("", BY_COLUMN, found[where.topic].id.hex):
                raise UnknownTopic(f"{where}: the topic was deleted meanwhile, and made again")
            if where.number >= target_of(every[where.topic]).partitions:
                raise BadRows(f"there is no {where}: its topic was made again, with fewer")
        return found

    async def _producers(self, left: list[LeftObject]) -> Producers:
        """The producers as the previous turn left them."""
        done = [one for one in left if one.kind == DONE]
        if not done:
            return {}
        return read_done(await self._get(done[-1].key))

    async def _left(self) -> list[LeftObject]:
        """Objects of all turns of this writer, in order."""
        return await self._stores.retry(self._look)

    async def _look(self) -> list[LeftObject]:
        found = self._stores.objects.list(self._turn.folder)
        return [left_by(self._turn, key) async for key in found]

    async def _get(self, key: str) -> Buffer:
        return await self._stores.retry(self._stores.objects.get, key)

    async def _put(self, key: str, data: bytes) -> bool:
        return await self._stores.retry(self._stores.objects.put_if_absent, key, [data])

    async def delete(self, keys: Iterable[str]) -> None:
        """Delete objects. What cannot be deleted now is left to the next turn, or to the
        janitor."""
        every = list(dict.fromkeys(keys))
        for start in range(0, len(every), DELETED_AT_ONCE):
            with suppress(Unavailable):
                await self._stores.objects.delete(every[start : start + DELETED_AT_ONCE])


def _has_plan(left: list[LeftObject], turn: Turn) -> bool:
    return any(one.kind == PLAN and one.number == turn.number for one in left)


def _is_done(left: list[LeftObject], turn: Turn) -> bool:
    """Turns are committed one after the other: what came before one that is done, is done."""
    return any(one.kind == DONE and one.number >= turn.number for one in left)


def _is_litter(one: LeftObject, turn: Turn) -> bool:
    """Whether an object belongs to a turn that is done."""
    return one.number < turn.number or (one.number == turn.number and one.kind == DATA)
