"""What fits into a message of API Gateway. Only this module knows these limits.

A message holds 128 KB of text and a WebSocket frame 32 KB. Base64 makes four characters of three
bytes, so that 98,256 bytes of Kafka fit inline. All text of the envelope is ASCII: a character is a
byte.
"""

MAX_MESSAGE = 128 * 1024
MAX_PART = 32 * 1024 - 14
"""Of a fragment. 14 bytes are subtracted for the longest WebSocket header, because the limit may
include it."""
HEADER_ROOM = 64
"""More than the header line of a request or a reply ever takes."""
LARGEST_INLINE = (MAX_MESSAGE - HEADER_ROOM) // 4 * 3
"""The largest Kafka frame that a request or a reply can carry by itself."""


def base64_size(count: int) -> int:
    return (count + 2) // 3 * 4


def fits(text: str) -> bool:
    return len(text) <= MAX_MESSAGE


def parts(text: str) -> list[str]:
    """The text cut into fragments; at least one."""
    return [text[at : at + MAX_PART] for at in range(0, len(text), MAX_PART)] or [""]
