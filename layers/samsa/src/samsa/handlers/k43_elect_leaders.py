"""ElectLeaders (key 43).

Behaviour: leaders are chosen by hashing (`nodes.py`), so no election is ever needed, which is what
each partition that is asked for is told. Null means all topics, of which only those partitions are
told that an election was needed for: none.

Versions: 1+ know two kinds of election, and an error for the whole request.
"""

from typing import Any

from samsa.ports import Topic, Unavailable
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.elect_leaders import PARTITION_RESPONSE, RESPONSE, TOPIC_RESPONSE

from .broker import Broker, Context, handles
from .catalog import partition_of

KINDS = (0, 1)
"""The preferred leader, or any that is left."""


@handles(ApiKey.ELECT_LEADERS)
async def elect_leaders(request: Any, context: Context, broker: Broker) -> Any:
    if request.election_type not in KINDS:
        code, message = ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}"
        return RESPONSE(
            error_code=code, replica_election_results=await _all(request, code, message, broker)
        )
    try:
        return RESPONSE(replica_election_results=await _results(request, broker))
    except Unavailable as error:
        code = ErrorCode.REQUEST_TIMED_OUT
        return RESPONSE(
            error_code=code, replica_election_results=await _all(request, code, str(error), broker)
        )


async def _all(request: Any, code: ErrorCode, message: str, broker: Broker) -> list[Any]:
    """The same for every partition that is asked for."""
    pace = broker.work.pace
    return [
        TOPIC_RESPONSE(
            topic=asked.topic,
            partition_result=[_result(n, code, message) async for n in pace(asked.partitions)],
        )
        async for asked in pace(request.topic_partitions or ())
    ]


def _result(number: int, code: ErrorCode, message: str) -> Any:
    return PARTITION_RESPONSE(partition_id=number, error_code=code, error_message=message)


async def _results(request: Any, broker: Broker) -> list[Any]:
    if request.topic_partitions is None:
        return [TOPIC_RESPONSE(topic=topic.name) for topic in await broker.catalog.all()]

    async def elect(asked: Any) -> Any:
        topic = await broker.catalog.named(asked.topic)
        results = [_elect(asked.topic, n, topic) async for n in broker.work.pace(asked.partitions)]
        return TOPIC_RESPONSE(topic=asked.topic, partition_result=results)

    return await broker.work.each(request.topic_partitions, elect)


def _elect(name: str, number: int, topic: Topic | None) -> Any:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic is None:
        return _result(number, unknown, f"No such topic as {name}")
    if partition_of(topic, number) is None:
        return _result(number, unknown, f"No such partition as {name}-{number}")
    message = "Leader election not needed for topic partition."
    return _result(number, ErrorCode.ELECTION_NOT_NEEDED, message)
