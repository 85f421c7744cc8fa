"""Decode a request, call its handler at the right version, and encode the answer.

A request that cannot be decoded, or has a version that is not supported, ends the connection.
"""

from typing import TYPE_CHECKING, Any

from samsa.broker.broker import HANDLERS, Answer, Broker, Context, Later
from samsa.broker.request_ports import RequestPorts
from samsa.broker.work import SHORT
from samsa.handlers import k18_api_versions
from samsa.security.access import UNLIMITED, Access
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError, TooManyElements
from samsa.wire.frame import KafkaRequest, response_frame
from samsa.wire.schema import ANY_NUMBER, Segment

if TYPE_CHECKING:
    from samsa.security.throttling import ClientThrottle


def version_of_answer(request: KafkaRequest) -> int:
    """The request's version. ApiVersions with an unknown version is answered at version 0."""
    if request.api_version in APIS[request.api_key].versions:
        return request.api_version
    if request.api_key == ApiKey.API_VERSIONS:
        return 0
    raise DecodeError(f"{APIS[request.api_key].name} has no version {request.api_version} here")


async def answer(
    request: KafkaRequest,
    address: tuple[str, int],
    broker: Broker,
    client_host: str = "",
    access: Access = UNLIMITED,
    ports: RequestPorts | None = None,
    throttle: "ClientThrottle | None" = None,
) -> Answer:
    """A row, None, Later or Held. `access` is what the client may do. Raises DecodeError: the
    caller closes the connection."""
    version = version_of_answer(request)
    context = Context(
        request.api_version,
        request.client_id,
        address,
        client_host,
        access=access,
        ports=ports,
        throttle=throttle,
    )
    if version != request.api_version:
        return k18_api_versions.unsupported_version()
    # librdkafka 2.16 sends Metadata v13 with extra bytes at the end; Apache Kafka accepts them too.
    try:
        row = APIS[request.api_key].request.decode(version, request.body, exact=False, most=SHORT)
    except TooManyElements:
        return await _answer_long(request, context, broker)
    return await HANDLERS[request.api_key](row, context, broker)


async def _answer_long(request: KafkaRequest, context: Context, broker: Broker) -> Answer:
    await broker.long_requests.acquire(1)
    try:
        row = await _decode_long(request, broker)
        return await HANDLERS[request.api_key](row, context, broker)
    finally:
        broker.long_requests.release(1)


async def _decode_long(request: KafkaRequest, broker: Broker) -> Any:
    """Decode in the worker thread: a hundred thousand elements take a tenth of a second."""
    work, message = broker.work, APIS[request.api_key].request
    most = work.limits.max_elements
    try:
        return await work.in_thread(message.decode, request.api_version, request.body, False, most)
    except TooManyElements:
        work.refused["elements"] += 1
        raise


def encode(request: KafkaRequest, row: Answer, most: int = ANY_NUMBER) -> list[Segment]:
    """Raises LongAnswer if the row has more elements than `most`."""
    version = version_of_answer(request)
    segments = APIS[request.api_key].response.encode(version, row, most)
    return response_frame(request.api_key, version, request.correlation_id, segments)


def encode_later(request: KafkaRequest, later: Later) -> list[Segment]:
    """An empty list if the client does not want an answer."""
    body = later.body() if not later.throttle_ms else None
    if body is None:
        row: Any = later.build()
        if row is None:
            return []
        row.throttle_time_ms = later.throttle_ms
        return encode(request, row)
    return response_frame(request.api_key, request.api_version, request.correlation_id, [body])
