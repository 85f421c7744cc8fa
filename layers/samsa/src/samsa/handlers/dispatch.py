"""From a frame to an answer: which handler, at which version, and what if there is none."""

from typing import Any

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError, TooManyElements
from samsa.wire.frame import Request, response_frame
from samsa.wire.schema import ANY_NUMBER, Segment
from samsa.work import SHORT

from . import k18_api_versions
from .broker import HANDLERS, Answer, Broker, Context, Later


def version_of_answer(request: Request) -> int:
    """ApiVersions is answered at version 0 when the client asks for one that we do not know."""
    if request.api_version in APIS[request.api_key].versions:
        return request.api_version
    if request.api_key == ApiKey.API_VERSIONS:
        return 0
    raise DecodeError(f"{APIS[request.api_key].name} has no version {request.api_version} here")


async def answer(
    request: Request, address: tuple[str, int], broker: Broker, client_host: str = ""
) -> Answer:
    """A row, None, or Later. Raises DecodeError, on which the connection ends."""
    version = version_of_answer(request)
    context = Context(request.api_version, request.client_id, address, client_host)
    if version != request.api_version:
        return k18_api_versions.unsupported_version()
    # librdkafka 2.16 sends Metadata v13 with bytes too many; Apache Kafka does not mind either.
    try:
        row = APIS[request.api_key].request.decode(version, request.body, exact=False, most=SHORT)
    except TooManyElements:
        return await _answer_long(request, context, broker)
    return await HANDLERS[request.api_key](row, context, broker)


async def _answer_long(request: Request, context: Context, broker: Broker) -> Answer:
    await broker.long_requests.acquire(1)
    try:
        row = await _decode_long(request, broker)
        return await HANDLERS[request.api_key](row, context, broker)
    finally:
        broker.long_requests.release(1)


async def _decode_long(request: Request, broker: Broker) -> Any:
    """In the thread: a hundred thousand elements take a tenth of a second."""
    work, message = broker.work, APIS[request.api_key].request
    most = work.limits.max_elements
    try:
        return await work.in_thread(message.decode, request.api_version, request.body, False, most)
    except TooManyElements:
        work.refused["elements"] += 1
        raise


def encode(request: Request, row: Answer, most: int = ANY_NUMBER) -> list[Segment]:
    """Raises LongAnswer where the row has more elements than `most`."""
    version = version_of_answer(request)
    segments = APIS[request.api_key].response.encode(version, row, most)
    return response_frame(request.api_key, version, request.correlation_id, segments)


def encode_later(request: Request, later: Later) -> list[Segment]:
    """Nothing if the client does not want an answer."""
    body = later.body()
    if body is None:
        row = later.build()
        return [] if row is None else encode(request, row)
    return response_frame(request.api_key, request.api_version, request.correlation_id, [body])
