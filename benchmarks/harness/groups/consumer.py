"""A member of the consumer protocol (KIP-848): heartbeats are all that it says.

It owns what it is told to own at once, and says so in a heartbeat that does not wait for its turn.
"""

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any

from harness.process import ToolFailed
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import consumer_group_heartbeat as beat

from .member import NOT_YET, REBALANCE_MS, RETRY_S, Member, expect

VERSION = 1
JOINING, LEAVING = 0, -1
FENCED = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID}


class ConsumerMember(Member):
    async def live(self) -> None:
        while True:
            await self._join()
            await asyncio.sleep(self.beat_s * self.phase)
            await self._beat()

    async def _join(self) -> None:
        self.member_id = str(uuid.uuid4())
        row = beat.REQUEST(
            group_id=self.group_id,
            member_id=self.member_id,
            member_epoch=JOINING,
            rebalance_timeout_ms=REBALANCE_MS,
            subscribed_topic_names=[self.topic],
            topic_partitions=[],
        )
        while True:
            answer = await self.connection.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, VERSION, row)
            if answer.error_code not in NOT_YET:
                break
            await asyncio.sleep(RETRY_S)
        await self._follow(answer)

    async def _beat(self) -> None:
        """Until it is fenced."""
        while True:
            answer = await self._say()
            self.beats += 1
            if answer.error_code in FENCED:
                self.hold(None)
                return
            await self._follow(answer)
            await asyncio.sleep(self.beat_s)

    async def _say(self, owned: list[Any] | None = None) -> Any:
        row = beat.REQUEST(
            group_id=self.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            topic_partitions=owned,
        )
        return await self.connection.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, VERSION, row)

    async def _follow(self, answer: Any) -> None:
        """Do as told until there is nothing new."""
        while True:
            expect(answer.error_code, "ConsumerGroupHeartbeat")
            self.epoch = answer.member_epoch
            if answer.assignment is None:
                return self.hold(self.holds or frozenset())
            told = answer.assignment.topic_partitions
            if len(told) > 1:
                raise ToolFailed("assigned a topic that was not asked for")
            self.hold(frozenset(number for topic in told for number in topic.partitions))
            answer = await self._say(told)

    @staticmethod
    async def leave_together(members: Sequence[Member]) -> None:
        rows = [
            beat.REQUEST(group_id=member.group_id, member_id=member.member_id, member_epoch=LEAVING)
            for member in members
        ]
        sent = [
            member.connection.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, VERSION, row)
            for member, row in zip(members, rows, strict=True)
        ]
        for answer in await asyncio.gather(*sent):
            expect(answer.error_code, "leaving")
