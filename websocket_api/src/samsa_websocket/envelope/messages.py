"""The messages between shim and function.

A frame is a Kafka request or response without the four bytes of its size. A `seq` numbers the
questions of one client connection, from 1 on; an answer carries the number of its question. If
`several` requests are in one message, its frame holds all of them, each after its size, as on
Kafka's own connections. So does the answer's frame.
"""

from enum import StrEnum
from typing import NamedTuple, TypeAlias

VERSION = "1"
Frame: TypeAlias = bytes | bytearray | memoryview


class EnvelopeError(Exception):
    """A text that is no message."""


class ErrorAction(StrEnum):
    RETRY = "retry"
    """Nothing was done: the same request may be sent again, later."""
    CLOSE = "close"
    """A broker would close the connection for this error, so the shim closes it too."""


class Request(NamedTuple):
    seq: int
    frame: Frame
    waited_ms: int = 0
    """How long the client has been waiting for this very request, if it was parked before."""
    several: bool = False
    lingers: bool = False
    """The shim let it wait for others (`--linger-ms`): cost matters more than milliseconds."""


class Reply(NamedTuple):
    seq: int
    frame: Frame = b""
    """Empty if Kafka sends no answer (acks=0): the shim may go on to the next request."""
    several: bool = False
    mute_ms: int = 0
    """The client is over a quota: for so long its next request is neither read nor sent."""


class ParkedReply(NamedTuple):
    seq: int
    wait_ms: int
    """After this time, ask again; or, if there is a frame, answer the client with it."""
    watches: tuple[str, ...] = ()
    """A wake that names one of these ends the wait of this request."""
    frame: Frame = b""
    good_ms: int = 0
    """How long the frame may answer this request and equal ones without asking."""


class News(NamedTuple):
    """Batches that were appended to a partition. Their bytes are a part of the wake's frame."""

    name: str
    """One of the wake's names."""
    topic: str
    topic_id: str
    """Of 32 hexadecimal digits."""
    partition: int
    base: int
    """The first offset of the batches."""
    end: int
    """The high watermark: readers see what is below."""
    start: int
    """Where the log begins."""
    size: int


class Wake(NamedTuple):
    names: tuple[str, ...]
    news: tuple[News, ...] = ()
    """The records for some of the names; for the others the shim has to ask."""
    frame: Frame = b""
    """The bytes of the news, one after the other."""


class Upload(NamedTuple):
    """Asks for a ticket: the request is too large to be sent inline."""

    seq: int
    size: int
    sha256: str


class Ticket(NamedTuple):
    seq: int
    key: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    """To be sent with the PUT, as they were signed."""


class Reference(NamedTuple):
    """A request that was uploaded. Otherwise as Request."""

    seq: int
    key: str
    size: int
    sha256: str
    waited_ms: int = 0
    several: bool = False


class UrlRange(NamedTuple):
    url: str
    start: int
    length: int
    shift: int = 0
    """What the shim adds to the offset of each batch in it, if it holds batches."""


class Gather(NamedTuple):
    """A reply in pieces: the frame is their bytes, one after the other."""

    seq: int
    pieces: tuple[bytes | UrlRange, ...]
    several: bool = False
    mute_ms: int = 0
    """As of a Reply."""


class Ping(NamedTuple):
    """The answer to a ping is a ping."""


class Error(NamedTuple):
    seq: int
    code: ErrorAction
    text: str


class Failure(NamedTuple):
    """API Gateway's own message: the function failed or took too long. Its effect is unknown."""

    text: str
    request_id: str = ""


Message: TypeAlias = (
    Request
    | Reply
    | ParkedReply
    | Wake
    | Upload
    | Ticket
    | Reference
    | Gather
    | Ping
    | Error
    | Failure
)
