"""What can be wrong with record bytes. Every failure in this room is one of these."""


class RecordError(Exception):
    """Bytes that are not what a record batch or a message set should be."""


class CorruptBatch(RecordError):
    """The bytes contradict themselves: wrong checksum, magic or lengths, or truncated."""


class TooLarge(CorruptBatch):
    """The bytes unpack to more than the limit."""


class InvalidRecord(RecordError):
    """The bytes are well formed, but their content is not allowed here."""


class UnsupportedCodec(RecordError):
    """The attributes name a compression codec that does not exist."""
