"""ElectLeaders (key 43).

Behaviour: node 0 leads every partition, so no election is ever needed, which is what each partition
that is asked for is told. Null means all topics, of which only those partitions are told that an
election was needed for: none.

Versions: 1+ know two kinds of election, and an error for the whole request.
"""

from typing import Any

from samsa.ports import Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.elect_leaders import PARTITION_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import Broker, Context, handles
from .catalog import partition_of
from .configs import Refused

KINDS = (0, 1)
"""The preferred leader, or any that is left."""


@handles(ApiKey.ELECT_LEADERS)
async def elect_leaders(request: Any, context: Context, broker: Broker) -> Any:
    if request.election_type not in KINDS:
        code, message = ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}"
        return RESPONSE(error_code=code, replica_election_results=_all(request, code, message))
    try:
        return RESPONSE(replica_election_results=await _results(request, broker))
    except Unavailable as error:
        code = ErrorCode.REQUEST_TIMED_OUT
        return RESPONSE(error_code=code, replica_election_results=_all(request, code, str(error)))


def _all(request: Any, code: ErrorCode, message: str) -> list[Any]:
    """The same for every partition that is asked for."""
    return [
        TOPIC_RESPONSE(
            topic=asked.topic,
            partition_result=[_result(number, code, message) for number in asked.partitions],
        )
        for asked in request.topic_partitions or ()
    ]


def _result(number: int, code: ErrorCode, message: str) -> Any:
    return PARTITION_RESPONSE(partition_id=number, error_code=code, error_message=message)


async def _results(request: Any, broker: Broker) -> list[Any]:
    if request.topic_partitions is None:
        return [TOPIC_RESPONSE(topic=topic.name) for topic in await broker.catalog.all()]
    return [
        TOPIC_RESPONSE(
            topic=asked.topic,
            partition_result=[await _elect(asked.topic, n, broker) for n in asked.partitions],
        )
        for asked in request.topic_partitions
    ]


async def _elect(name: str, number: int, broker: Broker) -> Any:
    try:
        await _check(name, number, broker)
    except Refused as refused:
        return _result(number, refused.code, refused.message)
    message = "Leader election not needed for topic partition."
    return _result(number, ErrorCode.ELECTION_NOT_NEEDED, message)


async def _check(name: str, number: int, broker: Broker) -> None:
    topic = await broker.catalog.named(name)
    if topic is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    if partition_of(topic, number) is None:
        raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{number}")
