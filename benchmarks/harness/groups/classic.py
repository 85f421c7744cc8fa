"""A member of a classic group, eager: it joins, the leader assigns, it beats until it rejoins."""

import asyncio
from collections.abc import Sequence
from typing import Any

from harness.process import ToolFailed
from samsa.groups.embedded import LATEST, read_assignment, write_assignment
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import heartbeat, join_group, leave_group, offset_commit, sync_group

from .member import NOT_YET, REBALANCE_MS, RETRY_S, SESSION_MS, Member, dealt, expect

JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT = 9, 5, 4, 5, 9
CONSUMER, ASSIGNOR = "consumer", "range"
REJOIN = {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION}


class ClassicMember(Member):
    async def live(self) -> None:
        while True:
            joined = await self._join()
            if await self._sync(joined):
                await self._beat()

    async def _join(self) -> Any:
        """The answer, after as many questions as it takes: the first one only brings an id."""
        while True:
            answer = await self.connection.ask(ApiKey.JOIN_GROUP, JOIN, self._join_row())
            code = ErrorCode(answer.error_code)
            if code == ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = answer.member_id
            elif code == ErrorCode.UNKNOWN_MEMBER_ID:
                self.member_id = ""
            elif code in NOT_YET:
                await asyncio.sleep(RETRY_S)
            else:
                expect(code, "JoinGroup")
                self.member_id, self.epoch = answer.member_id, answer.generation_id
                return answer

    def _join_row(self) -> Any:
        return join_group.REQUEST(
            group_id=self.group_id,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            protocol_type=CONSUMER,
            protocols=[join_group.PROTOCOL(name=ASSIGNOR, metadata=_subscription(self.topic))],
        )

    async def _sync(self, joined: Any) -> bool:
        leads = joined.leader == self.member_id
        row = sync_group.REQUEST(
            group_id=self.group_id,
            generation_id=self.epoch,
            member_id=self.member_id,
            protocol_type=CONSUMER,
            protocol_name=joined.protocol_name,
            assignments=self._assign(joined.members) if leads else [],
        )
        answer = await self.connection.ask(ApiKey.SYNC_GROUP, SYNC, row)
        if self._must_rejoin(answer.error_code, "SyncGroup"):
            return False
        assigned = read_assignment(bytes(answer.assignment))
        self.hold(frozenset(partition for _, partition in assigned))
        return True

    def _assign(self, members: list[Any]) -> list[Any]:
        hands = dealt(self.partitions, len(members))
        return [
            sync_group.ASSIGNMENT(
                member_id=member.member_id,
                assignment=write_assignment(LATEST, [(self.topic, number) for number in hand]),
            )
            for member, hand in zip(members, hands, strict=True)
        ]

    async def _beat(self) -> None:
        """Until the group rebalances."""
        row = heartbeat.REQUEST(
            group_id=self.group_id, generation_id=self.epoch, member_id=self.member_id
        )
        await asyncio.sleep(self.beat_s * self.phase)
        while True:
            answer = await self.connection.ask(ApiKey.HEARTBEAT, HEARTBEAT, row)
            self.beats += 1
            if self._must_rejoin(answer.error_code, "Heartbeat"):
                return
            await asyncio.sleep(self.beat_s)

    def _must_rejoin(self, code: int, what: str) -> bool:
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        elif code not in REJOIN:
            expect(code, what)
            return False
        self.hold(None)
        return True

    @staticmethod
    async def leave_together(members: Sequence[Member]) -> None:
        """In one request, so that the others, if any, rebalance once."""
        speaker = members[0]
        leaving = [leave_group.MEMBER(member_id=member.member_id) for member in members]
        row = leave_group.REQUEST(group_id=speaker.group_id, members=leaving)
        answer = await speaker.connection.ask(ApiKey.LEAVE_GROUP, LEAVE, row)
        for code in (answer.error_code, *(each.error_code for each in answer.members)):
            expect(code, "LeaveGroup")

    async def commit(self, offset: int) -> float:
        """Of one partition; the seconds that it took."""
        partition = offset_commit.PARTITION(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        row = offset_commit.REQUEST(
            group_id=self.group_id,
            generation_id_or_member_epoch=self.epoch,
            member_id=self.member_id,
            topics=[offset_commit.TOPIC(name=self.topic, partitions=[partition])],
        )
        answer, seconds = await self.connection.send(ApiKey.OFFSET_COMMIT, COMMIT, row)
        if not answer.topics:
            raise ToolFailed("OffsetCommit: an empty answer")
        expect(answer.topics[0].partitions[0].error_code, "OffsetCommit")
        return seconds


def _subscription(topic: str) -> bytes:
    """Version 0 of what a consumer says when it joins: names, and no data of its own."""
    name = topic.encode()
    return b"\0\0\0\0\0\1" + len(name).to_bytes(2, "big") + name + b"\xff\xff\xff\xff"
