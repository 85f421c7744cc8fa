"""What tests ask of a gateway, in short."""

from typing import Any

from bundle.given_gateway import Client
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row, records_in

from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_topics, metadata
from samsa_websocket.envelope import Message

TOPIC = "letters"


def create(client: Client, partitions: int = 1, topic: str = TOPIC) -> None:
    asked = create_topics.TOPIC(name=topic, num_partitions=partitions, replication_factor=-1)
    answer = client.ask(ApiKey.CREATE_TOPICS, 7, create_topics.REQUEST(topics=[asked]))
    assert answer.topics[0].error_code == ErrorCode.NONE


def describe(client: Client) -> Any:
    row = metadata.REQUEST(topics=[], allow_auto_topic_creation=False)
    return client.ask(ApiKey.METADATA, 12, row)


def write(client: Client, *values: bytes, partition: int = 0, **more: Any) -> int:
    """Append one batch; its offset."""
    row = produce_row(TOPIC, batch(*values, **more), partition)
    return offset_in(client.ask(ApiKey.PRODUCE, PRODUCE, row))


def offset_in(answer: Any) -> int:
    (one,) = answer.responses[0].partition_responses
    assert one.error_code == ErrorCode.NONE, ErrorCode(one.error_code)
    return int(one.base_offset)


def look(client: Client, offset: int, version: int = FETCH, **more: Any) -> Message:
    """A fetch, whatever comes of it. `again` and `waited` are the envelope's."""
    envelope = {name: more.pop(name) for name in ("again", "waited") if name in more}
    return client.send(ApiKey.FETCH, version, fetch_row(TOPIC, offset, **more), **envelope)


def read(client: Client, offset: int = 0, version: int = FETCH, **more: Any) -> list[bytes | None]:
    """The values that one fetch gets."""
    answer = client.ask(ApiKey.FETCH, version, fetch_row(TOPIC, offset, **more))
    return values_in(answer)


def read_all(client: Client) -> list[bytes | None]:
    """What a consumer gets from the start to the end, fetch by fetch."""
    found: list[bytes | None] = []
    while some := read(client, len(found)):
        found += some
    return found


def values_in(answer: Any) -> list[bytes | None]:
    (one,) = answer.responses[0].partitions
    assert one.error_code == ErrorCode.NONE, ErrorCode(one.error_code)
    return [record.value for record in records_in(one.records)]
