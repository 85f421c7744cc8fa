"""Writes records: many as JSON, or one as raw bytes."""

import json
from base64 import b64decode
from collections.abc import Generator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, SkipValidation, ValidationError

from samsa.http_api.bodies import route_with
from samsa.http_api.by_schema import UnencodedDraft, encoded_drafts
from samsa.http_api.content import BASE64, BySchema, Content, Plain, encoded
from samsa.http_api.described import refusals
from samsa.http_api.kafka_client import Asked
from samsa.http_api.parameters import INT32_MAX, INT64_MAX, StrictBody, TopicName, examples
from samsa.http_api.problems import Problem, RequestFailed, of_kafka
from samsa.http_api.writing import RecordDraft, TargetPartition, write
from samsa.topics.configs import Refused

router = APIRouter(tags=["records"], route_class=route_with())
BINARY = "application/octet-stream"
MOST_RECORDS = 10_000
CREATED, SOME_FAILED = 201, 207
MOST_ERRORS = 20
"""The most errors in one answer."""
HEADER = r"^[^:]+:[\s\S]*$"


class Header(StrictBody):
    name: str = Field(examples=["trace"])
    value: Plain | None = Field(default=None, examples=["a1b2"])


class NewRecord(StrictBody):
    key: Content | None = Field(default=None, examples=["customer-7"])
    value: Content | None = Field(default=None, examples=[{"json": {"total": 12}}])
    headers: list[Header] = Field(default=[])
    partition: int | None = Field(
        default=None,
        ge=0,
        le=INT32_MAX,
        description="By the key's hash, as Java's producer, if left out",
    )
    timestamp: int | None = Field(
        default=None, ge=0, le=INT64_MAX, description="Milliseconds since 1970; now, if left out"
    )

    def draft(self) -> RecordDraft | UnencodedDraft:
        headers = tuple((each.name, encoded(each.value)) for each in self.headers)
        key, value = self.key, self.value
        if isinstance(key, BySchema) or isinstance(value, BySchema):
            return UnencodedDraft(key, value, headers, self.partition, self.timestamp)
        return RecordDraft(encoded(key), encoded(value), headers, self.partition, self.timestamp)


class NewRecords(StrictBody):
    model_config = examples(
        {"records": [{"key": "customer-7", "value": {"json": {"total": 12}}}]},
        {"records": [{"value": "hello"}, {"value": {"base64": "AAEC"}, "partition": 0}]},
    )
    # Checked one by one, off the event loop: see `_drafts`.
    records: Annotated[list[NewRecord], SkipValidation] = Field(
        json_schema_extra={"minItems": 1, "maxItems": MOST_RECORDS}
    )


class Written(BaseModel):
    partition: int = Field(examples=[0])
    offset: int | None = Field(description="Null if it was not stored", examples=[42])
    problem: Problem | None = Field(default=None, description="Why it was not stored")


class AllWritten(BaseModel):
    topic: str = Field(examples=["orders"])
    records: list[Written] = Field(description="In the order in which they were given")


@router.post(
    "/topics/{topic}/records",
    status_code=CREATED,
    response_model=AllWritten,
    summary="Write records",
    responses={
        **refusals(400, 404, 413, 415),
        SOME_FAILED: {
            "model": AllWritten,
            "description": "Some partitions took their records and some did not.",
        },
    },
)
async def write_records(topic: TopicName, new: NewRecords, kafka: Asked) -> Response:
    """They are stored when the answer comes. What goes to one partition is stored together, or not
    at all. The topic is made if there is none and the broker makes topics by itself."""
    given = await kafka.work.in_slices(_drafts(new.records))
    found = await kafka.topic(topic, create=True)
    places = await write(found, await encoded_drafts(given, topic, kafka), kafka)
    status = SOME_FAILED if _refused(places) else CREATED
    told = await kafka.work.in_slices(_told(topic, places))
    return Response(told, status, media_type="application/json")


@router.post(
    "/topics/{topic}/records/binary",
    status_code=201,
    summary="Write one record as it is",
    responses=refusals(400, 404, 413, 415),
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The record's value",
            "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def write_binary(
    topic: TopicName,
    request: Request,
    kafka: Asked,
    key: Annotated[str | None, Query(description="As text", examples=["customer-7"])] = None,
    key_base64: Annotated[
        str | None, Query(pattern=BASE64, description="Any bytes; goes before `key`")
    ] = None,
    header: Annotated[
        list[Annotated[str, Field(pattern=HEADER)]] | None,
        Query(description="NAME:VALUE; may be repeated"),
    ] = None,
    partition: Annotated[int | None, Query(ge=0, le=INT32_MAX)] = None,
    timestamp: Annotated[int | None, Query(ge=0, le=INT64_MAX)] = None,
) -> Written:
    """The body is the value, whatever bytes it holds."""
    _check_media_type(request)
    draft = RecordDraft(
        encoded(key) if key_base64 is None else b64decode(key_base64),
        await request.body(),
        tuple(_header(each) for each in header or ()),
        partition,
        timestamp,
    )
    found = await kafka.topic(topic, create=True)
    places = await write(found, [draft], kafka)
    _refused(places)
    return _written(places[0])


def _drafts(given: Any) -> Generator[None, None, list[RecordDraft | UnencodedDraft]]:
    """Raises RequestValidationError."""
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_RECORDS:
        problem = f"Input should be a list of 1 to {MOST_RECORDS} records"
        raise RequestValidationError([{"loc": ("body", "records"), "msg": problem}])
    drafts: list[RecordDraft | UnencodedDraft] = []
    wrong: list[Any] = []
    for number, each in enumerate(given):
        try:
            drafts.append(NewRecord.model_validate(each).draft())
        except ValidationError as error:
            wrong += _located(error, ("body", "records", number))
        if len(wrong) >= MOST_ERRORS:
            break
        yield
    if wrong:
        raise RequestValidationError(wrong[:MOST_ERRORS])
    return drafts


def _located(error: ValidationError, where: tuple[str | int, ...]) -> list[Any]:
    return [{**each, "loc": (*where, *each["loc"])} for each in error.errors()]


def _told(topic: str, places: list[TargetPartition]) -> Generator[None, None, bytes]:
    records: list[Any] = []
    for place in places:
        records.append(_written(place).model_dump(mode="json"))
        yield
    return json.dumps({"topic": topic, "records": records}, separators=(",", ":")).encode()


def _refused(places: list[TargetPartition]) -> bool:
    """Whether some records were refused. Raises Refused if all were."""
    refused = [place.stored for place in places if isinstance(place.stored, Refused)]
    if len(refused) == len(places):
        raise refused[0]
    return bool(refused)


def _written(place: TargetPartition) -> Written:
    if isinstance(place.stored, Refused):
        problem = of_kafka(place.stored.code, place.stored.message)
        return Written(partition=place.partition, offset=None, problem=problem)
    return Written(partition=place.partition, offset=place.stored)


def _check_media_type(request: Request) -> None:
    """A browser sends this media type to another site only if that site allows it."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != BINARY:
        raise RequestFailed(
            415,
            "Unsupported media type",
            f"the body is {given or 'of no type'}, not {BINARY}",
            f"Say Content-Type: {BINARY}, or send JSON to /topics/{{topic}}/records.",
        )


def _header(text: str) -> tuple[str, bytes]:
    name, _, value = text.partition(":")
    return name, value.encode()
