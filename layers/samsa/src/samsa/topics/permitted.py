"""What a client may do, as handlers ask it.

Where there are no ACLs, each question costs one look at an attribute. A refusal has Kafka's code
and words. Names of what a client may not describe stay hidden: a topic that is refused by its name
is refused in the same way whether or not it exists.

Two kinds of questions: `may_…` is asked about what a request names, and may be logged as a
decision. `is_visible` and `may_quietly` are never logged: a client did not ask for each entry of a
list, and not for the other ways to be allowed the same.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from samsa.broker.operations import ALL_ON_TOPICS, ON_GROUPS, ON_THE_CLUSTER, ON_TOPICS
from samsa.security.kinds import CLUSTER_NAME, Operation, ResourceType
from samsa.wire.errors import ErrorCode

from .configs import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from samsa.broker.work import Work
    from samsa.ports import Topic
    from samsa.security.access import Access

_REFUSALS = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
_WORDS = {
    ResourceType.TOPIC: "Topic authorization failed.",
    ResourceType.GROUP: "Group authorization failed.",
    ResourceType.CLUSTER: "Cluster authorization failed.",
    ResourceType.TRANSACTIONAL_ID: "Transactional Id authorization failed.",
}
CLUSTER_REFUSED = _WORDS[ResourceType.CLUSTER]


def may_topic(access: Access, operation: Operation, name: str) -> bool:
    return not access.is_limited or access.may(operation, ResourceType.TOPIC, name)


def may_group(access: Access, operation: Operation, group_id: str) -> bool:
    return not access.is_limited or access.may(operation, ResourceType.GROUP, group_id)


def may_transactional_id(access: Access, operation: Operation, name: str) -> bool:
    return not access.is_limited or access.may(operation, ResourceType.TRANSACTIONAL_ID, name)


def may_cluster(access: Access, operation: Operation) -> bool:
    return not access.is_limited or access.may(operation, ResourceType.CLUSTER, CLUSTER_NAME)


def is_visible(access: Access, operation: Operation, resource: ResourceType, name: str) -> bool:
    """Whether it belongs into a list that the client asked for."""
    return not access.is_limited or access.may_see(operation, resource, name)


def sees_topics(access: Access) -> Callable[[str], bool] | None:
    """Whether a topic may be matched by a pattern of the client's. None: every topic."""
    if not access.is_limited:
        return None
    return partial(is_visible, access, Operation.DESCRIBE, ResourceType.TOPIC)


async def visible(topics: list[Topic], access: Access, work: Work) -> list[Topic]:
    """Those of all topics that the client may describe."""
    if not access.is_limited:
        return topics
    return [
        topic
        async for topic in work.pace(topics)
        if is_visible(access, Operation.DESCRIBE, ResourceType.TOPIC, topic.name)
    ]


def may_quietly(access: Access, operation: Operation) -> bool:
    """As `may_cluster`, where not being allowed only means that something else is asked next."""
    return is_visible(access, operation, ResourceType.CLUSTER, CLUSTER_NAME)


def on_topic(access: Access, name: str) -> int:
    """The operations that are allowed, as a bit field."""
    if not access.is_limited:
        return ALL_ON_TOPICS
    return access.operations(ON_TOPICS, ResourceType.TOPIC, name)


def on_group(access: Access, group_id: str) -> int:
    return access.operations(ON_GROUPS, ResourceType.GROUP, group_id)


def on_cluster(access: Access) -> int:
    """Nothing, to a client that may not describe the cluster."""
    if not may_cluster(access, Operation.DESCRIBE):
        return 0
    return access.operations(ON_THE_CLUSTER, ResourceType.CLUSTER, CLUSTER_NAME)


def refusal(resource: ResourceType) -> Refused:
    return Refused(_REFUSALS[resource], _WORDS[resource])


def raise_unless_may(
    access: Access, operation: Operation, resource: ResourceType, name: str
) -> None:
    """Raises Refused."""
    if access.is_limited and not access.may(operation, resource, name):
        raise refusal(resource)


class Need(NamedTuple):
    """What a request needs on each of its topics."""

    access: Access
    operation: Operation

    def raise_unless_met(self, name: str) -> None:
        raise_unless_may(self.access, self.operation, ResourceType.TOPIC, name)

    def met(self, topic: Topic) -> Topic | Refused:
        if may_topic(self.access, self.operation, topic.name):
            return topic
        return refusal(ResourceType.TOPIC)


def need(access: Access, operation: Operation) -> Need | None:
    """None where there are no ACLs."""
    return Need(access, operation) if access.is_limited else None
