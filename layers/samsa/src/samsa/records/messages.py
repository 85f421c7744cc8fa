"""Reading message sets of magic 0 and 1: the frames, their checksums, the compressed wrappers."""

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from samsa.records import lz4
from samsa.records.compression import Codec, codec_of, decompress
from samsa.records.errors import CorruptBatch, InvalidRecord, UnsupportedCodec
from samsa.records.header import LOG_APPEND_TIME

NO_TIMESTAMP = -1

_FRAME = struct.Struct(">qi")
_HEAD = struct.Struct(">Ibb")
_TIMESTAMP = struct.Struct(">q")
_LENGTH = struct.Struct(">i")


class LegacyMessage(NamedTuple):
    magic: int
    attributes: int
    timestamp: int
    key: memoryview | None
    value: memoryview | None

    @property
    def codec(self) -> Codec:
        codec = codec_of(self.attributes)
        if codec is Codec.ZSTD:
            raise UnsupportedCodec("zstd is newer than message sets")
        return codec

    @property
    def log_append_time(self) -> bool:
        return self.magic > 0 and bool(self.attributes & LOG_APPEND_TIME)


def unwrapped(message_set: memoryview, limit: int) -> Iterator[LegacyMessage]:
    """All messages; a compressed message is replaced by the messages inside it."""
    for message in _messages(message_set):
        if message.codec is Codec.NONE:
            yield message
        else:
            inner = _unpack(message, limit)
            limit -= len(inner)
            yield from _inside(message, memoryview(inner))


def _unpack(wrapper: LegacyMessage, limit: int) -> bytes:
    if wrapper.value is None:
        raise InvalidRecord("a compressed message has no value")
    if wrapper.codec is Codec.LZ4 and wrapper.magic == 0:
        return decompress(Codec.LZ4, lz4.mend(wrapper.value), limit)
    return decompress(wrapper.codec, wrapper.value, limit)


def _inside(wrapper: LegacyMessage, inner: memoryview) -> Iterator[LegacyMessage]:
    if not inner:
        raise InvalidRecord("a compressed message holds no other")
    for message in _messages(inner):
        if message.codec is not Codec.NONE:
            raise InvalidRecord("a compressed message holds another compressed one")
        append_time = wrapper.log_append_time
        yield message._replace(timestamp=wrapper.timestamp) if append_time else message


def _messages(message_set: memoryview) -> Iterator[LegacyMessage]:
    position, limit = 0, len(message_set)
    while position < limit:
        start = position + _FRAME.size
        if start > limit:
            raise CorruptBatch("the last message is cut")
        _, size = _FRAME.unpack_from(message_set, position)
        position = start + size
        if size < 0 or position > limit:
            raise CorruptBatch("a message is longer than its set")
        yield _message(message_set[start:position])


def _message(body: memoryview) -> LegacyMessage:
    try:
        crc, magic, attributes = _HEAD.unpack_from(body)
        timestamp, position = _timestamp(magic, body)
        key, position = _field(body, position)
        value, position = _field(body, position)
    except struct.error:
        raise CorruptBatch("a message is too short for its fields") from None
    if position != len(body):
        raise CorruptBatch("a message is not as long as it says")
    if zlib.crc32(body[4:]) != crc:
        raise CorruptBatch("the checksum does not match")
    return LegacyMessage(magic, attributes, timestamp, key, value)


def _timestamp(magic: int, body: memoryview) -> tuple[int, int]:
    if magic == 0:
        return NO_TIMESTAMP, _HEAD.size
    if magic == 1:
        return _TIMESTAMP.unpack_from(body, _HEAD.size)[0], _HEAD.size + _TIMESTAMP.size
    raise CorruptBatch(f"magic {magic} has no place in a message set")


def _field(body: memoryview, position: int) -> tuple[memoryview | None, int]:
    (length,) = _LENGTH.unpack_from(body, position)
    start = position + _LENGTH.size
    if length < 0:
        return None, start
    return body[start : start + length], start + length
