"""Keys and values that are written and read by schemas of the registry.

They have the form of Confluent's serializers: a zero byte, the schema's id, the value. A record
that names no id is written by the latest version of the subject `TOPIC-key` or `TOPIC-value`. Who
reads or writes by schemas needs READ on the topic `_schemas`.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi.exceptions import RequestValidationError

from samsa.records.record import Headers, Record
from samsa.schemas.budget import VALUE_STEPS, Budget
from samsa.schemas.errors import BadSchema, BadValue, NotFramed, NotInstalled
from samsa.schemas.framing import framed, unframed
from samsa.schemas.parsing import Schema
from samsa.security.kinds import Operation, ResourceType
from samsa.topics.permitted import raise_unless_may

from .content import KINDS, BySchema, Content, Encoding, encoded, raise_unless_tellable, shown
from .kafka_client import InProcessClient, KafkaClient
from .problems import RequestFailed
from .writing import RecordDraft

if TYPE_CHECKING:
    from .registry.service import Registry

SCHEMAS = "_schemas"
MOST_SCHEMAS = 100
"""That one request may name."""


class UnencodedDraft(NamedTuple):
    key: Content | None
    value: Content | None
    headers: Headers = ()
    partition: int | None = None
    timestamp: int | None = None


class ById(NamedTuple):
    id: int
    schema: Schema


def registry_of(kafka: KafkaClient) -> "Registry":
    """Raises RequestFailed, Refused."""
    if not isinstance(kafka, InProcessClient):
        why = "what is asked by Kafka's protocol has no schema registry"
        raise _failed(why, "Ask the HTTP API of the cluster, or for bytes.")
    if not kafka.broker.rules.schema_registry:
        why = "this broker serves no schema registry"
        raise _failed(why, "Start it without --no-schema-registry, or write bytes.")
    raise_unless_may(kafka.session.access, Operation.READ, ResourceType.TOPIC, SCHEMAS)
    found: Registry = import_module("samsa.http_api.registry.service").registry_of(kafka)
    return found


async def encoded_drafts(
    drafts: Sequence[RecordDraft | UnencodedDraft], topic: str, kafka: KafkaClient
) -> list[RecordDraft]:
    """Raises RequestFailed, RequestValidationError."""
    wanted = {
        _wanted(topic, part, content)
        for draft in drafts
        if isinstance(draft, UnencodedDraft)
        for part, content in (("key", draft.key), ("value", draft.value))
        if isinstance(content, BySchema)
    }
    if not wanted:
        return [draft for draft in drafts if isinstance(draft, RecordDraft)]
    if len(wanted) > MOST_SCHEMAS:
        raise _failed(f"a request names at most {MOST_SCHEMAS} schemas", "Send several.")
    registry = registry_of(kafka)
    schemas = {each: await _found(each, registry) for each in wanted}
    return await registry.schemas.in_thread(_encoded_all, drafts, topic, schemas)


Wanted = int | str
"""A schema's id, or the subject whose latest version is meant."""


def _wanted(topic: str, part: str, content: BySchema) -> Wanted:
    return content.schema_id or f"{topic}-{part}"


async def _found(wanted: Wanted, registry: "Registry") -> ById:
    refusals = import_module("samsa.http_api.registry.refusals")
    try:
        if isinstance(wanted, str):
            state = await registry.log.caught_up()
            wanted = registry.version(state, wanted, -1).id
        return ById(wanted, await registry.schema_by_id(wanted))
    except refusals.RegistryRefusal as error:
        next_step = "GET /subjects lists them; POST /subjects/{subject}/versions registers one."
        raise _failed(str(error), next_step) from None
    except (BadSchema, NotInstalled) as error:
        raise _failed(str(error), "Use another schema, or write bytes.") from None


def _encoded_all(
    drafts: Iterable[RecordDraft | UnencodedDraft], topic: str, schemas: Mapping[Wanted, ById]
) -> list[RecordDraft]:
    budget, found = Budget(VALUE_STEPS), []
    for number, draft in enumerate(drafts):
        if isinstance(draft, UnencodedDraft):
            key, value = (
                _encoded(content, topic, ("body", "records", number, part), schemas, budget)
                for part, content in (("key", draft.key), ("value", draft.value))
            )
            draft = RecordDraft(key, value, draft.headers, draft.partition, draft.timestamp)
        found.append(draft)
    return found


def _encoded(
    content: Content | None,
    topic: str,
    where: tuple[str, str, int, str],
    schemas: Mapping[Wanted, ById],
    budget: Budget,
) -> bytes | None:
    if not isinstance(content, BySchema):
        return encoded(content)
    schema_id, schema = schemas[_wanted(topic, where[-1], content)]
    try:
        if not isinstance(content, KINDS[schema.kind][0]):
            raise BadValue(f"schema {schema_id} is {schema.kind.value}")
        return framed(schema_id, schema.encode(content.value, budget))
    except (BadValue, BadSchema, UnicodeEncodeError) as error:
        raise RequestValidationError([{"loc": where, "msg": str(error)}]) from None


async def schemas_of(records: Iterable[Record], kafka: KafkaClient) -> dict[int, Schema]:
    """Those that keys and values name, and that are there. Raises RequestFailed, Refused."""
    named = list(_named(records))[:MOST_SCHEMAS]
    registry = registry_of(kafka)
    refusals = import_module("samsa.http_api.registry.refusals")
    found: dict[int, Schema] = {}
    for schema_id, content in (await registry.known_among(named)).items():
        try:
            found[schema_id] = await registry.schemas.parsed(content, registry.log.state)
        except (refusals.RegistryRefusal, BadSchema, NotInstalled):
            continue
    return found


def _named(records: Iterable[Record]) -> dict[int, None]:
    found: dict[int, None] = {}
    for record in records:
        for data in (record.key, record.value):
            try:
                found[unframed(data or b"").schema_id] = None
            except NotFramed:
                continue
    return found


class Showing:
    """How the bytes of one answer are shown."""

    def __init__(self, encoding: Encoding, schemas: Mapping[int, Schema]) -> None:
        self.encoding = encoding
        self._schemas = schemas
        self._budget = Budget(VALUE_STEPS)

    @property
    def of_headers(self) -> Encoding:
        return Encoding.AUTO if self.encoding is Encoding.SCHEMA else self.encoding

    def of(self, data: bytes | None) -> dict[str, Any] | None:
        """What cannot be decoded is shown as without a schema."""
        if self.encoding is not Encoding.SCHEMA or data is None:
            return shown(data, self.encoding)
        try:
            schema_id, value = unframed(data)
            schema = self._schemas.get(schema_id)
            if schema is not None:
                told = schema.decode(value, self._budget)
                raise_unless_tellable(told)
                return {KINDS[schema.kind][1]: told, "schema_id": schema_id}
        except (BadValue, ValueError, RecursionError):
            pass
        return shown(data, Encoding.AUTO)


def _failed(why: str, next_step: str) -> RequestFailed:
    return RequestFailed(422, "No such schema", why, next_step)
