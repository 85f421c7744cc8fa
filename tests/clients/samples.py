"""Records that show what a client or a broker may get wrong."""

from clients.client import Record

# Long enough to shrink: librdkafka stores a batch as it is when compressing makes it no smaller.
PROSE = b"Nobody runs while nothing happens. " * 60

SAMPLES = [
    Record(b"plain", PROSE, (("trace", b"one"), ("trace", b"two"), ("lang", b"en"))),
    Record(None, PROSE, (("only", b"header"),)),
    Record("ключ".encode(), "значение ✓".encode() * 50, (("имя", "заголовок".encode()),)),
    Record(b"\x00\xff\n\r", bytes(range(256)) * 8),
    Record(b"tombstone", None),
    Record(b"empty", b"", (("empty", b""),)),
]
