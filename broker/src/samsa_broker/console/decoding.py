"""Shows keys and values that follow a schema of the registry."""

from collections.abc import Iterable
from typing import Any

from samsa.http_api.by_schema import Showing, schemas_of
from samsa.http_api.content import Encoding
from samsa.http_api.kafka_client import KafkaClient, ServedBroker
from samsa.http_api.problems import RequestFailed
from samsa.records.record import Record
from samsa.topics.configs import Refused

SCHEMA_ID = "schema_id"


class SchemaDecoder:
    def __init__(self, showing: Showing) -> None:
        self._showing = showing

    def decoded(self, data: bytes) -> dict[str, Any] | None:
        told = self._showing.of(data)
        if told is None or SCHEMA_ID not in told:
            return None
        (value,) = (each for name, each in told.items() if name != SCHEMA_ID)
        return {"json": value, SCHEMA_ID: told[SCHEMA_ID]}


async def decoder_of(records: Iterable[Record], kafka: KafkaClient) -> SchemaDecoder | None:
    """Knows the schemas that these records name. None: the registry cannot be asked, or the client
    may not read it."""
    try:
        schemas = await schemas_of(records, kafka)
    except (RequestFailed, Refused):
        return None
    return SchemaDecoder(Showing(Encoding.SCHEMA, schemas)) if schemas else None


def has_registry(served: object) -> bool:
    return isinstance(served, ServedBroker) and served.broker.rules.schema_registry
