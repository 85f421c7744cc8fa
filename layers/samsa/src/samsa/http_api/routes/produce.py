"""Writing records: many as JSON, or one as it is."""

from base64 import b64decode
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from samsa.handlers.configs import Refused
from samsa.http_api.asking import Asked
from samsa.http_api.content import BASE64, Content, encoded
from samsa.http_api.described import refusals
from samsa.http_api.given import INT32_MAX, INT64_MAX, Given, TopicName, examples
from samsa.http_api.problems import Failed, Problem, of_kafka
from samsa.http_api.writing import Draft, Place, write

router = APIRouter(tags=["records"])
BINARY = "application/octet-stream"
MOST_RECORDS = 10_000
SOME_FAILED = 207
HEADER = r"^[^:]+:[\s\S]*$"


class Header(Given):
    name: str = Field(examples=["trace"])
    value: Content | None = Field(default=None, examples=["a1b2"])


class NewRecord(Given):
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

    def draft(self) -> Draft:
        headers = tuple((each.name, encoded(each.value)) for each in self.headers)
        return Draft(
            encoded(self.key), encoded(self.value), headers, self.partition, self.timestamp
        )


class NewRecords(Given):
    model_config = examples(
        {"records": [{"key": "customer-7", "value": {"json": {"total": 12}}}]},
        {"records": [{"value": "hello"}, {"value": {"base64": "AAEC"}, "partition": 0}]},
    )
    records: list[NewRecord] = Field(min_length=1, max_length=MOST_RECORDS)


class Written(BaseModel):
    partition: int = Field(examples=[0])
    offset: int | None = Field(description="Null if it was not stored", examples=[42])
    problem: Problem | None = Field(default=None, description="Why it was not stored")


class AllWritten(BaseModel):
    topic: str = Field(examples=["orders"])
    records: list[Written] = Field(description="In the order in which they were given")


@router.post(
    "/topics/{topic}/records",
    status_code=201,
    summary="Write records",
    responses={
        **refusals(400, 404, 413),
        SOME_FAILED: {
            "model": AllWritten,
            "description": "Some partitions took their records and some did not.",
        },
    },
)
async def write_records(
    topic: TopicName, new: NewRecords, kafka: Asked, response: Response
) -> AllWritten:
    """They are stored when the answer comes. What goes to one partition is stored together, or not
    at all. The topic is made if there is none and the broker makes topics by itself."""
    found = await kafka.topic(topic, create=True)
    places = await write(found, [each.draft() for each in new.records], kafka)
    if _refused(places):
        response.status_code = SOME_FAILED
    return AllWritten(topic=topic, records=[_written(place) for place in places])


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
    draft = Draft(
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


def _refused(places: list[Place]) -> bool:
    """Whether some were. Raises Refused if all were."""
    refused = [place.stored for place in places if isinstance(place.stored, Refused)]
    if len(refused) == len(places):
        raise refused[0]
    return bool(refused)


def _written(place: Place) -> Written:
    if isinstance(place.stored, Refused):
        problem = of_kafka(place.stored.code, place.stored.message)
        return Written(partition=place.partition, offset=None, problem=problem)
    return Written(partition=place.partition, offset=place.stored)


def _check_media_type(request: Request) -> None:
    """A browser sends this one to strangers only if they allow it."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != BINARY:
        raise Failed(
            415,
            "Unsupported media type",
            f"the body is {given or 'of no type'}, not {BINARY}",
            f"Say Content-Type: {BINARY}, or send JSON to /topics/{{topic}}/records.",
        )


def _header(text: str) -> tuple[str, bytes]:
    name, _, value = text.partition(":")
    return name, value.encode()
