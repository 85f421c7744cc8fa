"""Which node of a cluster answers what, and how the answers of several become one.

What is about partitions goes to their leaders, what is about groups and transactional ids to their
coordinators. Lists are the sum of what each node knows. All else, any node answers.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from samsa.wire.apis import ApiKey

Ask: TypeAlias = Callable[[str, ApiKey, Any], Awaitable[Any]]
"""One request to one node, by its address."""


class Coordinated(IntEnum):
    """As FindCoordinator numbers them."""

    GROUP = 0
    TRANSACTION = 1


class ByLeader(NamedTuple):
    """The names of fields: topics of the request, its partitions and their numbers; topics of the
    response and its partitions."""

    topics: str
    topic: str
    partitions: str
    number: str
    answers: str
    answered: str


BY_LEADER: Mapping[ApiKey, ByLeader] = {
    ApiKey.PRODUCE: ByLeader(
        "topic_data", "name", "partition_data", "index", "responses", "partition_responses"
    ),
    ApiKey.FETCH: ByLeader("topics", "topic", "partitions", "partition", "responses", "partitions"),
    ApiKey.LIST_OFFSETS: ByLeader(
        "topics", "name", "partitions", "partition_index", "topics", "partitions"
    ),
    ApiKey.DELETE_RECORDS: ByLeader(
        "topics", "name", "partitions", "partition_index", "topics", "partitions"
    ),
}
ON_ALL: Mapping[ApiKey, str] = {
    ApiKey.LIST_GROUPS: "groups",
    ApiKey.LIST_TRANSACTIONS: "transaction_states",
    ApiKey.DESCRIBE_LOG_DIRS: "results",
}
"""The list in the response."""


class ByCoordinator(NamedTuple):
    kind: Coordinated
    names: str
    """The list of names in the request."""
    answers: str


MANY: Mapping[ApiKey, ByCoordinator] = {
    ApiKey.DESCRIBE_GROUPS: ByCoordinator(Coordinated.GROUP, "groups", "groups"),
    ApiKey.CONSUMER_GROUP_DESCRIBE: ByCoordinator(Coordinated.GROUP, "group_ids", "groups"),
    ApiKey.DELETE_GROUPS: ByCoordinator(Coordinated.GROUP, "groups_names", "results"),
    ApiKey.DESCRIBE_TRANSACTIONS: ByCoordinator(
        Coordinated.TRANSACTION, "transactional_ids", "transaction_states"
    ),
}
ONE: Mapping[ApiKey, tuple[Coordinated, Callable[[Any], str]]] = {
    ApiKey.OFFSET_FETCH: (Coordinated.GROUP, lambda row: str(row.groups[0].group_id)),
    ApiKey.OFFSET_COMMIT: (Coordinated.GROUP, lambda row: str(row.group_id)),
    ApiKey.OFFSET_DELETE: (Coordinated.GROUP, lambda row: str(row.group_id)),
    ApiKey.INIT_PRODUCER_ID: (Coordinated.TRANSACTION, lambda row: str(row.transactional_id)),
}


def changed(row: Any, **changes: Any) -> Any:
    """Another row of its kind."""
    fields = {name: getattr(row, name) for name in row.field_names}
    return type(row)(**{**fields, **changes})


def by_leader(key: ApiKey, row: Any, leader_of: Callable[[str, int], str]) -> dict[str, Any]:
    """A row for each leader, by its address. The request is for one topic."""
    fields = BY_LEADER[key]
    (topic,) = getattr(row, fields.topics)
    parts: dict[str, list[Any]] = defaultdict(list)
    for each in getattr(topic, fields.partitions):
        address = leader_of(getattr(topic, fields.topic), getattr(each, fields.number))
        parts[address].append(each)
    return {
        address: changed(row, **{fields.topics: [changed(topic, **{fields.partitions: some})]})
        for address, some in parts.items()
    }


def joined_by_leader(key: ApiKey, answers: Iterable[Any]) -> Any:
    fields = BY_LEADER[key]
    first, *others = answers
    for other in others:
        for topic in getattr(other, fields.answers):
            mine = getattr(getattr(first, fields.answers)[0], fields.answered)
            mine.extend(getattr(topic, fields.answered))
    return first


def joined(answers: Iterable[Any], name: str) -> Any:
    """The first that is no error, with the lists of all that are none."""
    every = list(answers)
    good = [each for each in every if not getattr(each, "error_code", 0)]
    if not good:
        return every[0]
    return changed(good[0], **{name: [one for each in good for one in getattr(each, name)]})
