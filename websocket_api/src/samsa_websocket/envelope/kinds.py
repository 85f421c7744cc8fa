"""Each kind of message: how it is written, and how it is read."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samsa_websocket.envelope.fields import (
    from_base64,
    integer,
    list_of,
    natural,
    text,
    texts,
    to_base64,
)
from samsa_websocket.envelope.messages import (
    EnvelopeError,
    Error,
    ErrorAction,
    Failure,
    Frame,
    Gather,
    Message,
    News,
    ParkedReply,
    Ping,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    UrlRange,
    Wake,
)


class Parts(NamedTuple):
    kind: str
    seq: int = 0
    more: Mapping[str, Any] = {}
    frame: Frame = b""


def _request(found: Parts) -> Request:
    more = found.more
    waited_ms = natural(more.get("waited", 0))
    return Request(found.seq, found.frame, waited_ms, _several(more), _said(more, "lingers"))


def _parked(found: Parts) -> ParkedReply:
    more = found.more
    return ParkedReply(
        found.seq,
        natural(more.get("wait")),
        texts(more.get("watches", [])),
        found.frame,
        natural(more.get("good", 0)),
    )


def _wake(found: Parts) -> Wake:
    names = texts(found.more.get("names"))
    news = tuple(map(_news, list_of(found.more.get("news", []))))
    if sum(each.size for each in news) != len(found.frame):
        raise EnvelopeError("a wake's news are not as long as its frame")
    return Wake(names, news, found.frame)


def _news(value: Any) -> News:
    row = list_of(value)
    if len(row) != len(News._fields):
        raise EnvelopeError(f"news have {len(News._fields)} fields")
    name, topic, topic_id = map(text, row[:3])
    partition, base, end, start, size = map(natural, row[3:])
    return News(name, topic, topic_id, partition, base, end, start, size)


def _upload(found: Parts) -> Upload:
    return Upload(found.seq, natural(found.more.get("size")), text(found.more.get("sha256")))


def _ticket(found: Parts) -> Ticket:
    headers = found.more.get("headers", {})
    if not isinstance(headers, dict):
        raise EnvelopeError("headers are not a JSON object")
    return Ticket(
        found.seq,
        text(found.more.get("key")),
        text(found.more.get("url")),
        tuple((name, text(value)) for name, value in headers.items()),
    )


def _reference(found: Parts) -> Reference:
    more = found.more
    return Reference(
        found.seq,
        text(more.get("key")),
        natural(more.get("size")),
        text(more.get("sha256")),
        natural(more.get("waited", 0)),
        _several(more),
    )


def _write_gather(message: Gather) -> Parts:
    """URLs are long, and several ranges may be of one object: each URL is written once."""
    urls: dict[str, int] = {}
    pieces: list[Any] = []
    for piece in message.pieces:
        if isinstance(piece, UrlRange):
            shift = [piece.shift] if piece.shift else []
            url = urls.setdefault(piece.url, len(urls))
            pieces.append([url, piece.start, piece.length, *shift])
        else:
            pieces.append(to_base64(piece))
    more = {"urls": list(urls), "pieces": pieces, **_how_answered(message)}
    return Parts("gather", message.seq, more)


def _gather(found: Parts) -> Gather:
    urls = texts(found.more.get("urls", []))
    pieces = tuple(_piece(each, urls) for each in list_of(found.more.get("pieces")))
    return Gather(found.seq, pieces, _several(found.more), _mute_ms(found.more))


def _piece(value: Any, urls: tuple[str, ...]) -> bytes | UrlRange:
    if isinstance(value, str):
        return from_base64(value)
    row = list_of(value)
    if not 3 <= len(row) <= 4:
        raise EnvelopeError("a range is a URL's number, a start, a length and perhaps a shift")
    url, start, length = map(natural, row[:3])
    if url >= len(urls):
        raise EnvelopeError(f"there is no URL {url}")
    return UrlRange(urls[url], start, length, *map(integer, row[3:]))


def _error(found: Parts) -> Error:
    try:
        code = ErrorAction(text(found.more.get("code")))
    except ValueError:
        raise EnvelopeError("an unknown error code") from None
    return Error(found.seq, code, text(found.more.get("text", "")))


def failure(more: Mapping[str, Any]) -> Failure:
    return Failure(text(more.get("message")), text(more.get("requestId", "")))


READERS: dict[str, Callable[[Parts], Message]] = {
    "request": _request,
    "reply": lambda found: Reply(
        found.seq, found.frame, _several(found.more), _mute_ms(found.more)
    ),
    "parked": _parked,
    "wake": _wake,
    "upload": _upload,
    "ticket": _ticket,
    "reference": _reference,
    "gather": _gather,
    "ping": lambda _: Ping(),
    "error": _error,
}

WRITERS: dict[type, Callable[[Any], Parts]] = {
    Request: lambda m: Parts("request", m.seq, _how_asked(m) | _if_lingers(m), m.frame),
    Reply: lambda m: Parts("reply", m.seq, _how_answered(m), m.frame),
    ParkedReply: lambda m: Parts(
        "parked",
        m.seq,
        {"wait": m.wait_ms, "good": m.good_ms, "watches": m.watches},
        m.frame,
    ),
    Wake: lambda m: Parts(
        "wake", 0, {"names": m.names, **({"news": m.news} if m.news else {})}, m.frame
    ),
    Upload: lambda m: Parts("upload", m.seq, {"size": m.size, "sha256": m.sha256}),
    Ticket: lambda m: Parts(
        "ticket", m.seq, {"key": m.key, "url": m.url, "headers": dict(m.headers)}
    ),
    Reference: lambda m: Parts(
        "reference", m.seq, {"key": m.key, "size": m.size, "sha256": m.sha256, **_how_asked(m)}
    ),
    Gather: _write_gather,
    Ping: lambda _: Parts("ping"),
    Error: lambda m: Parts("error", m.seq, {"code": m.code, "text": m.text}),
    Failure: lambda m: Parts("failure", 0, {"message": m.text, "requestId": m.request_id}),
}


def _how_asked(message: Request | Reference) -> dict[str, int]:
    waited = {"waited": message.waited_ms} if message.waited_ms else {}
    return waited | _if_several(message)


def _how_answered(message: Reply | Gather) -> dict[str, int]:
    mute = {"mute": message.mute_ms} if message.mute_ms else {}
    return _if_several(message) | mute


def _if_lingers(message: Request) -> dict[str, int]:
    return {"lingers": True} if message.lingers else {}


def _if_several(message: Request | Reference | Reply | Gather) -> dict[str, int]:
    return {"several": True} if message.several else {}


def _mute_ms(more: Mapping[str, Any]) -> int:
    return natural(more.get("mute", 0))


def _several(more: Mapping[str, Any]) -> bool:
    return _said(more, "several")


def _said(more: Mapping[str, Any], what: str) -> bool:
    said = more.get(what, False)
    if not isinstance(said, bool):
        raise EnvelopeError(f"{type(said).__name__} where true or false belongs")
    return said
