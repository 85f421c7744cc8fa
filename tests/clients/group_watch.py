"""A group seen from outside, by hand: who is in it, and how far it has come."""

from typing import Any

from server.members import committed
from server.peer import Peer
from support.broker import Broker

from samsa.groups.embedded import read_assignment
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import consumer_group_describe, describe_groups

Held = dict[str, set[int]]
"""By member id: the partitions of the one topic that the group reads."""


class Watch:
    def __init__(self, broker: Broker, group: str) -> None:
        self.group = group
        self._broker = broker
        self._peer = Peer(broker.address)

    def _ask(self, key: ApiKey, version: int, row: Any) -> Any:
        """Whoever was cut off raises, and has a new connection when it looks again."""
        try:
            return self._peer.ask(key, version, row)
        except (OSError, EOFError):
            self._peer.close()
            self._peer = Peer(self._broker.address)
            raise

    def state(self) -> tuple[str, Held]:
        row = consumer_group_describe.REQUEST(group_ids=[self.group])
        (seen,) = self._ask(ApiKey.CONSUMER_GROUP_DESCRIBE, 1, row).groups
        if seen.error_code == ErrorCode.NONE:
            return seen.group_state, {
                member.member_id: {
                    number
                    for topic in member.assignment.topic_partitions
                    for number in topic.partitions
                }
                for member in seen.members
            }
        row = describe_groups.REQUEST(groups=[self.group])
        (seen,) = self._ask(ApiKey.DESCRIBE_GROUPS, 5, row).groups
        return seen.group_state, {
            member.member_id: {
                number for _, number in read_assignment(bytes(member.member_assignment))
            }
            for member in seen.members
            if member.member_assignment
        }

    def shared_by(self, members: int, partitions: int) -> bool:
        """Whether so many members share all partitions, each of which has one reader."""
        state, held = self.state()
        numbers = sorted(number for each in held.values() for number in each)
        return (
            state == "Stable"
            and len(held) == members
            and all(held.values())
            and numbers == list(range(partitions))
        )

    def offsets(self) -> dict[tuple[str, int], int]:
        return committed(self._peer, self.group)

    def close(self) -> None:
        self._peer.close()
